//! Stores on disk, without a graph: what is in one, whether it is intact, and how a damaged one is repaired.

#[doc(inline)]
pub use hedgerow_log::checkpoint::{Description, WriteProgress};
#[doc(inline)]
pub use hedgerow_log::files::{FileError, FileOperation};
#[doc(inline)]
pub use hedgerow_log::{
    CheckReport, CheckpointEntry, Cut, LogError, Manifest, Repair, ReplacedCheckpoint, SealedSegment,
    SegmentEntry, StoreError, StoreOptions, StreamEntry, TornTail,
};

#[doc(inline)]
pub use hedgerow_model::{
    CacheUse, CompactProgress, Counts, EngineMemory, EngineReport, FileProblem, FileTotals, FilesCheck,
    LevelReport, PartReport, StoredPart,
};

use crate::durable;
use crate::error::Error;
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_model::LabelSchema;
use hedgerow_sync::Arc;
use std::path::Path;

/// What belongs to the store in the directory `path`, as its manifest says. Changes nothing; O(1).
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; what is wrong with its manifest.
pub fn manifest(path: impl AsRef<Path>) -> Result<Manifest, Error> {
    let files = Arc::new(RealFiles::read_only(path.as_ref()));
    Ok(hedgerow_log::StoreFiles::open_read_only(files)?.manifest().clone())
}

/// What the newest checkpoint of the store in the directory `path` says of the graph as a whole, if there is a checkpoint: how large the
/// graph was, when, and how far an importer was. Changes nothing, and may run beside a process that writes to the store; reads the
/// index of the checkpoint only.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; what is wrong with its manifest or with the checkpoint.
pub fn checkpoint(path: impl AsRef<Path>) -> Result<Option<Description>, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    let (_, checkpoint) = durable::newest_checkpoint(&files)?;
    Ok(checkpoint.map(|checkpoint| checkpoint.description().clone()))
}

/// Who has a store open to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process, if it has said which it is.
    pub process: Option<u32>,
}

/// Who has the store in the directory `path` open to write, if anybody has. It may be out of date when this returns.
///
/// Looks without keeping any writer away, and changes nothing.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; what is wrong with its manifest; the file system's.
pub fn holder(path: impl AsRef<Path>) -> Result<Option<Holder>, Error> {
    match hedgerow_log::StoreFiles::open_shared(Arc::new(RealFiles::read_only(path.as_ref()))) {
        Ok(_) => Ok(None),
        Err(StoreError::Locked { holder, .. }) => Ok(Some(Holder { process: holder })),
        Err(error) => Err(error.into()),
    }
}

/// Gives the graph of the store in the directory `path` further labels, behind those that it has: their edges can be put when it is
/// opened next. When this returns, that is durable. O(labels).
///
/// ```
/// use hedgerow::prelude::*;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("bank");
/// GraphOptions::new().label::<f64>("pays").create(&path)?.close()?;
/// hedgerow::store::add_labels(&path, &[LabelSchema::new("knows")])?;
/// let graph = Graph::open(&path)?;
/// graph.put_edge(graph.label::<()>("knows")?, 1, 2)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store, [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open;
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a label has the name of another, or there are too many; the file system's.
pub fn add_labels(path: impl AsRef<Path>, labels: &[LabelSchema]) -> Result<(), Error> {
    Ok(hedgerow_log::StoreFiles::open(Arc::new(RealFiles::new(path.as_ref())))?.add_labels(labels)?)
}

/// Reads what opening the store in the directory `path` would read, into a graph that is thrown away, and tells all that is wrong: if there is
/// nothing, the store can be opened. Of an engine that keeps edges in files of its own, reads these files to their end, too. Changes nothing, and may run beside a process that writes to the store; the end of the log may then look torn.
/// Needs the time and the memory of opening it.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; the file system's. Damage is not an error, but a problem in the report.
pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    check_on(&files)
}

/// Cuts the log of the store in the directory `path` at its first damage, so that it can be opened again. **Every commit after that
/// is given up**; what is cut is kept in files beside the log. A damaged checkpoint is set aside if the log still has every commit from the first one.
/// A store that can be opened is not changed.
///
/// If an engine keeps edges in files of its own, the log is cut only behind what these have. If they are damaged, or a checkpoint beside them, or
/// the log before that, they are set aside, and the next opening makes them anew from the log, if that has every commit from the first one.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store, [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open; the file
/// system's; damage that this cannot repair: of the manifest, or of a checkpoint whose commits the log does not have any more.
pub fn recover_to_last_valid(path: impl AsRef<Path>) -> Result<Repair, Error> {
    recover_on(Arc::new(RealFiles::new(path.as_ref())))
}

/// [`check`] in any directory.
#[doc(hidden)]
pub fn check_on(files: &Arc<dyn FileSystem>) -> Result<CheckReport, Error> {
    durable::examine::check(files)
}

/// [`recover_to_last_valid`] in any directory.
#[doc(hidden)]
pub fn recover_on(files: Arc<dyn FileSystem>) -> Result<Repair, Error> {
    durable::examine::recover(files)
}
