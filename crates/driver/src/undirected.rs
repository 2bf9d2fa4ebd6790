//! A directed graph that holds every edge in both directions, viewed as an undirected one.

use hedgerow::kernels::{GraphView, Kernel, KernelError, RecordView, ViewError};
use hedgerow::{Column, CommitTimestamp, Count, Direction, LabelId, Topology, VertexId};
use hedgerow_model::{NoRecords, Record};
use std::ops::{ControlFlow, Range};

/// Runs a kernel on a directed graph as if it were undirected: its out-neighbors are its
/// in-neighbors.
///
/// The data sets hold every edge as two adjacency entries, so that an insertion is one entry.
/// Kernels find in-neighbors without a second copy of the graph, in the same way on every engine.
pub(crate) struct OnUndirected<K>(pub(crate) K);

impl<K: Kernel> Kernel for OnUndirected<K> {
    type Output = K::Output;

    fn run<V: GraphView>(self, view: &V) -> Result<K::Output, KernelError> {
        self.0.run(&Undirected(view))
    }
}

/// A view whose out-neighbors are also its in-neighbors.
struct Undirected<'v, V>(&'v V);

impl<V: GraphView> GraphView for Undirected<'_, V> {
    type Error = V::Error;
    type Adjacency<'a, W: Column>
        = V::Adjacency<'a, W>
    where
        Self: 'a;

    fn timestamp(&self) -> CommitTimestamp {
        self.0.timestamp()
    }

    fn topology(&self) -> Topology {
        Topology::Undirected
    }

    fn vertex_bound(&self) -> u32 {
        self.0.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.0.vertex_count()
    }

    /// The data sets have no self loops.
    fn edge_count(&self, label: LabelId) -> Count {
        Count::exactly(self.0.edge_count(label).at_most() / 2)
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, V::Error> {
        self.0.contains_vertex(vertex)
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, V::Error> {
        self.0.scan_vertices(range, visit)
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        _direction: Direction,
    ) -> Result<V::Adjacency<'_, W>, ViewError> {
        self.0.adjacency(label, Direction::Out)
    }
}

/// The data sets have no records.
impl<V: GraphView> RecordView for Undirected<'_, V> {
    type EdgeRecords<'v>
        = NoRecords<V::Error>
    where
        Self: 'v;

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, V::Error> {
        Ok(self.contains_vertex(vertex)?.then_some(Record::EMPTY))
    }

    fn parallel_edge_count(&self, _: LabelId) -> u64 {
        0
    }

    fn edge_records(&self, label: LabelId, _: Direction) -> Result<NoRecords<V::Error>, ViewError> {
        Err(ViewError::NoRecords(label))
    }
}
