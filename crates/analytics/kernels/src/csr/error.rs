//! Errors of building a graph.

use crate::{MemoryError, WeightError};
use hedgerow_model::{ReadError, VertexId, ViewError};

/// Building a [`Csr`](crate::csr::Csr) failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CsrError {
    /// An end of an edge is not below the bound of vertex ids.
    #[error("edge {edge} ends at vertex {vertex}, but the ids of this graph are below {vertex_bound}")]
    VertexOutOfRange {
        /// The position of the edge in the input, from 0.
        edge: usize,
        /// The end that is out of range.
        vertex: VertexId,
        /// The bound of vertex ids.
        vertex_bound: u32,
    },
    /// A vertex that has edges cannot be absent.
    #[error("vertex {0} has edges and so cannot be absent")]
    VertexHasEdges(VertexId),
    /// The arrays do not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The view has no such adjacency.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The view's store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An edge has no valid weight.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// The build was stopped by its [`CancelToken`](hedgerow_sync::CancelToken).
    #[error("the build of the graph was cancelled")]
    Cancelled,
}
