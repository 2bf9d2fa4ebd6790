//! Writing blocks.

use super::places::{Place, STEP, put_places};
use super::{DATED, DELETED, MAX_ENTRIES, OFFSET_BYTES, OLDER, Version};
use crate::levels::frame::FRAME;
use crate::levels::merge::EdgeKey;
use crate::levels::numbers::put_numbers;
use crate::levels::records::ChunkPlace;
use crate::levels::row::put_row;
use hedgerow_encoding::wire::put_varint;
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};

/// Collects the versions of edges for a block.
#[derive(Debug)]
pub struct BlockBuilder {
    column: ColumnType,
    owners: Vec<VertexId>,
    /// End of each row among the entries.
    ends: Vec<usize>,
    neighbors: Vec<VertexId>,
    newest: Vec<Version>,
    /// Older versions, with the numbers of their entries.
    older: Vec<(usize, Version)>,
}

impl BlockBuilder {
    /// Creates a builder of blocks whose edges carry a value of type `column`.
    #[must_use]
    pub fn new(column: ColumnType) -> Self {
        let (owners, ends, neighbors, newest, older) = Default::default();
        BlockBuilder { column, owners, ends, neighbors, newest, older }
    }

    /// Adds a version of an edge. Versions ascend by owner and neighbor, the newest version of an
    /// edge first. Amortized O(1).
    ///
    /// A block has at most 2^16 edges, with any number of versions of each.
    pub fn push(&mut self, owner: VertexId, neighbor: VertexId, version: Version) {
        if self.owners.last() != Some(&owner) {
            debug_assert!(self.owners.last().is_none_or(|last| *last < owner));
            self.owners.push(owner);
            self.ends.push(self.neighbors.len());
        } else if self.neighbors.last() == Some(&neighbor) {
            self.older.push((self.neighbors.len() - 1, version));
            return;
        }
        self.neighbors.push(neighbor);
        self.newest.push(version);
        *self.ends.last_mut().expect("a row was begun") += 1;
    }

    /// Adds edges of one owner, each in one version, behind all edges before. O(edges).
    #[inline]
    pub(crate) fn push_row(&mut self, owner: VertexId, edges: &[EdgeKey], versions: &[Version]) {
        if self.owners.last() != Some(&owner) {
            debug_assert!(self.owners.last().is_none_or(|last| *last < owner));
            self.owners.push(owner);
            self.ends.push(self.neighbors.len());
        }
        self.neighbors.extend(edges.iter().map(|edge| edge.ends().1));
        self.newest.extend_from_slice(versions);
        *self.ends.last_mut().expect("a row was begun") = self.neighbors.len();
    }

    /// Returns the number of versions. O(1).
    #[must_use]
    pub fn versions(&self) -> usize {
        self.newest.len() + self.older.len()
    }

    /// Appends the block, which must have at least one version, and begins the next one.
    /// O(versions).
    ///
    /// # Panics
    /// If the edges carry records.
    pub fn finish(&mut self, bytes: &mut Vec<u8>) {
        assert!(self.column != ColumnType::Record, "records lie in a chunk beside the block");
        self.finish_beside(ChunkPlace::default(), bytes);
    }

    /// Like [`BlockBuilder::finish`], for a block whose records lie in this chunk, if its edges
    /// carry records.
    pub(crate) fn finish_beside(&mut self, chunk: ChunkPlace, bytes: &mut Vec<u8>) {
        debug_assert!(!self.owners.is_empty() && self.neighbors.len() <= MAX_ENTRIES);
        let is_dated = self.newest.iter().any(|version| version.at > CommitTimestamp::ZERO);
        let has_deleted = self.newest.iter().any(|version| version.value.is_none());
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        bytes.push(flag(is_dated, DATED) | flag(has_deleted, DELETED) | flag(!self.older.is_empty(), OLDER));
        put_varint(bytes, self.owners.len() as u64);
        put_varint(bytes, self.neighbors.len() as u64);
        self.put_rows(bytes);
        if is_dated {
            put_numbers(bytes, &self.newest.iter().map(|version| version.at.0).collect::<Vec<_>>());
        }
        if has_deleted {
            let bits = |versions: &[Version]| {
                versions.iter().rev().fold(0, |bits, version| bits << 1 | u8::from(version.value.is_none()))
            };
            bytes.extend(self.newest.chunks(8).map(bits));
        }
        self.put_values(chunk, bytes);
        if !self.older.is_empty() {
            put_varint(bytes, self.older.len() as u64);
        }
        let width = if self.column == ColumnType::Record { OFFSET_BYTES } else { self.column.width() };
        for (entry, Version { at, value }) in &self.older {
            bytes.extend_from_slice(&(*entry as u32).to_le_bytes());
            bytes.extend_from_slice(&at.0.to_le_bytes());
            bytes.push(u8::from(value.is_none()));
            put_value(bytes, width, *value);
        }
        self.clear();
    }

    /// Appends the values of the entries.
    fn put_values(&self, chunk: ChunkPlace, bytes: &mut Vec<u8>) {
        let values = self.newest.iter().map(|version| version.value);
        if self.column == ColumnType::Record {
            chunk.put(bytes);
            let offsets = values.map(|value| value.map_or(0, |offset| offset.0 + 1));
            put_numbers(bytes, &offsets.collect::<Vec<_>>());
        } else if self.column.width() > 0 {
            values.for_each(|value| put_value(bytes, self.column.width(), value));
        }
    }

    /// Appends the lengths of owners and rows, then places, owners and rows.
    fn put_rows(&self, bytes: &mut Vec<u8>) {
        let (mut owners, mut rows, mut places) = (Vec::new(), Vec::new(), Vec::new());
        put_row(&mut owners, &self.owners);
        let mut begin = 0;
        for (number, end) in self.ends.iter().enumerate() {
            if number > 0 && number % STEP == 0 {
                places.push(Place { offset: rows.len(), first: begin });
            }
            put_row(&mut rows, &self.neighbors[begin..*end]);
            begin = *end;
        }
        put_varint(bytes, owners.len() as u64);
        put_varint(bytes, rows.len() as u64);
        put_places(bytes, &places, self.neighbors.len(), rows.len());
        bytes.extend_from_slice(&owners);
        let frame_owners = self.owners.iter().step_by(FRAME).skip(1);
        frame_owners.for_each(|owner| bytes.extend_from_slice(&owner.get().to_le_bytes()));
        bytes.extend_from_slice(&rows);
    }

    fn clear(&mut self) {
        self.owners.clear();
        self.ends.clear();
        self.neighbors.clear();
        self.newest.clear();
        self.older.clear();
    }
}

/// Appends a value, or zeros for a deletion.
fn put_value(bytes: &mut Vec<u8>, width: usize, value: Option<EdgeValue>) {
    let bits = value.unwrap_or(EdgeValue(0)).0.to_le_bytes();
    bytes.extend_from_slice(&bits[..width]);
}
