//! The graph that a command computes on.

use hedgerow::kernels::GraphView;
use hedgerow::{
    AsKey, CommitTimestamp, Count, EngineKind, Error, Key, LabelId, Snapshot, Topology, VertexId,
};
use hedgerow_compiled_kernels::Target;
use hedgerow_formats::StaticGraph;
use std::sync::Arc;

/// A state of a writable graph, or the static graph of a file. Cloned in O(1).
#[derive(Clone, Debug)]
pub enum GraphState {
    Snapshot(Snapshot),
    Static(Arc<StaticGraph>),
}

impl From<Snapshot> for GraphState {
    fn from(snapshot: Snapshot) -> Self {
        GraphState::Snapshot(snapshot)
    }
}

impl GraphState {
    /// The target of kernels on it.
    pub fn target(&self) -> Target {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.clone().into(),
            GraphState::Static(graph) => Target::Csr(Arc::clone(graph.csr())),
        }
    }

    /// The state of a writable graph, if it is one.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        match self {
            GraphState::Snapshot(snapshot) => Some(snapshot),
            GraphState::Static(_) => None,
        }
    }

    /// The engine of a writable graph.
    pub fn engine(&self) -> Option<EngineKind> {
        self.snapshot().map(Snapshot::engine)
    }

    /// The commit whose state it is.
    pub fn timestamp(&self) -> CommitTimestamp {
        self.snapshot().map_or(CommitTimestamp::ZERO, Snapshot::timestamp)
    }

    pub fn topology(&self) -> Topology {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.topology(),
            GraphState::Static(graph) => graph.csr().topology(),
        }
    }

    pub fn vertex_count(&self) -> u64 {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.vertex_count(),
            GraphState::Static(graph) => graph.csr().vertex_count(),
        }
    }

    /// A bound above all vertex ids.
    pub fn vertex_bound(&self) -> u32 {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.vertex_bound(),
            GraphState::Static(graph) => graph.csr().vertex_bound(),
        }
    }

    /// The number of edges of a label; a static graph has one label.
    pub fn edge_count_of(&self, label: LabelId) -> Count {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.edge_count_of(label),
            GraphState::Static(graph) => graph.csr().edge_count(label),
        }
    }

    /// The vertex with a key.
    pub fn vertex_id(&self, key: &Key) -> Result<Option<VertexId>, Error> {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.vertex_id(key),
            GraphState::Static(graph) => Ok(graph.vertex_id(key.as_key())),
        }
    }

    /// The key of a vertex; `None` if there is none with this id.
    pub fn key(&self, vertex: VertexId) -> Result<Option<Key>, Error> {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.key(vertex),
            GraphState::Static(graph) => Ok(graph.key(vertex)),
        }
    }

    /// Visits the vertices with their keys, ascending by id.
    pub fn for_each_vertex(&self, mut visit: impl FnMut(VertexId, Key)) -> Result<(), Error> {
        self.try_for_each_vertex(|vertex, key| {
            visit(vertex, key);
            Ok(())
        })
    }

    /// Visits the vertices with their keys, ascending by id, until `visit` fails.
    pub fn try_for_each_vertex<F: From<Error>>(
        &self,
        mut visit: impl FnMut(VertexId, Key) -> Result<(), F>,
    ) -> Result<(), F> {
        match self {
            GraphState::Snapshot(snapshot) => snapshot.try_for_each_vertex(visit),
            GraphState::Static(graph) => {
                let mut ids = (0..self.vertex_bound()).map(VertexId::new);
                ids.try_for_each(|vertex| graph.key(vertex).map_or(Ok(()), |key| visit(vertex, key)))
            }
        }
    }
}
