//! The trait of leaves of a radix tree.

use crate::rows::Rows;
use hedgerow_model::{Column, EdgeValue, VertexId};
use std::ops::{ControlFlow, Range};

/// A leaf: a few neighbors, at least one, with their values. Immutable; cheap to clone.
pub trait Leaf: Clone + Send + Sync + 'static {
    /// The most neighbors of a leaf.
    const CAPACITY: usize;

    /// A leaf that shrinks below this many neighbors is merged with a sibling if possible
    /// (RapidStore, section 6.2, "Delete").
    const SPARSE: usize = Self::CAPACITY / 2;

    /// Creates a leaf of a sorted range of rows, which is not empty and at most as long as the
    /// capacity.
    fn new(rows: &Rows, stretch: Range<usize>) -> Self;

    /// Returns a leaf of one neighbor, if leaves hold only one.
    fn single(_neighbor: VertexId, _value: EdgeValue) -> Option<Self> {
        None
    }

    /// Returns the number of neighbors. O(1).
    fn len(&self) -> usize;

    /// Returns the first and the last neighbor. O(1).
    fn bounds(&self) -> (VertexId, VertexId);

    /// Returns the value of a neighbor. O(log capacity).
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue>;

    /// Returns the leaf with another value of a neighbor, with one neighbor more, or (if `value` is
    /// `None`) without one of its neighbors.
    ///
    /// Returns `None` if the change affects more than this leaf: the leaf is full or its common
    /// bytes change, or, below a node of depth `parent`, it becomes sparse or loses a key.
    fn edited(&self, neighbor: VertexId, value: Option<EdgeValue>, parent: Option<u8>) -> Option<Self>;

    /// Appends the neighbors and their values.
    fn append_to(&self, rows: &mut Rows);

    /// Visits the neighbors, ascending.
    fn runs<W: Column, B>(&self, run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>)
    -> ControlFlow<B>;

    /// Returns the heap bytes.
    fn heap_bytes(&self) -> usize;

    /// Returns true if both are the same leaf in memory. A leaf without memory of its own is never
    /// the same as another.
    fn is_same(&self, other: &Self) -> bool;
}

/// A leaf of the plain adaptive radix tree: one neighbor, stored in place of a pointer.
#[derive(Clone, Copy, Debug)]
pub struct SingleLeaf {
    neighbor: VertexId,
    value: EdgeValue,
}

impl Leaf for SingleLeaf {
    const CAPACITY: usize = 1;

    fn new(rows: &Rows, stretch: Range<usize>) -> Self {
        SingleLeaf { neighbor: rows.neighbors[stretch.start], value: rows.values.get(stretch.start) }
    }

    fn single(neighbor: VertexId, value: EdgeValue) -> Option<Self> {
        Some(SingleLeaf { neighbor, value })
    }

    #[inline]
    fn len(&self) -> usize {
        1
    }

    fn bounds(&self) -> (VertexId, VertexId) {
        (self.neighbor, self.neighbor)
    }

    #[inline]
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        (self.neighbor == neighbor).then_some(self.value)
    }

    fn edited(&self, neighbor: VertexId, value: Option<EdgeValue>, _parent: Option<u8>) -> Option<Self> {
        (self.neighbor == neighbor).then_some(SingleLeaf { neighbor, value: value? })
    }

    fn append_to(&self, rows: &mut Rows) {
        rows.push(self.neighbor, self.value);
    }

    #[inline]
    fn runs<W: Column, B>(
        &self,
        run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        run(&[self.neighbor], &[W::from_bits(self.value)])
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn is_same(&self, _other: &Self) -> bool {
        false
    }
}
