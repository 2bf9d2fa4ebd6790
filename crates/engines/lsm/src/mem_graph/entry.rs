//! Entries of rows as words.
//!
//! | word | content |
//! |---|---|
//! | 0 | neighbor (upper half); commits since the MemGraph's beginning (31 bits); [`DELETED`] |
//! | 1, if the column has values | the bits of the value, or the offset of the record |

use crate::levels::{SeenEdge, Version};
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use smallvec::SmallVec;

/// A bit of the first word: the version is a deletion.
const DELETED: u64 = 1;

/// Maximum number of commits after its beginning that a MemGraph takes.
pub(super) const MOST_COMMITS: u64 = (1 << 31) - 1;

/// A version of an edge of a known owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemEntry {
    pub(super) neighbor: VertexId,
    pub(super) version: Version,
}

/// Word layout of the entries of an adjacency.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryLayout {
    has_value: bool,
    /// The commit after which the MemGraph begins.
    begin: CommitTimestamp,
}

impl EntryLayout {
    pub(super) const fn of(column: ColumnType, begin: CommitTimestamp) -> Self {
        EntryLayout { has_value: !matches!(column, ColumnType::Unit), begin }
    }

    /// Words of an entry.
    #[inline]
    pub(super) fn words(self) -> usize {
        1 + usize::from(self.has_value)
    }

    /// Writes an entry into words that no reader looks at yet, or whose version no reader sees.
    #[inline]
    pub(super) fn write(self, words: &[AtomicU64], entry: &MemEntry) {
        let MemEntry { neighbor, version } = entry;
        let deleted = if version.value.is_none() { DELETED } else { 0 };
        let commits = version.at.0 - self.begin.0;
        words[0].store(u64::from(neighbor.get()) << 32 | commits << 1 | deleted, Ordering::Relaxed);
        if self.has_value {
            words[1].store(version.value.unwrap_or_default().0, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn read(self, words: &[AtomicU64]) -> MemEntry {
        let first = words[0].load(Ordering::Relaxed);
        let value = || EdgeValue(if self.has_value { words[1].load(Ordering::Relaxed) } else { 0 });
        let value = (first & DELETED == 0).then(value);
        MemEntry {
            neighbor: EntryLayout::neighbor(words),
            version: Version { at: self.timestamp(words), value },
        }
    }

    /// The neighbor of an entry.
    #[inline]
    pub(super) fn neighbor(words: &[AtomicU64]) -> VertexId {
        VertexId::new((words[0].load(Ordering::Relaxed) >> 32) as u32)
    }

    /// The timestamp of an entry.
    #[inline]
    pub(super) fn timestamp(self, words: &[AtomicU64]) -> CommitTimestamp {
        let commits = words[0].load(Ordering::Relaxed) as u32 >> 1;
        CommitTimestamp(self.begin.0 + u64::from(commits))
    }
}

/// Appends the edges that a snapshot at `at` sees, ascending by neighbor, given entries newest
/// first. O(entries · log entries).
#[inline]
pub(super) fn append_seen(
    newest_first: impl Iterator<Item = MemEntry>,
    at: CommitTimestamp,
    edges: &mut Vec<SeenEdge>,
) {
    let begin = edges.len();
    newest_first.for_each(|MemEntry { neighbor, version }| {
        if version.at <= at {
            edges.push((neighbor, version.value));
        }
    });
    sort_by_neighbor(edges, begin, |(neighbor, _)| *neighbor);
    keep_first_of_equal(edges, begin, |(neighbor, _)| *neighbor);
}

/// Orders the entries from `begin` on, given newest first, by neighbor, newest first within a
/// neighbor. Keeps only the newest entry of each edge and timestamp. O(entries · log entries).
#[inline]
pub(super) fn order_versions(versions: &mut Vec<MemEntry>, begin: usize) {
    sort_by_neighbor(versions, begin, |entry| entry.neighbor);
    keep_first_of_equal(versions, begin, |entry| (entry.neighbor, entry.version.at));
}

/// Sorts a list from `begin` on by neighbor; versions of an edge stay newest first.
/// O(items · log items).
///
/// Sorts words, and moves each item once: rows are read much faster than with a stable sort of
/// items.
#[inline]
fn sort_by_neighbor<T: Copy>(list: &mut Vec<T>, begin: usize, neighbor: impl Fn(&T) -> VertexId) {
    // A row has fewer than 2^32 entries.
    let words = list[begin..].iter().zip(0u64..);
    let words = words.map(|(item, place)| u64::from(neighbor(item).get()) << 32 | place);
    let mut order: SmallVec<[u64; 64]> = words.collect();
    if order.is_sorted() {
        return;
    }
    order.sort_unstable();
    list.reserve(order.len());
    for word in &order {
        list.push(list[begin + *word as u32 as usize]);
    }
    list.drain(begin..begin + order.len());
}

/// Keeps the first of adjacent items with equal keys, from `begin` on.
fn keep_first_of_equal<T: Copy, K: PartialEq>(list: &mut Vec<T>, begin: usize, key: impl Fn(&T) -> K) {
    let are_equal = |pair: &[T]| key(&pair[0]) == key(&pair[1]);
    let Some(first) = list[begin..].windows(2).position(are_equal) else { return };
    let second = begin + first + 1;
    let mut kept = second;
    for position in second..list.len() {
        if key(&list[position]) != key(&list[kept - 1]) {
            list[kept] = list[position];
            kept += 1;
        }
    }
    list.truncate(kept);
}
