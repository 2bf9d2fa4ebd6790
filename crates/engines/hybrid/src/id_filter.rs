//! A filter that rules out most vertices that are not in a set.

use hedgerow_model::VertexId;

/// Bits for each vertex.
const BITS_PER_ID: usize = 16;

/// The low bits of the ids in a set. Exact for ids below 16 times the size of the set.
#[derive(Debug, Default)]
pub(crate) struct IdFilter {
    words: Vec<u64>,
    mask: usize,
}

impl IdFilter {
    /// Empties the filter, and makes room for `ids` vertices. O(ids).
    pub(crate) fn clear_for(&mut self, ids: usize) {
        let bits = (ids * BITS_PER_ID).next_power_of_two().max(64);
        self.mask = bits - 1;
        self.words.clear();
        self.words.resize(bits / 64, 0);
    }

    #[inline]
    fn place(&self, id: VertexId) -> (usize, u64) {
        let bit = id.get() as usize & self.mask;
        (bit / 64, 1 << (bit % 64))
    }

    pub(crate) fn insert(&mut self, id: VertexId) {
        let (word, bit) = self.place(id);
        self.words[word] |= bit;
    }

    /// Returns true if the vertex may be in the set. O(1).
    #[inline]
    pub(crate) fn may_contain(&self, id: VertexId) -> bool {
        let (word, bit) = self.place(id);
        self.words[word] & bit != 0
    }
}
