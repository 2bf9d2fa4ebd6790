//! The manifest: the edge files, the level of each, and the commit through which they are complete.
//! A log of edits (LSMGraph, 4.3).
//!
//! The log is a file `engine-manifest-N`: a header, and records. The first record has the whole
//! state, each further record an edit. When the log is long, or an edit could not be written, the
//! next edit begins file N + 1, which replaces file N once it is durable.
//!
//! | part of the header | bytes |
//! |---|---|
//! | the first bytes: [`MAGIC`] | 8 |
//! | version of the format | 4 |
//! | checksum of the header | 4 |
//!
//! | part of a record | bytes |
//! |---|---|
//! | number of the record in the file | 8 |
//! | length of the edit | 4 |
//! | checksum of all else | 4 |
//! | the [edit](Edit) | |
//!
//! Each record is durable before the next one is written, so only the last record can be torn: it
//! counts as never written. A damaged record that others follow is an error.

mod edit;
#[cfg(test)]
mod tests;
mod unlisted;

pub(crate) use edit::MAX_LEVEL;
pub use edit::{Edit, FileEntry, FlushPoint, LevelState};

use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;
use hedgerow_log::files::{EngineFiles, File, FileError, FileSystem, OpenMode};
use hedgerow_model::{EngineError, ReadError, WriteError};
use hedgerow_sync::Arc;

/// Prefix of the names of all files of an engine.
pub const PREFIX: &str = EngineFiles::PREFIX;

const MAGIC: [u8; 8] = *b"HEDGELEV";

/// Version of the format, the only one that is written and read.
const FORMAT_VERSION: u32 = 2;

const HEADER_BYTES: usize = 8 + 4 + 4;

/// Bytes of a record before the edit.
const RECORD_HEADER_BYTES: usize = 8 + 4 + 4;

/// Minimum bytes of edits after the first record at which the log begins anew, if they also exceed
/// the state itself.
const LONG: u64 = if cfg!(test) { 200 } else { 64 << 10 };

/// The log of edits, and the resulting state.
#[derive(Debug)]
pub struct Manifest {
    files: Arc<dyn FileSystem>,
    state: LevelState,
    /// `None` until edits begin, if there is no manifest.
    log: Option<OpenLog>,
    /// No number is used twice, since a failed file may exist or not.
    next_number: u64,
}

/// The file that edits are appended to.
#[derive(Debug)]
struct OpenLog {
    number: u64,
    file: Box<dyn File>,
    records: u64,
    /// End of the first record.
    base: u64,
    end: u64,
    /// True if an edit failed, so that the bytes after `end` are unknown.
    is_broken: bool,
}

impl Manifest {
    /// Reads the manifest; the state is empty without one. Changes nothing.
    ///
    /// # Errors
    /// The manifest could not be read, or is damaged.
    pub fn open(files: Arc<dyn FileSystem>) -> Result<Self, EngineError> {
        let names = list(&*files)?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        let next_number = after(numbers.first().copied())?;
        let mut manifest = Manifest { files, state: LevelState::default(), log: None, next_number };
        for (skipped, number) in numbers.iter().enumerate() {
            if manifest.load(*number)? {
                // A manifest that was never in use looks like a damaged one.
                manifest.log.iter_mut().for_each(|log| log.is_broken |= skipped > 0);
                break;
            }
        }
        let has_edges = names.iter().any(|name| FileEntry::number_of(name).is_some());
        if manifest.log.is_none() && has_edges {
            return Err(
                ReadError::new(name_of(1), "there are edge files, and no manifest that names them").into()
            );
        }
        Ok(manifest)
    }

    /// Prepares for edits: makes the state durable, then removes files that are not in it.
    ///
    /// Before, the last edit may be one whose sync never ended, so that a loss of power takes it
    /// back. Does nothing if the log has a torn end: a damaged edit looks like a torn one, and its
    /// files may be all that is left.
    ///
    /// # Errors
    /// A file could not be written or removed.
    pub fn begin_edits(&mut self) -> Result<(), EngineError> {
        if self.log.as_ref().is_some_and(|log| log.is_broken) {
            return Ok(());
        }
        let names = list(&*self.files)?;
        let state = self.state.clone();
        let begun = self.begin(&state);
        begun.map_err(|error| WriteError::new(name_of(self.next_number - 1), error))?;
        for name in names.iter().filter(|name| self.is_unlisted(name)) {
            match self.files.remove(name) {
                Err(error) if !error.is_not_found() => {
                    return Err(WriteError::new(name.clone(), error).into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns a number above the numbers of all edge files, in the state or not.
    ///
    /// # Errors
    /// The directory could not be read, or the numbers are used up.
    pub fn next_file(&self) -> Result<u64, EngineError> {
        let names = list(&*self.files)?;
        let there = names.iter().filter_map(|name| FileEntry::number_of(name));
        after(there.chain(self.state.files.keys().copied()).max())
    }

    /// Returns the state after all edits.
    #[must_use]
    pub fn state(&self) -> &LevelState {
        &self.state
    }

    /// Makes an edit durable. The files that it adds must be durable, but not their names.
    ///
    /// # Errors
    /// The edit could not be written. The state is unchanged, but a later opening may find the
    /// edit: the files of both states must stay until another edit succeeds.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), EngineError> {
        let appended = match &mut self.log {
            Some(log) if !log.is_broken && log.end - log.base < LONG.max(log.base) => {
                log.append(&*self.files, edit)
            }
            _ => {
                let mut state = self.state.clone();
                state.apply(edit);
                self.begin(&state)
            }
        };
        if let Err(error) = appended {
            self.log.iter_mut().for_each(|log| log.is_broken = true);
            return Err(WriteError::new(name_of(self.next_number - 1), error).into());
        }
        self.state.apply(edit);
        Ok(())
    }

    /// Begins a new log with this state, and removes the previous log.
    fn begin(&mut self, state: &LevelState) -> Result<(), FileError> {
        let number = self.next_number;
        self.next_number += 1;
        let file = self.files.open(&name_of(number), OpenMode::Create)?;
        let mut log = OpenLog { number, file, records: 0, base: 0, end: 0, is_broken: false };
        if let Err(error) = log.append(&*self.files, &state.as_edit()) {
            // Such files would pile up on a full disk. One that stays is skipped by the next
            // opening.
            drop(log);
            let _ = self.files.remove(&name_of(number));
            return Err(error);
        }
        log.base = log.end;
        // The new log and its name are durable before the old log is removed.
        if let Some(old) = self.log.replace(log) {
            // If this fails, the old log is removed when edits begin after the next opening.
            let _ = self.files.remove(&name_of(old.number));
        }
        Ok(())
    }

    /// Reads a log. Returns false if its first record is not whole, so that the log was never in
    /// use.
    fn load(&mut self, number: u64) -> Result<bool, EngineError> {
        let name = name_of(number);
        let mode = if self.files.is_read_only() { OpenMode::Read } else { OpenMode::Write };
        let unread = |error: FileError| ReadError::new(name.clone(), error);
        let file = self.files.open(&name, mode).map_err(unread)?;
        let bytes = file.read_from(0).map_err(unread)?;
        let (mut records, mut end, mut base) = (0, 0, 0);
        let mut state = LevelState::default();
        if has_header(&bytes).map_err(|error| damaged(&name, 0, error))? {
            end = HEADER_BYTES;
        }
        // Without a header, the file has no records.
        while let Some(edit) = record(&bytes[end..], records).filter(|_| end > 0) {
            let edit = Edit::decode(&mut Reader::new(edit));
            let edit = edit.map_err(|error| damaged(&name, end + RECORD_HEADER_BYTES, error))?;
            state.apply(&edit.0);
            end += RECORD_HEADER_BYTES + edit.1;
            records += 1;
            base = if records == 1 { end } else { base };
        }
        let is_later = |number: u64| (1..=bytes.len() as u64).contains(&number.wrapping_sub(records));
        let has_more = (end + 1..bytes.len()).any(|begin| {
            let number = bytes[begin..].first_chunk().map(|number| u64::from_le_bytes(*number));
            number.is_some_and(|number| is_later(number) && record(&bytes[begin..], number).is_some())
        });
        if has_more {
            let error = DecodeError { offset: 0, what: "a damaged record that others follow" };
            return Err(damaged(&name, end, error));
        }
        if records == 0 {
            return Ok(false);
        }
        let (base, end) = (base as u64, end as u64);
        // The bytes after `end` are torn: no edit may be written before them.
        let is_broken = bytes.len() as u64 > end;
        self.state = state;
        self.log = Some(OpenLog { number, file, records, base, end, is_broken });
        Ok(true)
    }
}

impl OpenLog {
    fn append(&mut self, files: &dyn FileSystem, edit: &Edit) -> Result<(), FileError> {
        let edit = edit.encode();
        let mut bytes = if self.end == 0 { header(FORMAT_VERSION) } else { Vec::new() };
        bytes.extend_from_slice(&self.records.to_le_bytes());
        bytes.extend_from_slice(&(edit.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&checksum(self.records, &edit).to_le_bytes());
        bytes.extend_from_slice(&edit);
        // Makes the names of this file, and of the files that the edit adds, durable.
        files.sync_directory()?;
        self.file.write_all_at(&bytes, self.end)?;
        self.file.sync()?;
        self.records += 1;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

fn header(version: u32) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&version.to_le_bytes());
    header.extend_from_slice(&crc32c::crc32c(&header).to_le_bytes());
    header
}

/// Returns true if a file begins with a whole header.
///
/// # Errors
/// The header has another version.
fn has_header(bytes: &[u8]) -> Result<bool, DecodeError> {
    let mut reader = Reader::new(bytes.get(MAGIC.len()..).unwrap_or_default());
    let version = reader.array().map(u32::from_le_bytes).unwrap_or_default();
    match bytes.starts_with(&header(version)) {
        true if version != FORMAT_VERSION => Err(DecodeError {
            offset: MAGIC.len(),
            what: "the manifest has a format that this version does not read",
        }),
        is_whole => Ok(is_whole),
    }
}

/// Returns the edit of the record with this number, if these bytes begin with the record.
fn record(bytes: &[u8], number: u64) -> Option<&[u8]> {
    let (header, rest) = bytes.split_at_checked(RECORD_HEADER_BYTES)?;
    let mut header = Reader::new(header);
    let found = u64::from_le_bytes(header.array().ok()?);
    let length = u32::from_le_bytes(header.array().ok()?);
    let expected = u32::from_le_bytes(header.array().ok()?);
    let edit = rest.get(..length as usize)?;
    (found == number && checksum(number, edit) == expected).then_some(edit)
}

fn checksum(number: u64, edit: &[u8]) -> u32 {
    let checksum = crc32c::crc32c(&number.to_le_bytes());
    let checksum = crc32c::crc32c_append(checksum, &(edit.len() as u32).to_le_bytes());
    crc32c::crc32c_append(checksum, edit)
}

fn name_of(number: u64) -> String {
    format!("{PREFIX}manifest-{number:08}")
}

/// Returns the number in the name of a manifest; `None` for other names.
fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix(PREFIX)?.strip_prefix("manifest-")?.parse().ok();
    number.filter(|number| name_of(*number) == name)
}

/// Returns the names of all files.
fn list(files: &dyn FileSystem) -> Result<Vec<String>, ReadError> {
    files.list().map_err(|error| ReadError::new(files.location().display().to_string(), error))
}

/// Returns the number after the largest one; 1 if there is none.
fn after(largest: Option<u64>) -> Result<u64, EngineError> {
    let next = largest.unwrap_or(0).checked_add(1);
    next.ok_or_else(|| ReadError::new(PREFIX, "a file with the largest number that there is").into())
}

fn damaged(name: &str, offset: usize, error: DecodeError) -> EngineError {
    ReadError::at(name, (offset + error.offset) as u64, error.what).into()
}
