//! A view of an engine that visits the newest neighbors first, as a log of edges does.

use hedgerow_kernels::csr::{Csr, CsrAdjacency, CsrCursor};
use hedgerow_model::{
    Adjacency, Column, CommitTimestamp, Count, Cursor, Direction, GraphView, LabelId, Neighbors, NoRecords,
    ReadError, Record, Topology, VertexId, ViewError,
};
use std::ops::{ControlFlow, Range};

/// The rows of a static graph, each from its end to its beginning.
pub struct Backwards<'c>(pub &'c Csr);

impl GraphView for Backwards<'_> {
    type Adjacency<'v, W: Column>
        = BackwardsAdjacency<'v, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = NoRecords
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
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

    fn edge_count(&self, label: LabelId) -> Count {
        self.0.edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        self.0.contains_vertex(vertex)
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.0.scan_vertices(range, visit)
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<BackwardsAdjacency<'_, W>, ViewError> {
        self.0.adjacency(label, direction).map(BackwardsAdjacency)
    }

    fn edge_records(&self, label: LabelId, _: Direction) -> Result<NoRecords, ViewError> {
        Err(ViewError::NoRecords(label))
    }

    fn parallel_edge_count(&self, _: LabelId) -> Count {
        Count::default()
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        self.0.vertex_record(vertex)
    }
}

pub struct BackwardsAdjacency<'v, W>(CsrAdjacency<'v, W>);

impl<W: Column> Adjacency for BackwardsAdjacency<'_, W> {
    type Value = W;
    type Cursor<'a>
        = BackwardsCursor<'a, W>
    where
        Self: 'a;

    const SORTED: bool = false;
    const DEGREE_IS_O1: bool = true;

    fn cursor(&self) -> BackwardsCursor<'_, W> {
        BackwardsCursor { forwards: self.0.cursor(), row: Default::default() }
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        self.0.cuts(parts)
    }
}

pub struct BackwardsCursor<'a, W> {
    forwards: CsrCursor<'a, W>,
    row: (Vec<VertexId>, Vec<W>),
}

impl<W: Column> Cursor for BackwardsCursor<'_, W> {
    type Value = W;

    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        self.forwards.degree(vertex)
    }

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        self.forwards.find(vertex, neighbor)
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        for owner in range.map(VertexId::new) {
            let flow = self.neighbors(owner, |neighbors, values| run(owner, neighbors, values))?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let (neighbors, values) = self.forwards.gather(vertex)?;
        self.row.0 = neighbors.iter().rev().copied().collect();
        self.row.1 = values.iter().rev().copied().collect();
        Ok((&self.row.0, &self.row.1))
    }
}
