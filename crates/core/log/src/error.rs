//! Errors of a store, by how a caller can handle them.

use crate::files::{FileError, LockError};
use hedgerow_encoding::wire::DecodeError;
use hedgerow_model::{CommitTimestamp, SchemaError};
use hedgerow_sync::Arc;
use std::path::{Path, PathBuf};

/// A failure to create, open or read a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file system returned an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store is open in another process, or elsewhere in this one.
    #[error("the store is in use: {} is locked by {}", path.display(), holder.map_or_else(|| "another process".to_owned(), |id| format!("process {id}")))]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, if known.
        holder: Option<u32>,
    },
    /// Processes that read the store block writers.
    #[error("the store is in use: {} is locked by processes that read it; try again when they are done", path.display())]
    BeingRead {
        /// The lock file.
        path: PathBuf,
    },
    /// Another process writes to the store, though it is open here: the lock file was removed, or
    /// the manifest was replaced.
    #[error("another process has taken over the store: {} {what}; what was acknowledged before is safe, open the store again", path.display())]
    Overtaken {
        /// The lock file or the manifest.
        path: PathBuf,
        /// A description of the change.
        what: &'static str,
    },
    /// There is no store to open.
    #[error("there is no store in {}", path.display())]
    NoStore {
        /// The directory.
        path: PathBuf,
    },
    /// A store exists where one was to be created.
    #[error("there is a store in {} already", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The content of a file is not what was written.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset in the file.
        offset: u64,
        /// A description of the damage.
        what: String,
    },
    /// A required file does not exist.
    #[error("{} is missing, and the store is not complete without it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The checkpoint is damaged, and the log does not contain all of its commits, so it cannot
    /// replace the checkpoint.
    #[error(
        "{problem}; the log has no commits before timestamp {oldest} any more, which could replace it: bring back a copy of the store"
    )]
    Irreplaceable {
        /// The damage of the checkpoint.
        problem: Box<StoreError>,
        /// The log contains the commits after this one.
        oldest: CommitTimestamp,
    },
    /// A file belongs to another store or another place in this one.
    #[error("{} does not belong here: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// A description of the mismatch.
        what: &'static str,
    },
    /// A later version of this software wrote a file.
    #[error("{} has format version {version}, which only a later version of this software can read", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The format version of the file.
        version: u32,
    },
    /// The manifest names an unknown engine.
    #[error("{} names the engine {name:?}, which this version does not know", path.display())]
    UnknownEngine {
        /// The manifest.
        path: PathBuf,
        /// The name of the engine.
        name: String,
    },
    /// A checkpoint is compressed, and this program is built without compression.
    #[error(
        "{} is compressed: enable the feature `compression` of the crate `hedgerow` to read it", path.display()
    )]
    Compressed {
        /// The checkpoint.
        path: PathBuf,
    },
    /// A backup to the directory was interrupted.
    #[error("{} has a backup that was interrupted: repeat the backup, which begins anew, or remove the directory", path.display())]
    UnfinishedBackup {
        /// The directory.
        path: PathBuf,
    },
    /// A directory cannot take a backup of the store.
    #[error("no backup can be written to {}: {what}", path.display())]
    NoBackup {
        /// The directory.
        path: PathBuf,
        /// The reason.
        what: &'static str,
    },
    /// The older backup in a directory is damaged, so it cannot be brought up to date.
    #[error("the older backup is damaged: {problem}; write a new one to another directory")]
    DamagedBackup {
        /// The damage.
        problem: Box<StoreError>,
    },
    /// Labels cannot be added.
    #[error("the labels cannot be added to the store of {}: {error}", path.display())]
    Schema {
        /// The manifest.
        path: PathBuf,
        /// The error in the labels.
        error: SchemaError,
    },
    /// The commits after the requested state have been pruned.
    #[error(
        "the commits after timestamp {asked} cannot be read any more: the log begins after timestamp {oldest}; begin there or later, or \
         with a newer state"
    )]
    OutOfRetention {
        /// The requested timestamp.
        asked: CommitTimestamp,
        /// The oldest readable timestamp.
        oldest: CommitTimestamp,
    },
    /// The log returned an error.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl StoreError {
    /// Returns true if the files are damaged, so that reading them again fails, too.
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

    /// The error of a backup whose older copy has this problem.
    pub(crate) fn of_older_backup(problem: StoreError) -> Self {
        match problem.is_damage() {
            true => StoreError::DamagedBackup { problem: Box::new(problem) },
            false => problem,
        }
    }

    /// Moves damage to the file of the same name in the directory `location`, which has the same
    /// bytes.
    pub(crate) fn located_in(mut self, location: &Path) -> Self {
        if let StoreError::Damaged { path, .. } | StoreError::Missing { path } = &mut self {
            *path = location.join(path.file_name().unwrap_or_default());
        }
        self
    }

    /// Creates the error for damaged content of a file.
    pub(crate) fn damaged(path: impl Into<PathBuf>, offset: usize, what: impl Into<String>) -> Self {
        StoreError::Damaged { path: path.into(), offset: offset as u64, what: what.into() }
    }

    /// Creates the error for a damaged item that begins `offset` bytes into a file.
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

/// A refusal to log a commit.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// An earlier write or sync failed. The state of the disk is unknown; opening the store again
    /// determines it.
    #[error("the log takes no more commits since {cause}")]
    Poisoned {
        /// The first failure.
        #[source]
        cause: Arc<StoreError>,
    },
    /// A thread panicked while writing the log. Open the store again.
    #[error("the log takes no more commits since a thread panicked that wrote it")]
    Abandoned,
    /// The log was closed.
    #[error("the graph was closed: open it again to write")]
    Closed,
    /// A commit is not the next one.
    #[error("the commit of timestamp {found} comes where that of timestamp {expected} is next")]
    OutOfOrder {
        /// The next timestamp.
        expected: CommitTimestamp,
        /// The timestamp of this commit.
        found: CommitTimestamp,
    },
    /// A commit is too large for a record.
    #[error(
        "a commit of {bytes} bytes is larger than the {limit} bytes that a record of the log can have; split it"
    )]
    TooLarge {
        /// Bytes of the commit's body.
        bytes: usize,
        /// The maximum.
        limit: usize,
    },
}
