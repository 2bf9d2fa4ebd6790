//! The files of a store, for an engine that keeps its own files in the directory.

use super::{File, FileError, FileOperation, FileSystem, HeldLock, LockError, OpenMode};
use hedgerow_sync::{Arc, RwLock, RwLockReadGuard};
use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The directory of a store, for an engine that keeps its own files in it. The files can be changed
/// only while the store can be written.
///
/// The engine works in the background, perhaps after the graph was closed and another process has
/// opened the store. So every change of a file needs permission first; closing waits for running
/// changes.
#[derive(Clone, Debug)]
pub struct EngineFiles(Arc<OwnedFiles>);

#[derive(Debug)]
struct OwnedFiles {
    files: Arc<dyn FileSystem>,
    rights: RwLock<FileRights>,
}

/// The owner of the right to change files.
#[derive(Debug, Default)]
enum FileRights {
    #[default]
    ReadOnly,
    /// The store is being created or opened, and is locked.
    Opener,
    /// The writer of the store, while it holds the store's lock.
    Writer(Arc<dyn LockHolder>),
}

/// The writer of a store, which holds its lock.
pub(crate) trait LockHolder: Debug + Send + Sync {
    /// Fails if the lock is no longer held.
    fn confirm_lock(&self) -> io::Result<()>;
}

impl EngineFiles {
    /// The prefix of the names of an engine's files.
    pub const PREFIX: &'static str = "engine-";

    /// The files of a store that is being created or opened, and is locked.
    #[must_use]
    pub fn new(files: Arc<dyn FileSystem>) -> Self {
        EngineFiles::with(files, FileRights::Opener)
    }

    /// The files of a store that is only read.
    #[must_use]
    pub fn read_only(files: Arc<dyn FileSystem>) -> Self {
        EngineFiles::with(files, FileRights::ReadOnly)
    }

    fn with(files: Arc<dyn FileSystem>, rights: FileRights) -> Self {
        let shared = OwnedFiles { files, rights: RwLock::default() };
        *shared.rights.write() = rights;
        EngineFiles(Arc::new(shared))
    }

    /// Permits changes of the files while `writer` holds the store's lock.
    pub(crate) fn hand_over(&self, writer: Arc<dyn LockHolder>) {
        *self.0.rights.write() = FileRights::Writer(writer);
    }

    /// Forbids further changes of the files. Waits for running changes.
    pub fn close(&self) {
        *self.0.rights.write() = FileRights::ReadOnly;
    }

    /// Permits a change of a file until the result is dropped.
    fn change(&self, path: &Path) -> Result<RwLockReadGuard<'_, FileRights>, FileError> {
        let rights = self.0.rights.read();
        match &*rights {
            FileRights::ReadOnly => {
                let source = io::ErrorKind::ReadOnlyFilesystem.into();
                Err(FileError::new(FileOperation::Write, path, source))
            }
            FileRights::Opener | FileRights::Writer(_) => Ok(rights),
        }
    }

    /// Permits a change of the directory until the result is dropped, after checking that the
    /// writer still holds the store's lock.
    fn change_entry(&self, name: &str) -> Result<RwLockReadGuard<'_, FileRights>, FileError> {
        let path = self.location().join(name);
        let rights = self.change(&path)?;
        if let FileRights::Writer(writer) = &*rights {
            let lost = |error| FileError::new(FileOperation::Write, path, error);
            writer.confirm_lock().map_err(lost)?;
        }
        Ok(rights)
    }
}

impl FileSystem for EngineFiles {
    fn location(&self) -> PathBuf {
        self.0.files.location()
    }

    fn is_read_only(&self) -> bool {
        matches!(*self.0.rights.read(), FileRights::ReadOnly)
    }

    fn create_directory(&self) -> Result<(), FileError> {
        let _change = self.change(&self.location())?;
        self.0.files.create_directory()
    }

    fn list(&self) -> Result<Vec<String>, FileError> {
        self.0.files.list()
    }

    fn open(&self, name: &str, access: OpenMode) -> Result<Box<dyn File>, FileError> {
        let file = match access {
            OpenMode::Read => self.0.files.open(name, access)?,
            OpenMode::Write | OpenMode::Create => {
                let _change = self.change_entry(name)?;
                self.0.files.open(name, access)?
            }
        };
        Ok(Box::new(EngineFile { file, files: self.clone() }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let _change = self.change_entry(to)?;
        self.0.files.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        let _change = self.change_entry(name)?;
        self.0.files.remove(name)
    }

    fn sync_directory(&self) -> Result<(), FileError> {
        let _change = self.change(&self.location())?;
        self.0.files.sync_directory()
    }

    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError> {
        self.0.files.lock(name)
    }

    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError> {
        self.0.files.lock_shared(name)
    }
}

#[derive(Debug)]
struct EngineFile {
    file: Box<dyn File>,
    files: EngineFiles,
}

impl File for EngineFile {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError> {
        let _change = self.files.change(self.path())?;
        self.file.write_at(bytes, offset)
    }

    fn set_length(&self, length: u64) -> Result<(), FileError> {
        let _change = self.files.change(self.path())?;
        self.file.set_length(length)
    }

    fn length(&self) -> Result<u64, FileError> {
        self.file.length()
    }

    fn sync(&self) -> Result<(), FileError> {
        let _change = self.files.change(self.path())?;
        self.file.sync()
    }

    fn expect_random_reads(&self) {
        self.file.expect_random_reads();
    }

    fn prefetch(&self, range: Range<u64>) {
        self.file.prefetch(range);
    }

    fn evict(&self, range: Range<u64>) {
        self.file.evict(range);
    }
}
