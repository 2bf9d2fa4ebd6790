//! The directory of a store: a lock file, the manifest, the segments of the log, checkpoints.

mod backup;
mod browse;
mod check;
mod commits;
mod create;
mod follow;
mod installed;
mod join;
pub(crate) mod manifest;
pub(crate) mod mark;
mod reading;
mod repair;
mod replay;

pub use crate::checkpoint::CheckpointEntry;
pub use crate::segment::{SealedSegment, SegmentEntry};
pub use backup::{BackupReport, EngineAccess, EngineFile, EngineState, backup};
pub use browse::{CommitRange, ListedCommit, list_commits, touched_vertices};
pub use check::{CheckReport, check};
pub use commits::CommitReader;
pub use follow::{Follower, LogStatus};
pub use manifest::{Manifest, OWN_FILES, StoreOptions, StreamEntry};
pub(crate) use manifest::{NotReplaced, check_lock};
pub use reading::TornTail;
pub use repair::{Cut, Repair, ReplacedCheckpoint, recover_to_last_valid};
pub(crate) use repair::{cut_files, make_durable};
pub use replay::{LogPosition, Recovered};

use crate::error::StoreError;
use crate::files::{FileError, FileOperation, FileSystem, HeldLock};
use crate::segment;
use hedgerow_model::{Catalog, LabelSchema};
use hedgerow_sync::Arc;

/// The name of the lock file.
pub(crate) const LOCK: &str = "LOCK";

/// The files of an open store, whose manifest has been read, but not its log.
///
/// [`StoreFiles::replay`] reads the commits; then [`Log::start`](crate::Log::start) takes new ones.
#[derive(Debug)]
pub struct StoreFiles {
    pub(crate) files: Arc<dyn FileSystem>,
    pub(crate) manifest: Manifest,
    pub(crate) lock: Lock,
}

/// The lock of an open store.
#[derive(Debug)]
pub(crate) enum Lock {
    /// Other processes can neither write nor read.
    Write(Box<dyn HeldLock>),
    /// Other processes cannot write, if there is a lock file.
    Read { _held: Option<Box<dyn HeldLock>> },
    /// Another process may write.
    None,
}

impl StoreFiles {
    /// Opens a store for reading and writing, exclusively until it is dropped.
    ///
    /// # Errors
    /// [`StoreError::NoStore`], [`StoreError::Locked`], and errors in the manifest.
    pub fn open(files: Arc<dyn FileSystem>) -> Result<Self, StoreError> {
        // Before locking, which would create a file where there is no store.
        Manifest::of(&*files)?;
        let lock = Lock::Write(files.lock(LOCK)?);
        let manifest = Manifest::of(&*files)?;
        Ok(StoreFiles { files, manifest, lock })
    }

    /// Opens a store for reading, shared with other readers; blocks writers while it is open.
    /// Changes nothing, so the file system may be read-only.
    ///
    /// # Errors
    /// [`StoreError::NoStore`], [`StoreError::Locked`] if the store is open for writing, and errors
    /// in the manifest.
    pub fn open_shared(files: Arc<dyn FileSystem>) -> Result<Self, StoreError> {
        Manifest::of(&*files)?;
        let lock = Lock::Read { _held: files.lock_shared(LOCK)? };
        let manifest = Manifest::of(&*files)?;
        Ok(StoreFiles { files, manifest, lock })
    }

    /// Opens a store for reading without a lock: while another process writes to it, the manifest
    /// read here may be out of date at any time, and files may disappear.
    ///
    /// # Errors
    /// [`StoreError::NoStore`], and errors in the manifest.
    pub fn open_read_only(files: Arc<dyn FileSystem>) -> Result<Self, StoreError> {
        let manifest = Manifest::of(&*files)?;
        Ok(StoreFiles { files, manifest, lock: Lock::None })
    }

    /// Appends labels to the graph of the store, durably.
    ///
    /// # Errors
    /// [`StoreError::Schema`] if two labels have the same name, or there are too many; the file
    /// system's error.
    pub fn add_labels(&mut self, labels: &[LabelSchema]) -> Result<(), StoreError> {
        self.manifest.options.catalog = with_labels(&self.manifest, labels, &*self.files)?;
        self.replace_manifest()
    }

    /// Fails if another process has replaced the manifest since it was read: everything read since
    /// may be inconsistent. For readers without a lock, where there is no lock file.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`]; errors in the manifest.
    pub fn check_unchanged(&self) -> Result<(), StoreError> {
        if Manifest::of(&*self.files)?.generation == self.manifest.generation {
            return Ok(());
        }
        let path = self.files.location().join(manifest::MANIFEST);
        Err(StoreError::Overtaken { path, what: "was replaced by another process while it was read" })
    }

    /// Replaces the manifest with the changed one, durably.
    fn replace_manifest(&mut self) -> Result<(), StoreError> {
        match &self.lock {
            Lock::Write(lock) => self.manifest.replace(&*self.files, &**lock).map_err(|failed| failed.error),
            Lock::Read { .. } | Lock::None => Err(self.read_only()),
        }
    }

    /// The error of writing to a read-only store.
    pub(crate) fn read_only(&self) -> StoreError {
        let refusal = std::io::ErrorKind::ReadOnlyFilesystem.into();
        FileError::new(FileOperation::Write, self.files.location(), refusal).into()
    }

    /// The manifest of the store.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The files of the store.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn FileSystem> {
        &self.files
    }
}

/// The catalog of a store with further labels.
pub(crate) fn with_labels(
    manifest: &Manifest,
    labels: &[LabelSchema],
    files: &dyn FileSystem,
) -> Result<Catalog, StoreError> {
    let path = || files.location().join(manifest::MANIFEST);
    let catalog = manifest.options.catalog.with_labels(labels);
    catalog.map_err(|error| StoreError::Schema { path: path(), error })
}

impl Manifest {
    /// Reads the manifest of a store that must exist.
    fn of(files: &dyn FileSystem) -> Result<Manifest, StoreError> {
        if let Some(manifest) = Manifest::read(files)? {
            return Ok(manifest);
        }
        match leftovers(files) {
            Ok(names) if names.iter().any(|name| name == backup::MARKER) => {
                Err(StoreError::UnfinishedBackup { path: files.location() })
            }
            // Segments without a manifest belong to a store that has lost its manifest.
            Ok(names) if !names.is_empty() => {
                Err(StoreError::Missing { path: files.location().join(manifest::MANIFEST) })
            }
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Err(StoreError::NoStore { path: files.location() }),
        }
    }
}

/// The files of a log or a checkpoint, and the marker of an unfinished backup.
fn leftovers(files: &dyn FileSystem) -> Result<Vec<String>, FileError> {
    let mut names = files.list()?;
    names.retain(|name| {
        segment::number_of(name).is_some() || name.starts_with("checkpoint-") || name == backup::MARKER
    });
    Ok(names)
}
