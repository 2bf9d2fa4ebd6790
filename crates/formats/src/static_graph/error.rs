//! Errors of loading a static graph.

use hedgerow_kernels::csr::CsrError;
use hedgerow_model::{CapacityError, VertexIdError};

/// A graph that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum StaticGraphError {
    /// A dense key is no vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// There are too many vertices, or the memory limit is exceeded.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The graph cannot be built.
    #[error(transparent)]
    Csr(#[from] CsrError),
}
