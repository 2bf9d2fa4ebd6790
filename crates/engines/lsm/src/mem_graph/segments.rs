//! Short rows: entries in the order of their commits, in segments that double (LSMGraph, 4.1: the
//! edge array).
//!
//! A segment is a word with the offset of the previous segment, then entries. The place of an entry
//! follows from the capacities, 2, 4, 8 and so on, and from the number of entries of the row.

use super::arena::{ArenaOffset, WordArena};
use super::entry::{EntryLayout, MemEntry};
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::atomic::Ordering;
use hedgerow_sync::prefetch;
use std::iter;

/// Number of segments of the longest row.
const SEGMENTS: u32 = if cfg!(any(test, hedgerow_shuttle)) { 2 } else { 9 };

/// Maximum entries of a row in segments, which fill these: 1,022, and few in tests. A longer row
/// takes more time to read, a shorter one makes more rows ordered, whose insertions take twice as
/// long and leave the memory of divided leaves.
pub(super) const LONGEST: u32 = (2 << SEGMENTS) - 2;

/// A row in segments.
#[derive(Clone, Copy)]
pub(super) struct SegmentedRow<'m> {
    pub(super) arena: &'m WordArena,
    pub(super) layout: EntryLayout,
    /// The newest segment, if there are entries.
    pub(super) newest: ArenaOffset,
    pub(super) entries: u32,
}

/// Position of an entry in the segment of a capacity.
struct SegmentPosition {
    capacity: u32,
    position: u32,
}

impl SegmentPosition {
    /// The segments before the one of capacity c hold c - 2 entries.
    #[inline]
    fn of(entry: u32) -> Self {
        let capacity = 1 << (entry + 2).ilog2();
        SegmentPosition { capacity, position: entry + 2 - capacity }
    }
}

impl SegmentedRow<'_> {
    /// Appends an entry after the entries that readers can see. O(1).
    #[inline]
    pub(super) fn append(self, entry: MemEntry) -> Self {
        let SegmentPosition { capacity, position } = SegmentPosition::of(self.entries);
        let newest = match position {
            0 => self.add_segment(capacity as usize),
            _ => self.newest,
        };
        let first = 1 + position as usize * self.layout.words();
        self.layout.write(&self.arena.words(newest)[first..], &entry);
        SegmentedRow { newest, entries: self.entries + 1, ..self }
    }

    /// Returns all entries, newest first. O(entries).
    #[inline]
    pub(super) fn newest_first(self) -> impl Iterator<Item = MemEntry> {
        let width = self.layout.words();
        let last = self.entries.checked_sub(1).map(|entry| (SegmentPosition::of(entry), self.newest));
        let segments = iter::successors(last, move |(SegmentPosition { capacity, .. }, segment)| {
            let capacity = capacity / 2;
            let before = || ArenaOffset(self.arena.words(*segment)[0].load(Ordering::Relaxed) as u32);
            (capacity > 1).then(|| (SegmentPosition { capacity, position: capacity - 1 }, before()))
        });
        segments.flat_map(move |(last, segment)| {
            let words = &self.arena.words(segment)[1..][..(last.position as usize + 1) * width];
            words.chunks_exact(width).rev().map(move |words| self.layout.read(words))
        })
    }

    /// Appends all entries in the order of [`SegmentedRow::newest_first`], for a flush, which reads
    /// every row. O(entries).
    #[inline]
    pub(super) fn append_newest_first(self, entries: &mut Vec<MemEntry>) {
        let width = self.layout.words();
        let (mut left, mut segment) = (self.entries, self.newest);
        while let Some(last) = left.checked_sub(1) {
            let words = self.arena.words(segment);
            let in_segment = SegmentPosition::of(last).position + 1;
            let words_of_entries = words[1..][..in_segment as usize * width].chunks_exact(width);
            entries.extend(words_of_entries.rev().map(|words| self.layout.read(words)));
            left -= in_segment;
            segment = ArenaOffset(words[0].load(Ordering::Relaxed) as u32);
        }
    }

    /// Prefetches the newest entries. O(1).
    #[inline]
    pub(super) fn prefetch(self) {
        if self.entries > 0 {
            let SegmentPosition { capacity, .. } = SegmentPosition::of(self.entries - 1);
            let bytes = (1 + capacity as usize * self.layout.words()) * size_of::<u64>();
            prefetch(self.arena.words(self.newest).as_ptr(), bytes);
        }
    }

    /// Prefetches the place of the next entry, unless that is in a new segment. O(1).
    #[inline]
    pub(super) fn prefetch_end(self) {
        let SegmentPosition { position, .. } = SegmentPosition::of(self.entries);
        if position > 0 {
            let first = 1 + position as usize * self.layout.words();
            let words = &self.arena.words(self.newest)[first..];
            prefetch(words.as_ptr(), self.layout.words() * size_of::<u64>());
        }
    }

    /// Returns the value of an edge that a snapshot at `at` sees, or its deletion. O(entries).
    pub(super) fn find_at(self, neighbor: VertexId, at: CommitTimestamp) -> Option<Option<EdgeValue>> {
        let is_seen = |entry: &MemEntry| entry.neighbor == neighbor && entry.version.at <= at;
        self.newest_first().find(is_seen).map(|entry| entry.version.value)
    }

    fn add_segment(self, capacity: usize) -> ArenaOffset {
        let segment = self.arena.allocate(1 + capacity * self.layout.words());
        self.arena.words(segment)[0].store(u64::from(self.newest.0), Ordering::Relaxed);
        segment
    }
}
