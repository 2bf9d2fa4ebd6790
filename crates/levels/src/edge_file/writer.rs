//! Writing an edge file.

use super::{BlockEntry, END, header, with_checksum};
use crate::block::{BlockBuilder, Version};
use hedgerow_log::files::{File, FileSystem, OpenMode};
use hedgerow_model::{ColumnType, CommitTimestamp, VertexId, WriteError};

/// Versions in a block from which on the next row begins another one; a row that is longer than
/// that is cut after twice as many.
const TARGET: usize = if cfg!(test) { 40 } else { 4096 };

/// Bytes that are written at once.
const WRITE_BYTES: usize = 1 << 20;

/// Writes sorted versions of edges to a new file.
#[derive(Debug)]
pub struct EdgeFileWriter {
    name: String,
    file: Box<dyn File>,
    /// Bytes that the file has.
    written: u64,
    /// What comes after them.
    pending: Vec<u8>,
    block: BlockBuilder,
    first: (VertexId, VertexId),
    last: Option<(VertexId, VertexId)>,
    /// The timestamp of the last version.
    last_at: CommitTimestamp,
    entries: Vec<BlockEntry>,
    versions: u64,
}

impl EdgeFileWriter {
    /// Creates the file `name`, or replaces it; its edges carry a value of type `column`.
    ///
    /// # Errors
    /// The file could not be created.
    pub fn create(files: &dyn FileSystem, name: &str, column: ColumnType) -> Result<Self, WriteError> {
        let file =
            files.open(name, OpenMode::Create).map_err(|error| WriteError::new(name.to_owned(), error))?;
        Ok(EdgeFileWriter {
            name: name.to_owned(),
            file,
            written: 0,
            pending: header(column),
            block: BlockBuilder::new(column),
            first: Default::default(),
            last: None,
            last_at: CommitTimestamp::ZERO,
            entries: Vec::new(),
            versions: 0,
        })
    }

    /// Adds a version of an edge. They come ascending by owner and neighbor, the newest version of
    /// an edge first. Amortized O(1).
    ///
    /// # Errors
    /// The file could not be written, or the version is out of order.
    pub fn push(&mut self, owner: VertexId, neighbor: VertexId, version: Version) -> Result<(), WriteError> {
        let edge = (owner, neighbor);
        if self.last.is_some_and(|last| last > edge || last == edge && self.last_at <= version.at) {
            return Err(WriteError::new(
                self.name.clone(),
                format!("the edge {owner} {neighbor} is out of order"),
            ));
        }
        let enough = match self.last {
            Some(last) if last == edge => usize::MAX,
            Some((last, _)) if last == owner => 2 * TARGET,
            _ => TARGET,
        };
        if self.block.versions() >= enough {
            self.end_block()?;
        }
        if self.block.versions() == 0 {
            self.first = edge;
        }
        self.block.push(owner, neighbor, version);
        (self.last, self.last_at) = (Some(edge), version.at);
        self.versions += 1;
        Ok(())
    }

    /// The number of bytes so far, without the block that is not full. O(1).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Writes what is left, and makes the file durable, but not its name. Returns the number of
    /// bytes.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(mut self) -> Result<u64, WriteError> {
        if self.block.versions() > 0 {
            self.end_block()?;
        }
        let index_offset = self.bytes();
        let mut index = Vec::new();
        self.entries.iter().for_each(|entry| entry.put(&mut index));
        let mut footer = Vec::new();
        for number in [index_offset, self.entries.len() as u64, self.versions] {
            footer.extend_from_slice(&number.to_le_bytes());
        }
        footer.extend_from_slice(&crc32c::crc32c(&index).to_le_bytes());
        self.pending.extend_from_slice(&index);
        self.pending.extend_from_slice(&with_checksum(footer));
        self.pending.extend_from_slice(&END);
        self.write()?;
        self.file.sync().map_err(|error| WriteError::new(self.name, error))?;
        Ok(self.written)
    }

    fn end_block(&mut self) -> Result<(), WriteError> {
        let (offset, begin) = (self.bytes(), self.pending.len());
        self.block.finish(&mut self.pending);
        let bytes = &self.pending[begin..];
        let (first_owner, first_neighbor) = self.first;
        self.entries.push(BlockEntry {
            first_owner,
            first_neighbor,
            last_owner: self.last.map_or(first_owner, |(last, _)| last),
            length: bytes.len() as u32,
            offset,
            checksum: crc32c::crc32c(bytes),
        });
        if self.pending.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), WriteError> {
        let failed = |error| WriteError::new(format!("{} at byte {}", self.name, self.written), error);
        self.file.write_all_at(&self.pending, self.written).map_err(failed)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}
