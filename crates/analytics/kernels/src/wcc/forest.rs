//! A union-find forest whose roots represent components.

use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU32, Ordering};

/// Every vertex points at itself or at a smaller id, so there are no cycles, and the root of a
/// complete component is its smallest vertex.
///
/// All accesses are relaxed: any parent that a thread reads was true once, and joined vertices stay
/// joined.
pub(super) struct Forest {
    parents: Vec<AtomicU32>,
    /// True if several threads join concurrently. A single thread needs no exchange, which would
    /// wait for all earlier loads.
    shared: bool,
}

impl Forest {
    /// A forest in which every id below `vertex_bound` is its own root.
    pub(super) fn new(vertex_bound: u32, shared: bool) -> Self {
        Forest { parents: (0..vertex_bound).map(AtomicU32::new).collect(), shared }
    }

    /// The parent of `vertex`; after flattening, its root.
    #[inline]
    pub(super) fn parent(&self, vertex: VertexId) -> VertexId {
        VertexId::new(self.load(vertex.get()))
    }

    /// Joins the trees of both vertices.
    #[inline]
    pub(super) fn join(&self, one: VertexId, other: VertexId) {
        let (mut one, mut other) = (self.load(one.get()), self.load(other.get()));
        while one != other {
            let (low, high) = (one.min(other), one.max(other));
            let parent = self.load(high);
            if parent == low || (parent == high && self.replace_root(high, low)) {
                break;
            }
            // Another thread was faster, or `high` is no root: continue from its parent.
            one = self.load(self.load(high));
            other = self.load(low);
        }
    }

    /// For the parents of `vertex` and of each neighbor, hooks the larger parent below the smaller
    /// if it is a root. Returns the number of pairs that differed.
    ///
    /// Two threads may hook one root, and one of the hooks is lost: the next pass finds it.
    #[inline]
    pub(super) fn hook(&self, vertex: VertexId, neighbors: &[VertexId]) -> u64 {
        let mut own = self.load(vertex.get());
        let mut different = 0;
        for neighbor in neighbors {
            let other = self.load(neighbor.get());
            if other == own {
                continue;
            }
            let (low, high) = (own.min(other), own.max(other));
            if self.load(high) == high {
                self.parents[high as usize].store(low, Ordering::Relaxed);
            }
            different += 1;
            own = self.load(vertex.get());
        }
        different
    }

    /// Makes `vertex` point at its root.
    #[inline]
    pub(super) fn flatten(&self, vertex: VertexId) {
        let mut parent = self.load(vertex.get());
        let mut root = self.load(parent);
        if parent == root {
            return;
        }
        while parent != root {
            parent = root;
            root = self.load(parent);
        }
        self.parents[vertex.index()].store(root, Ordering::Relaxed);
    }

    /// The parents of all ids.
    pub(super) fn into_parents(self) -> Vec<u32> {
        self.parents.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[inline]
    fn load(&self, id: u32) -> u32 {
        self.parents[id as usize].load(Ordering::Relaxed)
    }

    #[inline]
    fn replace_root(&self, root: u32, parent: u32) -> bool {
        let slot = &self.parents[root as usize];
        if self.shared {
            return slot.compare_exchange(root, parent, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        }
        slot.store(parent, Ordering::Relaxed);
        true
    }
}
