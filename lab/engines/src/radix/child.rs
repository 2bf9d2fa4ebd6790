//! A subtree: a leaf or a node.

use super::leaf::Leaf;
use super::nodes::Node;
use hedgerow_model::{Column, EdgeValue, VertexId};
use smallvec::{SmallVec, smallvec};
use std::ops::ControlFlow;

/// A nonempty subtree. Cheap to clone: versions share unchanged subtrees (RapidStore, section 6.4).
#[derive(Clone, Debug)]
pub(super) enum Child<L: Leaf> {
    Leaf(L),
    Node(Node<L>),
}

impl<L: Leaf> Child<L> {
    /// Returns the number of ids. O(1).
    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Child::Leaf(leaf) => leaf.len(),
            Child::Node(node) => node.header().entries,
        }
    }

    /// Returns the heap bytes. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Child::Leaf(leaf) => leaf.heap_bytes(),
            Child::Node(node) => node.header().bytes,
        }
    }

    /// Returns true if both are the same object in memory.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Child::Leaf(one), Child::Leaf(other)) => one.is_same(other),
            (Child::Node(one), Child::Node(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// Returns the value of a neighbor. Bytes that the path skips are compared in the leaf.
    #[inline]
    pub(super) fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        let mut child = self;
        loop {
            match child {
                Child::Leaf(leaf) => return leaf.find(neighbor),
                Child::Node(node) => child = node.child_of(neighbor)?,
            }
        }
    }

    /// Visits the neighbors, ascending, leaf by leaf.
    #[inline]
    pub(super) fn runs<W: Column, B>(
        &self,
        run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self {
            Child::Leaf(leaf) => leaf.runs(run),
            Child::Node(node) => node.children().try_for_each(|child| child.runs(run)),
        }
    }

    /// Returns the leaves, ascending.
    pub(super) fn leaves(&self) -> Leaves<'_, L> {
        Leaves { path: smallvec![(self, 0)] }
    }
}

/// The leaves of a subtree, ascending.
pub(super) struct Leaves<'t, L: Leaf> {
    /// The subtrees still to visit, each with the position of its next child.
    path: SmallVec<[(&'t Child<L>, usize); 5]>,
}

impl<'t, L: Leaf> Iterator for Leaves<'t, L> {
    type Item = &'t L;

    fn next(&mut self) -> Option<&'t L> {
        loop {
            let (child, place) = self.path.pop()?;
            match child {
                Child::Leaf(leaf) => return Some(leaf),
                Child::Node(node) => {
                    let Some((below, after)) = node.next(place) else { continue };
                    self.path.push((child, after));
                    self.path.push((below, 0));
                }
            }
        }
    }
}
