//! A view with parallel edges.

use super::id;
use hedgerow_lab::{Csr, CsrAdjacency, CsrCursor};
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, LabelId, Neighbours, Timestamp, Topology, VertexId,
    ViewError,
};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

/// A graph with every edge twice, whose sorted neighbours come in runs of three, so that two equal
/// ones may be in one run or in two.
pub struct Doubled(pub Csr);

impl GraphView for Doubled {
    type Adjacency<'v, W: Column> = DoubledAdjacency<'v, W>;

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
        2 * self.0.edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> bool {
        self.0.contains_vertex(vertex)
    }

    fn scan_vertices(&self, range: Range<u32>, visit: impl FnMut(VertexId)) {
        self.0.scan_vertices(range, visit);
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<DoubledAdjacency<'_, W>, ViewError> {
        self.0.adjacency(label, direction).map(DoubledAdjacency)
    }
}

pub struct DoubledAdjacency<'v, W>(CsrAdjacency<'v, W>);

// SAFETY: the ids are those of a `Csr` with the same bound.
unsafe impl<W: Column> Adjacency for DoubledAdjacency<'_, W> {
    type Value = W;
    type Error = Infallible;
    type Cursor<'a>
        = DoubledCursor<'a, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = true;

    fn cursor(&self) -> DoubledCursor<'_, W> {
        DoubledCursor { csr: self.0.cursor(), gathered: (Vec::new(), Vec::new()) }
    }

    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        self.0.cuts(parts)
    }
}

pub struct DoubledCursor<'a, W> {
    csr: CsrCursor<'a, W>,
    gathered: (Vec<VertexId>, Vec<W>),
}

impl<W: Column> Cursor for DoubledCursor<'_, W> {
    type Value = W;
    type Error = Infallible;

    fn degree(&mut self, vertex: VertexId) -> Result<usize, Infallible> {
        Ok(2 * self.csr.degree(vertex)?)
    }

    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<W>, Infallible> {
        self.csr.find(vertex, neighbour)
    }

    fn neighbours<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        let (neighbours, values) = self.gather(vertex)?;
        let mut runs = neighbours.chunks(3).zip(values.chunks(3));
        Ok(runs.try_for_each(|(neighbours, values)| run(neighbours, values)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        for owner in range.map(id) {
            if let ControlFlow::Break(value) =
                self.neighbours(owner, |ids, values| run(owner, ids, values))?
            {
                return Ok(ControlFlow::Break(value));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbours<'_, W>, Infallible> {
        let (neighbours, values) = self.csr.gather(vertex)?;
        self.gathered.0 = neighbours.iter().flat_map(|neighbour| [*neighbour; 2]).collect();
        self.gathered.1 = values.iter().flat_map(|value| [*value; 2]).collect();
        Ok((&self.gathered.0, &self.gathered.1))
    }
}
