//! The vertices that wait in the bucket that is taken.

use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// One bit per vertex id: whether the vertex is still to be processed. A distance that is lowered while
/// it is needs no second turn: that turn reads the lowered one.
pub(super) struct Pending {
    words: Vec<AtomicU64>,
    /// Whether several threads change it concurrently.
    shared: bool,
}

impl Pending {
    /// The empty set of ids below `vertex_bound`.
    pub(super) fn new(vertex_bound: u32, shared: bool) -> Self {
        let words = (vertex_bound as usize).div_ceil(64);
        Pending { words: (0..words).map(|_| AtomicU64::new(0)).collect(), shared }
    }

    /// Adds a vertex whose distance was lowered before. Returns false if it was there: then the thread that
    /// removes it sees that distance afterwards.
    #[inline]
    pub(super) fn insert(&self, vertex: VertexId) -> bool {
        let (word, bit) = (&self.words[vertex.index() / 64], 1 << (vertex.index() % 64));
        let before = if self.shared {
            // Written even if the bit is set: this is what a later removal synchronizes with.
            word.fetch_or(bit, Ordering::AcqRel)
        } else {
            let before = word.load(Ordering::Relaxed);
            word.store(before | bit, Ordering::Relaxed);
            before
        };
        before & bit == 0
    }

    /// Removes a vertex, whose distance is read next.
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
