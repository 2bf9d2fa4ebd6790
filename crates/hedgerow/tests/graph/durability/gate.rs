//! Files whose syncs wait at a gate.

use hedgerow_log::files::{File, FileError, FileSystem, HeldLock, LockError, OpenMode};
use hedgerow_testing::simulated::SimulatedFiles;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

#[derive(Debug, Default)]
struct Gate {
    is_shut: Mutex<bool>,
    waiting: Mutex<usize>,
    changed: Condvar,
}

/// A directory behind a gate.
#[derive(Clone, Debug)]
pub struct GatedFiles {
    pub inner: SimulatedFiles,
    gate: Arc<Gate>,
}

impl GatedFiles {
    pub fn new() -> Self {
        GatedFiles { inner: SimulatedFiles::new(1), gate: Arc::default() }
    }

    /// Makes syncs wait from now on.
    pub fn shut(&self) {
        *self.gate.is_shut.lock().unwrap() = true;
    }

    /// Releases waiting syncs.
    pub fn open(&self) {
        *self.gate.is_shut.lock().unwrap() = false;
        self.gate.changed.notify_all();
    }

    /// Waits until a thread waits at the gate.
    pub fn wait_for_arrival(&self) {
        while *self.gate.waiting.lock().unwrap() == 0 {
            std::thread::yield_now();
        }
    }
}

#[derive(Debug)]
struct GatedFile {
    inner: Box<dyn File>,
    gate: Arc<Gate>,
}

impl File for GatedFile {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError> {
        self.inner.write_at(bytes, offset)
    }

    fn set_length(&self, length: u64) -> Result<(), FileError> {
        self.inner.set_length(length)
    }

    fn length(&self) -> Result<u64, FileError> {
        self.inner.length()
    }

    fn sync(&self) -> Result<(), FileError> {
        *self.gate.waiting.lock().unwrap() += 1;
        let mut is_shut = self.gate.is_shut.lock().unwrap();
        while *is_shut {
            is_shut = self.gate.changed.wait(is_shut).unwrap();
        }
        drop(is_shut);
        *self.gate.waiting.lock().unwrap() -= 1;
        self.inner.sync()
    }
}

impl FileSystem for GatedFiles {
    fn location(&self) -> PathBuf {
        self.inner.location()
    }

    fn create_directory(&self) -> Result<(), FileError> {
        self.inner.create_directory()
    }

    fn list(&self) -> Result<Vec<String>, FileError> {
        self.inner.list()
    }

    fn open(&self, name: &str, access: OpenMode) -> Result<Box<dyn File>, FileError> {
        let inner = self.inner.open(name, access)?;
        Ok(Box::new(GatedFile { inner, gate: Arc::clone(&self.gate) }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        self.inner.remove(name)
    }

    fn sync_directory(&self) -> Result<(), FileError> {
        self.inner.sync_directory()
    }

    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError> {
        self.inner.lock(name)
    }

    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError> {
        self.inner.lock_shared(name)
    }
}
