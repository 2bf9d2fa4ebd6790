//! Which vertices exist in the newest state: a bit for each, so that a commit that puts edges reads
//! no file.

use hedgerow_model::VertexId;
use hedgerow_reclamation::{Directory, Memory};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// Words of 64 vertices per page; the model checker's atomics are large and its graphs small.
const PAGE: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Pages per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 256 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 4 } else { (1 << 32) / (64 * PAGE * LIST) };

/// The vertices that exist. Takes a bit per vertex, in pages.
#[derive(Default)]
pub(crate) struct Presence {
    words: Directory<AtomicU64, LISTS, LIST, PAGE>,
    memory: Memory,
}

impl Presence {
    /// Whether a vertex exists. The caller holds its lock, which orders this after the last change. O(1).
    #[inline]
    pub(crate) fn contains(&self, vertex: VertexId) -> bool {
        let word = self.words.get(vertex.get() / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (vertex.get() % 64) & 1 != 0)
    }

    /// Notes that a vertex exists, or no longer does. The caller holds its lock. O(1), and O(page)
    /// once per page.
    pub(crate) fn set(&self, vertex: VertexId, exists: bool) {
        let word = self.words.get_or_create(vertex.get() / 64, &self.memory);
        let bit = 1 << (vertex.get() % 64);
        // Vertices of the same word may have other locks.
        match exists {
            true => word.fetch_or(bit, Ordering::Relaxed),
            false => word.fetch_and(!bit, Ordering::Relaxed),
        };
    }

    /// Heap bytes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.memory.used().index_bytes
    }
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Presence").field("bytes", &self.bytes()).finish()
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn each_vertex_has_a_bit_of_its_own() {
        let presence = Presence::default();
        let some = [0, 1, 63, 64, 65_535, 65_536, VertexId::MAX.get()].map(VertexId::new);
        for (number, vertex) in some.into_iter().enumerate() {
            assert!(!presence.contains(vertex));
            presence.set(vertex, true);
            assert_eq!(some.iter().filter(|vertex| presence.contains(**vertex)).count(), number + 1);
        }
        presence.set(some[2], false);
        assert!(!presence.contains(some[2]) && presence.contains(some[1]) && presence.contains(some[3]));
        assert!(presence.bytes() < 100_000);
    }
}
