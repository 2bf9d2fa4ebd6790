//! Errors of loading a static graph.

use hedgerow_kernels::MemoryError;
use hedgerow_kernels::csr::CsrError;
use hedgerow_model::{CapacityError, VertexIdError};

/// A graph that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum StaticGraphError {
    /// A dense key is no vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// There are too many vertices.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The memory limit is exceeded.
    #[error("the graph needs {needed} bytes or more, of at most {limit}")]
    MemoryLimit {
        /// Bytes of what has been read so far, or of the graph.
        needed: usize,
        /// The limit.
        limit: usize,
    },
    /// The graph cannot be built.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

impl StaticGraphError {
    /// Returns true if the graph does not fit into memory.
    #[must_use]
    pub fn is_about_memory(&self) -> bool {
        matches!(self, StaticGraphError::Csr(CsrError::Memory(_)))
    }

    /// Returns true if a static graph of these vertices would mostly be made of ids without one.
    #[must_use]
    pub fn is_about_sparse_ids(&self) -> bool {
        matches!(self, StaticGraphError::Csr(CsrError::Memory(MemoryError::SparseIds { .. })))
    }
}
