//! Sorted files: blocks of entries, each preceded by its length and its checksum. Written once,
//! never changed.

use super::entry::{Entry, Key};
use hedgerow_encoding::wire::Reader;
use hedgerow_log::files::{File, FileError, FileSystem, OpenMode};
use hedgerow_model::{EngineError, ReadError, WriteError};
use std::ops::Range;

/// The prefix of the engine's files. All other files of the directory belong to the store.
pub const PREFIX: &str = "engine-";

pub(super) struct SortedFile {
    pub(super) number: u64,
    pub(super) bytes: u64,
    file: Box<dyn File>,
    /// The first key of each block, and its offset.
    pub(super) blocks: Vec<(Key, u64)>,
}

pub(super) fn name_of(number: u64) -> String {
    format!("{PREFIX}{number:08}.sorted")
}

/// Encodes bytes as a block.
pub(super) fn block_of(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_le_bytes();
    [&length, &crc32c::crc32c(bytes).to_le_bytes(), bytes].concat()
}

/// Returns the bytes of a block, and the offset of the next one.
pub(super) fn read_block(file: &dyn File, start: u64) -> Result<(Vec<u8>, u64), ReadError> {
    let mut header = [0; 8];
    file.read_exact_at(&mut header, start).map_err(|error| unreadable(file, start, error))?;
    let [length, checksum] = [0, 4].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte])));
    let end = start + 8 + u64::from(length);
    let bytes = file.read_range(start + 8..end).map_err(|error| unreadable(file, start, error))?;
    match crc32c::crc32c(&bytes) == checksum {
        true => Ok((bytes, end)),
        false => Err(unreadable(file, start, "the checksum is wrong")),
    }
}

/// Returns an error that names the file and the offset.
pub(super) fn unreadable(
    file: &dyn File,
    offset: u64,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ReadError {
    ReadError::new(format!("{} at byte {offset}", file.path().display()), source)
}

impl SortedFile {
    /// Writes ascending entries, and makes the file durable, but not its name.
    pub(super) fn write(
        files: &dyn FileSystem,
        number: u64,
        block_bytes: usize,
        entries: impl Iterator<Item = Result<Entry, ReadError>>,
    ) -> Result<SortedFile, EngineError> {
        let unwritten = unwritten(name_of(number));
        let file = files.open(&name_of(number), OpenMode::Create).map_err(&unwritten)?;
        let (mut end, mut blocks, mut block) = (0, Vec::new(), Vec::new());
        let mut entries = entries.peekable();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if block.is_empty() {
                blocks.push((entry.version.key, end));
            }
            entry.encode(&mut block);
            if block.len() >= block_bytes || entries.peek().is_none() {
                let bytes = block_of(&std::mem::take(&mut block));
                file.write_all_at(&bytes, end).map_err(&unwritten)?;
                end += bytes.len() as u64;
            }
        }
        file.sync().map_err(&unwritten)?;
        Ok(SortedFile { number, bytes: end, file, blocks })
    }

    /// Opens a file of `bytes` bytes, and reads it to index its blocks.
    pub(super) fn open(files: &dyn FileSystem, number: u64, bytes: u64) -> Result<SortedFile, ReadError> {
        let name = name_of(number);
        let file = files.open(&name, OpenMode::Read).map_err(|error| ReadError::new(name, error))?;
        let mut opened = SortedFile { number, bytes, file, blocks: Vec::new() };
        let mut start = 0;
        while start < bytes {
            let (entries, end) = opened.read(start)?;
            opened.blocks.extend(entries.first().map(|entry| (entry.version.key, start)));
            start = end;
        }
        Ok(opened)
    }

    /// Returns the entries of these keys, read block by block.
    pub(super) fn entries(&self, keys: Range<Key>) -> impl Iterator<Item = Result<Entry, ReadError>> {
        // Newer versions of the first key may be at the end of the previous block.
        let first = self.blocks.partition_point(|(key, _)| *key < keys.start);
        let blocks = self.blocks[first.saturating_sub(1)..].iter();
        blocks
            .take_while(move |(key, _)| *key < keys.end)
            .flat_map(|(_, start)| match self.read(*start) {
                Ok((entries, _)) => entries.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
            .filter(move |entry| entry.as_ref().map_or(true, |entry| keys.contains(&entry.version.key)))
    }

    fn read(&self, start: u64) -> Result<(Vec<Entry>, u64), ReadError> {
        let (bytes, end) = read_block(&*self.file, start)?;
        let (mut reader, mut entries) = (Reader::new(&bytes), Vec::new());
        while reader.remaining() > 0 {
            let entry = Entry::decode(&mut reader);
            entries.push(entry.map_err(|error| unreadable(&*self.file, start, error))?);
        }
        Ok((entries, end))
    }
}

/// Returns the error for a file that could not be written.
pub(super) fn unwritten(name: String) -> impl Fn(FileError) -> EngineError {
    move |error| WriteError::new(&*name, error).into()
}
