//! Errors: a small public kind that says what the caller can do, around a reason that says what happened.

use crate::options::EngineKind;
use hedgerow_kernels::KernelError;
use hedgerow_lab::{CsrError, MemoryError};
use hedgerow_model::{CapacityError, Key, KeyKind, ReadError, SchemaError, VertexIdError, ViewError};
use hedgerow_subgraphs::SubgraphError;

/// Why a call on a graph failed, by what the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another commit came first. Nothing has changed; run the transaction again, as
    /// [`Graph::transact`](crate::Graph::transact) does.
    Conflict,
    /// A vertex that must exist does not.
    NotFound,
    /// The call's input does not fit the graph: a key of the wrong kind, an unknown label, a
    /// value of another type. Nothing has changed; correct the call.
    InvalidInput,
    /// A limit would be exceeded. Nothing has changed; the graph stays usable.
    Capacity,
    /// The options ask for something that is not built.
    Unsupported,
    /// A commit failed half way through. Open snapshots stay readable; nothing else goes on.
    Poisoned,
    /// The store could not be read.
    Storage,
    /// A kernel was cancelled or could not run.
    Kernel,
}

/// Why a call on a graph failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Reason);

impl Error {
    /// What the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Reason::Conflict => ErrorKind::Conflict,
            Reason::NoSuchVertex(_) => ErrorKind::NotFound,
            Reason::WrongKeyKind { .. }
            | Reason::VertexId(_)
            | Reason::Schema(_)
            | Reason::View(_)
            | Reason::NotDeclared(_) => ErrorKind::InvalidInput,
            Reason::Capacity(_) => ErrorKind::Capacity,
            Reason::Engine(_) | Reason::NotBuilt(_) | Reason::Threads(_) => ErrorKind::Unsupported,
            Reason::Poisoned => ErrorKind::Poisoned,
            Reason::Read(_) => ErrorKind::Storage,
            Reason::Kernel(_) | Reason::Csr(_) => ErrorKind::Kernel,
        }
    }

    /// If the memory limit of the graph would be exceeded: which, what the graph holds, and what the commit needs.
    #[must_use]
    pub fn memory_limit(&self) -> Option<MemoryLimitExceeded> {
        match self.0 {
            Reason::Capacity(CapacityError::Memory { needed, held, limit }) => {
                Some(MemoryLimitExceeded { needed, held, limit })
            }
            _ => None,
        }
    }

    /// If the arrays of a computation over all vertex ids do not fit into memory: why.
    #[must_use]
    pub fn memory(&self) -> Option<&MemoryError> {
        match &self.0 {
            Reason::Kernel(KernelError::Memory(error) | KernelError::Csr(CsrError::Memory(error)))
            | Reason::Csr(CsrError::Memory(error)) => Some(error),
            _ => None,
        }
    }

    /// Whether running the same transaction again may succeed.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind() == ErrorKind::Conflict
    }
}

/// A commit needs more memory than the graph may hold. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimitExceeded {
    /// What the commit needs.
    pub needed: usize,
    /// What the graph holds.
    pub held: usize,
    /// What it may hold: [`GraphOptions::memory_limit`](crate::GraphOptions::memory_limit).
    pub limit: usize,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reason {
    #[error("another commit changed what this transaction read or wrote; run it again")]
    Conflict,
    #[error("there is no vertex {0}, and the graph is strict: add it before its edges")]
    NoSuchVertex(Key),
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind { key: Key, expected: KeyKind },
    #[error("vertex {0} was not declared at the start of this transaction")]
    NotDeclared(Key),
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    #[error(transparent)]
    Engine(#[from] SubgraphError),
    #[cfg_attr(feature = "lab", expect(dead_code, reason = "all engines are built"))]
    #[error("the engine {0:?} is not built: enable the feature `lab` of the crate `hedgerow`")]
    NotBuilt(EngineKind),
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("a commit of this graph failed half way; open snapshots can still be read, nothing else")]
    Poisoned,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Csr(#[from] CsrError),
}

macro_rules! from_reason {
    ($($source:ty),*) => {
        $(impl From<$source> for Error {
            fn from(source: $source) -> Self {
                Error(source.into())
            }
        })*
    };
}

from_reason!(
    VertexIdError,
    SchemaError,
    ViewError,
    CapacityError,
    SubgraphError,
    rayon::ThreadPoolBuildError,
    KernelError,
    CsrError
);

/// A read of the store failed inside a commit. In memory this cannot be.
pub(crate) fn read_failed(error: impl Into<ReadError>) -> Reason {
    Reason::Read(error.into())
}
