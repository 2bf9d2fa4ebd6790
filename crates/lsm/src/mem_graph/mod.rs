//! The newest versions of edges, in memory until a flush writes them to the levels (LSMGraph, 4.1).
//!
//! - `arena.rs`: all memory of a MemGraph but its tables, which is freed at once;
//! - `directory.rs`: from an owner to the word that describes its row;
//! - `row.rs`: a row in either form: `segments.rs`, a short one as it was appended, and `ordered.rs`,
//!   a long one as a skip list of leaves (`leaf.rs`); `entry.rs` lays out the entries of both;
//! - `versions.rs`: everything in order, for a flush.
//!
//! Three things differ from the paper. A table finds the rows, not a hash map. An array grows by
//! segments that double, and a row that becomes long leaves its segments to the readers that found
//! them: nothing moves under a reader. A node of a skip list has many entries.

mod arena;
mod directory;
mod entry;
mod leaf;
mod ordered;
mod row;
mod segments;
#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests;
mod versions;

pub use versions::MemVersions;

use arena::{ArenaOffset, WordArena};
use directory::RowDirectory;
use entry::{EntryLayout, MemEntry};
use hedgerow_levels::{SeenEdge, Version};
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};
use hedgerow_reclamation::Memory;
use row::{MemRow, RowState};
use std::ops::Range;

/// What a version of an edge carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemContent<'b> {
    /// A value of the adjacency's column; ignored where that is [`ColumnType::Unit`].
    Value(EdgeValue),
    /// A record, where the column is [`ColumnType::Record`].
    Record(&'b [u8]),
}

/// Versions of edges in memory, by adjacency, owner and neighbor.
///
/// Writers append under a lock of the caller: one writer per owner at a time, any number at different
/// owners. Readers take no locks. Memory is freed when the MemGraph is dropped, all at once.
///
/// Its entries and records take at most 2^32 words, and at most 262,136 blocks.
pub struct MemGraph {
    adjacencies: Box<[MemAdjacency]>,
    /// Has entries and records.
    arena: WordArena,
    /// Has the nodes of long rows.
    index: WordArena,
    /// Counts the tables and pages of the directories.
    tables: Memory,
}

/// The rows of one adjacency.
struct MemAdjacency {
    column: ColumnType,
    rows: RowDirectory,
}

impl MemGraph {
    /// An empty MemGraph whose adjacencies carry these columns. Allocates memory in blocks of
    /// `block_words` words, a power of two up to 2^24.
    #[must_use]
    pub fn new(columns: &[ColumnType], block_words: usize) -> Self {
        let adjacency = |column: &ColumnType| MemAdjacency { column: *column, rows: RowDirectory::default() };
        MemGraph {
            adjacencies: columns.iter().map(adjacency).collect(),
            arena: WordArena::new(block_words),
            index: WordArena::new(block_words),
            tables: Memory::default(),
        }
    }

    /// Appends a version of an edge; without content, its deletion. O(1) for a short row, O(log
    /// entries + versions of the edge) expected for a long one.
    ///
    /// The caller holds the lock of `owner`. Versions of one edge come in the order of their
    /// timestamps; the later of two with equal timestamps hides the other. No
    /// reader has a timestamp in `editable_from..at`, and none will: in a long row the new version
    /// overwrites a version of the edge from then. Its record, if it has one, keeps its memory.
    ///
    /// # Panics
    /// If the MemGraph is full.
    pub fn push(
        &self,
        adjacency: u32,
        owner: VertexId,
        neighbor: VertexId,
        at: CommitTimestamp,
        editable_from: CommitTimestamp,
        content: Option<MemContent<'_>>,
    ) {
        let adjacency = &self.adjacencies[adjacency as usize];
        let value = content.map(|content| self.store(adjacency.column, content));
        let entry = MemEntry { neighbor, version: Version { at, value } };
        let slot = adjacency.rows.get_or_create(owner, &self.tables);
        let row = self.row_in(adjacency, slot.load_as_writer());
        slot.publish(row.append(entry, editable_from));
    }

    /// Appends what a snapshot at `at` sees of a row: of each neighbor the newest version up to then,
    /// ascending by neighbor, deletions included. O(entries · log entries) for a short row,
    /// O(entries) expected for a long one.
    pub fn read_row(&self, adjacency: u32, owner: VertexId, at: CommitTimestamp, edges: &mut Vec<SeenEdge>) {
        if let Some(row) = self.row(adjacency, owner) {
            row.read_at(at, edges);
        }
    }

    /// What a snapshot at `at` sees of an edge: its value, or that it is deleted. `None` if there is
    /// no version up to then. O(entries) for a short row, O(log entries + versions of the edge)
    /// expected for a long one.
    #[must_use]
    pub fn find(
        &self,
        adjacency: u32,
        owner: VertexId,
        neighbor: VertexId,
        at: CommitTimestamp,
    ) -> Option<Option<EdgeValue>> {
        self.row(adjacency, owner)?.find_at(neighbor, at)
    }

    /// Appends the bytes of the record that an edge of this MemGraph carries. O(bytes).
    pub fn record(&self, value: EdgeValue, bytes: &mut Vec<u8>) {
        self.arena.read_bytes(ArenaOffset(value.0 as u32), bytes);
    }

    /// The first of these owners that has a row. O(owners before it), without those of pages that
    /// were never used.
    #[must_use]
    pub fn next_owner(&self, adjacency: u32, owners: Range<u32>) -> Option<VertexId> {
        self.adjacencies[adjacency as usize].rows.next(owners).map(|(owner, _)| owner)
    }

    /// Heap bytes, including what is still free in the last block. O(1).
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.adjacencies)
            + self.arena.bytes()
            + self.index.bytes()
            + self.tables.used().index_bytes
    }

    /// Bytes that versions and records take, without tables: 0 if and only if there are none. Exact
    /// unless a writer is at work. O(1).
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.arena.used_bytes() + self.index.used_bytes()
    }

    fn row(&self, adjacency: u32, owner: VertexId) -> Option<MemRow<'_>> {
        let adjacency = &self.adjacencies[adjacency as usize];
        let state = adjacency.rows.get(owner)?.load();
        state.has_entries().then(|| self.row_in(adjacency, state))
    }

    /// The first row from owner `from` on.
    fn next_row(&self, adjacency: u32, from: u32) -> Option<(VertexId, MemRow<'_>)> {
        let adjacency = &self.adjacencies[adjacency as usize];
        let (owner, state) = adjacency.rows.next(from..u32::MAX)?;
        Some((owner, self.row_in(adjacency, state)))
    }

    #[inline]
    fn row_in(&self, adjacency: &MemAdjacency, state: RowState) -> MemRow<'_> {
        MemRow { arena: &self.arena, index: &self.index, layout: adjacency.layout(), state }
    }

    /// The value of an edge with this content; stores its record.
    fn store(&self, column: ColumnType, content: MemContent<'_>) -> EdgeValue {
        debug_assert_eq!(column == ColumnType::Record, matches!(content, MemContent::Record(_)));
        match content {
            MemContent::Value(value) => value,
            MemContent::Record(bytes) => EdgeValue(u64::from(self.arena.store_bytes(bytes).0)),
        }
    }
}

impl MemAdjacency {
    #[inline]
    fn layout(&self) -> EntryLayout {
        EntryLayout::of(self.column)
    }
}

impl std::fmt::Debug for MemGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns: Vec<_> = self.adjacencies.iter().map(|adjacency| adjacency.column).collect();
        f.debug_struct("MemGraph").field("columns", &columns).field("bytes", &self.bytes()).finish()
    }
}
