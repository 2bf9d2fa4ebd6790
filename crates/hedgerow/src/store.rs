//! Stores on disk, without a graph: what is in one, whether it is intact, and how a damaged one is repaired.

pub use hedgerow_log::checkpoint::WriteProgress;
pub use hedgerow_log::files::{FileError, FileOperation};
pub use hedgerow_log::{
    CheckReport, CheckpointEntry, Cut, Manifest, Repair, Sealed, SegmentEntry, StoreError, StoreOptions,
    StreamEntry, TornTail,
};

use crate::error::Error;
use hedgerow_log::files::RealFiles;
use hedgerow_sync::Arc;
use std::path::Path;

/// What belongs to the store in the directory `path`, as its manifest says. Changes nothing; O(1).
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; what is wrong with its manifest.
pub fn manifest(path: impl AsRef<Path>) -> Result<Manifest, Error> {
    let files = Arc::new(RealFiles::read_only(path.as_ref()));
    Ok(hedgerow_log::Store::open_read_only(files)?.manifest().clone())
}

/// Reads everything of the store in the directory `path` and tells all that is wrong. Changes nothing, and may run beside a process
/// that writes to the store; the end of the log may then look torn. O(store).
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; the file system's. Damage is not an error, but a problem in the report.
pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, Error> {
    Ok(hedgerow_log::check(Arc::new(RealFiles::read_only(path.as_ref())))?)
}

/// Cuts the log of the store in the directory `path` at its first damage, so that it can be opened again. **Every commit after that
/// is given up**; what is cut is kept in files beside the log. A store whose log is intact is not changed.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store, [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open; the file
/// system's; damage that this cannot repair.
pub fn recover_to_last_valid(path: impl AsRef<Path>) -> Result<Repair, Error> {
    Ok(hedgerow_log::recover_to_last_valid(Arc::new(RealFiles::new(path.as_ref())))?)
}
