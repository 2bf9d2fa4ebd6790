//! Why a checkpoint could not be written.

use crate::error::StoreError;
use crate::files::FileError;
use hedgerow_model::ReadError;

/// Why a checkpoint could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store is not the caller's any more.
    #[error(transparent)]
    Store(#[from] Box<StoreError>),
    /// The state of the graph could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The state of the graph is not what its description says.
    #[error("the graph has {found} {what}, its counts say {expected}")]
    WrongCount {
        /// What was counted.
        what: &'static str,
        /// How many the description names.
        expected: u64,
        /// How many there were.
        found: u64,
    },
    /// The state of the graph contradicts itself or its description: a checkpoint of it could not be read.
    #[error("the state of the graph contradicts itself: {0}")]
    Contradiction(&'static str),
    /// A key or a record takes about 4 GiB or more.
    #[error("a chunk of {0} bytes is larger than a checkpoint can hold: a key or a record is too large")]
    TooLarge(usize),
    /// Whoever asked for it asked to stop.
    #[error("the checkpoint was cancelled")]
    Cancelled,
}
