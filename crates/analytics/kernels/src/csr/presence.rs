//! The ids below the bound that belong to vertices.

use hedgerow_model::{GraphView, ReadError, VertexId};

/// The vertices that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Every id below the bound.
    All,
    /// One bit per id.
    Bits(Box<[u64]>),
}

impl Presence {
    /// The vertices of a view.
    pub(super) fn of<V: GraphView>(view: &V) -> Result<Self, ReadError> {
        let bound = view.vertex_bound();
        if view.vertex_count() == u64::from(bound) {
            return Ok(Presence::All);
        }
        let mut bits = vec![0; words(bound)].into_boxed_slice();
        view.each_vertex(0..bound, |vertex| bits[vertex.index() / 64] |= bit(vertex))?;
        Ok(Presence::Bits(bits))
    }

    /// Returns true if `vertex`, which is below the bound, exists.
    #[inline]
    pub(super) fn contains(&self, vertex: VertexId) -> bool {
        match self {
            Presence::All => true,
            Presence::Bits(bits) => bits[vertex.index() / 64] & bit(vertex) != 0,
        }
    }

    /// Makes `vertex` absent. Ignores ids that are not below the bound.
    pub(super) fn remove(&mut self, vertex: VertexId, bound: u32) {
        if vertex.get() >= bound {
            return;
        }
        if *self == Presence::All {
            *self = Presence::Bits(vec![u64::MAX; words(bound)].into_boxed_slice());
        }
        if let Presence::Bits(bits) = self {
            bits[vertex.index() / 64] &= !bit(vertex);
        }
    }

    /// The number of vertices. O(bound).
    pub(super) fn count(&self, bound: u32) -> u64 {
        (0..bound).filter(|index| self.contains(VertexId::new(*index))).count() as u64
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Presence::All => 0,
            Presence::Bits(bits) => size_of_val(&**bits),
        }
    }
}

fn words(bound: u32) -> usize {
    (bound as usize).div_ceil(64)
}

fn bit(vertex: VertexId) -> u64 {
    1 << (vertex.index() % 64)
}
