//! The operating system's files.

use crate::files::{Access, File, FileError, FileOperation, FileSystem, HeldLock, LockError};
use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// A directory of the operating system.
#[derive(Clone, Debug)]
pub struct RealFiles {
    directory: PathBuf,
    read_only: bool,
}

#[derive(Debug)]
struct RealFile {
    path: PathBuf,
    file: fs::File,
}

#[derive(Debug)]
struct RealLock {
    /// The operating system releases the lock when this is closed.
    _file: fs::File,
}

impl RealFiles {
    /// The directory `directory`, which need not exist yet.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        RealFiles { directory: directory.into(), read_only: false }
    }

    /// The same, in which nothing can be changed.
    #[must_use]
    pub fn read_only(directory: impl Into<PathBuf>) -> Self {
        RealFiles { directory: directory.into(), read_only: true }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn check_writable(&self, operation: FileOperation, path: &Path) -> Result<(), FileError> {
        match self.read_only {
            true => Err(FileError::new(operation, path, io::ErrorKind::ReadOnlyFilesystem.into())),
            false => Ok(()),
        }
    }
}

impl FileSystem for RealFiles {
    fn location(&self) -> PathBuf {
        self.directory.clone()
    }

    fn create_directory(&self) -> Result<(), FileError> {
        let failed = |source| FileError::new(FileOperation::CreateDirectory, &self.directory, source);
        self.check_writable(FileOperation::CreateDirectory, &self.directory)?;
        if self.directory.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&self.directory).map_err(failed)?;
        // Every directory on the way may be new. Those that are not ours to open were there before.
        let whole = fs::canonicalize(&self.directory).map_err(failed)?;
        for parent in whole.ancestors().skip(1) {
            match fs::File::open(parent) {
                Ok(parent) => parent.sync_all().map_err(failed)?,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => break,
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>, FileError> {
        let failed = |source| FileError::new(FileOperation::List, &self.directory, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_file() {
                // A name that is not text is none of ours.
                names.extend(entry.file_name().into_string());
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str, access: Access) -> Result<Box<dyn File>, FileError> {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        options.read(true);
        let operation = match access {
            Access::Read => FileOperation::Open,
            Access::Write => {
                options.write(true);
                FileOperation::Open
            }
            Access::Create => {
                options.write(true).create(true).truncate(true);
                FileOperation::Create
            }
        };
        if access != Access::Read {
            self.check_writable(operation, &path)?;
        }
        match options.open(&path) {
            Ok(file) => Ok(Box::new(RealFile { path, file })),
            Err(source) => Err(FileError::new(operation, path, source)),
        }
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let path = self.path(from);
        self.check_writable(FileOperation::Rename, &path)?;
        fs::rename(&path, self.path(to)).map_err(|source| FileError::new(FileOperation::Rename, path, source))
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path(name);
        self.check_writable(FileOperation::Remove, &path)?;
        fs::remove_file(&path).map_err(|source| FileError::new(FileOperation::Remove, path, source))
    }

    fn sync_directory(&self) -> Result<(), FileError> {
        self.check_writable(FileOperation::SyncDirectory, &self.directory)?;
        let synced = fs::File::open(&self.directory).and_then(|directory| directory.sync_all());
        synced.map_err(|source| FileError::new(FileOperation::SyncDirectory, &self.directory, source))
    }

    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError> {
        let path = self.path(name);
        self.check_writable(FileOperation::Lock, &path)?;
        let failed = |source| FileError::new(FileOperation::Lock, &path, source);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0).map_err(failed)?;
                writeln!(file, "{}", std::process::id()).map_err(failed)?;
                Ok(Box::new(RealLock { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Without it the message has no process id.
                let _ = file.read_to_string(&mut holder);
                Err(LockError::Held { path, holder: holder.trim().parse().ok() })
            }
            Err(TryLockError::Error(source)) => Err(failed(source).into()),
        }
    }
}

impl HeldLock for RealLock {}

impl RealFile {
    fn failed(&self, operation: FileOperation) -> impl Fn(io::Error) -> FileError {
        move |source| FileError::new(operation, &self.path, source)
    }
}

impl File for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        uninterrupted(|| self.file.read_at(buffer, offset)).map_err(self.failed(FileOperation::Read))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError> {
        uninterrupted(|| self.file.write_at(bytes, offset)).map_err(self.failed(FileOperation::Write))
    }

    fn set_length(&self, length: u64) -> Result<(), FileError> {
        self.file.set_len(length).map_err(self.failed(FileOperation::SetLength))
    }

    fn length(&self) -> Result<u64, FileError> {
        let metadata = self.file.metadata().map_err(self.failed(FileOperation::Length))?;
        Ok(metadata.len())
    }

    fn sync(&self) -> Result<(), FileError> {
        // fdatasync: with the length, without the times.
        self.file.sync_data().map_err(self.failed(FileOperation::Sync))
    }
}

/// A signal is no reason to fail.
fn uninterrupted(mut transfer: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match transfer() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, RealFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = RealFiles::new(folder.path().join("a/b/store"));
        files.create_directory().unwrap();
        (folder, files)
    }

    #[test]
    fn files_are_written_read_renamed_and_removed() {
        let (_folder, files) = files();
        files.create_directory().unwrap();
        let file = files.open("one", Access::Create).unwrap();
        file.write_all_at(b"hello", 3).unwrap();
        file.sync().unwrap();
        assert_eq!(file.read_from(0).unwrap(), b"\0\0\0hello");
        assert_eq!(files.open("one", Access::Read).unwrap().read_from(4).unwrap(), b"ello");
        file.set_length(4).unwrap();
        assert_eq!(file.length().unwrap(), 4);
        assert!(file.read_exact_at(&mut [0; 2], 3).is_err());
        files.rename("one", "two").unwrap();
        files.sync_directory().unwrap();
        assert_eq!(files.list().unwrap(), ["two"]);
        assert!(files.open("one", Access::Write).unwrap_err().is_not_found());
        files.remove("two").unwrap();
        assert!(files.list().unwrap().is_empty());
        assert!(RealFiles::new("/nowhere").list().unwrap_err().is_not_found());
    }

    #[test]
    fn a_second_lock_names_the_holder() {
        let (_folder, files) = files();
        let held = files.lock("LOCK").unwrap();
        match files.lock("LOCK") {
            Err(LockError::Held { holder, .. }) => assert_eq!(holder, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(held);
        files.lock("LOCK").unwrap();
    }

    #[test]
    fn what_is_read_only_cannot_be_changed() {
        let (_folder, files) = files();
        files.open("one", Access::Create).unwrap();
        let read_only = RealFiles::read_only(files.location());
        read_only.open("one", Access::Read).unwrap();
        let refusals = [
            read_only.open("one", Access::Write).map(drop),
            read_only.open("two", Access::Create).map(drop),
            read_only.rename("one", "two"),
            read_only.remove("one"),
            read_only.sync_directory(),
            read_only.create_directory(),
        ];
        for refusal in refusals {
            assert_eq!(refusal.unwrap_err().source.kind(), io::ErrorKind::ReadOnlyFilesystem);
        }
        assert!(read_only.lock("LOCK").is_err());
        assert_eq!(files.list().unwrap(), ["one"]);
    }
}
