//! What can go wrong with a store, by what can be done about it.

use crate::files::{FileError, LockError};
use hedgerow_encoding::wire::DecodeError;
use hedgerow_model::{SchemaError, Timestamp};
use hedgerow_sync::Arc;
use std::path::PathBuf;

/// A store cannot be made, opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process has the store open, or another part of this one.
    #[error("the store is in use: {} is locked by {}", path.display(), holder.map_or_else(|| "another process".to_owned(), |id| format!("process {id}")))]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, if it has said so.
        holder: Option<u32>,
    },
    /// Processes that read the store keep others from writing to it.
    #[error("the store is in use: {} is locked by processes that read it; try again when they are done", path.display())]
    BeingRead {
        /// The lock file.
        path: PathBuf,
    },
    /// Another process writes to the store, though this one has it open: the lock file was removed, or the manifest was replaced.
    #[error("another process has taken over the store: {} {what}; what was acknowledged before is safe, open the store again", path.display())]
    Overtaken {
        /// The lock file or the manifest.
        path: PathBuf,
        /// What happened to it.
        what: &'static str,
    },
    /// There is nothing that could be opened.
    #[error("there is no store in {}", path.display())]
    NoStore {
        /// The directory.
        path: PathBuf,
    },
    /// There is a store where one was to be made.
    #[error("there is a store in {} already", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// Something is not as it was written.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A file that must be there is not.
    #[error("{} is missing, and the store is not complete without it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The checkpoint is damaged, and the log does not have all of its commits, so that it cannot take its place.
    #[error(
        "{problem}; the log has no commits before timestamp {oldest} any more, which could replace it: bring back a copy of the store"
    )]
    Irreplaceable {
        /// What is wrong with the checkpoint.
        problem: Box<StoreError>,
        /// The log has the commits after this.
        oldest: Timestamp,
    },
    /// A file was not written for its place in this store.
    #[error("{} does not belong here: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A later version of this software wrote a file.
    #[error("{} has format version {version}, which only a later version of this software can read", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u32,
    },
    /// The manifest names an engine that does not exist here.
    #[error("{} names the engine {name:?}, which this version does not know", path.display())]
    UnknownEngine {
        /// The manifest.
        path: PathBuf,
        /// The name of the engine.
        name: String,
    },
    /// Labels cannot be added.
    #[error("the labels cannot be added to the store of {}: {error}", path.display())]
    Schema {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with them.
        error: SchemaError,
    },
    /// What was asked for has been pruned.
    #[error(
        "the state at timestamp {asked} cannot be read any more: the log begins after timestamp {oldest}"
    )]
    OutOfRetention {
        /// The timestamp that was asked for.
        asked: Timestamp,
        /// The oldest that can be read.
        oldest: Timestamp,
    },
    /// The log refused.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl StoreError {
    /// Whether something is wrong with the files, which will be so when they are read again.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            StoreError::Damaged { .. }
                | StoreError::Missing { .. }
                | StoreError::Foreign { .. }
                | StoreError::NewerFormat { .. }
                | StoreError::UnknownEngine { .. }
        )
    }

    /// What is wrong with the content of a file.
    pub(crate) fn damaged(path: impl Into<PathBuf>, offset: usize, what: impl Into<String>) -> Self {
        StoreError::Damaged { path: path.into(), offset: offset as u64, what: what.into() }
    }

    /// What is wrong with something that stands `offset` bytes into a file.
    pub(crate) fn undecodable(path: impl Into<PathBuf>, offset: usize, error: DecodeError) -> Self {
        StoreError::damaged(path, offset + error.offset, error.what)
    }
}

impl From<LockError> for StoreError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { path, holder } => StoreError::Locked { path, holder },
            LockError::Shared { path } => StoreError::BeingRead { path },
            LockError::File(error) => StoreError::File(error),
        }
    }
}

/// A commit cannot be logged.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A write or a sync failed before. Nobody knows what is on the disk; open the store again to find out.
    #[error("the log takes no more commits since {cause}")]
    Poisoned {
        /// What failed.
        #[source]
        cause: Arc<StoreError>,
    },
    /// A thread panicked while it wrote the log. Open the store again.
    #[error("the log takes no more commits since a thread panicked that wrote it")]
    Abandoned,
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
    /// A commit is not the next one.
    #[error("the commit of timestamp {found} comes where that of timestamp {expected} is next")]
    OutOfOrder {
        /// The next timestamp.
        expected: Timestamp,
        /// The one that was given.
        found: Timestamp,
    },
    /// A commit is larger than a record can be.
    #[error(
        "a commit of {bytes} bytes is larger than the {limit} bytes that a record of the log can have; split it"
    )]
    TooLarge {
        /// Bytes of its body.
        bytes: usize,
        /// The most that is possible.
        limit: usize,
    },
}
