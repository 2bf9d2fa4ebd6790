//! Memory cgroups, which limit a process together with its page cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The mount point of the memory controller of version 1.
const VERSION_1: &str = "/sys/fs/cgroup/memory";

/// The mount points of version 2: alone, and next to version 1.
const VERSION_2: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// Attempts to remove a group: the kernel may still be ending its processes.
const ATTEMPTS: u32 = 50;

/// The reason why memory cannot be limited.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// There is no memory controller.
    #[error("no cgroup with a memory controller is mounted")]
    NoController,
    /// A file of a group could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// A cgroup with a memory controller.
#[derive(Clone, Debug)]
pub struct Group {
    folder: PathBuf,
    is_version_1: bool,
}

impl Group {
    /// Makes a group of this name.
    pub fn create(name: &str) -> Result<Self, LimitError> {
        let version_1 = Path::new(VERSION_1);
        if version_1.join("memory.limit_in_bytes").exists() {
            return Self::create_in(version_1, name);
        }
        let has_memory = |root: &&&str| {
            let controllers = fs::read_to_string(Path::new(root).join("cgroup.controllers"));
            controllers.is_ok_and(|names| names.split_whitespace().any(|name| name == "memory"))
        };
        let root = Path::new(VERSION_2.iter().find(has_memory).ok_or(LimitError::NoController)?);
        // Fails if the controller cannot be enabled for subgroups; `create_in` then finds no limit
        // file and fails.
        let _ = fs::write(root.join("cgroup.subtree_control"), "+memory");
        Self::create_in(root, name)
    }

    fn create_in(root: &Path, name: &str) -> Result<Self, LimitError> {
        let folder = root.join(name);
        match fs::create_dir(&folder) {
            // The kernel has not removed the group of the previous process yet.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|source| LimitError::File { path: folder.clone(), source })?,
        }
        let group = Self::at(folder);
        let checked = group.read(group.name("memory.limit_in_bytes", "memory.max"));
        match checked {
            Ok(_) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    /// The group in a folder.
    pub fn at(folder: PathBuf) -> Self {
        let is_version_1 = folder.starts_with(VERSION_1);
        Group { folder, is_version_1 }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves this process into the group. Memory allocated before stays with its former group.
    pub fn enter(&self) -> Result<(), LimitError> {
        self.write("cgroup.procs", u64::from(std::process::id()))
    }

    /// Limits the memory of the group, page cache included. The kernel frees cache above the limit.
    pub fn set_limit(&self, bytes: u64) -> Result<(), LimitError> {
        self.write(self.name("memory.limit_in_bytes", "memory.max"), bytes)
    }

    /// Restarts the maximum. Not every kernel supports this; otherwise the maximum counts from the
    /// creation of the group.
    pub fn reset_peak(&self) {
        let _ = self.write(self.name("memory.max_usage_in_bytes", "memory.peak"), 0);
    }

    /// The maximum memory of the group, page cache included.
    pub fn peak(&self) -> Result<u64, LimitError> {
        let name = self.name("memory.max_usage_in_bytes", "memory.peak");
        Ok(self.read(name)?.trim().parse().unwrap_or(0))
    }

    /// Removes the group once it has no process.
    pub fn remove(&self) {
        for _ in 0..ATTEMPTS {
            if fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn name(&self, version_1: &'static str, version_2: &'static str) -> &'static str {
        if self.is_version_1 { version_1 } else { version_2 }
    }

    fn write(&self, name: &str, value: u64) -> Result<(), LimitError> {
        let path = self.folder.join(name);
        fs::write(&path, value.to_string()).map_err(|source| LimitError::File { path, source })
    }

    fn read(&self, name: &str) -> Result<String, LimitError> {
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(|source| LimitError::File { path, source })
    }
}
