//! A block: the rows of consecutive vertices, with the versions of their edges.
//!
//! | part | bytes |
//! |---|---|
//! | flags | 1: [`DATED`], [`DELETED`], [`OLDER`] |
//! | numbers of rows and entries; bytes of the owners and of the rows | variable-length numbers |
//! | [places](places): the beginning of the 5th, 9th, … row | packed |
//! | owners of the rows | one [packed row](crate::levels::row) |
//! | owner of the 129th, 257th, … row: a search by owner unpacks one frame of owners | 4 each |
//! | rows: the neighbors of each owner | packed rows |
//! | timestamps of the entries, if dated | [`numbers`](super::numbers) |
//! | deletions, if any: a bit per entry, set if deleted; lowest first | ⌈entries / 8⌉ |
//! | values of the entries, in the form of the column | width of the column each |
//! | older versions, if any: their number | variable-length number |
//! | each one: entry, timestamp, 1 if deleted, value | 4 + 8 + 1 + width of the column |
//!
//! In a column of records, the value of an edge is the offset of its record in the
//! [chunk](super::records) of the block. The values are then packed [`numbers`](super::numbers): 0
//! for a deletion, else the offset + 1. They follow the place of the chunk: its offset, its length,
//! its checksum (8 + 4 + 4 bytes). The values of older versions have 4 bytes.
//!
//! Numbers of fixed width are little endian. A block has at most [`MAX_ENTRIES`] entries. An entry
//! is an edge in its newest version. Its timestamp is 0 once every snapshot sees it: it is
//! **settled**. Older versions ascend by entry, newest first.

mod builder;
mod content;
mod places;
#[cfg(test)]
mod tests;
mod versions;

pub use builder::BlockBuilder;

use self::places::{Place, Places, STEP};
use crate::levels::frame::FRAME;
use crate::levels::numbers::Numbers;
use crate::levels::records::ChunkPlace;
use crate::levels::row::{PackedRow, Unpacked};
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};
use std::ops::{ControlFlow, Range};

/// The block has timestamps: not every entry is settled.
const DATED: u8 = 1;
/// Some entries are deleted.
const DELETED: u8 = 2;
/// Some entries have older versions.
const OLDER: u8 = 4;

/// Maximum number of entries. Consecutive neighbors take no bytes, so the bytes of a block do not
/// bound the memory that its reader takes.
pub(crate) const MAX_ENTRIES: usize = 1 << 16;

/// Bytes of an owner.
const OWNER_BYTES: usize = 4;

/// Bytes of the offset of a record.
const OFFSET_BYTES: usize = 4;

/// One version of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The commit of the version; 0 if every snapshot sees it.
    pub at: CommitTimestamp,
    /// The value of the edge, or the offset of its record in the records that come with the
    /// version; `None` for a deletion.
    pub value: Option<EdgeValue>,
}

/// The rows of consecutive vertices, in their form on disk.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    rows: usize,
    entries: usize,
    places: Places<'b>,
    /// The owners, as a packed row.
    owners: &'b [u8],
    /// The first owner of each frame of owners except the first frame.
    frame_owners: &'b [u8],
    packed: &'b [u8],
    timestamps: Option<Numbers<'b>>,
    deleted: Option<&'b [u8]>,
    values: Values<'b>,
    older: &'b [u8],
}

/// The values of the entries.
#[derive(Clone, Copy, Debug)]
enum Values<'b> {
    /// In the form of the column.
    Plain { width: usize, values: &'b [u8] },
    /// Offsets of records, plus 1.
    Offsets { chunk: ChunkPlace, offsets: Numbers<'b> },
}

impl<'b> Values<'b> {
    fn read(reader: &mut Reader<'b>, column: ColumnType, entries: usize) -> Result<Self, DecodeError> {
        if column == ColumnType::Record {
            let chunk = ChunkPlace::read(reader)?;
            return Ok(Values::Offsets { chunk, offsets: Numbers::read(reader, entries)? });
        }
        let width = column.width();
        let bytes = entries.checked_mul(width);
        let bytes = bytes.ok_or_else(|| reader.error("more values than a block can have"))?;
        Ok(Values::Plain { width, values: reader.take(bytes)? })
    }

    #[inline]
    fn get(&self, entry: usize) -> EdgeValue {
        match self {
            Values::Plain { width, values } => value_at(values, entry * width, *width),
            Values::Offsets { offsets, .. } => EdgeValue(offsets.get(entry).wrapping_sub(1)),
        }
    }

    /// Returns true if no entry has a value.
    #[inline]
    fn are_empty(&self) -> bool {
        matches!(self, Values::Plain { width: 0, .. })
    }

    /// Returns the bytes of the value of an older version.
    #[inline]
    fn older_width(&self) -> usize {
        match self {
            Values::Plain { width, .. } => *width,
            Values::Offsets { .. } => OFFSET_BYTES,
        }
    }
}

/// A row of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockRow<'b> {
    block: Block<'b>,
    /// The neighbors, including deleted ones.
    neighbors: PackedRow<'b>,
    /// Number of the first entry of the row in the block.
    first: usize,
}

impl<'b> Block<'b> {
    /// Returns the block in these bytes, whose edges carry a value of type `column`. O(1).
    ///
    /// # Errors
    /// The bytes are no block. The contents of the owners and the rows are only checked when rows
    /// are read.
    pub fn parse(bytes: &'b [u8], column: ColumnType) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let flags = reader.byte()?;
        if flags > DATED | DELETED | OLDER {
            return Err(reader.error("a block of an unknown form"));
        }
        let rows = reader.count()?;
        let entries = usize::try_from(reader.varint()?).ok().filter(|entries| *entries <= MAX_ENTRIES);
        let entries = entries.ok_or_else(|| reader.error("more entries than a block can have"))?;
        if rows == 0 || entries < rows {
            return Err(reader.error("a number of rows that is not that of the entries"));
        }
        let (owner_bytes, row_bytes) = (reader.count()?, reader.count()?);
        let places = Places::read(&mut reader, rows, entries, row_bytes)?;
        let owners = reader.take(owner_bytes)?;
        let frame_owners = reader.take((rows - 1) / FRAME * OWNER_BYTES)?;
        let packed = reader.take(row_bytes)?;
        let timestamps = (flags & DATED != 0).then(|| Numbers::read(&mut reader, entries)).transpose()?;
        let deleted = (flags & DELETED != 0).then(|| reader.take(entries.div_ceil(8))).transpose()?;
        let values = Values::read(&mut reader, column, entries)?;
        let older = match flags & OLDER {
            0 => &[][..],
            _ => {
                let count = reader.count()?;
                let bytes = count.checked_mul(older_bytes(values.older_width()));
                reader.take(bytes.ok_or_else(|| reader.error("more versions than a block can have"))?)?
            }
        };
        reader.end()?;
        Ok(Block { rows, entries, places, owners, frame_owners, packed, timestamps, deleted, values, older })
    }

    /// Returns the place of the records of the edges; `None` in a column of another type. O(1).
    pub(crate) fn chunk(&self) -> Option<ChunkPlace> {
        match self.values {
            Values::Plain { .. } => None,
            Values::Offsets { chunk, .. } => Some(chunk),
        }
    }

    /// Returns the number of rows. O(1).
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Searches the row of a vertex; `None` if the block has none. O(log rows).
    /// [`EdgeFile::row`](super::EdgeFile::row) knows the number of a row, and does not search.
    ///
    /// # Errors
    /// The owners or the rows are damaged.
    pub fn row(&self, owner: VertexId) -> Result<Option<BlockRow<'b>>, DecodeError> {
        self.number_of(owner)?.map(|number| self.row_at(number)).transpose()
    }

    /// Returns the row with a number. O(1).
    ///
    /// # Errors
    /// There is no such row, or the rows are damaged.
    #[inline]
    pub(crate) fn row_at(&self, number: usize) -> Result<BlockRow<'b>, DecodeError> {
        let mut rows = self.rows_from(number / STEP)?;
        for _ in 0..number % STEP {
            rows.next()?;
        }
        rows.next()
    }

    /// Runs `visit` on all rows, ascending by owner, until it breaks.
    ///
    /// # Errors
    /// The rows are damaged. The rows before have been visited.
    pub fn scan<B>(
        &self,
        mut visit: impl FnMut(VertexId, BlockRow<'b>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, DecodeError> {
        let mut rows = self.rows_from(0)?;
        let mut failed = None;
        let flow = self.visit_owners(|owners| {
            for owner in owners {
                match rows.next() {
                    Ok(row) => visit(*owner, row).map_break(Some)?,
                    Err(error) => {
                        failed = Some(error);
                        return ControlFlow::Break(None);
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        match (failed, flow) {
            (Some(error), _) => Err(error),
            (None, ControlFlow::Break(Some(found))) => Ok(ControlFlow::Break(found)),
            (None, _) => Ok(ControlFlow::Continue(())),
        }
    }

    /// Runs `visit` on the owners of the rows, ascending, several at a time, until it breaks.
    /// O(rows).
    ///
    /// # Errors
    /// The owners are damaged. The owners before have been visited.
    pub(crate) fn visit_owners<B>(
        &self,
        visit: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, DecodeError> {
        self.owners()?.visit(&mut Unpacked::default(), visit)
    }

    /// Returns the owners of the rows. O(rows / 128).
    fn owners(&self) -> Result<PackedRow<'b>, DecodeError> {
        let mut reader = Reader::new(self.owners);
        let owners = PackedRow::read(&mut reader)?;
        reader.end()?;
        match owners.degree() == self.rows {
            true => Ok(owners),
            false => Err(reader.error("a number of rows that is not that of the owners")),
        }
    }

    /// Checks the numbers of rows and entries, and that rows begin at their places. O(rows).
    ///
    /// # Errors
    /// The rows are damaged.
    pub(crate) fn check_places(&self) -> Result<(), DecodeError> {
        let mut rows = self.rows_from(0)?;
        for number in 0..self.rows {
            let place = Place { offset: rows.reader.position(), first: rows.first };
            if number % STEP == 0 && self.places.get(number / STEP) != place {
                return Err(rows.reader.error("a row that does not begin where its place says"));
            }
            rows.next()?;
        }
        rows.reader.end()?;
        match rows.first == self.entries {
            true => Ok(()),
            false => Err(rows.reader.error("fewer entries than the block has")),
        }
    }

    /// Returns the number of the row of an owner.
    fn number_of(&self, owner: VertexId) -> Result<Option<usize>, DecodeError> {
        let first_of = |frame: usize| number_at(self.frame_owners, (frame - 1) * OWNER_BYTES) as u32;
        let frames = 1..self.frame_owners.len() / OWNER_BYTES + 1;
        let owners = self.owners()?;
        match partition_point(frames, |frame| first_of(frame) <= owner.get()) {
            1 => owners.find_in_first_frame(owner),
            after => owners.find_in_frame(after - 1, first_of(after - 1), owner),
        }
    }

    /// Returns the rows from `place` · [`STEP`] on.
    #[inline]
    fn rows_from(&self, place: usize) -> Result<Rows<'b>, DecodeError> {
        let mut reader = Reader::new(self.packed);
        if place * STEP >= self.rows {
            return Err(reader.error("a row that the block does not have"));
        }
        let Place { offset, first } = self.places.get(place);
        reader.take(offset)?;
        Ok(Rows { block: *self, reader, first })
    }

    /// Returns the newest version of an entry.
    #[inline]
    fn newest(&self, entry: usize) -> Version {
        let at = CommitTimestamp(self.timestamps.map_or(0, |timestamps| timestamps.get(entry)));
        let is_deleted = self.deleted.is_some_and(|deleted| deleted[entry / 8] >> (entry % 8) & 1 != 0);
        Version { at, value: (!is_deleted).then(|| self.values.get(entry)) }
    }

    /// Returns the older versions of an entry, newest first. O(log versions) to begin.
    fn older(&self, entry: usize) -> impl Iterator<Item = Version> {
        let (bytes, width) = (self.older, self.values.older_width());
        let size = older_bytes(width);
        let entry_of = move |version: usize| number_at(bytes, version * size);
        let begin = partition_point(0..bytes.len() / size, |version| entry_of(version) < entry);
        (begin..bytes.len() / size).take_while(move |version| entry_of(*version) == entry).map(
            move |version| {
                let offset = version * size;
                let is_deleted = bytes[offset + 12] != 0;
                let at = CommitTimestamp(value_at(bytes, offset + 4, 8).0);
                Version { at, value: (!is_deleted).then(|| value_at(bytes, offset + 13, width)) }
            },
        )
    }
}

impl<'b> BlockRow<'b> {
    /// Returns the number of entries, including deleted ones, at least 1. O(1).
    #[must_use]
    pub fn entries(&self) -> usize {
        self.neighbors.degree()
    }

    /// Returns the neighbors if every snapshot sees each of them: nothing is dated or deleted.
    /// O(1).
    #[must_use]
    pub fn settled(&self) -> Option<PackedRow<'b>> {
        let Block { timestamps, deleted, .. } = self.block;
        (timestamps.is_none() && deleted.is_none()).then_some(self.neighbors)
    }

    /// Returns the newest value of each entry, even of deleted ones. O(1) each.
    pub(crate) fn values(&self) -> impl Iterator<Item = EdgeValue> {
        let Block { values, .. } = self.block;
        (self.first..self.first + self.entries()).map(move |entry| values.get(entry))
    }

    /// Runs `visit` on each entry with the version that a snapshot at `at` sees, ascending by
    /// neighbor, until it breaks. Skips entries without such a version, but not deletions, because
    /// they hide the levels below.
    ///
    /// # Errors
    /// The row is damaged. The entries before have been visited.
    pub fn visit_at<B>(
        &self,
        at: CommitTimestamp,
        unpacked: &mut Unpacked,
        mut visit: impl FnMut(VertexId, Option<EdgeValue>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, DecodeError> {
        let mut entry = self.first;
        self.neighbors.visit(unpacked, |neighbors| {
            for neighbor in neighbors {
                if let Some(version) = self.version_at(entry, at) {
                    visit(*neighbor, version.value)?;
                }
                entry += 1;
            }
            ControlFlow::Continue(())
        })
    }

    /// Returns the version of the edge to `neighbor` that a snapshot at `at` sees; `None` if the
    /// row has none.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn find_at(&self, neighbor: VertexId, at: CommitTimestamp) -> Result<Option<Version>, DecodeError> {
        Ok(self.neighbors.find(neighbor)?.and_then(|place| self.version_at(self.first + place, at)))
    }

    /// Runs `visit` on all versions, ascending by neighbor, newest first.
    ///
    /// # Errors
    /// The row is damaged. The versions before have been visited.
    pub fn for_each_version(&self, mut visit: impl FnMut(VertexId, Version)) -> Result<(), DecodeError> {
        let mut entry = self.first;
        let all = self.neighbors.visit(&mut Unpacked::default(), |neighbors| {
            for neighbor in neighbors {
                visit(*neighbor, self.block.newest(entry));
                self.block.older(entry).for_each(|version| visit(*neighbor, version));
                entry += 1;
            }
            ControlFlow::<()>::Continue(())
        });
        all.map(|_| ())
    }

    #[inline]
    fn version_at(&self, entry: usize, at: CommitTimestamp) -> Option<Version> {
        let newest = self.block.newest(entry);
        if newest.at <= at {
            return Some(newest);
        }
        self.block.older(entry).find(|version| version.at <= at)
    }
}

/// Reads rows one after the other.
struct Rows<'b> {
    block: Block<'b>,
    reader: Reader<'b>,
    /// Number of the first entry of the next row.
    first: usize,
}

impl<'b> Rows<'b> {
    fn next(&mut self) -> Result<BlockRow<'b>, DecodeError> {
        let neighbors = PackedRow::read(&mut self.reader)?;
        let row = BlockRow { block: self.block, neighbors, first: self.first };
        self.first = self.first.saturating_add(neighbors.degree());
        if self.first > self.block.entries {
            return Err(self.reader.error("more entries than the block has"));
        }
        Ok(row)
    }
}

/// Returns the bytes of an older version whose value has `width` bytes.
const fn older_bytes(width: usize) -> usize {
    4 + 8 + 1 + width
}

/// Returns four bytes as a number.
#[inline]
fn number_at(bytes: &[u8], offset: usize) -> usize {
    value_at(bytes, offset, 4).0 as usize
}

/// Returns `width` bytes, at most eight, as the bits of a value.
#[inline]
fn value_at(bytes: &[u8], offset: usize, width: usize) -> EdgeValue {
    let mut value = [0; 8];
    value[..width].copy_from_slice(&bytes[offset..offset + width]);
    EdgeValue(u64::from_le_bytes(value))
}

/// Returns the first number of a range for which `is_before` is false.
fn partition_point(mut range: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    while !range.is_empty() {
        let middle = range.start.midpoint(range.end);
        match is_before(middle) {
            true => range.start = middle + 1,
            false => range.end = middle,
        }
    }
    range.start
}
