//! Common neighbors of two trees (RapidStore, section 6.5).

use super::leaf::Leaf;
use super::subtree::{Child, Leaves};
use hedgerow_model::VertexId;
use hedgerow_model::intersect::is_much_larger;
use std::ops::ControlFlow;

/// Visits the common neighbors of two trees, ascending.
///
/// O(smaller · log capacity of a leaf) if their sizes differ much, otherwise O(both).
pub(super) fn intersect<L: Leaf>(one: &Child<L>, other: &Child<L>, visit: impl FnMut(VertexId)) {
    let (small, large) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if is_much_larger(large.len(), small.len()) {
        probe(small, large, visit);
    } else {
        merge(small, large, visit);
    }
}

/// Searches the large tree for each neighbor of the small one.
pub(super) fn probe<L: Leaf>(small: &Child<L>, large: &Child<L>, mut visit: impl FnMut(VertexId)) {
    let flow = small.runs::<(), ()>(&mut |ids, _| {
        ids.iter().filter(|id| large.find(**id).is_some()).for_each(|id| visit(*id));
        ControlFlow::Continue(())
    });
    debug_assert!(flow.is_continue());
}

/// Reads both trees in step. Skips leaves that end before the other tree's next neighbor.
pub(super) fn merge<L: Leaf>(one: &Child<L>, other: &Child<L>, mut visit: impl FnMut(VertexId)) {
    let (mut one, mut other) = (Side::new(one), Side::new(other));
    let mut bound = 0;
    while let Some(left) = one.seek(bound) {
        let Some(right) = other.seek(left.get()) else { return };
        if left == right {
            visit(left);
        }
        bound = right.get() + u32::from(left == right);
    }
}

/// One of two trees read in step.
struct Side<'t, L: Leaf> {
    leaves: Leaves<'t, L>,
    /// The neighbors of the current leaf, and the number of them already passed.
    ids: Vec<VertexId>,
    passed: usize,
}

impl<'t, L: Leaf> Side<'t, L> {
    fn new(tree: &'t Child<L>) -> Self {
        Side { leaves: tree.leaves(), ids: Vec::with_capacity(L::CAPACITY), passed: 0 }
    }

    /// Returns the next neighbor that is at least `bound`.
    #[inline]
    fn seek(&mut self, bound: u32) -> Option<VertexId> {
        loop {
            while let Some(id) = self.ids.get(self.passed) {
                if id.get() >= bound {
                    return Some(*id);
                }
                self.passed += 1;
            }
            let leaf = self.leaves.find(|leaf| leaf.bounds().1.get() >= bound)?;
            self.passed = 0;
            self.ids.clear();
            let flow = leaf.runs::<(), ()>(&mut |ids, _| {
                self.ids.extend_from_slice(ids);
                ControlFlow::Continue(())
            });
            debug_assert!(flow.is_continue());
        }
    }
}
