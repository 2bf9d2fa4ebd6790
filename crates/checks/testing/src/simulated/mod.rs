//! A file system in memory that fails and loses power on demand.
//!
//! Seeds and the order of operations determine everything, so failures are reproducible.
//!
//! ```
//! use hedgerow_testing::simulated::{SimulatedFiles, Survival};
//! use hedgerow_log::files::{OpenMode, FileSystem};
//!
//! let files = SimulatedFiles::new(1);
//! files.create_directory()?;
//! let file = files.open("new", OpenMode::Create)?;
//! file.write_all_at(b"content", 0)?;
//! file.sync()?; // The content is durable, the name is not.
//! let found = files.after_crash(Survival::Nothing, 1);
//! assert!(found.list()?.is_empty());
//! # Ok::<(), hedgerow_log::files::FileError>(())
//! ```

mod content;
mod disk;
mod random;
#[cfg(test)]
mod tests;

use disk::{Disk, Node};
use hedgerow_log::files::{File, FileError, FileOperation, FileSystem, HeldLock, LockError, OpenMode};
use hedgerow_sync::{Arc, Mutex};
use random::Random;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The unsynced changes that survive a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// No changes.
    Nothing,
    /// All changes.
    Everything,
    /// A prefix of the operations; if the last is a write, torn at a sector of 512 bytes.
    Prefix,
    /// Any sectors of 512 bytes, each as of any time since its last sync; any entries of the
    /// directory.
    Sectors,
    /// Any pages of 4 KiB, each as of any time since its last sync; any entries of the directory.
    Pages,
}

impl Survival {
    /// All kinds.
    pub const ALL: [Survival; 5] =
        [Survival::Nothing, Survival::Everything, Survival::Prefix, Survival::Sectors, Survival::Pages];
}

/// A failure to inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the operation to fail, or else the next operation that can fail in this way.
    /// The first operation is 1.
    pub at: u64,
    /// The kind of failure.
    pub kind: FaultKind,
    /// True if every later operation fails, too.
    pub sticky: bool,
}

/// The kind of failure of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device fails (EIO): any operation. Changes whose sync fails never become durable.
    Device,
    /// The disk is full (ENOSPC): any operation that takes space.
    NoSpace,
    /// Too many files are open (EMFILE): any operation that opens a file.
    TooManyFiles,
    /// No error: a write or a read transfers only a part.
    Short,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 4] =
        [FaultKind::Device, FaultKind::NoSpace, FaultKind::TooManyFiles, FaultKind::Short];

    fn applies_to(self, operation: FileOperation) -> bool {
        use FileOperation::{
            Create, CreateDirectory, List, Lock, Open, Read, Rename, SetLength, Sync, SyncDirectory, Write,
        };
        match self {
            FaultKind::Device => true,
            FaultKind::NoSpace => matches!(
                operation,
                CreateDirectory | Create | Write | SetLength | Rename | Sync | SyncDirectory | Lock
            ),
            FaultKind::TooManyFiles => matches!(operation, Open | Create | List | SyncDirectory | Lock),
            FaultKind::Short => matches!(operation, Read | Write),
        }
    }

    fn error(self) -> io::Error {
        match self {
            FaultKind::Device | FaultKind::Short => io::Error::from_raw_os_error(5),
            FaultKind::NoSpace => io::Error::from_raw_os_error(28),
            FaultKind::TooManyFiles => io::Error::from_raw_os_error(24),
        }
    }
}

/// A directory in memory. Clones share it.
#[derive(Clone, Debug)]
pub struct SimulatedFiles {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<SimulatedState>,
}

#[derive(Debug)]
struct SimulatedState {
    disk: Disk,
    random: Random,
    operations: u64,
    fault: Option<Fault>,
    faults_met: u64,
    prefetched_bytes: u64,
    crash_at: Option<u64>,
    crashed: bool,
    /// The lock file, if it is locked for writing.
    locked: Option<Node>,
    /// Number of holders of the lock for reading.
    readers: usize,
    /// Number of processes that were killed.
    killed: u64,
    images: Option<Vec<CrashImage>>,
}

/// The disk in the middle of an operation that changes the disk or makes changes durable.
#[derive(Clone, Debug)]
pub struct CrashImage {
    operation: u64,
    disk: Disk,
}

impl CrashImage {
    /// Returns the number of the operation.
    #[must_use]
    pub fn operation(&self) -> u64 {
        self.operation
    }

    /// Returns the disk that the next process finds if this process is killed: all written data is
    /// there, but unsynced changes can still be lost with the power.
    #[must_use]
    pub fn after_kill(&self) -> SimulatedFiles {
        SimulatedFiles::with(self.disk.clone(), Random::new(self.operation))
    }

    /// Returns the disk that the next start finds.
    #[must_use]
    pub fn after_crash(&self, survival: Survival, seed: u64) -> SimulatedFiles {
        let mut random = Random::new(seed);
        let disk = self.disk.after_crash(survival, &mut random);
        SimulatedFiles::with(disk, random)
    }
}

/// The way in which an operation proceeds.
enum Course {
    Whole,
    /// Transfers a part of the bytes.
    Short,
}

impl SimulatedFiles {
    /// Creates a directory that does not exist yet.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        SimulatedFiles::with(Disk::default(), Random::new(seed))
    }

    fn with(disk: Disk, random: Random) -> Self {
        let state = SimulatedState {
            disk,
            random,
            operations: 0,
            fault: None,
            faults_met: 0,
            prefetched_bytes: 0,
            crash_at: None,
            crashed: false,
            locked: None,
            readers: 0,
            killed: 0,
            images: None,
        };
        SimulatedFiles { shared: Arc::new(Shared { state: Mutex::new(state) }) }
    }

    /// Returns the number of operations so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.shared.state.lock().operations
    }

    /// Injects a fault, which replaces the previous one.
    pub fn inject(&self, fault: Fault) {
        self.shared.state.lock().fault = Some(fault);
    }

    /// Removes the fault.
    pub fn heal(&self) {
        self.shared.state.lock().fault = None;
    }

    /// Returns the number of operations that failed or were cut short by a fault.
    #[must_use]
    pub fn faults_met(&self) -> u64 {
        self.shared.state.lock().faults_met
    }

    /// Returns the number of bytes that were prefetched.
    #[must_use]
    pub fn prefetched_bytes(&self) -> u64 {
        self.shared.state.lock().prefetched_bytes
    }

    /// Cuts the power in the middle of an operation. This and every later call fails.
    pub fn crash_at(&self, operation: u64) {
        self.shared.state.lock().crash_at = Some(operation);
    }

    /// Returns true if the power was cut.
    #[must_use]
    pub fn is_crashed(&self) -> bool {
        self.shared.state.lock().crashed
    }

    /// Returns the disk that the next start finds if the power is cut now, or was cut before.
    #[must_use]
    pub fn after_crash(&self, survival: Survival, seed: u64) -> SimulatedFiles {
        let disk = self.shared.state.lock().disk.clone();
        CrashImage { operation: 0, disk }.after_crash(survival, seed)
    }

    /// Keeps an image of the disk at each later operation that changes the disk or makes changes
    /// durable. A clone of the disk shares its pages, so an image costs memory in proportion to the
    /// number of files and unsynced changes.
    pub fn keep_crash_images(&self) {
        self.shared.state.lock().images = Some(Vec::new());
    }

    /// Returns the images so far, in the order of the operations, and stops keeping them.
    #[must_use]
    pub fn take_crash_images(&self) -> Vec<CrashImage> {
        self.shared.state.lock().images.take().unwrap_or_default()
    }

    /// Kills the process that works with the files, without losing its writes: its lock is
    /// released, and its open files can no longer be changed.
    pub fn kill_process(&self) {
        let state = &mut *self.shared.state.lock();
        state.killed += 1;
        (state.locked, state.readers) = (None, 0);
    }

    /// Copies the files to a separate disk, to be damaged. In the copy everything is durable, and
    /// nothing is locked.
    #[must_use]
    pub fn copy(&self) -> SimulatedFiles {
        self.after_crash(Survival::Everything, 0)
    }
}

impl SimulatedState {
    /// Counts an operation, and returns how it proceeds.
    fn begin(&mut self, operation: FileOperation, path: &Path) -> Result<Course, FileError> {
        self.operations += 1;
        if self.crashed {
            return Err(lost_power(operation, path));
        }
        let Some(fault) = self.fault else { return Ok(Course::Whole) };
        if self.operations < fault.at || !fault.kind.applies_to(operation) {
            return Ok(Course::Whole);
        }
        self.faults_met += 1;
        if !fault.sticky {
            self.fault = None;
        }
        match fault.kind {
            FaultKind::Short => Ok(Course::Short),
            kind => Err(FileError::new(operation, path, kind.error())),
        }
    }

    /// Marks the middle of an operation, where the power may be cut.
    fn half_done(&mut self, operation: FileOperation, path: &Path) -> Result<(), FileError> {
        if let Some(images) = &mut self.images {
            images.push(CrashImage { operation: self.operations, disk: self.disk.clone() });
        }
        if self.crash_at.is_some_and(|at| at <= self.operations) {
            self.crashed = true;
            return Err(lost_power(operation, path));
        }
        Ok(())
    }

    /// Returns a random part of `length`, at least one byte.
    fn part_of(&mut self, length: usize) -> usize {
        1 + self.random.below(length.max(1) as u64) as usize
    }

    fn find(&self, operation: FileOperation, path: &Path, name: &str) -> Result<Node, FileError> {
        let missing = || FileError::new(operation, path, io::ErrorKind::NotFound.into());
        self.disk.node(name).ok_or_else(missing)
    }
}

fn lost_power(operation: FileOperation, path: &Path) -> FileError {
    FileError::new(operation, path, io::Error::other("the power is gone"))
}

impl FileSystem for SimulatedFiles {
    fn location(&self) -> PathBuf {
        PathBuf::from("simulated")
    }

    fn create_directory(&self) -> Result<(), FileError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location());
        state.begin(FileOperation::CreateDirectory, &path)?;
        state.half_done(FileOperation::CreateDirectory, &path)?;
        state.disk.exists = true;
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>, FileError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location());
        state.begin(FileOperation::List, &path)?;
        match state.disk.exists {
            true => Ok(state.disk.names()),
            false => Err(FileError::new(FileOperation::List, path, io::ErrorKind::NotFound.into())),
        }
    }

    fn open(&self, name: &str, access: OpenMode) -> Result<Box<dyn File>, FileError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location().join(name));
        let node = match access {
            OpenMode::Read | OpenMode::Write => {
                state.begin(FileOperation::Open, &path)?;
                state.find(FileOperation::Open, &path, name)?
            }
            OpenMode::Create => {
                state.begin(FileOperation::Create, &path)?;
                if !state.disk.exists {
                    return Err(FileError::new(FileOperation::Create, path, io::ErrorKind::NotFound.into()));
                }
                if state.disk.node(name).is_some() {
                    state.disk.remove(name);
                }
                let node = state.disk.create(name);
                state.half_done(FileOperation::Create, &path)?;
                node
            }
        };
        let (writable, process) = (access != OpenMode::Read, state.killed);
        Ok(Box::new(SimulatedFile { shared: Arc::clone(&self.shared), path, node, writable, process }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location().join(from));
        state.begin(FileOperation::Rename, &path)?;
        let node = state.find(FileOperation::Rename, &path, from)?;
        state.disk.rename(node, from, to);
        state.half_done(FileOperation::Rename, &path)
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location().join(name));
        state.begin(FileOperation::Remove, &path)?;
        state.find(FileOperation::Remove, &path, name)?;
        state.disk.remove(name);
        state.half_done(FileOperation::Remove, &path)
    }

    fn sync_directory(&self) -> Result<(), FileError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location());
        let begun = state.begin(FileOperation::SyncDirectory, &path);
        state.sync(begun, FileOperation::SyncDirectory, &path, None)
    }

    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location().join(name));
        state.begin(FileOperation::Lock, &path)?;
        let there = state.disk.node(name);
        if there.is_some() && state.locked == there {
            return Err(LockError::Held { path, holder: Some(std::process::id()) });
        }
        if state.readers > 0 {
            return Err(LockError::Shared { path });
        }
        let node = match there {
            Some(node) => node,
            None => {
                let node = state.disk.create(name);
                state.half_done(FileOperation::Lock, &path)?;
                node
            }
        };
        state.locked = Some(node);
        let (name, process) = (name.to_owned(), state.killed);
        Ok(Box::new(SimulatedLock { shared: Arc::clone(&self.shared), name, path, node, process }))
    }

    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError> {
        let (state, path) = (&mut *self.shared.state.lock(), self.location().join(name));
        state.begin(FileOperation::Open, &path)?;
        let Some(node) = state.disk.node(name) else { return Ok(None) };
        if state.locked == Some(node) {
            return Err(LockError::Held { path, holder: Some(std::process::id()) });
        }
        state.readers += 1;
        Ok(Some(Box::new(SharedLock { shared: Arc::clone(&self.shared), process: state.killed })))
    }
}

impl SimulatedState {
    fn sync(
        &mut self,
        begun: Result<Course, FileError>,
        operation: FileOperation,
        path: &Path,
        file: Option<Node>,
    ) -> Result<(), FileError> {
        match begun {
            Ok(_) => {
                self.half_done(operation, path)?;
                self.disk.sync(file);
                Ok(())
            }
            Err(error) => {
                if !self.crashed {
                    self.disk.fail_sync(file);
                }
                Err(error)
            }
        }
    }
}

#[derive(Debug)]
struct SimulatedLock {
    shared: Arc<Shared>,
    name: String,
    path: PathBuf,
    node: Node,
    /// Number of processes that were killed before the lock was taken.
    process: u64,
}

impl HeldLock for SimulatedLock {
    fn is_held(&self) -> Result<bool, FileError> {
        let state = &mut *self.shared.state.lock();
        if state.killed != self.process {
            return Ok(false);
        }
        state.begin(FileOperation::CheckLock, &self.path)?;
        Ok(state.disk.node(&self.name) == Some(self.node))
    }
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let state = &mut *self.shared.state.lock();
        if state.killed == self.process && state.locked == Some(self.node) {
            state.locked = None;
        }
    }
}

#[derive(Debug)]
struct SharedLock {
    shared: Arc<Shared>,
    process: u64,
}

impl HeldLock for SharedLock {
    fn is_held(&self) -> Result<bool, FileError> {
        Ok(true)
    }
}

impl Drop for SharedLock {
    fn drop(&mut self) {
        let state = &mut *self.shared.state.lock();
        if state.killed == self.process {
            state.readers -= 1;
        }
    }
}

#[derive(Debug)]
struct SimulatedFile {
    shared: Arc<Shared>,
    path: PathBuf,
    node: Node,
    writable: bool,
    /// Number of processes that were killed before the file was opened.
    process: u64,
}

impl SimulatedFile {
    fn check_writable(&self, operation: FileOperation) -> Result<(), FileError> {
        let refused = || FileError::new(operation, &self.path, io::Error::from_raw_os_error(9));
        let is_open = self.shared.state.lock().killed == self.process;
        (self.writable && is_open).then_some(()).ok_or_else(refused)
    }
}

impl File for SimulatedFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        let state = &mut *self.shared.state.lock();
        let length = match state.begin(FileOperation::Read, &self.path)? {
            Course::Whole => buffer.len(),
            Course::Short => state.part_of(buffer.len()).min(buffer.len()),
        };
        Ok(state.disk.read(self.node, &mut buffer[..length], offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError> {
        self.check_writable(FileOperation::Write)?;
        let state = &mut *self.shared.state.lock();
        let (length, failure) = match state.begin(FileOperation::Write, &self.path) {
            Ok(Course::Whole) => (bytes.len(), None),
            Ok(Course::Short) => (state.part_of(bytes.len()).min(bytes.len()), None),
            Err(error) if state.crashed => return Err(error),
            // Any part of a failed write may have been written.
            Err(error) => (state.part_of(bytes.len() + 1) - 1, Some(error)),
        };
        state.disk.write(self.node, &bytes[..length], offset);
        state.half_done(FileOperation::Write, &self.path)?;
        failure.map_or(Ok(length), Err)
    }

    fn set_length(&self, length: u64) -> Result<(), FileError> {
        self.check_writable(FileOperation::SetLength)?;
        let state = &mut *self.shared.state.lock();
        state.begin(FileOperation::SetLength, &self.path)?;
        state.disk.set_length(self.node, length);
        state.half_done(FileOperation::SetLength, &self.path)
    }

    fn length(&self) -> Result<u64, FileError> {
        let state = &mut *self.shared.state.lock();
        state.begin(FileOperation::Length, &self.path)?;
        Ok(state.disk.length(self.node))
    }

    /// As on Linux, a file that is open to be read can be synced, too.
    fn sync(&self) -> Result<(), FileError> {
        let state = &mut *self.shared.state.lock();
        let begun = state.begin(FileOperation::Sync, &self.path);
        state.sync(begun, FileOperation::Sync, &self.path, Some(self.node))
    }

    fn prefetch(&self, range: Range<u64>) {
        self.shared.state.lock().prefetched_bytes += range.end - range.start;
    }
}
