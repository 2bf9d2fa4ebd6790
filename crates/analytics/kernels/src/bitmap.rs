//! A concurrent set of vertices.

use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// One bit per vertex id. All accesses are relaxed: a thread that reads a set filled by another
/// thread has waited for that thread.
pub(crate) struct AtomicBitmap {
    words: Vec<AtomicU64>,
}

impl AtomicBitmap {
    /// The empty set of ids below `vertex_bound`.
    pub(crate) fn new(vertex_bound: u32) -> Self {
        let words = (vertex_bound as usize).div_ceil(64);
        AtomicBitmap { words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Replaces the members from `first`, a multiple of 64, to below `first + 64` by the bits of
    /// `word`.
    #[inline]
    pub(crate) fn replace_word(&self, first: u32, word: u64) {
        debug_assert!(first.is_multiple_of(64), "words begin at multiples of 64");
        self.words[first as usize / 64].store(word, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn insert(&self, vertex: VertexId) {
        self.words[vertex.index() / 64].fetch_or(1 << (vertex.index() % 64), Ordering::Relaxed);
    }

    /// Adds a vertex. Returns true for exactly one of the threads that add it, unless it was there
    /// before.
    #[inline]
    pub(crate) fn claim(&self, vertex: VertexId) -> bool {
        // Checking first keeps cache lines shared.
        let (word, bit) = (&self.words[vertex.index() / 64], 1 << (vertex.index() % 64));
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    #[inline]
    pub(crate) fn contains(&self, vertex: VertexId) -> bool {
        self.words[vertex.index() / 64].load(Ordering::Relaxed) & (1 << (vertex.index() % 64)) != 0
    }

    /// The vertices of the set, ascending.
    pub(crate) fn vertices(&self) -> Vec<VertexId> {
        let mut vertices = Vec::new();
        for (position, word) in self.words.iter().enumerate() {
            let bits = ones(word.load(Ordering::Relaxed));
            vertices.extend(bits.map(|bit| VertexId::new(position as u32 * 64 + bit)));
        }
        vertices
    }
}

/// The positions of the ones in `word`, ascending.
#[inline]
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}
