//! A Bloom filter of the neighbors in a block, with the bits of a neighbor in one word.
//!
//! LiveGraph, section 4: a filter per log saves most insertions the scan for an older entry of the
//! same neighbor. With the bits in one word, a lookup costs one cache line ("Cache-, Hash- and
//! Space-Efficient Bloom Filters", which the paper cites).

use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// The words of a filter. An empty filter rules nothing out.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a>(pub(crate) &'a [AtomicU64]);

impl<'a> Filter<'a> {
    /// The word of a neighbor and its bits there: three, not necessarily distinct.
    #[inline]
    fn place(self, id: VertexId) -> Option<(&'a AtomicU64, u64)> {
        // Multiplying by the golden ratio mixes the bits upwards; the top bits choose.
        let hash = u64::from(id.get()).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = hash ^ (hash >> 29);
        let hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mask = self.0.len().checked_sub(1)?;
        let bits = (1 << (hash >> 58)) | (1 << (hash >> 52 & 63)) | (1 << (hash >> 46 & 63));
        Some((&self.0[hash as usize & mask], bits))
    }

    /// Adds a neighbor. Only the holder of the owner's lock writes. O(1).
    #[inline]
    pub(crate) fn insert(self, id: VertexId) {
        if let Some((word, bits)) = self.place(id) {
            word.store(word.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
        }
    }

    /// Returns false if the neighbor was never added. O(1).
    #[inline]
    pub(crate) fn may_contain(self, id: VertexId) -> bool {
        self.place(id).is_none_or(|(word, bits)| word.load(Ordering::Relaxed) & bits == bits)
    }

    /// Prefetches the word of a neighbor.
    #[inline]
    pub(crate) fn prefetch(self, id: VertexId) {
        if let Some((word, _)) = self.place(id) {
            hedgerow_sync::prefetch(word, 1);
        }
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_most_else_is_not() {
        // As full as a block with a filter of this size can be.
        let words: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
        let filter = Filter(&words);
        let entries = 64 * 8 * 15 / 20;
        (0..entries).for_each(|id| filter.insert(VertexId::new(id * 3)));
        assert!((0..entries).all(|id| filter.may_contain(VertexId::new(id * 3))));
        let wrong = (0..10_000).filter(|id| filter.may_contain(VertexId::new(1_000_000 + id))).count();
        assert!(wrong < 500, "{wrong} of 10,000");
    }

    #[test]
    fn an_empty_filter_rules_nothing_out() {
        Filter(&[]).insert(VertexId::new(1));
        assert!(Filter(&[]).may_contain(VertexId::new(2)));
    }
}
