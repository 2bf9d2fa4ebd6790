//! The trait of kernels, and their errors.

use crate::MemoryError;
use crate::csr::CsrError;
use hedgerow_model::{GraphView, ReadError, VertexId, ViewError};
use std::fmt;

/// A computation over a whole graph. Its fields are its parameters.
pub trait Kernel {
    /// The result type.
    type Output;

    /// Computes the result for one state of a graph. A kernel that reads no records can be declared
    /// with the bound [`GraphView`].
    ///
    /// # Errors
    /// See [`KernelError`]. An error leaves nothing behind.
    fn run<V: GraphView>(self, view: &V) -> Result<Self::Output, KernelError>;
}

/// The error of a kernel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The kernel was stopped by its [`CancelToken`](crate::CancelToken).
    #[error("the kernel was cancelled")]
    Cancelled,
    /// The arrays of the kernel do not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A start vertex does not exist.
    #[error("there is no vertex {0} in this state of the graph")]
    NoSuchVertex(VertexId),
    /// The view has no such label.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The view's store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The in-neighbors could not be built.
    #[error("the in-neighbors of this graph could not be built: {0}")]
    Csr(CsrError),
    /// An edge has no weight, or one for which the result is undefined.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// The weights of a vertex's edges cannot be added up.
    #[error("the weights of the edges of vertex {vertex} add up to {sum}, which is out of range")]
    WeightSum {
        /// The vertex.
        vertex: VertexId,
        /// The sum: infinite, or too close to 0.
        sum: f64,
    },
    /// The shortest paths between two vertices cannot be counted.
    #[error("between vertex {0} and another there are more shortest paths than a float can count")]
    TooManyPaths(VertexId),
    /// A parameter has an invalid value.
    #[error("{parameter} is {found}, but must be {expected}")]
    InvalidParameter {
        /// The name of the parameter.
        parameter: &'static str,
        /// The invalid value.
        found: f64,
        /// The valid values.
        expected: &'static str,
    },
}

/// An edge that has no valid weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightError {
    /// The source of the edge.
    pub source: VertexId,
    /// The destination of the edge.
    pub destination: VertexId,
    /// The weight: negative, or not a number; `None` if the edge has none.
    pub weight: Option<f64>,
}

impl WeightError {
    /// Describes the fault, after the words "the edge from one vertex to another".
    #[must_use]
    pub fn fault(&self) -> String {
        match self.weight {
            Some(weight) => format!("has the weight {weight}, but weights must be 0 or more"),
            None => "has no weight: set one, or run without weights".to_owned(),
        }
    }
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WeightError { source, destination, .. } = self;
        write!(f, "the edge from vertex {source} to vertex {destination} {}", self.fault())
    }
}

impl std::error::Error for WeightError {}

/// The kinds of kernel errors, by the caller's remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelErrorKind {
    /// The caller canceled the kernel.
    Cancelled,
    /// Too little memory: use dense ids, a larger budget or a larger machine.
    Memory,
    /// A parameter, vertex or label does not fit the graph: correct the call.
    InvalidInput,
    /// The store could not be read.
    Storage,
}

impl KernelError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> KernelErrorKind {
        match self {
            KernelError::Cancelled | KernelError::Csr(CsrError::Cancelled) => KernelErrorKind::Cancelled,
            KernelError::Memory(_) | KernelError::Csr(CsrError::Memory(_)) => KernelErrorKind::Memory,
            KernelError::Read(_) | KernelError::Csr(CsrError::Read(_)) => KernelErrorKind::Storage,
            KernelError::NoSuchVertex(_)
            | KernelError::View(_)
            | KernelError::InvalidParameter { .. }
            | KernelError::Weight(_)
            | KernelError::WeightSum { .. }
            | KernelError::TooManyPaths(_)
            | KernelError::Csr(_) => KernelErrorKind::InvalidInput,
        }
    }
}

/// Checks that `vertex`, the start of a kernel, exists.
pub(crate) fn check_exists(view: &impl GraphView, vertex: VertexId) -> Result<(), KernelError> {
    match view.contains_vertex(vertex)? {
        true => Ok(()),
        false => Err(KernelError::NoSuchVertex(vertex)),
    }
}

impl From<CsrError> for KernelError {
    /// Errors that a kernel can also return itself map to the same variant.
    fn from(error: CsrError) -> Self {
        match error {
            CsrError::Cancelled => KernelError::Cancelled,
            CsrError::Memory(error) => KernelError::Memory(error),
            CsrError::View(error) => KernelError::View(error),
            CsrError::Read(error) => KernelError::Read(error),
            CsrError::Weight(error) => KernelError::Weight(error),
            other => KernelError::Csr(other),
        }
    }
}
