//! The newest versions of edges, in memory until a flush writes them to the levels (LSMGraph, 4.1).
//!
//! - `arena.rs`: nearly all memory of a MemGraph, which is freed at once;
//! - `row_map.rs`: maps an owner to the word that describes its row;
//! - `row.rs`: a row in either form: `segments.rs`, a short one as it was appended, and
//!   `ordered.rs`, a long one as a skip list of leaves (`leaf.rs`); `entry.rs` lays out the entries
//!   of both;
//! - `versions.rs`: all versions in order, for a flush; `flushed.rs`: the MemGraphs that were
//!   flushed while snapshots read them.
//!
//! There are two differences from the paper. An array grows by segments that double, and a row that
//! becomes long leaves its segments to the readers that found them: nothing moves under a reader. A
//! node of a skip list has many entries.

mod arena;
mod entry;
mod flushed;
mod leaf;
mod ordered;
mod row;
mod row_map;
mod segments;
#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests;
mod versions;

pub(crate) use flushed::FlushedMemGraphs;
pub use versions::MemVersions;

use crate::levels::{SeenEdge, Version};
use arena::{ArenaOffset, WordArena};
use entry::{EntryLayout, MOST_COMMITS, MemEntry};
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::GrowingList;
use row::{MemRow, RowState};
use row_map::RowMap;
use std::ops::Range;

/// Content of a version of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemContent<'b> {
    /// A value of the adjacency's column; ignored where that is [`ColumnType::Unit`].
    Value(EdgeValue),
    /// A record, where the column is [`ColumnType::Record`].
    Record(&'b [u8]),
}

/// Versions of edges in memory, by adjacency, owner and neighbor.
///
/// Writers append under a lock of the caller: one writer per owner at a time, any number at
/// different owners. Readers take no locks. Memory is freed when the MemGraph is dropped, all at
/// once.
///
/// Entries and records take at most 2^32 words, and at most 262,136 blocks. The commits are of a
/// [limited range](MemGraph::takes).
pub struct MemGraph {
    /// The column of each adjacency.
    columns: GrowingList<ColumnType>,
    /// All commits come after this one.
    begin: CommitTimestamp,
    rows: RowMap,
    /// Arena of entries and records.
    arena: WordArena,
    /// Arena of the nodes of long rows and of the map.
    index: WordArena,
}

impl MemGraph {
    /// Creates an empty MemGraph for commits after `begin`, whose first adjacencies carry these
    /// columns. Allocates memory in blocks of `block_words` words, a power of two up to 2^24. Finds
    /// rows fastest if there are not many more rows than `buckets`, which take four bytes each.
    #[must_use]
    pub fn new(columns: &[ColumnType], begin: CommitTimestamp, block_words: usize, buckets: usize) -> Self {
        MemGraph {
            columns: GrowingList::new(columns.into()),
            begin,
            rows: RowMap::new(columns.len(), buckets),
            arena: WordArena::new(block_words),
            index: WordArena::new(block_words),
        }
    }

    /// Maximum number of commits after its beginning whose versions a MemGraph can have: entries
    /// count from there.
    pub const MOST_COMMITS: u64 = MOST_COMMITS;

    /// Returns true if the MemGraph can have versions of this commit. O(1).
    #[inline]
    #[must_use]
    pub fn takes(&self, at: CommitTimestamp) -> bool {
        at.0.wrapping_sub(self.begin.0).wrapping_sub(1) < MOST_COMMITS
    }

    /// Adds an adjacency that carries this column, with the next number, concurrently with writers
    /// and readers of the others. Amortized O(1).
    ///
    /// # Panics
    /// If another thread adds an adjacency at the same time, or there are
    /// [too many](GrowingList::LIMIT).
    pub fn add_adjacency(&self, column: ColumnType) {
        self.rows.add_adjacency();
        self.columns.push(column);
    }

    /// Appends a version of an edge, or without content its deletion. O(1) for a short row,
    /// O(log entries + versions of the edge) expected for a long one.
    ///
    /// The caller holds the lock of `owner`. Versions of one edge come in the order of their
    /// timestamps; the later of two with equal timestamps hides the other. No reader has a
    /// timestamp in `editable_from..at`, and none will: in a long row the new version overwrites a
    /// version of the edge from this range. The record of an overwritten version, if it has one,
    /// keeps its memory.
    ///
    /// # Panics
    /// If the MemGraph is full, does not have the adjacency, or does not [take](MemGraph::takes)
    /// the commit.
    pub fn push(
        &self,
        adjacency: u32,
        owner: VertexId,
        neighbor: VertexId,
        at: CommitTimestamp,
        editable_from: CommitTimestamp,
        content: Option<MemContent<'_>>,
    ) {
        self.push_row(adjacency, owner, at, editable_from, std::iter::once((neighbor, content)));
    }

    /// Appends versions of several edges of one owner, all of one commit, like [`MemGraph::push`]
    /// for one.
    ///
    /// # Panics
    /// As for [`MemGraph::push`].
    pub fn push_row<'b>(
        &self,
        adjacency: u32,
        owner: VertexId,
        at: CommitTimestamp,
        editable_from: CommitTimestamp,
        edges: impl Iterator<Item = (VertexId, Option<MemContent<'b>>)>,
    ) {
        assert!(self.takes(at), "commit {at} is beyond a MemGraph that begins after {}", self.begin);
        let slot = self.rows.get_or_create(adjacency, owner, &self.index);
        let mut state = slot.load_as_writer();
        for (neighbor, content) in edges {
            let value = content.map(|content| self.store(self.column(adjacency), content));
            let entry = MemEntry { neighbor, version: Version { at, value } };
            state = self.row_in(adjacency, state).append(entry, editable_from);
        }
        slot.publish(state);
    }

    /// Prefetches the bucket of a row, before [`MemGraph::prefetch_node`]. O(1).
    #[inline]
    pub fn prefetch_bucket(&self, adjacency: u32, owner: VertexId) {
        self.rows.prefetch_bucket(adjacency, owner);
    }

    /// Prefetches the node of a row, most probably, before the row is changed or read. O(1).
    #[inline]
    pub fn prefetch_node(&self, adjacency: u32, owner: VertexId) {
        self.rows.prefetch_node(adjacency, owner, &self.index);
    }

    /// Prefetches the place of the next version of a row, if the row is short, after
    /// [`MemGraph::prefetch_node`]. O(1) expected.
    #[inline]
    pub fn prefetch_end(&self, adjacency: u32, owner: VertexId) {
        self.row(adjacency, owner).iter().for_each(|row| row.prefetch_end());
    }

    /// Appends the edges of a row that a snapshot at `at` sees: of each neighbor the newest version
    /// up to then, ascending by neighbor, deletions included. O(entries · log entries) for a short
    /// row, O(entries) expected for a long one.
    pub fn read_row(&self, adjacency: u32, owner: VertexId, at: CommitTimestamp, edges: &mut Vec<SeenEdge>) {
        if let Some(row) = self.row(adjacency, owner) {
            row.read_at(at, edges);
        }
    }

    /// Returns the value of an edge that a snapshot at `at` sees, or its deletion, or `None` if
    /// there is no version up to then. O(entries) for a short row,
    /// O(log entries + versions of the edge) expected for a long one.
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

    /// Returns the owners of a range that have a row, ascending. O(owners / 64 + rows), without the
    /// owners of pages of bits that were never used.
    pub fn owners(&self, adjacency: u32, owners: Range<u32>) -> impl Iterator<Item = VertexId> {
        self.rows.owners(adjacency, owners)
    }

    /// Returns the heap bytes, including the free room in the last block. O(adjacencies).
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.columns.bytes() + self.arena.bytes() + self.index.bytes() + self.rows.bytes()
    }

    /// Returns the bytes that rows and records take, without tables: 0 if and only if there are
    /// none. Exact unless a writer is at work. O(1).
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.arena.used_bytes() + self.index.used_bytes()
    }

    fn column(&self, adjacency: u32) -> ColumnType {
        *self.columns.get(adjacency as usize).expect("rows are of adjacencies that the MemGraph has")
    }

    fn row(&self, adjacency: u32, owner: VertexId) -> Option<MemRow<'_>> {
        let state = self.rows.get(adjacency, owner, &self.index)?.load();
        state.has_entries().then(|| self.row_in(adjacency, state))
    }

    #[inline]
    fn row_in(&self, adjacency: u32, state: RowState) -> MemRow<'_> {
        let layout = EntryLayout::of(self.column(adjacency), self.begin);
        MemRow { arena: &self.arena, index: &self.index, layout, state }
    }

    /// Returns the value of an edge with this content; stores its record.
    fn store(&self, column: ColumnType, content: MemContent<'_>) -> EdgeValue {
        debug_assert_eq!(column == ColumnType::Record, matches!(content, MemContent::Record(_)));
        match content {
            MemContent::Value(value) => value,
            MemContent::Record(bytes) => EdgeValue(u64::from(self.arena.store_bytes(bytes).0)),
        }
    }
}

impl std::fmt::Debug for MemGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemGraph").field("columns", &self.columns).field("bytes", &self.bytes()).finish()
    }
}
