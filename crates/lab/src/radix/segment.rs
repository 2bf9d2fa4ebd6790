//! The leaf of the compressed tree: a segment of sorted neighbours with one prefix.

use super::leaf::Leaf;
use super::suffixes::CompressedIds;
use crate::counted::{Counted, HeapBytes};
use crate::rows::Rows;
use hedgerow_model::{Column, EdgeValue, ValueColumn, VertexId};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Range};

/// Up to `CAPACITY` neighbours with one prefix, shared by the versions of a tree and by the keys of a node.
#[derive(Debug)]
pub struct SegmentLeaf<const CAPACITY: usize>(Arc<Counted<Segment>>);

#[derive(Debug)]
struct Segment {
    ids: CompressedIds,
    values: ValueColumn,
}

impl<const CAPACITY: usize> Clone for SegmentLeaf<CAPACITY> {
    fn clone(&self) -> Self {
        SegmentLeaf(Arc::clone(&self.0))
    }
}

impl<const CAPACITY: usize> Leaf for SegmentLeaf<CAPACITY> {
    const CAPACITY: usize = {
        assert!(CAPACITY >= 2 && CAPACITY <= u16::MAX as usize, "lengths are kept in 16 bits");
        CAPACITY
    };

    fn new(rows: &Rows, stretch: Range<usize>) -> Self {
        debug_assert!((1..=CAPACITY).contains(&stretch.len()));
        let ids = CompressedIds::new(&rows.neighbours[stretch.clone()]);
        SegmentLeaf(Counted::new(Segment { ids, values: values_of(rows, stretch) }))
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.ids.len()
    }

    fn bounds(&self) -> (VertexId, VertexId) {
        self.0.ids.bounds()
    }

    #[inline]
    fn find(&self, neighbour: VertexId) -> Option<EdgeValue> {
        let position = self.0.ids.position(neighbour)?;
        Some(self.0.values.get(position))
    }

    fn append_to(&self, rows: &mut Rows) {
        let flow = self.0.ids.stretches(|_, ids| {
            rows.neighbours.extend_from_slice(ids);
            ControlFlow::<()>::Continue(())
        });
        debug_assert!(flow.is_continue());
        rows.values.extend_from(&self.0.values, 0..self.len());
    }

    #[inline]
    fn runs<W: Column, B>(
        &self,
        run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let values = W::slice(&self.0.values, 0..self.len());
        self.0.ids.stretches(|position, ids| run(ids, &values[position..position + ids.len()]))
    }

    fn heap_bytes(&self) -> usize {
        self.0.bytes()
    }

    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl HeapBytes for Segment {
    fn heap_bytes(&self) -> usize {
        self.ids.heap_bytes() + self.values.heap_bytes()
    }
}

fn values_of(rows: &Rows, stretch: Range<usize>) -> ValueColumn {
    match &rows.values {
        ValueColumn::Unit => ValueColumn::Unit,
        ValueColumn::Four(values) => ValueColumn::Four(values[stretch].to_vec()),
        ValueColumn::Eight(values) => ValueColumn::Eight(values[stretch].to_vec()),
    }
}
