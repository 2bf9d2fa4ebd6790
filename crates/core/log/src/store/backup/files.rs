//! Copies checkpoints and the files of an engine.

use super::destination::Destination;
use super::{EngineAccess, EngineFile};
use crate::checkpoint::{Checkpoint, CheckpointEntry};
use crate::error::StoreError;
use crate::files::{File, FileError, OpenMode, pieces};
use hedgerow_sync::Arc;
use std::ops::Range;
use std::path::Path;

/// Number of bytes that are synced at a time, so that concurrent commits do not wait for all of
/// them.
const SYNCED_AT_ONCE: u64 = 32 << 20;

/// Number of bytes at the end of an edge file that determine its content: the checksums of the
/// checksums of its blocks.
const FOOTER: u64 = 80;

/// A file of the copy that is being written.
pub(super) struct CopiedFile {
    file: Box<dyn File>,
    unsynced: u64,
    /// Number of bytes written.
    pub(super) bytes: u64,
}

impl CopiedFile {
    pub(super) fn new(file: Box<dyn File>) -> Self {
        CopiedFile { file, unsynced: 0, bytes: 0 }
    }

    /// Writes bytes that were read from a checked file.
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), FileError> {
        self.file.write_all_at(bytes, offset)?;
        self.bytes += bytes.len() as u64;
        self.unsynced += bytes.len() as u64;
        if self.unsynced >= SYNCED_AT_ONCE {
            self.sync()?;
        }
        Ok(())
    }

    /// Copies a range to the same offset.
    pub(super) fn copy(&mut self, source: &dyn File, range: Range<u64>) -> Result<(), FileError> {
        pieces(range).try_for_each(|piece| self.write(&source.read_range(piece.clone())?, piece.start))
    }

    /// Removes the bytes from `end` on, which an interrupted backup has left.
    pub(super) fn cut(&self, end: u64) -> Result<(), FileError> {
        if self.file.length()? > end { self.file.set_length(end) } else { Ok(()) }
    }

    pub(super) fn sync(&mut self) -> Result<(), FileError> {
        self.unsynced = 0;
        self.file.sync()
    }
}

impl Destination {
    /// Copies the checkpoint of the source, unless the older copy has it.
    pub(super) fn copy_checkpoint(
        &mut self,
        entry: &CheckpointEntry,
        checkpoint: &Checkpoint,
    ) -> Result<(), StoreError> {
        let name = entry.file_name();
        if self.copied.contains_key(&name) {
            return Ok(());
        }
        let older = self
            .older
            .as_ref()
            .filter(|older| older.manifest.checkpoint.is_some_and(|older| older.number == entry.number));
        if let Some(older) = older {
            let older = older.open_checkpoint().map_err(StoreError::of_older_backup)?;
            let Some(older) = older.filter(|older| older.is_same(checkpoint)) else {
                return Err(self.other_commits());
            };
            older.check_checksums().map_err(StoreError::of_older_backup)?;
            self.keep(&name, entry.length);
            return Ok(());
        }
        let mut copy = self.write(&name, OpenMode::Create)?;
        checkpoint.read_all(|bytes, offset| Ok(copy.write(bytes, offset)?))?;
        let length = copy.bytes;
        self.finish(copy, &name, length)
    }

    /// Copies the files of the engine, unless the older copy has them. `source` is the directory of
    /// the source, for messages.
    pub(super) fn copy_engine_files(
        &mut self,
        open: &[(EngineFile, Vec<Box<dyn File>>)],
        access: EngineAccess<'_>,
        source: &Path,
    ) -> Result<(), StoreError> {
        for (file, opened) in open {
            if self.copied.contains_key(&file.name) {
                continue;
            }
            let files = Arc::clone(&self.files);
            if self.older_engine.files.contains(file) {
                (access.check)(&files, file).map_err(StoreError::of_older_backup)?;
                if self.is_there(file, opened)? {
                    for (name, open) in file.names().zip(opened) {
                        self.keep(name, open.length()?);
                    }
                    continue;
                }
                // The engine has used the number again.
                self.withdraw()?;
            }
            let mut copies = Vec::new();
            for (name, open) in file.names().zip(opened) {
                let mut copy = self.write(name, OpenMode::Create)?;
                let length = open.length()?;
                copy.copy(&**open, 0..length)?;
                copies.push((copy, name, length));
            }
            // The bytes of the copy are those of the source.
            (access.check)(&files, file).map_err(|error| error.located_in(source))?;
            for (copy, name, length) in copies {
                self.finish(copy, name, length)?;
            }
        }
        Ok(())
    }

    /// Returns true if a file of the older copy has the length and the end of the source's.
    fn is_there(&self, file: &EngineFile, opened: &[Box<dyn File>]) -> Result<bool, FileError> {
        for (name, open) in file.names().zip(opened) {
            let length = open.length()?;
            let older = self.files.open(name, OpenMode::Read)?;
            let end = length.saturating_sub(FOOTER)..length;
            if older.length()? != length || older.read_range(end.clone())? != open.read_range(end)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens a file of the copy to write it.
    pub(super) fn write(&self, name: &str, mode: OpenMode) -> Result<CopiedFile, FileError> {
        Ok(CopiedFile::new(self.files.open(name, mode)?))
    }

    /// Makes a file of the copy durable, except for its name.
    pub(super) fn finish(&mut self, mut copy: CopiedFile, name: &str, end: u64) -> Result<(), StoreError> {
        copy.sync()?;
        copy.file.evict(0..end);
        self.report.files += 1;
        self.report.bytes += copy.bytes;
        self.copied.insert(name.to_owned(), end);
        Ok(())
    }

    /// Notes that `bytes` bytes of a file of the older copy are kept.
    pub(super) fn keep(&mut self, name: &str, bytes: u64) {
        self.report.kept_bytes += bytes;
        self.copied.insert(name.to_owned(), bytes);
    }
}
