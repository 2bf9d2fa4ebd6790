//! Inspection, checks and repair of stores on disk, without opening a graph.

#[doc(inline)]
pub use hedgerow_log::checkpoint::{Description, WriteProgress};
#[doc(inline)]
pub use hedgerow_log::files::{FileError, FileOperation};
#[doc(inline)]
pub use hedgerow_log::{
    BackupReport, CheckReport, CheckpointEntry, CommitRange, CommitSummary, Cut, EdgeSummary, ListedCommit,
    LogError, LogStatus, Manifest, Repair, ReplacedCheckpoint, SealedSegment, SegmentEntry, StoreError,
    StoreOptions, StreamEntry, TornTail,
};

#[doc(inline)]
pub use hedgerow_model::{
    CacheUse, CompactProgress, Counts, EngineMemory, EngineReport, FileProblem, FileTotals, FilesCheck,
    LevelReport, PartReport, StoredPart,
};

#[cfg(feature = "kernels")]
#[doc(inline)]
pub use crate::durable::edge_records::EdgeRecords;
#[cfg(feature = "kernels")]
#[doc(hidden)]
pub use crate::durable::first_state::create_from_on;
#[cfg(feature = "kernels")]
#[doc(inline)]
pub use crate::durable::first_state::{FirstState, create_from};
#[doc(inline)]
pub use crate::durable::traces::{SearchedFile, Trace, TraceKind, TraceReport};

use crate::changes::{SubscribeOptions, Subscription};
use crate::durable;
use crate::error::Error;
use crate::options::GraphOptions;
use hedgerow_log::Follower;
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_model::{CommitTimestamp, Key, LabelSchema, VertexId};
use hedgerow_sync::Arc;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

/// Draws numbers for `count` [parallel edges](crate::WriteGraph::put_parallel_edge) of a store that
/// [begins](create_from) with them. Like those that [a graph draws](crate::Graph::draw_number), one
/// after the other. O(1).
#[cfg(feature = "kernels")]
#[must_use]
pub fn draw_numbers(count: u64) -> std::ops::Range<u64> {
    crate::edge_numbers::draw_some(count)
}

/// Returns the manifest of the store in the directory `path`. Changes nothing; O(1).
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; its manifest is
/// damaged.
pub fn manifest(path: impl AsRef<Path>) -> Result<Manifest, Error> {
    let files = Arc::new(RealFiles::read_only(path.as_ref()));
    Ok(hedgerow_log::StoreFiles::open_read_only(files)?.manifest().clone())
}

/// Returns the description of the newest checkpoint of the store in the directory `path`, if there
/// is one: size and time of the graph, and the position of an importer. If the engine keeps edges
/// in files of its own, describes the state in these files, as of their last flush. Changes
/// nothing, and may run concurrently with a process that writes to the store; reads only the index
/// of the checkpoint, or the manifest of the engine.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; its manifest or the
/// checkpoint is damaged.
pub fn checkpoint(path: impl AsRef<Path>) -> Result<Option<Description>, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    let (store, checkpoint) = durable::newest_checkpoint(&files)?;
    match checkpoint {
        Some(checkpoint) => Ok(Some(checkpoint.description().clone())),
        None => durable::backup::describe_engine_files(&files, store.manifest()),
    }
}

/// Follows the log of a store, which another process may be writing: each [look](Watch::look) reads
/// only the commits since the one before. Blocks no writer, and changes nothing.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::store::Watch;
/// use hedgerow::{CommitTimestamp, LabelId};
///
/// let folder = tempfile::tempdir()?;
/// let graph = GraphOptions::new().create(folder.path())?;
/// let mut watch = Watch::new(folder.path());
/// watch.look()?;
/// graph.put_edge(LabelId::DEFAULT, 1, 2)?;
/// let seen = watch.look()?;
/// assert_eq!((seen.commits, seen.edges, seen.durable), (1, 1, CommitTimestamp(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Watch(Follower);

impl Watch {
    /// Follows the store in the directory `path`. Reads nothing yet.
    #[must_use]
    pub fn new(path: impl AsRef<Path>) -> Self {
        Watch(Follower::new(Arc::new(RealFiles::read_only(path.as_ref()))))
    }

    /// Returns the state of the log. O(bytes of the commits since the previous look); the first
    /// look reads the segments that are not complete, usually one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; its manifest is
    /// damaged; the file system failed.
    pub fn look(&mut self) -> Result<LogStatus, Error> {
        Ok(self.0.look()?)
    }
}

/// Subscribes to the changes of the store in the directory `path`, which another process may be
/// writing: see [`Subscription`]. Takes no lock, changes nothing, and opens no graph: it reads the
/// log, and keeps the keys of all vertices, in 8 bytes for each number, nothing for dense ids.
///
/// To begin with all that the store has, open its
/// [checkpoint](crate::GraphOptions::from_checkpoint), which can be read beside a writer, and begin
/// after the token of its snapshot.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{SubscribeOptions, store};
/// use std::time::Duration;
///
/// let folder = tempfile::tempdir()?;
/// let graph = GraphOptions::new().label::<()>("knows").create(folder.path())?;
/// // In another process:
/// let mut subscription = store::subscribe(folder.path(), &SubscribeOptions::new())?;
/// graph.put_edge(graph.label::<()>("knows")?, 1, 2)?;
/// assert_eq!(subscription.pull_within(Duration::from_secs(9))?.len(), 3); // Two vertices are new.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// O(vertices), and O(bytes of the log) between the newest checkpoint and where it begins.
///
/// # Errors
/// As [`Graph::subscribe`](crate::Graph::subscribe);
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store;
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if its engine keeps keys in files of
/// its own and is not compiled into the program; the store is damaged, or the file system failed.
pub fn subscribe(path: impl AsRef<Path>, options: &SubscribeOptions) -> Result<Subscription, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    subscribe_on(&files, &GraphOptions::new(), options)
}

/// [`subscribe`] in any directory, to a store of any engine. For tests.
#[doc(hidden)]
pub fn subscribe_on(
    files: &Arc<dyn FileSystem>,
    graph: &GraphOptions,
    options: &SubscribeOptions,
) -> Result<Subscription, Error> {
    Subscription::of_store(files, graph, options)
}

/// Passes the commits in `range` that the log of the store in the directory `path` has to `visit`,
/// until it breaks or fails. Returns the manifest, whose
/// [`oldest_readable`](Manifest::oldest_readable) is the commit before the first one of the log:
/// earlier commits are only in the checkpoint, or in the files of the engine.
///
/// Changes nothing, and may run concurrently with a process that writes to the store. Reads each
/// segment of the log with commits of the range once, and holds the list of one segment in memory.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::store::{self, CommitRange};
/// use std::ops::ControlFlow;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("friends");
/// let graph = GraphOptions::new().label::<()>("knows").create(&path)?;
/// graph.put_edge(graph.label::<()>("knows")?, 1, 2)?;
/// let mut edges = 0;
/// store::commits(&path, &CommitRange::default(), |commit| {
///     edges += commit.summary.edges.iter().map(|edges| edges.put).sum::<u64>();
///     Ok::<_, Error>(ControlFlow::Continue(()))
/// })?;
/// assert_eq!(edges, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; its manifest or the
/// log is damaged; the file system failed; errors of `visit`.
pub fn commits<E: From<Error>>(
    path: impl AsRef<Path>,
    range: &CommitRange,
    mut visit: impl FnMut(ListedCommit) -> Result<ControlFlow<()>, E>,
) -> Result<Manifest, E> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    let mut failed = None;
    let listed = hedgerow_log::list_commits::<StoreError>(&files, range, |commit| {
        Ok(visit(commit).unwrap_or_else(|error| {
            failed = Some(error);
            ControlFlow::Break(())
        }))
    });
    failed.map_or(Ok(()), Err)?;
    Ok(listed.map_err(Error::from)?)
}

/// Returns the vertices that the commits after `after`, up to `through`, put or deleted, and the
/// ends of the edges that they put or deleted; `None` if the log of the store no longer has all of
/// these commits. A vertex id may have gone from one key to another meanwhile. O(bytes of these
/// commits).
///
/// # Errors
/// As [`commits`].
pub fn touched_vertices(
    path: impl AsRef<Path>,
    after: CommitTimestamp,
    through: CommitTimestamp,
) -> Result<Option<HashSet<VertexId>>, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    Ok(hedgerow_log::touched_vertices(&files, after, through)?)
}

/// Reads all files of the store in the directory `path`, decoded, and searches them for traces of
/// vertices that were deleted: the keys; changes and records of the vertices, and of their edges,
/// if their former ids are given; and in the bytes of every file text keys of four bytes or more,
/// unless other keys, properties or names contain them. Without traces, the files no longer tell
/// that the vertices existed.
///
/// A deletion alone leaves traces: a [checkpoint](crate::Graph::checkpoint) after it, or a
/// [compaction](crate::Graph::compact) of the engine's own files, drops what the checkpoint and
/// these files had, and one after the next opening the log of the deletion. Ids that belong to
/// other vertices by now leave traces of these. Without the id of a vertex, every deletion in the
/// engine's own files is a trace: a compaction drops the keys of vertices before their edges.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{CheckpointOptions, store};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("friends");
/// let graph = GraphOptions::new().keys(KeyKind::String).label::<()>("knows").create(&path)?;
/// graph.put_edge(graph.label::<()>("knows")?, "anna", "ben")?;
/// let anna = [(Key::from("anna"), graph.snapshot()?.vertex_id("anna")?)];
/// graph.delete_vertex("anna")?;
/// graph.close()?;
/// drop(graph);
/// assert!(!store::traces(&path, &anna)?.traces.is_empty());
///
/// let graph = Graph::open(&path)?;
/// graph.checkpoint(&CheckpointOptions::new())?;
/// graph.close()?;
/// drop(graph);
/// assert!(store::traces(&path, &anna)?.traces.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Changes nothing, and keeps writers away meanwhile. O(bytes of the files).
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store,
/// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open for writing; the manifest, the
/// checkpoint or the log is damaged; the file system failed.
pub fn traces(path: impl AsRef<Path>, vertices: &[(Key, Option<VertexId>)]) -> Result<TraceReport, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    durable::traces::traces(&files, vertices)
}

/// The process that has a store open to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process id, if the process has recorded it.
    pub process: Option<u32>,
}

/// Returns the process that has the store in the directory `path` open to write, if there is one.
/// The answer may be out of date when this returns.
///
/// Keeps no writer away, and changes nothing.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; its manifest is
/// damaged; the file system failed.
pub fn holder(path: impl AsRef<Path>) -> Result<Option<Holder>, Error> {
    match hedgerow_log::StoreFiles::open_shared(Arc::new(RealFiles::read_only(path.as_ref()))) {
        Ok(_) => Ok(None),
        Err(StoreError::Locked { holder, .. }) => Ok(Some(Holder { process: holder })),
        Err(error) => Err(error.into()),
    }
}

/// Appends labels to the graph of the store in the directory `path`: their edges can be put when it
/// is opened next. Durable when this returns. O(labels).
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
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store,
/// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open;
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if two labels have the same name, or
/// there are too many; the file system failed.
pub fn add_labels(path: impl AsRef<Path>, labels: &[LabelSchema]) -> Result<(), Error> {
    Ok(hedgerow_log::StoreFiles::open(Arc::new(RealFiles::new(path.as_ref())))?.add_labels(labels)?)
}

/// Reads everything that opening the store in the directory `path` would read, into a graph that is
/// thrown away, and reports all problems: if there are none, the store can be opened. If the engine
/// keeps edges in files of its own, reads these files to their end, too. Changes nothing, and may
/// run concurrently with a process that writes to the store; the end of the log may then look torn.
/// Takes the time and the memory of opening the store.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; the file system
/// failed. Damage is not an error, but a problem in the report.
pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    check_on(&files)
}

/// Copies the store in the directory `path` to the directory `copy`, while a process may write to
/// the store. The copy is a store: restore it by opening it, or by copying it back. It has every
/// commit that was durable when this was called, and no part of a later one that is not whole.
///
/// If `copy` has an older copy of this store, only what is new is copied, the rest is checked, and
/// files that the store no longer has are removed. Everything that is copied is compared with its
/// checksums. A crash leaves the older copy or the new one, and the next call goes on; without an
/// older copy, or within the last step if the engine keeps edges in files of its own, it may leave
/// an unfinished copy, which cannot be opened, and which the next call makes anew. Needs no more
/// memory than the largest commit, key or record. O(bytes of the copy).
///
/// ```
/// use hedgerow::prelude::*;
///
/// let folder = tempfile::tempdir()?;
/// let (path, copy) = (folder.path().join("friends"), folder.path().join("copy"));
/// let graph = GraphOptions::new().label::<()>("knows").create(&path)?;
/// graph.put_edge(graph.label::<()>("knows")?, 1, 2)?;
/// let report = hedgerow::store::backup(&path, &copy)?;
/// assert!(!report.incremental);
/// assert!(hedgerow::store::backup(&path, &copy)?.incremental);
///
/// let restored = Graph::open(&copy)?;
/// assert!(restored.contains_edge(restored.label::<()>("knows")?, 1, 2)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store;
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `copy` is inside the store, has
/// other files, another store, or commits that the store does not have;
/// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if `copy` is in use;
/// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the store or the older copy is damaged (the
/// error names the file and the offset) or the file system failed.
pub fn backup(path: impl AsRef<Path>, copy: impl AsRef<Path>) -> Result<BackupReport, Error> {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
    durable::backup::backup_to(&files, copy.as_ref())
}

/// [`backup`] in any directories.
#[doc(hidden)]
pub fn backup_on(source: &Arc<dyn FileSystem>, copy: Arc<dyn FileSystem>) -> Result<BackupReport, Error> {
    durable::backup::backup(source, copy)
}

/// Cuts the log of the store in the directory `path` at its first damage, so that it can be opened
/// again. **Every commit after that is lost**; the removed part is kept in files next to the log. A
/// damaged checkpoint is set aside if the log still has every commit from the first one. A store
/// that can be opened is not changed.
///
/// If the engine keeps edges in files of its own, the log is cut only behind the last commit in
/// these files. If these files, a checkpoint, or an earlier part of the log are damaged, the files
/// are set aside, and the next opening rebuilds them from the log, if it has every commit from the
/// first one.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store,
/// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if it is open; the file system failed;
/// irreparable damage: of the manifest, or of a checkpoint whose commits are no longer in the log.
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
