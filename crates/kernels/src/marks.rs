//! A set of vertices that one thread fills and empties again and again.

use hedgerow_model::VertexId;

/// One bit per id.
pub(crate) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// The empty set of ids below `vertex_bound`.
    pub(crate) fn new(vertex_bound: u32) -> Self {
        Marks { words: vec![0; (vertex_bound as usize).div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn set(&mut self, vertex: VertexId) {
        self.words[vertex.index() / 64] |= 1 << (vertex.index() % 64);
    }

    /// Whether a vertex is in the set: 1 or 0, to add instead of to branch on.
    #[inline(always)]
    pub(crate) fn get(&self, vertex: VertexId) -> u64 {
        (self.words[vertex.index() / 64] >> (vertex.index() % 64)) & 1
    }

    /// Empties the set, which has no other members than these.
    #[inline]
    pub(crate) fn clear(&mut self, members: &[VertexId]) {
        members.iter().for_each(|vertex| self.words[vertex.index() / 64] = 0);
    }
}
