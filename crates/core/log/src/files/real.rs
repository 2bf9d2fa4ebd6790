//! The operating system's files.
//!
//! The directory is opened once, and every file is opened relative to it and never through a
//! symbolic link. So a tampered store cannot redirect reads or writes out of its directory, and all
//! accesses stay in the opened directory even if it is renamed.

use crate::files::{File, FileError, FileOperation, FileSystem, HeldLock, LockError, OpenMode};
use hedgerow_sync::fork::{ParentFile, Process};
use hedgerow_sync::{Arc, Mutex};
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs;
use std::io;
#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
#[cfg(target_os = "linux")]
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for which a writer waits for readers to release the lock: much longer than a reader's check
/// for a writer.
const PATIENCE_WITH_READERS: Duration = Duration::from_millis(500);

/// Sleep between two attempts.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(1);

/// Upper bound on the bytes of a decimal process id with its newline.
const LONGEST_PROCESS_ID: usize = 32;

/// A directory of the operating system.
#[derive(Clone, Debug)]
pub struct RealFiles {
    path: PathBuf,
    read_only: bool,
    /// The open directory. Opened by the first operation that needs it.
    directory: Arc<Mutex<Option<Arc<OwnedFd>>>>,
}

#[derive(Debug)]
struct RealFile {
    path: PathBuf,
    file: fs::File,
}

#[derive(Debug)]
struct RealLock {
    path: PathBuf,
    name: String,
    directory: Arc<OwnedFd>,
    file: ParentFile,
    /// The process that took the lock.
    process: Process,
}

impl RealFiles {
    /// The directory `path`, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        RealFiles { path: path.into(), read_only: false, directory: Arc::default() }
    }

    /// The directory `path`, read-only.
    #[must_use]
    pub fn read_only(path: impl Into<PathBuf>) -> Self {
        RealFiles { read_only: true, ..RealFiles::new(path) }
    }

    /// Returns true if the directory, which need not exist yet, is `other` or is inside it. Fails
    /// with the operating system's error.
    pub fn is_within(&self, other: &Path) -> Result<bool, FileError> {
        let failed = |source| FileError::new(FileOperation::Open, &self.path, source);
        let whole = std::path::absolute(&self.path).map_err(failed)?;
        let existing = whole.ancestors().find(|path| path.exists()).unwrap_or(&whole);
        let mut real = fs::canonicalize(existing).map_err(failed)?;
        for component in whole.strip_prefix(existing).into_iter().flat_map(Path::components) {
            if component != Component::ParentDir {
                real.push(component);
            } else {
                real.pop();
            }
        }
        Ok(fs::canonicalize(other).is_ok_and(|other| real.starts_with(other)))
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the open directory. Opens it if needed.
    fn directory(&self) -> io::Result<Arc<OwnedFd>> {
        let mut directory = self.directory.lock();
        if let Some(open) = &*directory {
            return Ok(Arc::clone(open));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = Arc::new(rustix::fs::open(&self.path, flags, Mode::empty())?);
        *directory = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn check_writable(&self, operation: FileOperation, path: &Path) -> Result<(), FileError> {
        match self.read_only {
            true => Err(FileError::new(operation, path, io::ErrorKind::ReadOnlyFilesystem.into())),
            false => Ok(()),
        }
    }

    /// Opens a regular file of the directory.
    fn open_file(&self, name: &str, access: OpenMode) -> io::Result<OwnedFd> {
        let directory = self.directory()?;
        match access {
            OpenMode::Read => open_regular(&directory, name, OFlags::RDONLY),
            OpenMode::Write => {
                let file = open_regular(&directory, name, OFlags::RDWR)?;
                check_links(&file)?;
                Ok(file)
            }
            OpenMode::Create => {
                match rustix::fs::unlinkat(&directory, name, AtFlags::empty()) {
                    Err(Errno::NOENT) | Ok(()) => {}
                    Err(error) => return Err(error.into()),
                }
                open_regular(&directory, name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
            }
        }
    }

    fn rename_file(&self, from: &str, to: &str) -> io::Result<()> {
        let directory = self.directory()?;
        Ok(rustix::fs::renameat(&directory, from, &directory, to)?)
    }

    fn list_files(&self) -> io::Result<Vec<String>> {
        let directory = self.directory()?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let is_file = match entry.file_type() {
                // Not every file system returns the type here.
                FileType::Unknown => {
                    match rustix::fs::statat(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => is_regular(&stat),
                        Err(Errno::NOENT) => false,
                        Err(error) => return Err(error.into()),
                    }
                }
                kind => kind == FileType::RegularFile,
            };
            if is_file {
                // No file of a store has a name that is not UTF-8.
                names.extend(entry.file_name().to_str().map(str::to_owned));
            }
        }
        Ok(names)
    }

    /// Takes the lock exclusively, for writing.
    fn lock_to_write(&self, name: &str) -> Result<RealLock, LockError> {
        let path = self.path_of(name);
        let failed = |source: io::Error| FileError::new(FileOperation::Lock, &path, source);
        let begin = Instant::now();
        loop {
            let directory = self.directory().map_err(failed)?;
            let flags = OFlags::RDWR | OFlags::CREATE;
            let lock = RealLock::open(&path, name, directory, flags).map_err(failed)?;
            check_links(&lock.file).map_err(failed)?;
            if lock.try_lock(FlockOperation::NonBlockingLockExclusive)? {
                // The file may have been removed since it was opened.
                if lock.is_held()? {
                    lock.write_process_id().map_err(failed)?;
                    return Ok(lock);
                }
            } else if !lock.try_lock(FlockOperation::NonBlockingLockShared)? {
                return Err(LockError::Held { path: path.clone(), holder: lock.read_process_id() });
            } else if begin.elapsed() > PATIENCE_WITH_READERS {
                return Err(LockError::Shared { path: path.clone() });
            }
            drop(lock);
            std::thread::sleep(BETWEEN_ATTEMPTS);
        }
    }

    /// Takes the lock shared, for reading; `None` if there is no lock file.
    fn lock_to_read(&self, name: &str) -> Result<Option<RealLock>, LockError> {
        let path = self.path_of(name);
        let failed = |source: io::Error| FileError::new(FileOperation::Lock, &path, source);
        let directory = self.directory().map_err(failed)?;
        let lock = match RealLock::open(&path, name, directory, OFlags::RDONLY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        match lock.try_lock(FlockOperation::NonBlockingLockShared)? {
            true => Ok(Some(lock)),
            false => Err(LockError::Held { path: path.clone(), holder: lock.read_process_id() }),
        }
    }
}

/// Opens a regular file of `directory`: not through a symbolic link, and not a pipe, on which
/// opening or reading would block.
fn open_regular(directory: &OwnedFd, name: &str, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(0o666)) {
        Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link; put the file itself there")),
        opened => opened?,
    };
    match is_regular(&rustix::fs::fstat(&file)?) {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Refuses a file with several hard links: a write would change it in other directories, too.
fn check_links(file: impl AsFd) -> io::Result<()> {
    match rustix::fs::fstat(file)?.st_nlink {
        0 | 1 => Ok(()),
        links => Err(io::Error::other(format!(
            "the file has {links} names (hard links); copy it, so that it has one"
        ))),
    }
}

impl FileSystem for RealFiles {
    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn location(&self) -> PathBuf {
        self.path.clone()
    }

    fn create_directory(&self) -> Result<(), FileError> {
        let failed = |source| FileError::new(FileOperation::CreateDirectory, &self.path, source);
        self.check_writable(FileOperation::CreateDirectory, &self.path)?;
        if self.path.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&self.path).map_err(failed)?;
        // Every directory on the path may be new. A directory that may not be opened existed
        // before.
        let whole = fs::canonicalize(&self.path).map_err(failed)?;
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
        self.list_files().map_err(|source| FileError::new(FileOperation::List, &self.path, source))
    }

    fn open(&self, name: &str, access: OpenMode) -> Result<Box<dyn File>, FileError> {
        let path = self.path_of(name);
        let operation = match access {
            OpenMode::Read | OpenMode::Write => FileOperation::Open,
            OpenMode::Create => FileOperation::Create,
        };
        if access != OpenMode::Read {
            self.check_writable(operation, &path)?;
        }
        match self.open_file(name, access) {
            Ok(file) => Ok(Box::new(RealFile { path, file: file.into() })),
            Err(source) => Err(FileError::new(operation, path, source)),
        }
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let path = self.path_of(from);
        self.check_writable(FileOperation::Rename, &path)?;
        self.rename_file(from, to).map_err(|source| FileError::new(FileOperation::Rename, path, source))
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path_of(name);
        self.check_writable(FileOperation::Remove, &path)?;
        let removed = self
            .directory()
            .and_then(|directory| Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?));
        removed.map_err(|source| FileError::new(FileOperation::Remove, path, source))
    }

    fn sync_directory(&self) -> Result<(), FileError> {
        self.check_writable(FileOperation::SyncDirectory, &self.path)?;
        let synced = self.directory().and_then(|directory| Ok(rustix::fs::fsync(directory)?));
        synced.map_err(|source| FileError::new(FileOperation::SyncDirectory, &self.path, source))
    }

    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError> {
        self.check_writable(FileOperation::Lock, &self.path_of(name))?;
        Ok(Box::new(self.lock_to_write(name)?))
    }

    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError> {
        let lock = self.lock_to_read(name)?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn HeldLock>))
    }
}

impl HeldLock for RealLock {
    fn is_held(&self) -> Result<bool, FileError> {
        let named = match rustix::fs::statat(&self.directory, &*self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(false),
            named => named.map_err(|error| self.failed(error))?,
        };
        let held = rustix::fs::fstat(&self.file).map_err(|error| self.failed(error))?;
        Ok((named.st_dev, named.st_ino) == (held.st_dev, held.st_ino))
    }
}

impl Drop for RealLock {
    /// Releases the lock. Closing the file is not enough: a child that is being started has a copy
    /// of it until its program is loaded.
    fn drop(&mut self) {
        // A forked child has no lock.
        if self.process.is_current() {
            // If it fails, closing the file releases the lock.
            let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        }
    }
}

impl RealLock {
    /// Opens a lock file of `directory`, which forked children do not share.
    fn open(path: &Path, name: &str, directory: Arc<OwnedFd>, flags: OFlags) -> io::Result<RealLock> {
        let file = ParentFile::open(Arc::clone(&directory), || open_regular(&directory, name, flags))?;
        let (path, name) = (path.to_owned(), name.to_owned());
        Ok(RealLock { path, name, directory, file, process: Process::current() })
    }

    fn failed(&self, error: Errno) -> FileError {
        FileError::new(FileOperation::Lock, &self.path, error.into())
    }

    fn try_lock(&self, operation: FlockOperation) -> Result<bool, FileError> {
        match rustix::fs::flock(&self.file, operation) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn write_process_id(&self) -> io::Result<()> {
        // Not through a copy of the descriptor, which a forked child would share.
        rustix::fs::ftruncate(&self.file, 0)?;
        rustix::io::pwrite(&self.file, format!("{}\n", std::process::id()).as_bytes(), 0)?;
        Ok(())
    }

    /// The process id that the holder wrote, if it has written one yet.
    fn read_process_id(&self) -> Option<u32> {
        let mut bytes = [0; LONGEST_PROCESS_ID];
        // On failure the message has no process id.
        let length = rustix::io::pread(self.file.as_fd(), &mut bytes, 0).ok()?;
        std::str::from_utf8(&bytes[..length]).ok()?.trim().parse().ok()
    }
}

impl RealFile {
    fn failed(&self, operation: FileOperation) -> impl Fn(io::Error) -> FileError {
        move |source| FileError::new(operation, &self.path, source)
    }

    /// Advises the operating system. A refusal affects only the speed of reads.
    #[cfg(target_os = "linux")]
    fn advise(&self, range: Range<u64>, advice: rustix::fs::Advice) {
        if let Some(length) = range.end.checked_sub(range.start).and_then(NonZeroU64::new) {
            let _ = rustix::fs::fadvise(&self.file, range.start, Some(length), advice);
        }
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
        // fdatasync: includes the length, not the times.
        self.file.sync_data().map_err(self.failed(FileOperation::Sync))
    }

    #[cfg(target_os = "linux")]
    fn expect_random_reads(&self) {
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::Random);
    }

    #[cfg(target_os = "linux")]
    fn prefetch(&self, range: Range<u64>) {
        self.advise(range, rustix::fs::Advice::WillNeed);
    }

    #[cfg(target_os = "linux")]
    fn evict(&self, range: Range<u64>) {
        self.advise(range, rustix::fs::Advice::DontNeed);
    }
}

/// Repeats a transfer that a signal interrupted.
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
    use hedgerow_sync::atomic::{AtomicBool, Ordering};
    use hedgerow_testing::flag::RaiseOnDrop;

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
        let file = files.open("one", OpenMode::Create).unwrap();
        file.write_all_at(b"hello", 3).unwrap();
        file.sync().unwrap();
        assert_eq!(file.read_from(0).unwrap(), b"\0\0\0hello");
        assert_eq!(files.open("one", OpenMode::Read).unwrap().read_from(4).unwrap(), b"ello");
        file.set_length(4).unwrap();
        assert_eq!(file.length().unwrap(), 4);
        assert!(file.read_exact_at(&mut [0; 2], 3).is_err());
        files.rename("one", "two").unwrap();
        files.sync_directory().unwrap();
        assert_eq!(files.list().unwrap(), ["two"]);
        assert!(files.open("one", OpenMode::Write).unwrap_err().is_not_found());
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

    /// Links and pipes do not redirect access out of the directory, and do not block.
    #[test]
    fn only_regular_files_of_the_directory_are_opened() {
        let (folder, files) = files();
        let outside = folder.path().join("outside");
        let place = files.location().join("file");
        let kinds: [fn(&Path, &Path); 3] = [
            |place, outside| std::os::unix::fs::symlink(outside, place).unwrap(),
            |place, outside| fs::hard_link(outside, place).unwrap(),
            |place, _| {
                rustix::fs::mknodat(rustix::fs::CWD, place, FileType::Fifo, Mode::from_raw_mode(0o600), 0)
                    .unwrap();
            },
        ];
        for (kind, put) in kinds.into_iter().enumerate() {
            fs::write(&outside, "untouched").unwrap();
            put(&place, &outside);
            let is_hard_link = kind == 1;
            assert_eq!(files.open("file", OpenMode::Read).is_ok(), is_hard_link, "kind {kind}");
            assert_eq!(files.list().unwrap().len(), usize::from(is_hard_link), "kind {kind}");
            assert!(files.open("file", OpenMode::Write).is_err(), "kind {kind}");
            assert!(files.lock("file").is_err(), "kind {kind}");
            assert_eq!(files.lock_shared("file").is_ok(), is_hard_link, "kind {kind}");
            // A new file replaces the link or the pipe.
            files.open("file", OpenMode::Create).unwrap().write_all_at(b"new", 0).unwrap();
            assert_eq!(fs::read_to_string(&place).unwrap(), "new", "kind {kind}");
            assert_eq!(fs::read_to_string(&outside).unwrap(), "untouched", "kind {kind}");
            fs::remove_file(&place).unwrap();
        }
    }

    #[test]
    fn a_directory_that_is_renamed_stays_the_one_that_was_opened() {
        let (folder, files) = files();
        files.open("one", OpenMode::Create).unwrap();
        let lock = files.lock("LOCK").unwrap();
        let (here, moved) = (files.location(), folder.path().join("moved"));
        fs::rename(&here, &moved).unwrap();
        fs::create_dir(&here).unwrap();
        files.open("two", OpenMode::Create).unwrap();
        files.rename("one", "three").unwrap();
        files.sync_directory().unwrap();
        assert!(lock.is_held().unwrap());
        assert_eq!(fs::read_dir(&here).unwrap().count(), 0);
        assert!(moved.join("two").exists() && moved.join("three").exists());
    }

    /// Readers that check for a writer do not block writers.
    #[test]
    fn writers_are_not_blocked_by_readers_that_check_for_them() {
        let (_folder, files) = files();
        drop(files.lock("LOCK").unwrap());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _over = RaiseOnDrop(&is_over);
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let _ = files.lock_shared("LOCK");
                    }
                });
            }
            (0..200).for_each(|_| drop(files.lock("LOCK").unwrap()));
        });
    }

    /// A process that is being started has copies of all open files until its program is loaded.
    #[test]
    fn a_released_lock_is_free_while_processes_are_started() {
        let (_folder, files) = files();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _over = RaiseOnDrop(&is_over);
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        assert!(std::process::Command::new("true").status().unwrap().success());
                    }
                });
            }
            for _ in 0..2_000 {
                drop(files.lock("LOCK").unwrap());
                drop(files.lock_shared("LOCK").unwrap());
            }
        });
    }

    #[test]
    fn a_lock_on_a_removed_file_is_not_held() {
        let (_folder, files) = files();
        let first = files.lock("LOCK").unwrap();
        assert!(first.is_held().unwrap());
        files.remove("LOCK").unwrap();
        assert!(!first.is_held().unwrap());
        let second = files.lock("LOCK").unwrap();
        assert!(second.is_held().unwrap() && !first.is_held().unwrap());
    }

    #[test]
    fn read_only_files_cannot_be_changed() {
        let (_folder, files) = files();
        files.open("one", OpenMode::Create).unwrap();
        let read_only = RealFiles::read_only(files.location());
        read_only.open("one", OpenMode::Read).unwrap();
        let refusals = [
            read_only.open("one", OpenMode::Write).map(drop),
            read_only.open("two", OpenMode::Create).map(drop),
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
