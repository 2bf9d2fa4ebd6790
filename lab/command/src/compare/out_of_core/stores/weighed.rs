//! A graph without weights, read with weights computed from the ends of its edges.

use hedgerow::kernels::{Adjacency, Cursor, GraphView, Neighbors, ViewError};
use hedgerow::{Column, CommitTimestamp, Count, Direction, LabelId, Topology, VertexId};
use hedgerow_model::{EdgeValue, NoRecords, ReadError, Record};
use std::ops::{ControlFlow, Range};

/// The weight of the edge between two vertices.
type Weigh = fn(VertexId, VertexId) -> u32;

/// A view whose edges have weights, whatever its label declares.
pub(super) struct Weighed<'v, V> {
    view: &'v V,
    weigh: Weigh,
}

impl<'v, V: GraphView> Weighed<'v, V> {
    pub(super) fn new(view: &'v V, weigh: Weigh) -> Self {
        Weighed { view, weigh }
    }
}

impl<V: GraphView> GraphView for Weighed<'_, V> {
    type Adjacency<'a, W: Column>
        = WeighedAdjacency<V::Adjacency<'a, ()>, W>
    where
        Self: 'a;
    type EdgeRecords<'v>
        = NoRecords
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.view.timestamp()
    }

    fn topology(&self) -> Topology {
        self.view.topology()
    }

    fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.view.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> Count {
        self.view.edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        self.view.contains_vertex(vertex)
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.view.scan_vertices(range, visit)
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Self::Adjacency<'_, W>, ViewError> {
        let adjacency = self.view.adjacency::<()>(label, direction)?;
        Ok(WeighedAdjacency { adjacency, weights: Weights { weigh: self.weigh, of_row: Vec::new() } })
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        Ok(self.contains_vertex(vertex)?.then_some(Record::EMPTY))
    }

    fn parallel_edge_count(&self, _: LabelId) -> Count {
        Count::default()
    }

    fn edge_records(&self, label: LabelId, _: Direction) -> Result<NoRecords, ViewError> {
        Err(ViewError::NoRecords(label))
    }
}

/// The neighbors of all vertices, with weights.
pub(super) struct WeighedAdjacency<A, W> {
    adjacency: A,
    weights: Weights<W>,
}

impl<A: Adjacency<Value = ()>, W: Column> Adjacency for WeighedAdjacency<A, W> {
    type Value = W;
    type Cursor<'a>
        = WeighedCursor<A::Cursor<'a>, W>
    where
        Self: 'a;

    const SORTED: bool = A::SORTED;
    const DEGREE_IS_O1: bool = A::DEGREE_IS_O1;

    fn cursor(&self) -> Self::Cursor<'_> {
        WeighedCursor { cursor: self.adjacency.cursor(), weights: self.weights.clone() }
    }

    fn reads_blocks(&self) -> bool {
        self.adjacency.reads_blocks()
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        self.adjacency.cuts(parts)
    }
}

/// Reads neighbors and computes their weights.
pub(super) struct WeighedCursor<C, W> {
    cursor: C,
    weights: Weights<W>,
}

/// Computes weights.
#[derive(Clone)]
struct Weights<W> {
    weigh: Weigh,
    /// The weights of the last row read.
    of_row: Vec<W>,
}

impl<W: Column> Weights<W> {
    fn of(&self, vertex: VertexId, neighbor: VertexId) -> W {
        W::from_bits(EdgeValue((self.weigh)(vertex, neighbor).into()))
    }

    fn of_row(&mut self, vertex: VertexId, neighbors: &[VertexId]) -> &[W] {
        let mut of_row = std::mem::take(&mut self.of_row);
        of_row.clear();
        of_row.extend(neighbors.iter().map(|neighbor| self.of(vertex, *neighbor)));
        self.of_row = of_row;
        &self.of_row
    }
}

impl<C: Cursor<Value = ()>, W: Column> Cursor for WeighedCursor<C, W> {
    type Value = W;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let found = self.cursor.find(vertex, neighbor)?;
        Ok(found.map(|()| self.weights.of(vertex, neighbor)))
    }

    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let WeighedCursor { cursor, weights } = self;
        cursor.neighbors(vertex, |neighbors, _| run(neighbors, weights.of_row(vertex, neighbors)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let WeighedCursor { cursor, weights } = self;
        cursor.scan(range, |vertex, neighbors, _| run(vertex, neighbors, weights.of_row(vertex, neighbors)))
    }

    fn prefetch_place(&self, vertex: VertexId) {
        self.cursor.prefetch_place(vertex);
    }

    fn prefetch(&mut self, vertex: VertexId) {
        self.cursor.prefetch(vertex);
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let WeighedCursor { cursor, weights } = self;
        let (neighbors, _) = cursor.gather(vertex)?;
        Ok((neighbors, weights.of_row(vertex, neighbors)))
    }
}
