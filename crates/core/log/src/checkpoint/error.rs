//! Errors of writing a checkpoint.

use crate::error::StoreError;
use crate::files::FileError;
use hedgerow_model::ReadError;

/// A failure to write a checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file system returned an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store no longer belongs to the caller.
    #[error(transparent)]
    Store(#[from] Box<StoreError>),
    /// The state of the graph could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The state of the graph differs from its description.
    #[error("the graph has {found} {what}, its counts say {expected}")]
    WrongCount {
        /// The counted objects.
        what: &'static str,
        /// The count in the description.
        expected: u64,
        /// The actual count.
        found: u64,
    },
    /// The state of the graph contradicts itself or its description, so a checkpoint of it could
    /// not be read.
    #[error("the state of the graph contradicts itself: {0}")]
    Contradiction(&'static str),
    /// A key or a record takes about 4 GiB or more.
    #[error("a chunk of {0} bytes is larger than a checkpoint can hold: a key or a record is too large")]
    TooLarge(usize),
    /// The caller cancelled the checkpoint.
    #[error("the checkpoint was cancelled")]
    Cancelled,
}
