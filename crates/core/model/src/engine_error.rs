//! Errors of engines.

use crate::{ReadError, VertexId};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// An error of [`Engine::stage`](crate::Engine::stage) or
/// [`Engine::maintain`](crate::Engine::maintain).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A limit would be exceeded: free something or raise the limit.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// A file of the engine could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of the engine could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A failed write to a file of an engine: the place and the cause.
#[derive(Clone, Debug)]
pub struct WriteError {
    place: String,
    source: Arc<dyn Error + Send + Sync>,
}

impl WriteError {
    /// Creates an error. `place` describes the place of the write: a file and an offset, a level, a
    /// block.
    pub fn new(place: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        WriteError { place: place.into(), source: Arc::from(source.into()) }
    }

    /// A description of the place of the write.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not be written: {}", self.place, self.source)
    }
}

impl Error for WriteError {
    /// Returns the error in the `Arc`, so that callers can downcast it. A derived method would
    /// return the `Arc`.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl Eq for WriteError {}

impl PartialEq for WriteError {
    /// Returns true if both have the same place and the same error text.
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.source.to_string() == other.source.to_string()
    }
}

/// A limit would be exceeded. The commit has changed nothing; the graph stays usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// All vertex ids are in use.
    #[error("all vertex ids up to {} are in use", VertexId::MAX)]
    VertexIds,
    /// The memory limit of the graph would be exceeded.
    #[error(
        "the commit needs {needed} bytes, the graph holds {held} of at most {limit}; raise the memory limit, delete \
         something, or close snapshots"
    )]
    Memory {
        /// Bytes that the commit needs.
        needed: usize,
        /// Bytes that the graph uses.
        held: usize,
        /// The graph's limit.
        limit: usize,
    },
    /// The file of an engine's blocks cannot grow.
    #[error(
        "the scratch file, which the graph lies in, cannot grow by {needed} bytes: {reason}; make room on its disk or raise \
         its limit, delete something, or close snapshots"
    )]
    Scratch {
        /// Bytes by which the file should grow.
        needed: usize,
        /// The reason of the failure.
        reason: std::io::ErrorKind,
    },
    /// The neighbors of one block outgrow its 32-bit offsets.
    #[error("the neighbors of vertices {first} to {last} are more than a block can hold")]
    Block {
        /// The first vertex of the block.
        first: VertexId,
        /// The last vertex of the block.
        last: VertexId,
    },
}
