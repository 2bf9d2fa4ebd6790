//! Why a checkpoint could not be written or read.

use crate::files::FileError;
use crate::wire::DecodeError;
use hedgerow_model::ReadError;
use std::path::PathBuf;

/// Why a checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file begins with something else.
    #[error("{} is not a checkpoint", file.display())]
    NotACheckpoint {
        /// The file.
        file: PathBuf,
    },
    /// The file was written by a newer version.
    #[error("{} is a checkpoint of format version {version}; this program reads version {supported}", file.display(), supported = super::FORMAT_VERSION)]
    UnsupportedVersion {
        /// The file.
        file: PathBuf,
        /// The version that it names.
        version: u32,
    },
    /// The file is not as it was written.
    #[error("{} is damaged at byte {offset}: {what}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where the damage shows.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// A state of the graph could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A state of the graph is not what its description says: nothing was written.
    #[error("the graph has {found} {what}, its counts say {expected}")]
    WrongCount {
        /// What was counted.
        what: &'static str,
        /// How many the description names.
        expected: u64,
        /// How many there were.
        found: u64,
    },
    /// Keys or records of a chunk take 4 GiB or more.
    #[error("a chunk of {0} bytes is larger than a checkpoint can hold: a key or a record is too large")]
    TooLarge(usize),
    /// Whoever asked for it asked to stop.
    #[error("the checkpoint was cancelled")]
    Cancelled,
}

impl CheckpointError {
    /// The same damage, in a stretch that begins at `begin`.
    pub(super) fn damaged(file: impl Into<PathBuf>, begin: u64, error: DecodeError) -> Self {
        let offset = begin + error.offset as u64;
        CheckpointError::Damaged { file: file.into(), offset, what: error.what }
    }
}
