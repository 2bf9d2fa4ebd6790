//! Folders for the workloads on stores.

use crate::{BenchError, Failure};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The prefix of the driver's folders.
const PREFIX: &str = "hedgerow-bench-";

/// A folder for stores. Dropping it removes it with all its contents.
#[derive(Debug)]
pub(crate) struct StoreFolder {
    directory: PathBuf,
    folder: TempDir,
}

/// A temporary store, removed when dropped. Drop the graph in it first.
#[derive(Debug)]
pub struct TemporaryStore(TempDir);

/// The location of measured stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreFacts {
    /// The directory in which they were created.
    pub directory: String,
    /// The name of its file system, such as `ext4`; `None` where the operating system does not
    /// report it.
    pub file_system: Option<String>,
}

impl StoreFolder {
    /// Creates the folder in `directory`, or in the system's directory for temporary files.
    pub(crate) fn new(directory: Option<&Path>) -> Result<Self, BenchError> {
        let directory = directory.map_or_else(std::env::temp_dir, Path::to_owned);
        match tempfile::Builder::new().prefix(PREFIX).tempdir_in(&directory) {
            Ok(folder) => Ok(StoreFolder { directory, folder }),
            Err(source) => Err(BenchError::StoreFolder { directory, source }),
        }
    }

    pub(crate) fn new_store(&self) -> Result<TemporaryStore, Failure> {
        let made = tempfile::tempdir_in(self.folder.path());
        let failed = |source| Failure::File { path: self.folder.path().to_owned(), source };
        made.map(TemporaryStore).map_err(failed)
    }

    pub(crate) fn facts(&self) -> StoreFacts {
        let file_system = file_system(self.folder.path());
        StoreFacts { directory: self.directory.display().to_string(), file_system }
    }
}

impl TemporaryStore {
    /// Its directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl StoreFacts {
    /// Returns true if the file system keeps files in memory, so that a sync costs nothing.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        matches!(self.file_system.as_deref(), Some("tmpfs" | "ramfs"))
    }
}

/// The name of the file system of `path`.
fn file_system(path: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    innermost(&mounts, &path.canonicalize().ok()?)
}

/// The type of the innermost mount around `path`, from lines `device directory type …`; if there
/// are several mounts on one directory, the type of the last.
fn innermost(mounts: &str, path: &Path) -> Option<String> {
    let mounted = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        // Blanks in names are escaped.
        let directory = fields.next()?.replace("\\040", " ");
        Some((directory, fields.next()?))
    });
    let around = mounted.filter(|(directory, _)| path.starts_with(directory));
    around.max_by_key(|(directory, _)| directory.len()).map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_all_that_is_in_it() {
        let outside = tempfile::tempdir().unwrap();
        let folder = StoreFolder::new(Some(outside.path())).unwrap();
        let (store, other) = (folder.new_store().unwrap(), folder.new_store().unwrap());
        fs::write(store.path().join("file"), "content").unwrap();
        let path = store.path().to_owned();
        drop(store);
        assert!(!path.exists() && other.path().exists());
        assert_eq!(folder.facts().directory, outside.path().display().to_string());
        drop((other, folder));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_does_not_exist_is_named() {
        let error = StoreFolder::new(Some(Path::new("/nowhere/at/all"))).unwrap_err();
        assert!(error.to_string().contains("in /nowhere/at/all: "), "{error}");
    }

    #[test]
    fn the_innermost_and_last_mount_counts() {
        let mounts = "/dev/vda / ext4 rw 0 0\nnone /data tmpfs rw 0 0\n/dev/vdb /data xfs rw 0 0\n\
                      /dev/vdc /data/with\\040blank btrfs rw 0 0\nodd\n";
        let name = |path: &str| innermost(mounts, Path::new(path));
        assert_eq!(name("/home/x").as_deref(), Some("ext4"));
        assert_eq!(name("/data/x").as_deref(), Some("xfs"));
        assert_eq!(name("/data/with blank/x").as_deref(), Some("btrfs"));
        assert_eq!(name("/database").as_deref(), Some("ext4"));
        assert_eq!(innermost("", Path::new("/")), None);
    }
}
