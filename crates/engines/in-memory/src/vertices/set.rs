//! A set of vertices with one bit each: members are ordered, and a lookup reads one word.

use crate::reclamation::{Directory, Memory};
use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::Range;

/// Words of 64 vertices per page; the model checker's atomics are large and its graphs small.
const PAGE: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Pages per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 256 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 4 } else { (1 << 32) / (64 * PAGE * LIST) };

/// A set of vertices that threads change and read concurrently. Takes one bit per vertex, in pages.
///
/// Does not order changes: the caller orders them with a lock or a publication.
#[derive(Default)]
pub struct VertexSet {
    words: Directory<AtomicU64, LISTS, LIST, PAGE>,
    memory: Memory,
}

impl VertexSet {
    /// Returns true if the set contains the vertex. O(1).
    #[inline]
    #[must_use]
    pub fn contains(&self, vertex: VertexId) -> bool {
        let word = self.words.get(vertex.get() / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) & bit(vertex) != 0)
    }

    /// Adds a vertex. O(1), and O(page) once per page.
    #[inline]
    pub fn insert(&self, vertex: VertexId) {
        self.words.get_or_create(vertex.get() / 64, &self.memory).fetch_or(bit(vertex), Ordering::Relaxed);
    }

    /// Removes a vertex. O(1).
    pub fn remove(&self, vertex: VertexId) {
        if let Some(word) = self.words.get(vertex.get() / 64) {
            word.fetch_and(!bit(vertex), Ordering::Relaxed);
        }
    }

    /// Returns the members within a range, ascending. O(vertices / 64 + members), without the
    /// vertices of pages that were never used.
    pub fn members(&self, vertices: Range<u32>) -> impl Iterator<Item = VertexId> {
        let words = vertices.start / 64..vertices.end.div_ceil(64);
        let members = self.words.entries(words).flat_map(|(number, word)| {
            let mut left = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let lowest = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(number * 64 + lowest)
            })
        });
        members.filter(move |vertex| vertices.contains(vertex)).map(VertexId::new)
    }

    /// Heap bytes. O(1).
    #[must_use]
    pub fn bytes(&self) -> usize {
        Directory::<AtomicU64, LISTS, LIST, PAGE>::EMPTY_BYTES + self.memory.used().index_bytes
    }
}

/// The bit of a vertex in its word.
#[inline]
fn bit(vertex: VertexId) -> u64 {
    1 << (vertex.get() % 64)
}

impl std::fmt::Debug for VertexSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VertexSet").field("bytes", &self.bytes()).finish()
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn each_vertex_has_a_bit_of_its_own() {
        let set = VertexSet::default();
        let some = [0, 1, 63, 64, 65_535, 65_536, VertexId::MAX.get()];
        for (number, vertex) in some.into_iter().enumerate() {
            assert!(!set.contains(VertexId::new(vertex)));
            set.insert(VertexId::new(vertex));
            let members: Vec<_> = set.members(0..u32::MAX).map(VertexId::get).collect();
            assert_eq!(members, some[..=number]);
        }
        set.remove(VertexId::new(63));
        set.remove(VertexId::new(500_000_000));
        assert!(!set.contains(VertexId::new(63)) && set.contains(VertexId::new(64)));
        let between = |range| set.members(range).map(VertexId::get).collect::<Vec<_>>();
        assert_eq!(between(1..65_535), [1, 64]);
        assert_eq!(between(64..65_536), [64, 65_535]);
        assert_eq!(between(7..7), []);
        assert!(set.bytes() < 100_000);
    }
}
