//! The files of a store: their space on the disk, and reads of them without the page cache.

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes per read.
const CHUNK: usize = 1 << 20;

/// Bytes of a block in the metadata of a file.
const BLOCK: u64 = 512;

/// The files in a folder and its subfolders, without those that disappear meanwhile.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

/// The bytes that the files in a folder take on the disk, including unlinked and unnamed files that
/// this process holds open.
pub fn space(folder: &Path) -> u64 {
    let mut files: BTreeMap<u64, u64> = BTreeMap::new();
    let mut count = |path: &Path| {
        if let Ok(file) = fs::metadata(path) {
            files.insert(file.ino(), file.blocks() * BLOCK);
        }
    };
    files_in(folder).iter().for_each(|path| count(path));
    for open in fs::read_dir("/proc/self/fd").into_iter().flatten().flatten() {
        let target = fs::read_link(open.path()).unwrap_or_default();
        if target.starts_with(folder) && target.to_string_lossy().ends_with(" (deleted)") {
            count(&open.path());
        }
    }
    files.values().sum()
}

/// The part of the [space] that segments of Hedgerow's log take; 0 for other stores.
pub fn log_space(folder: &Path) -> u64 {
    let is_log =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log-"));
    let logs = files_in(folder).into_iter().filter(is_log);
    logs.filter_map(|path| fs::metadata(path).ok()).map(|file| file.blocks() * BLOCK).sum()
}

/// Syncs the files in a folder and drops them from the page cache.
pub fn drop_from_cache(folder: &Path) -> Result<()> {
    for path in files_in(folder) {
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// Reads all files in a folder from beginning to end; returns their bytes.
pub fn read_all(folder: &Path) -> Result<u64> {
    let (mut buffer, mut bytes) = (vec![0; CHUNK], 0);
    for path in files_in(folder) {
        let mut file = File::open(&path).with_context(|| path.display().to_string())?;
        fadvise(&file, 0, None, Advice::Sequential)?;
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => bytes += read as u64,
            }
        }
    }
    Ok(bytes)
}
