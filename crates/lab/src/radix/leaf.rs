//! What a leaf of a radix tree is.

use crate::rows::Rows;
use hedgerow_model::{Column, EdgeValue, VertexId};
use std::ops::{ControlFlow, Range};

/// A leaf: a few neighbors, never none, with their values. Never changed; cheap to clone.
pub trait Leaf: Clone + Send + Sync + 'static {
    /// The most neighbors of a leaf.
    const CAPACITY: usize;

    /// A leaf that shrinks to fewer neighbors than this looks for a sibling to merge with
    /// (RapidStore, section 6.2, "Delete").
    const SPARSE: usize = Self::CAPACITY / 2;

    /// A leaf of a sorted stretch of rows, which is not empty and not longer than the capacity.
    fn new(rows: &Rows, stretch: Range<usize>) -> Self;

    /// A leaf of one neighbor, if that is all a leaf can hold.
    fn single(_neighbor: VertexId, _value: EdgeValue) -> Option<Self> {
        None
    }

    /// How many neighbors there are. O(1).
    fn len(&self) -> usize;

    /// The first and the last neighbor. O(1).
    fn bounds(&self) -> (VertexId, VertexId);

    /// The value of a neighbor. O(log capacity).
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue>;

    /// The leaf with another value of a neighbor, with one neighbor more, or (`value` is `None`)
    /// without one that it has.
    ///
    /// `None` if that is more than a change of this leaf: it has no room or other bytes in common, or
    /// below a node whose depth is `parent` it gets sparse or loses a key.
    fn edited(&self, neighbor: VertexId, value: Option<EdgeValue>, parent: Option<u8>) -> Option<Self>;

    /// Appends the neighbors and their values.
    fn append_to(&self, rows: &mut Rows);

    /// Hands over the neighbors, ascending.
    fn runs<W: Column, B>(&self, run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>)
    -> ControlFlow<B>;

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;

    /// Whether both are one leaf in memory. A leaf without memory of its own is no other.
    fn is_same(&self, other: &Self) -> bool;
}

/// A leaf of the plain adaptive radix tree: one neighbor, stored in the place of its pointer.
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
