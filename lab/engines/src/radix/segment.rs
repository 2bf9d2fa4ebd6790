//! The leaf of the compressed tree: a segment of sorted neighbors with one prefix.

use super::keys::byte;
use super::leaf::Leaf;
use super::suffixes::CompressedIds;
use super::values;
use crate::counted::{Counted, HeapBytes};
use crate::rows::Rows;
use hedgerow_model::{Column, EdgeValue, ValueColumn, VertexId};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Range};

/// Up to `CAPACITY` neighbors with one prefix. Versions of a tree and keys of a node share it.
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
        let ids = CompressedIds::new(&rows.neighbors[stretch.clone()]);
        SegmentLeaf(Counted::new(Segment { ids, values: values::copied(&rows.values, stretch) }))
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.ids.len()
    }

    fn bounds(&self) -> (VertexId, VertexId) {
        self.0.ids.bounds()
    }

    #[inline]
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        let position = self.0.ids.position(neighbor)?;
        Some(self.0.values.get(position))
    }

    fn edited(&self, neighbor: VertexId, value: Option<EdgeValue>, parent: Option<u8>) -> Option<Self> {
        let segment = match (self.0.ids.position(neighbor), value) {
            (Some(position), Some(value)) => self.0.replaced(position, value),
            (None, Some(value)) if self.len() < CAPACITY => self.0.inserted(neighbor, value)?,
            (Some(position), None) if self.loses_only_a_neighbor(position, parent) => {
                self.0.removed(position)
            }
            _ => return None,
        };
        Some(SegmentLeaf(Counted::new(segment)))
    }

    fn append_to(&self, rows: &mut Rows) {
        let flow = self.0.ids.stretches(|_, ids| {
            rows.neighbors.extend_from_slice(ids);
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

impl<const CAPACITY: usize> SegmentLeaf<CAPACITY> {
    /// Returns true if a removal keeps the common bytes and, below a node, the leaf's keys and
    /// enough neighbors.
    fn loses_only_a_neighbor(&self, position: usize, parent: Option<u8>) -> bool {
        let ids = &self.0.ids;
        let is_inside = position > 0 && position + 1 < ids.len();
        is_inside
            && parent.is_none_or(|depth| {
                let key = |position| byte(ids.id_at(position), depth);
                let keeps_key = key(position) == key(position - 1) || key(position) == key(position + 1);
                keeps_key && ids.len() > Self::SPARSE
            })
    }
}

impl Segment {
    fn replaced(&self, position: usize, value: EdgeValue) -> Segment {
        Segment { ids: self.ids.clone(), values: values::replaced(&self.values, position, value) }
    }

    fn inserted(&self, neighbor: VertexId, value: EdgeValue) -> Option<Segment> {
        let place = self.ids.place_of(neighbor)?;
        let ids = self.ids.inserted(place, neighbor);
        Some(Segment { ids, values: values::inserted(&self.values, place, value) })
    }

    fn removed(&self, position: usize) -> Segment {
        Segment { ids: self.ids.removed(position), values: values::removed(&self.values, position) }
    }
}

impl HeapBytes for Segment {
    fn heap_bytes(&self) -> usize {
        self.ids.heap_bytes() + self.values.heap_bytes()
    }
}
