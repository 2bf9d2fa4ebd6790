//! Reading an edge file.

use super::row_index::{RowIndex, RowPlace};
use super::{
    BlockEntry, END, ENTRY_BYTES, EntryCounts, FOOTER_BYTES, FORMAT_VERSION, HEADER_BYTES, MAGIC, code_of,
    unreadable,
};
use crate::levels::block::{Block, BlockRow};
use crate::levels::records::RecordFile;
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;
use hedgerow_log::files::{File, FileSystem, OpenMode};
use hedgerow_model::{ColumnType, ReadError, VertexId};
use hedgerow_sync::Arc;
use std::ops::Range;

/// An edge file whose index is in memory. Blocks are read on demand.
#[derive(Debug)]
pub struct EdgeFile {
    file: Box<dyn File>,
    /// Present if the edges carry records.
    records: Option<RecordFile>,
    column: ColumnType,
    /// Ascending.
    index: Vec<BlockEntry>,
    rows: RowIndex,
    versions: u64,
    counts: EntryCounts,
}

impl EdgeFile {
    /// Returns the name of the file with the records of the edges in the file `name`.
    #[must_use]
    pub fn records_name(name: &str) -> String {
        format!("{}.records", name.strip_suffix(".edges").unwrap_or(name))
    }

    /// Opens the file `name`, whose edges carry a value of type `column`, and the file with its
    /// records. Reads the index, about 1/300 of the file, and leaves the set of owners to the first
    /// lookup.
    ///
    /// # Errors
    /// A file could not be read, has another content, or is damaged.
    pub fn open(files: &dyn FileSystem, name: &str, column: ColumnType) -> Result<Self, ReadError> {
        let unopened = |error| ReadError::new(name.to_owned(), error);
        let file = files.open(name, OpenMode::Read).map_err(unopened)?;
        let length = file.length().map_err(unopened)?;
        let at = |offset, error: DecodeError| unreadable(&*file, offset + error.offset as u64, error.what);
        let read = |range: Range<u64>| {
            let begin = range.start;
            file.read_range(range).map_err(|error| unreadable(&*file, begin, error))
        };
        let smallest = (HEADER_BYTES + FOOTER_BYTES) as u64;
        if length < smallest {
            return Err(unreadable(&*file, length, "the file is too short for an edge file"));
        }
        check_header(&read(0..HEADER_BYTES as u64)?, column).map_err(|error| at(0, error))?;
        let footer_offset = length - FOOTER_BYTES as u64;
        let footer = Footer::read(&read(footer_offset..length)?).map_err(|error| at(footer_offset, error))?;
        let index_bytes = footer.blocks.checked_mul(ENTRY_BYTES as u64);
        let owners_offset = index_bytes.and_then(|bytes| footer.index_offset.checked_add(bytes));
        let owners_end = owners_offset.and_then(|offset| offset.checked_add(footer.owner_bytes));
        let (Some(owners_offset), true) = (owners_offset, owners_end == Some(footer_offset)) else {
            let what = "the index and the owners do not end where the footer begins";
            return Err(unreadable(&*file, footer_offset, what));
        };
        let index = read(footer.index_offset..owners_offset)?;
        if crc32c::crc32c(&index) != footer.index_checksum {
            return Err(unreadable(&*file, footer.index_offset, "the checksum of the index is wrong"));
        }
        let index = entries(&index, footer.index_offset).map_err(|error| at(footer.index_offset, error))?;
        let records = (column == ColumnType::Record)
            .then(|| RecordFile::open(files, &EdgeFile::records_name(name)))
            .transpose()?;
        let rows = RowIndex::new(owners_offset..footer_offset, footer.owners_checksum);
        // Scans and merges issue prefetches of their own.
        file.expect_random_reads();
        let Footer { versions, counts, .. } = footer;
        Ok(EdgeFile { records, column, index, rows, versions, counts, file })
    }

    /// Returns the type of the values of the edges. O(1).
    #[must_use]
    pub fn column(&self) -> ColumnType {
        self.column
    }

    /// Returns the number of versions of edges. O(1).
    #[must_use]
    pub fn versions(&self) -> u64 {
        self.versions
    }

    /// Returns the numbers of entries: edges in their newest version in the file. O(1).
    #[must_use]
    pub fn counts(&self) -> EntryCounts {
        self.counts
    }

    /// Returns the number of blocks. O(1).
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.index.len()
    }

    /// Returns the last owner of each block, ascending, with the number of bytes of the block.
    pub fn block_sizes(&self) -> impl Iterator<Item = (VertexId, u64)> {
        self.index.iter().map(|entry| (entry.last_owner, u64::from(entry.length)))
    }

    /// Returns the bytes of the index of blocks and, once it is loaded, of the index of rows. O(1).
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.index.capacity() * size_of::<BlockEntry>() + self.rows.bytes()
    }

    /// Returns the place of the row of a vertex; `None` if the file has no edges of it. O(1); the
    /// first call reads the set of owners from the disk.
    ///
    /// # Errors
    /// The set of owners could not be read, is damaged, or does not fit the blocks.
    #[inline]
    pub fn find(&self, owner: VertexId) -> Result<Option<RowPlace>, ReadError> {
        Ok(self.rows.get(&*self.file, &self.index)?.find(owner))
    }

    /// Like [`EdgeFile::find`], but only in the block that has the edge to `neighbor` if there is
    /// one. O(1), and O(log blocks) for a row in several blocks.
    ///
    /// # Errors
    /// As for [`EdgeFile::find`].
    pub fn find_edge(&self, owner: VertexId, neighbor: VertexId) -> Result<Option<RowPlace>, ReadError> {
        let Some(RowPlace { blocks, row }) = self.find(owner)? else { return Ok(None) };
        let further = &self.index[blocks.start + 1..blocks.end];
        Ok(Some(match further.partition_point(|block| block.first_neighbor <= neighbor) {
            0 => RowPlace { blocks: blocks.start..blocks.start + 1, row },
            after => RowPlace { blocks: blocks.start + after..blocks.start + after + 1, row: 0 },
        }))
    }

    /// Returns the row that [`EdgeFile::find`] found, or its part in the block with this number.
    /// O(1); the first call for a block compares all owners of the block with the set of owners.
    ///
    /// # Errors
    /// The block is damaged, or has other owners.
    #[inline]
    pub fn row<'b>(
        &self,
        place: &RowPlace,
        number: usize,
        block: &Block<'b>,
    ) -> Result<BlockRow<'b>, ReadError> {
        let row = if number == place.blocks.start { place.row } else { 0 };
        let rows = self.rows.get(&*self.file, &self.index)?;
        let found = rows.check_once(number, block).and_then(|()| block.row_at(row));
        found.map_err(|error| self.damaged(number, error))
    }

    /// Reads a block, and compares the places of its rows with the rows, and its owners with the
    /// set of owners unless the set is damaged. O(rows).
    ///
    /// # Errors
    /// They differ, or the block could not be read or is damaged.
    pub(crate) fn check_rows(&self, number: usize) -> Result<(), ReadError> {
        let bytes = self.read_block(number)?;
        let block = self.parse(number, &bytes)?;
        let owners =
            self.rows.get(&*self.file, &self.index).map_or(Ok(()), |rows| rows.check(number, &block));
        owners.and_then(|()| block.check_places()).map_err(|error| self.damaged(number, error))
    }

    /// Returns the number of vertices that have edges in the file. O(1); the first call reads the
    /// set of owners.
    ///
    /// # Errors
    /// As for [`EdgeFile::find`].
    pub fn owner_count(&self) -> Result<u64, ReadError> {
        Ok(self.rows.get(&*self.file, &self.index)?.owner_count())
    }

    /// Returns the smallest and the largest owner; `None` if there are no edges. O(1).
    #[must_use]
    pub fn owners(&self) -> Option<(VertexId, VertexId)> {
        Some((self.index.first()?.first_owner, self.index.last()?.last_owner))
    }

    /// Returns the blocks that may have edges of these owners. O(log blocks).
    #[must_use]
    pub fn blocks_of(&self, owners: Range<u32>) -> Range<usize> {
        let begin = self.index.partition_point(|entry| entry.last_owner.get() < owners.start);
        let end = self.index.partition_point(|entry| entry.first_owner.get() < owners.end);
        begin..end.max(begin)
    }

    /// Starts to read blocks, without waiting for them.
    pub fn prefetch(&self, blocks: Range<usize>) {
        let blocks = self.index.get(blocks).unwrap_or_default();
        if let (Some(first), Some(last)) = (blocks.first(), blocks.last()) {
            self.file.prefetch(first.offset..last.offset + u64::from(last.length));
        }
    }

    /// Returns the end of the blocks from `first` on, below `end`, that take about `bytes` bytes
    /// together.
    pub(super) fn blocks_within(&self, first: usize, end: usize, bytes: u64) -> usize {
        let begin = self.index.get(first).map_or(0, |entry| entry.offset);
        let fits = |entry: &&BlockEntry| entry.offset < begin.saturating_add(bytes);
        first + self.index[first.min(end)..end].iter().take_while(fits).count()
    }

    /// Reads the bytes of a block, and compares them with their checksum. One read of the disk.
    ///
    /// # Errors
    /// The block could not be read, or is damaged.
    pub fn read_block(&self, number: usize) -> Result<Arc<[u8]>, ReadError> {
        let BlockEntry { offset, length, checksum, .. } = self.index[number];
        // The file was long enough for all blocks when it was opened.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, length as usize).collect();
        if let Some(bytes) = Arc::get_mut(&mut bytes) {
            let read = self.file.read_exact_at(bytes, offset);
            read.map_err(|error| unreadable(&*self.file, offset, error))?;
        }
        match crc32c::crc32c(&bytes) == checksum {
            true => Ok(bytes),
            false => Err(unreadable(&*self.file, offset, "the checksum of the block is wrong")),
        }
    }

    /// Returns the block in these bytes, which [`EdgeFile::read_block`] returned.
    ///
    /// # Errors
    /// The block was damaged before it was written.
    pub fn parse<'b>(&self, number: usize, bytes: &'b [u8]) -> Result<Block<'b>, ReadError> {
        Block::parse(bytes, self.column).map_err(|error| self.damaged(number, error))
    }

    /// Reads the records of the edges in a block; returns none if the edges carry no records. At
    /// most one read of the disk.
    ///
    /// # Errors
    /// The records could not be read, or are damaged.
    pub fn read_records(&self, block: &Block<'_>) -> Result<Vec<u8>, ReadError> {
        match (&self.records, block.chunk()) {
            (Some(records), Some(chunk)) => records.read(chunk),
            _ => Ok(Vec::new()),
        }
    }

    /// Reads the records of the edges in a block, and compares them with their checksum, without
    /// unpacking them.
    ///
    /// # Errors
    /// The records could not be read, or are damaged.
    pub(crate) fn check_chunk(&self, block: &Block<'_>) -> Result<(), ReadError> {
        match (&self.records, block.chunk()) {
            (Some(records), Some(chunk)) => records.read_stored(chunk).map(drop),
            _ => Ok(()),
        }
    }

    /// Returns the error of a block with wrong content.
    pub fn damaged(&self, number: usize, error: DecodeError) -> ReadError {
        self.damaged_block(number, error.what)
    }

    /// Returns the error of a block about which `what` is wrong.
    pub(crate) fn damaged_block(&self, number: usize, what: impl std::fmt::Display) -> ReadError {
        unreadable(&*self.file, self.index[number].offset, format!("in the block there: {what}"))
    }
}

fn check_header(bytes: &[u8], column: ColumnType) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    if reader.array()? != MAGIC {
        return Err(reader.error("this is no edge file"));
    }
    if u32::from_le_bytes(reader.array()?) != FORMAT_VERSION {
        return Err(reader.error("the file has a format that this version does not read"));
    }
    if u32::from_le_bytes(reader.array()?) != code_of(column) {
        return Err(reader.error("the edges carry values of another type than their label"));
    }
    if u32::from_le_bytes(reader.array()?) != crc32c::crc32c(&bytes[..HEADER_BYTES - 4]) {
        return Err(reader.error("the checksum of the header is wrong"));
    }
    Ok(())
}

struct Footer {
    index_offset: u64,
    blocks: u64,
    versions: u64,
    owner_bytes: u64,
    index_checksum: u32,
    owners_checksum: u32,
    counts: EntryCounts,
}

impl Footer {
    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let mut number = || reader.array().map(u64::from_le_bytes);
        let (index_offset, blocks, versions, owner_bytes) = (number()?, number()?, number()?, number()?);
        let mut checksum = || reader.array().map(u32::from_le_bytes);
        let (index_checksum, owners_checksum) = (checksum()?, checksum()?);
        let counts = EntryCounts::read(&mut reader, versions)?;
        if u32::from_le_bytes(reader.array()?) != crc32c::crc32c(&bytes[..FOOTER_BYTES - 8]) {
            return Err(reader.error("the checksum of the footer is wrong"));
        }
        match reader.array()? == END {
            true => Ok(Footer {
                index_offset,
                blocks,
                versions,
                owner_bytes,
                index_checksum,
                owners_checksum,
                counts,
            }),
            false => Err(reader.error("the file does not end as an edge file does")),
        }
    }
}

/// Returns the entries of an index, which begins where the blocks end.
fn entries(index: &[u8], index_offset: u64) -> Result<Vec<BlockEntry>, DecodeError> {
    let mut reader = Reader::new(index);
    let mut entries: Vec<BlockEntry> = Vec::with_capacity(index.len() / ENTRY_BYTES);
    let mut end = HEADER_BYTES as u64;
    while reader.remaining() > 0 {
        let entry = BlockEntry::read(&mut reader)?;
        let ascends = entries.last().is_none_or(|last| {
            last.last_owner <= entry.first_owner
                && (last.first_owner, last.first_neighbor) < (entry.first_owner, entry.first_neighbor)
        });
        if !ascends || entry.first_owner > entry.last_owner {
            return Err(reader.error("blocks that do not ascend"));
        }
        if entry.offset != end {
            return Err(reader.error("blocks that do not follow each other"));
        }
        end += u64::from(entry.length);
        entries.push(entry);
    }
    match end == index_offset {
        true => Ok(entries),
        false => Err(reader.error("blocks that do not end where the index begins")),
    }
}
