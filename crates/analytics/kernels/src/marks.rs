//! A reusable set of vertices for one thread.

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

    /// Returns 1 if a vertex is in the set, else 0, to be added without a branch.
    #[inline(always)]
    pub(crate) fn get(&self, vertex: VertexId) -> u64 {
        (self.words[vertex.index() / 64] >> (vertex.index() % 64)) & 1
    }

    /// Clears the set, whose members are all in `members`.
    #[inline]
    pub(crate) fn clear(&mut self, members: &[VertexId]) {
        members.iter().for_each(|vertex| self.words[vertex.index() / 64] = 0);
    }
}
