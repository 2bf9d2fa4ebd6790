//! The creation of a store.

use super::{LOCK, Lock, Manifest, StoreFiles, StoreOptions, check_lock, leftovers};
use crate::error::StoreError;
use crate::files::{EngineFiles, FileError, FileSystem, HeldLock, OpenMode};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Arc;

/// The name of the file that is there while an engine writes the first state of a store, which has
/// no manifest yet.
const MARKER: &str = "UNFINISHED";

impl StoreFiles {
    /// Creates an empty store, durably.
    ///
    /// `id` is random: data written for one store is not valid in any other.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if the store exists; [`StoreError::Locked`].
    pub fn create(
        files: Arc<dyn FileSystem>,
        options: StoreOptions,
        id: [u8; 16],
    ) -> Result<Self, StoreError> {
        let (lock, mut manifest) = (lock_new(&*files)?, Manifest::new(id, options));
        manifest.replace(&*files, &*lock).map_err(|failed| failed.error)?;
        Ok(StoreFiles { files, manifest, lock: Lock::Write(lock) })
    }

    /// Creates a store whose engine has files of its own, with the state of its first commit:
    /// `write` makes the engine's files, durably. The log begins after the commit `at`, of this
    /// wall-clock time. A crash leaves no store, or all of it.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if the store exists; [`StoreError::Locked`]; the error of `write`:
    /// then the files are removed, if the file system permits.
    pub fn create_with<E: From<StoreError>>(
        files: Arc<dyn FileSystem>,
        options: StoreOptions,
        id: [u8; 16],
        (at, wall_clock): (CommitTimestamp, u64),
        write: impl FnOnce() -> Result<(), E>,
    ) -> Result<Self, E> {
        let lock = lock_new(&*files)?;
        mark(&*files).map_err(StoreError::from)?;
        let mut manifest = Manifest {
            oldest_readable: at,
            oldest_wall_clock: wall_clock,
            durable: at,
            ..Manifest::new(id, options)
        };
        let mut replace = || manifest.replace(&*files, &*lock).map_err(|failed| failed.error);
        match write().and_then(|()| Ok(replace()?)) {
            Ok(()) => {
                // A marker beside a manifest means nothing.
                let _ = files.remove(MARKER).and_then(|()| files.sync_directory());
                Ok(StoreFiles { files, manifest, lock: Lock::Write(lock) })
            }
            Err(error) => {
                // The manifest may be in place despite the error, which matters more than another.
                if check_lock(&*files, &*lock).is_ok() && matches!(Manifest::read(&*files), Ok(None)) {
                    let _ = remove_marked(&*files);
                }
                Err(error)
            }
        }
    }

    /// Removes what a crash has left of a store that was never finished, if there is anything.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process makes the store now; the error of the file system.
    pub fn remove_unfinished(files: &dyn FileSystem) -> Result<(), StoreError> {
        match Manifest::read(files)?.is_none() && files.list()?.iter().any(|name| name == MARKER) {
            true => lock_new(files).map(drop),
            false => Ok(()),
        }
    }
}

/// Locks the directory of a store that is to be created.
fn lock_new(files: &dyn FileSystem) -> Result<Box<dyn HeldLock>, StoreError> {
    files.create_directory()?;
    let lock = files.lock(LOCK)?;
    if Manifest::read(files)?.is_some() || !leftovers(files)?.is_empty() {
        return Err(StoreError::Exists { path: files.location() });
    }
    remove_marked(files)?;
    Ok(lock)
}

/// Marks the directory, durably.
fn mark(files: &dyn FileSystem) -> Result<(), FileError> {
    files.open(MARKER, OpenMode::Create)?.sync()?;
    files.sync_directory()
}

/// Removes the files of an engine if there is a marker, and then the marker, without which they
/// would be those of a store that has lost its manifest.
fn remove_marked(files: &dyn FileSystem) -> Result<(), FileError> {
    let names = files.list()?;
    if !names.iter().any(|name| name == MARKER) {
        return Ok(());
    }
    for name in names.iter().filter(|name| name.starts_with(EngineFiles::PREFIX)) {
        files.remove(name)?;
    }
    files.sync_directory()?;
    files.remove(MARKER)
}
