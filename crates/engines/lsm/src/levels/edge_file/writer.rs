//! Writing an edge file.

use super::row_index::put_owners;
use super::{BlockEntry, END, EdgeFile, EntryCounts, header, with_checksum};
use crate::levels::block::{BlockBuilder, MAX_ENTRIES, Version};
use crate::levels::merge::{EdgeKey, VersionRun};
use crate::levels::records::{RecordFileWriter, put_record, record_at};
use hedgerow_log::files::{File, FileSystem, OpenMode};
use hedgerow_model::{ColumnType, CommitTimestamp, VertexId, WriteError};
use roaring::RoaringBitmap;

/// Number of versions in a block from which on a new row begins another block; within a row,
/// another block begins after twice the number.
const TARGET: usize = if cfg!(test) { 40 } else { 4096 };
const _: () = assert!(2 * TARGET <= MAX_ENTRIES, "a block has room for the versions");

/// Bytes of records from which on the next edge begins another block. Fewer than a compressed
/// stretch of any size may stand for, so that records that compress very well are compressed, too.
const TARGET_RECORD_BYTES: usize = if cfg!(test) { 400 } else { 512 << 10 };

/// Bytes written at once. The buffer grows to twice the size; a flush and a compaction have one
/// each.
const WRITE_BYTES: usize = 256 << 10;

/// Writes sorted versions of edges to a new file, and their records to a record file.
#[derive(Debug)]
pub struct EdgeFileWriter {
    name: String,
    file: Box<dyn File>,
    /// Present if the edges carry records.
    records: Option<RecordFileWriter>,
    /// Bytes that are in the file.
    written: u64,
    /// The bytes after `written`.
    pending: Vec<u8>,
    block: BlockBuilder,
    first: EdgeKey,
    last: Option<EdgeKey>,
    /// Timestamp of the last version.
    last_at: CommitTimestamp,
    entries: Vec<BlockEntry>,
    owners: RoaringBitmap,
    /// Owners to add to `owners` together: adding them one by one takes longer.
    new_owners: Vec<u32>,
    versions: u64,
    counts: EntryCounts,
}

impl EdgeFileWriter {
    /// Creates or replaces the file `name`, whose edges carry a value of type `column`. For
    /// records, also creates or replaces the file [`EdgeFile::records_name`].
    ///
    /// # Errors
    /// A file could not be created.
    pub fn create(files: &dyn FileSystem, name: &str, column: ColumnType) -> Result<Self, WriteError> {
        let records = (column == ColumnType::Record)
            .then(|| RecordFileWriter::create(files, &EdgeFile::records_name(name)))
            .transpose()?;
        let file =
            files.open(name, OpenMode::Create).map_err(|error| WriteError::new(name.to_owned(), error))?;
        Ok(EdgeFileWriter {
            name: name.to_owned(),
            file,
            records,
            written: 0,
            pending: header(column),
            block: BlockBuilder::new(column),
            first: EdgeKey::new(VertexId::default(), VertexId::default()),
            last: None,
            last_at: CommitTimestamp::ZERO,
            entries: Vec::new(),
            owners: RoaringBitmap::new(),
            new_owners: Vec::new(),
            versions: 0,
            counts: EntryCounts::default(),
        })
    }

    /// Compresses records where that saves space, or never; the default is to compress. Has no
    /// effect without the feature `compression` of `hedgerow-log`.
    #[must_use]
    pub fn compress_records(mut self, is_on: bool) -> Self {
        self.records.iter_mut().for_each(|records| records.set_compressed(is_on));
        self
    }

    /// Adds a version of an edge. Versions ascend by owner and neighbor, the newest version of an
    /// edge first. In a column of records, the value of the version is the offset of its record in
    /// `records`: [`push_record`](super::super::VersionBatch::push_record). Amortized O(1).
    ///
    /// # Errors
    /// A file could not be written, the version is out of order, or its record does not exist.
    pub fn push(
        &mut self,
        owner: VertexId,
        neighbor: VertexId,
        mut version: Version,
        records: &[u8],
    ) -> Result<(), WriteError> {
        let edge = EdgeKey::new(owner, neighbor);
        if self.last.is_some_and(|last| last > edge || last == edge && self.last_at <= version.at) {
            return Err(WriteError::new(
                self.name.clone(),
                format!("the edge {owner} {neighbor} is out of order"),
            ));
        }
        self.begin_edge(edge)?;
        if self.last != Some(edge) {
            self.counts.add(owner, neighbor, version.value.is_some());
        }
        if let (Some(writer), Some(value)) = (&mut self.records, &mut version.value) {
            let record = record_at(records, *value);
            let record = record.map_err(|error| WriteError::new(self.name.clone(), error.what))?;
            *value = put_record(&mut writer.chunk, record);
        }
        self.block.push(owner, neighbor, version);
        (self.last, self.last_at) = (Some(edge), version.at);
        self.versions += 1;
        Ok(())
    }

    /// Adds versions from the beginning of a run, all of one owner, to one block. Returns their
    /// number. Amortized O(versions).
    ///
    /// # Errors
    /// As for [`EdgeFileWriter::push`].
    pub(crate) fn push_some(&mut self, run: VersionRun<'_>) -> Result<usize, WriteError> {
        let (edges, versions) = (run.edges(), run.versions());
        if self.records.is_some() || self.last.is_some_and(|last| last >= edges[0]) {
            let (owner, neighbor) = edges[0].ends();
            self.push(owner, neighbor, versions[0], run.records())?;
            return Ok(1);
        }
        self.begin_edge(edges[0])?;
        let (owner, room) = (edges[0].owner(), 2 * TARGET - self.block.versions());
        let of_owner = edges.windows(2).take(room - 1);
        let row = 1 + of_owner.take_while(|pair| pair[0] < pair[1] && pair[1].owner() == owner).count();
        self.counts.add_row(owner, &edges[..row], &versions[..row]);
        self.block.push_row(owner, &edges[..row], &versions[..row]);
        (self.last, self.last_at) = (Some(edges[row - 1]), versions[row - 1].at);
        self.versions += row as u64;
        Ok(row)
    }

    /// Ends the block before an edge if it is full. Notes a new owner, and the first edge of a
    /// block.
    fn begin_edge(&mut self, edge: EdgeKey) -> Result<(), WriteError> {
        let is_new_owner = self.last.is_none_or(|last| last.owner() != edge.owner());
        let enough = match self.last {
            Some(last) if last == edge => usize::MAX,
            _ if is_new_owner => TARGET,
            _ => 2 * TARGET,
        };
        let record_bytes = self.records.as_ref().map_or(0, |records| records.chunk.len());
        let has_enough_records = record_bytes >= TARGET_RECORD_BYTES && self.last != Some(edge);
        if self.block.versions() >= enough || has_enough_records {
            self.end_block()?;
        }
        if self.block.versions() == 0 {
            self.first = edge;
        }
        if is_new_owner {
            self.new_owners.push(edge.owner().get());
        }
        Ok(())
    }

    /// Returns the number of bytes so far, of both files, without the block that is not full. O(1).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.offset() + self.records.as_ref().map_or(0, RecordFileWriter::bytes)
    }

    /// Returns the offset of the next block.
    fn offset(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Writes the rest, and makes the files durable, but not their names. Returns the number of
    /// bytes.
    ///
    /// # Errors
    /// A file could not be written.
    pub fn finish(mut self) -> Result<u64, WriteError> {
        if self.block.versions() > 0 {
            self.end_block()?;
        }
        let index_offset = self.offset();
        let mut index = Vec::new();
        self.entries.iter().for_each(|entry| entry.put(&mut index));
        let (mut footer, mut owners) = (Vec::new(), Vec::new());
        let owner_bytes = put_owners(&self.owners, &mut owners);
        for number in [index_offset, self.entries.len() as u64, self.versions, owner_bytes] {
            footer.extend_from_slice(&number.to_le_bytes());
        }
        footer.extend_from_slice(&crc32c::crc32c(&index).to_le_bytes());
        footer.extend_from_slice(&crc32c::crc32c(&owners).to_le_bytes());
        self.counts.put(&mut footer);
        self.pending.extend_from_slice(&index);
        self.pending.extend_from_slice(&owners);
        self.pending.extend_from_slice(&with_checksum(footer));
        self.pending.extend_from_slice(&END);
        self.write()?;
        self.file.sync().map_err(|error| WriteError::new(self.name.clone(), error))?;
        let bytes = self.bytes();
        self.records.map(RecordFileWriter::finish).transpose()?;
        Ok(bytes)
    }

    fn end_block(&mut self) -> Result<(), WriteError> {
        let new_owners = RoaringBitmap::from_sorted_iter(self.new_owners.drain(..));
        self.owners |= new_owners.expect("owners ascend");
        let (offset, begin) = (self.offset(), self.pending.len());
        let chunk = self.records.as_mut().map(RecordFileWriter::end_chunk).transpose()?;
        self.block.finish_beside(chunk.unwrap_or_default(), &mut self.pending);
        let bytes = &self.pending[begin..];
        let (first_owner, first_neighbor) = self.first.ends();
        self.entries.push(BlockEntry {
            first_owner,
            first_neighbor,
            last_owner: self.last.map_or(first_owner, EdgeKey::owner),
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
