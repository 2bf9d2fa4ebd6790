//! A view that can be read with another topology than the graph's.

use hedgerow::kernels::{GraphView, ViewError};
use hedgerow::{Column, CommitTimestamp, Count, Direction, LabelId, Topology, VertexId};
use hedgerow_model::{EdgeChange, ReadError, Record};
use std::ops::{ControlFlow, Range};

/// A view that is read as undirected if requested. The graph must then be directed and hold every
/// edge in both directions.
pub(crate) struct Symmetric<'v, V> {
    pub(crate) view: &'v V,
    pub(crate) is_on: bool,
}

impl<V> Symmetric<'_, V> {
    fn direction(&self, direction: Direction) -> Direction {
        if self.is_on { Direction::Out } else { direction }
    }
}

impl<V: GraphView> GraphView for Symmetric<'_, V> {
    type Adjacency<'a, W: Column>
        = V::Adjacency<'a, W>
    where
        Self: 'a;
    type EdgeRecords<'a>
        = V::EdgeRecords<'a>
    where
        Self: 'a;

    fn timestamp(&self) -> CommitTimestamp {
        self.view.timestamp()
    }

    fn topology(&self) -> Topology {
        if self.is_on { Topology::Undirected } else { self.view.topology() }
    }

    fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.view.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> Count {
        let count = self.view.edge_count(label);
        if self.is_on { Count::between(count.at_least() / 2, count.at_most() / 2) } else { count }
    }

    fn archived_through(&self) -> CommitTimestamp {
        self.view.archived_through()
    }

    fn for_each_unarchived(&self, label: LabelId, visit: &mut dyn FnMut(CommitTimestamp, EdgeChange)) {
        self.view.for_each_unarchived(label, visit);
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
    ) -> Result<V::Adjacency<'_, W>, ViewError> {
        self.view.adjacency(label, self.direction(direction))
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        self.view.vertex_record(vertex)
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.view.parallel_edge_count(label)
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<V::EdgeRecords<'_>, ViewError> {
        self.view.edge_records(label, self.direction(direction))
    }
}
