//! The vertices that wait in the current bucket.

use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// One bit per vertex id, set while the vertex waits. A distance that is lowered while its vertex
/// waits needs no second turn: the pending turn reads the lowered distance.
pub(super) struct Pending {
    words: Vec<AtomicU64>,
    /// True if several threads change the set concurrently.
    shared: bool,
}

impl Pending {
    /// The empty set of ids below `vertex_bound`.
    pub(super) fn new(vertex_bound: u32, shared: bool) -> Self {
        let words = (vertex_bound as usize).div_ceil(64);
        Pending { words: (0..words).map(|_| AtomicU64::new(0)).collect(), shared }
    }

    /// Adds a vertex after its distance was lowered. Returns false if the vertex was waiting
    /// already: then the thread that removes it sees the lowered distance.
    #[inline]
    pub(super) fn insert(&self, vertex: VertexId) -> bool {
        let (word, bit) = (&self.words[vertex.index() / 64], 1 << (vertex.index() % 64));
        let before = if self.shared {
            // Written even if the bit is set: a later removal synchronizes with this write.
            word.fetch_or(bit, Ordering::AcqRel)
        } else {
            let before = word.load(Ordering::Relaxed);
            word.store(before | bit, Ordering::Relaxed);
            before
        };
        before & bit == 0
    }

    /// Removes a vertex before its distance is read.
    #[inline]
    pub(super) fn remove(&self, vertex: VertexId) {
        let (word, bit) = (&self.words[vertex.index() / 64], 1 << (vertex.index() % 64));
        if self.shared {
            word.fetch_and(!bit, Ordering::AcqRel);
        } else {
            word.store(word.load(Ordering::Relaxed) & !bit, Ordering::Relaxed);
        }
    }
}
