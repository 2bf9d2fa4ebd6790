//! Leaves of long rows: entries in the order of their commits, as in short rows.
//!
//! A leaf has space for [`LEAF`] entries. It has space for more, a power of two, only if one edge
//! has many versions, which share a leaf.

use super::arena::{ArenaOffset, WordArena};
use super::entry::{EntryLayout, MemEntry};
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// Number of entries of a full leaf, a power of two. A search scans one leaf; one in about
/// `LEAF / 2` insertions copies one.
const LEAF: usize = if cfg!(any(test, hedgerow_shuttle)) { 4 } else { 64 };

/// A part of the entries of a long row, as they were when the leaf's word was loaded.
#[derive(Clone, Copy)]
pub(super) struct RowLeaf<'m> {
    arena: &'m WordArena,
    layout: EntryLayout,
    offset: ArenaOffset,
    entries: usize,
}

impl<'m> RowLeaf<'m> {
    /// Creates a leaf with these entries.
    pub(super) fn new(arena: &'m WordArena, layout: EntryLayout, entries: &[MemEntry]) -> Self {
        let capacity = entries.len().next_power_of_two().max(LEAF);
        let offset = arena.allocate(capacity * layout.words());
        let words = arena.words(offset).chunks_exact(layout.words());
        for (words, entry) in words.zip(entries) {
            layout.write(words, entry);
        }
        RowLeaf { arena, layout, offset, entries: entries.len() }
    }

    /// Loads the leaf that a word describes: its offset in the upper half, its number of entries in
    /// the lower one.
    #[inline]
    pub(super) fn load(arena: &'m WordArena, layout: EntryLayout, word: &AtomicU64) -> Self {
        let word = word.load(Ordering::Acquire);
        RowLeaf { arena, layout, offset: ArenaOffset((word >> 32) as u32), entries: word as u32 as usize }
    }

    /// Publishes the leaf to readers.
    #[inline]
    pub(super) fn publish(self, word: &AtomicU64) {
        word.store(u64::from(self.offset.0) << 32 | self.entries as u64, Ordering::Release);
    }

    /// Returns true if there is no space for another entry.
    #[inline]
    pub(super) fn is_full(self) -> bool {
        self.entries >= LEAF && self.entries.is_power_of_two()
    }

    /// Appends an entry to a leaf that is not full, after the entries that readers can see. O(1).
    #[inline]
    pub(super) fn append(self, entry: &MemEntry) -> Self {
        self.layout.write(&self.words()[self.entries * self.layout.words()..], entry);
        RowLeaf { entries: self.entries + 1, ..self }
    }

    /// Returns all entries, newest first. O(entries).
    #[inline]
    pub(super) fn newest_first(self) -> impl Iterator<Item = MemEntry> + use<'m> {
        self.words_newest_first().map(move |words| self.layout.read(words))
    }

    /// Returns the words of the newest entry of a neighbor. O(entries).
    #[inline]
    pub(super) fn newest_of(self, neighbor: VertexId) -> Option<&'m [AtomicU64]> {
        self.words_newest_first().find(|words| EntryLayout::neighbor(words) == neighbor)
    }

    /// Returns the value of an edge that a snapshot at `at` sees, or its deletion. O(entries).
    pub(super) fn find_at(self, neighbor: VertexId, at: CommitTimestamp) -> Option<Option<EdgeValue>> {
        let mut versions = self.words_newest_first().filter(|words| EntryLayout::neighbor(words) == neighbor);
        let seen = versions.find(|words| self.layout.timestamp(words) <= at)?;
        Some(self.layout.read(seen).version.value)
    }

    #[inline]
    fn words_newest_first(self) -> impl Iterator<Item = &'m [AtomicU64]> + use<'m> {
        let width = self.layout.words();
        self.words()[..self.entries * width].chunks_exact(width).rev()
    }

    #[inline]
    fn words(self) -> &'m [AtomicU64] {
        self.arena.words(self.offset)
    }
}
