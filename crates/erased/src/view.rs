//! States of the graph and their adjacencies.

use crate::cursor::{AnyCursor, BatchingCursor, ErasedCursor};
use hedgerow_model::{
    Adjacency, Column, ColumnType, Direction, GraphView, LabelId, ReadError, Record, Timestamp, Topology,
    VertexId, VertexRecords, ViewError, with_column,
};
use std::marker::PhantomData;
use std::ops::Range;

/// Vertices that one virtual call hands over.
const VERTICES_PER_CALL: usize = 256;

/// A state of an [`ErasedEngine`](crate::ErasedEngine)'s graph, or any other view.
pub struct ErasedView<'s>(pub(crate) Box<dyn AnyView + 's>);

impl<'s> ErasedView<'s> {
    /// Erases the type of `view`.
    pub fn new(view: impl GraphView + VertexRecords + 's) -> Self {
        ErasedView(Box::new(view))
    }
}

/// [`GraphView`] and [`VertexRecords`] with their generic parts erased.
pub(crate) trait AnyView: Sync {
    fn timestamp(&self) -> Timestamp;

    fn topology(&self) -> Topology;

    fn vertex_bound(&self) -> u32;

    fn vertex_count(&self) -> u64;

    fn edge_count(&self, label: LabelId) -> u64;

    fn contains_vertex(&self, vertex: VertexId) -> bool;

    fn scan_vertices(&self, range: Range<u32>, visit: &mut dyn FnMut(&[VertexId]));

    fn adjacency(
        &self,
        label: LabelId,
        direction: Direction,
        column: ColumnType,
    ) -> Result<Box<dyn AnyAdjacency + '_>, ViewError>;

    fn vertex_record(&self, vertex: VertexId) -> Option<Record>;
}

impl<V: GraphView + VertexRecords> AnyView for V {
    fn timestamp(&self) -> Timestamp {
        GraphView::timestamp(self)
    }

    fn topology(&self) -> Topology {
        GraphView::topology(self)
    }

    fn vertex_bound(&self) -> u32 {
        GraphView::vertex_bound(self)
    }

    fn vertex_count(&self) -> u64 {
        GraphView::vertex_count(self)
    }

    fn edge_count(&self, label: LabelId) -> u64 {
        GraphView::edge_count(self, label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> bool {
        GraphView::contains_vertex(self, vertex)
    }

    fn scan_vertices(&self, range: Range<u32>, visit: &mut dyn FnMut(&[VertexId])) {
        let mut found = Vec::with_capacity(VERTICES_PER_CALL);
        GraphView::scan_vertices(self, range, |vertex| {
            found.push(vertex);
            if found.len() == VERTICES_PER_CALL {
                visit(&found);
                found.clear();
            }
        });
        visit(&found);
    }

    fn adjacency(
        &self,
        label: LabelId,
        direction: Direction,
        column: ColumnType,
    ) -> Result<Box<dyn AnyAdjacency + '_>, ViewError> {
        with_column!(column, W => Ok(Box::new(GraphView::adjacency::<W>(self, label, direction)?)))
    }

    fn vertex_record(&self, vertex: VertexId) -> Option<Record> {
        VertexRecords::vertex_record(self, vertex)
    }
}

impl GraphView for ErasedView<'_> {
    type Adjacency<'v, W: Column>
        = ErasedAdjacency<'v, W>
    where
        Self: 'v;

    fn timestamp(&self) -> Timestamp {
        self.0.timestamp()
    }

    fn topology(&self) -> Topology {
        self.0.topology()
    }

    fn vertex_bound(&self) -> u32 {
        self.0.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.0.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> u64 {
        self.0.edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> bool {
        self.0.contains_vertex(vertex)
    }

    fn scan_vertices(&self, range: Range<u32>, mut visit: impl FnMut(VertexId)) {
        self.0.scan_vertices(range, &mut |found| found.iter().copied().for_each(&mut visit));
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<ErasedAdjacency<'_, W>, ViewError> {
        let adjacency = self.0.adjacency(label, direction, W::TYPE)?;
        Ok(ErasedAdjacency { adjacency, values: PhantomData })
    }
}

impl VertexRecords for ErasedView<'_> {
    fn vertex_record(&self, vertex: VertexId) -> Option<Record> {
        self.0.vertex_record(vertex)
    }
}

/// One label in one direction, with values of type `W` beside the neighbours.
pub struct ErasedAdjacency<'v, W> {
    adjacency: Box<dyn AnyAdjacency + 'v>,
    values: PhantomData<fn() -> W>,
}

/// [`Adjacency`] with its types erased.
pub(crate) trait AnyAdjacency: Sync {
    fn cursor(&self) -> Box<dyn AnyCursor + '_>;

    fn cuts(&self, parts: usize) -> Vec<Range<u32>>;
}

impl<A: Adjacency> AnyAdjacency for A {
    fn cursor(&self) -> Box<dyn AnyCursor + '_> {
        Box::new(BatchingCursor::new(self))
    }

    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        Adjacency::cuts(self, parts)
    }
}

// SAFETY: all ids come from the adjacency whose type is erased, and the bound is that of its view.
unsafe impl<W: Column> Adjacency for ErasedAdjacency<'_, W> {
    type Value = W;
    type Error = ReadError;
    type Cursor<'a>
        = ErasedCursor<'a, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> ErasedCursor<'_, W> {
        ErasedCursor::new(self.adjacency.cursor())
    }

    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        self.adjacency.cuts(parts)
    }
}
