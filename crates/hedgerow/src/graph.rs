//! The handle of a graph.

use crate::data::EdgeData;
use crate::declared::{DeclaredTxn, transact_declared};
use crate::edge_numbers;
use crate::edge_tuple::EdgeTuple;
use crate::engines::{SharedStore, TypedStore};
use crate::error::Error;
use crate::label::Label;
use crate::options::{GraphOptions, Isolation};
use crate::reads::{Reading, Reads, State};
use crate::retries::Retries;
use crate::snapshot::{Snapshot, SnapshotInfo, SnapshotOptions};
use crate::stream::StreamError;
use crate::transaction::WriteTxn;
use crate::write_graph::{RecordUpdate, Updated, Writes};
use hedgerow_model::{
    AsKey, Catalog, CommitTimestamp, Key, KeyKind, LabelId, MemoryUse, Operation, Reclaimed, Topology,
};
use hedgerow_pipeline::{Commit, Commits, EdgeWrite};
use hedgerow_sequencer::{AsOf, ReaderKind};
use std::borrow::Cow;

/// A graph that any number of threads read and write at the same time.
///
/// A handle: cloning it is cheap and gives the same graph.
///
/// Belongs to the process that made or opened it. In a child forked since then, every call on the
/// graph, its snapshots and its transactions fails with
/// [`ErrorKind::Forked`](crate::ErrorKind::Forked), and dropping them does nothing.
///
/// ```
/// use hedgerow::prelude::*;
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
/// let follows = graph.label::<()>("follows")?;
/// graph.put_edge(follows, 1, 2)?;
/// let before = graph.snapshot()?;
///
/// let transaction = graph.begin()?;
/// transaction.put_edge(follows, 2, 3)?;
/// transaction.delete_edge(follows, 1, 2)?;
/// transaction.commit()?;
///
/// assert_eq!(before.edge_count(), 1);
/// assert!(before.contains_edge(follows, 1, 2)?);
/// assert_eq!(graph.neighbors(follows, 2)?, [3]);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph {
    pub(crate) typed: SharedStore,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("topology", &self.topology()).field("keys", &self.key_kind()).finish()
    }
}

impl Graph {
    /// Creates an empty graph in memory. Dropping its last handle frees it.
    ///
    /// # Errors
    /// The schemas contradict each other, or need something that the engine does not support.
    pub fn in_memory(options: GraphOptions) -> Result<Self, Error> {
        let (engine, retries) = (options.engine_or_default(), options.retries_or_default());
        Ok(Graph { typed: SharedStore::new(TypedStore::new(options, None)?, engine, retries) })
    }

    /// Returns the topology: directed or undirected, with reverse adjacency or without.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.typed.even_in_child().store.topology
    }

    /// Returns the kind of application keys.
    #[must_use]
    pub fn key_kind(&self) -> KeyKind {
        self.typed.even_in_child().store.dictionary.kind()
    }

    /// Returns a copy of the current labels and schemas. O(labels).
    #[must_use]
    pub fn catalog(&self) -> Catalog {
        self.typed.even_in_child().catalog().to_catalog()
    }

    /// Returns the label called `name`, with edge data of type `T`: see [`Label`].
    ///
    /// # Errors
    /// There is no such label, or its edges carry data of another type.
    pub fn label<T: EdgeData>(&self, name: &str) -> Result<Label<T>, Error> {
        let typed = self.typed.get()?;
        let id = typed.catalog().label_id(name)?;
        T::check(typed.label_schema(id)?).map_err(|error| typed.of_label(id, error))?;
        Ok(id.into())
    }

    // --- writes of many operations -----------------------------------------------------------

    /// Begins a transaction at isolation [`Isolation::Snapshot`].
    ///
    /// # Errors
    /// The graph is poisoned.
    pub fn begin(&self) -> Result<WriteTxn, Error> {
        self.begin_with(Isolation::Snapshot)
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// The graph is poisoned.
    pub fn begin_with(&self, isolation: Isolation) -> Result<WriteTxn, Error> {
        WriteTxn::begin(&self.typed, isolation)
    }

    /// Runs `run` in a transaction and commits it. If another commit came first, waits and runs it
    /// again, up to [`GraphOptions::retries`] times.
    ///
    /// To give the transaction up, return an error, such as [`Error::other`]: nothing that was
    /// staged is committed.
    ///
    /// The isolation is [`Isolation::Snapshot`]: conflicts are found among writes. Use
    /// [`Graph::transact_with`] and [`Isolation::Serializable`] where a write depends on something
    /// that the transaction only read.
    ///
    /// Write through the transaction only: a `run` that also commits to the same vertices by other
    /// means is always in conflict with itself. Where many threads write the same few vertices,
    /// [`Graph::transact_declared`] queues them instead.
    ///
    /// # Errors
    /// The error that `run` returned; [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if
    /// another commit came first every time; other errors of [`WriteTxn::commit`]. Nothing has
    /// changed then.
    pub fn transact<T>(&self, run: impl FnMut(&WriteTxn) -> Result<T, Error>) -> Result<T, Error> {
        self.transact_with(Isolation::Snapshot, run)
    }

    /// Runs a transaction as [`Graph::transact`] does, at any isolation.
    ///
    /// # Errors
    /// As [`Graph::transact`].
    pub fn transact_with<T>(
        &self,
        isolation: Isolation,
        mut run: impl FnMut(&WriteTxn) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut retries = Retries::new(self.typed.retries);
        loop {
            let transaction = self.begin_with(isolation)?;
            let result = run(&transaction)?;
            match transaction.commit() {
                Err(error) if error.is_conflict() && retries.wait() => {
                    // The commit that came first may not be published yet.
                    self.typed.get()?.store.settle_seen()?;
                }
                Err(error) => return Err(error),
                Ok(_) => return Ok(result),
            }
        }
    }

    /// Locks `vertices`, runs `run` on their newest state, and commits the writes that it staged.
    ///
    /// Never fails with a conflict. Keep `run` short: other writers of these vertices, and of some
    /// that share a lock with them, wait. `run` must not write to this graph by other means, nor
    /// wait for a thread that does; either would deadlock.
    ///
    /// # Errors
    /// The error that `run` returned (nothing has changed then), a key of another kind than the
    /// graph's, or a limit that would be exceeded.
    pub fn transact_declared<K: AsKey, T>(
        &self,
        vertices: &[K],
        run: impl FnOnce(&DeclaredTxn<'_>) -> Result<T, Error>,
    ) -> Result<(T, Commit), Error> {
        let typed = self.typed.get()?;
        let declared = vertices.iter().map(|key| typed.check_key(key)).collect::<Result<Vec<Key>, _>>()?;
        transact_declared(&typed.store, &self.typed, declared, run)
    }

    /// Draws a number for a [parallel edge](crate::WriteGraph::put_parallel_edge): the time in
    /// microseconds, times 4096, or one more than the last. Larger than every number that this
    /// process has drawn, and than those of earlier processes unless the clock was set back. O(1).
    #[must_use]
    pub fn draw_number(&self) -> u64 {
        edge_numbers::draw()
    }

    /// Puts edges as one commit: `(source, destination)` pairs, or `(source, destination, data)`
    /// triples, whose data is a number, a struct with [`Properties`](crate::Properties) or a
    /// [`Record`](crate::Record). On a label whose edges may be parallel, `(source, destination,
    /// number, data)`. The last of several equal edges counts.
    ///
    /// Sorted and applied on several threads; parallel edges are prepared one by one. Never in
    /// conflict. A new store is filled faster by [`store::create_from`](crate::store::create_from),
    /// without the log.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// #[derive(Properties)]
    /// struct Pays {
    ///     amount: f64,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows").label::<Pays>("pays"))?;
    /// let knows = graph.label::<()>("knows")?;
    /// assert_eq!(graph.ingest(knows, &[(1, 2), (2, 3), (1, 2)])?.edges_added, 2);
    /// let payments = [(1, 2, Pays { amount: 9.5 }), (2, 3, Pays { amount: 4.0 })];
    /// assert_eq!(graph.ingest(graph.label::<Pays>("pays")?, &payments)?.edges_added, 2);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`WriteGraph::put_edge_with`](crate::WriteGraph::put_edge_with). Nothing has changed
    /// then.
    pub fn ingest<S: EdgeTuple + Sync>(
        &self,
        label: impl Into<Label<S::Data>>,
        edges: &[S],
    ) -> Result<Commit, Error> {
        self.typed.get()?.ingest(label.into().id(), edges, None)
    }

    // --- streams: many commits of one operation ------------------------------------------------

    /// Puts edges in order, one commit per edge. Faster than a loop of
    /// [`put_edge`](crate::WriteGraph::put_edge), because it prefetches the memory of the next
    /// commits.
    ///
    /// The edges are `(source, destination)` pairs, or `(source, destination, data)` triples, whose
    /// data is a number, a struct with [`Properties`](crate::Properties) or a
    /// [`Record`](crate::Record); on a label whose edges may be parallel, `(source, destination,
    /// number, data)`. Edges with records are not prefetched. In a store the call waits for the
    /// disk once, at the end. A snapshot may show any prefix of the stream: use [`Graph::ingest`]
    /// where readers must not see an intermediate state.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// #[derive(Properties)]
    /// struct Pays {
    ///     amount: f64,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows").label::<Pays>("pays"))?;
    /// graph.put_each(graph.label::<()>("knows")?, &[(1, 2), (2, 3)])?;
    /// let payments = [(1, 2, Pays { amount: 9.5 }), (2, 3, Pays { amount: 4.0 })];
    /// let done = graph.put_each(graph.label::<Pays>("pays")?, &payments)?;
    /// assert!(done.committed == 2 && done.changed == 2);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`WriteGraph::put_edge_with`](crate::WriteGraph::put_edge_with), at the first edge that
    /// cannot be put; the edges before it are committed.
    pub fn put_each<S: EdgeTuple>(
        &self,
        label: impl Into<Label<S::Data>>,
        edges: &[S],
    ) -> Result<Commits, StreamError> {
        self.typed.get().map_err(StreamError::at_once)?.commit_put_each(label.into().id(), edges)
    }

    /// Deletes edges in order, one commit per edge; with parallel edges, all of them between the
    /// two vertices, or the one of the tuple `(source, destination, number, ())`. Engine `lsm` does
    /// not check that edges without records exist, so its count of removed edges is an upper bound.
    ///
    /// # Errors
    /// As [`WriteGraph::delete_edge`](crate::WriteGraph::delete_edge), at the first edge that
    /// cannot be deleted; the edges before it are gone.
    pub fn delete_each<S: EdgeTuple<Data = ()>>(
        &self,
        label: impl Into<LabelId>,
        edges: &[S],
    ) -> Result<Commits, StreamError> {
        self.typed.get().map_err(StreamError::at_once)?.commit_delete_each(label.into(), edges)
    }

    // --- snapshots ---------------------------------------------------------------------------

    /// Opens a snapshot of the newest state: everything that was committed before this call. O(1).
    ///
    /// # Errors
    /// The graph is poisoned.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        Snapshot::open(&self.typed, ReaderKind::Snapshot)
    }

    /// Opens a snapshot of the newest state, or of the newest state that is cheap to read: see
    /// [`SnapshotOptions`].
    ///
    /// # Errors
    /// The graph is poisoned.
    pub fn snapshot_with(&self, options: SnapshotOptions) -> Result<Snapshot, Error> {
        Snapshot::open_with(&self.typed, options)
    }

    /// Opens a snapshot of a past state that the graph [keeps](GraphOptions::history): after a
    /// commit, or at a time. O(log commits kept).
    ///
    /// Reads cost more the more has changed since then: on `rapid`, O(commits to a partition since
    /// then) for each partition.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the state is no longer kept or does
    /// not exist yet, [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph keeps
    /// no history; the graph is poisoned.
    pub fn snapshot_at(&self, state: impl Into<AsOf>) -> Result<Snapshot, Error> {
        Snapshot::open_past(&self.typed, state.into())
    }

    /// Returns the oldest past state that the graph keeps, and the [time](AsOf::Time) of its
    /// commit, in microseconds since 1970-01-01 UTC; `None` if it keeps no history. O(1).
    #[must_use]
    pub fn oldest_kept(&self) -> Option<(CommitTimestamp, u64)> {
        self.typed.get().ok()?.store.sequencer.oldest_kept()
    }

    // --- housekeeping ------------------------------------------------------------------------

    /// Returns the states that are being read, oldest first, with the memory that each retains.
    /// Readers are snapshots, transactions, and maintenance while it writes or archives a state.
    #[must_use]
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        let Ok(typed) = self.typed.get() else { return Vec::new() };
        let open = typed.store.sequencer.open_timestamps();
        let newest = typed.store.sequencer.newest().0;
        let retained = typed.store.retained();
        let info = |open: &hedgerow_sequencer::OpenTimestamp| SnapshotInfo {
            timestamp: open.at,
            handles: open.handles,
            age: open.since.elapsed(),
            behind: newest.0 - open.at.0,
            retained_bytes: retained.get(&open.at).copied().unwrap_or(0),
        };
        open.iter().map(info).collect()
    }

    /// Frees all versions that no open snapshot sees, and the keys of deleted vertices. Writers, or
    /// a background thread, do the same in small steps: see [`Compaction`](crate::Compaction).
    ///
    /// Skips garbage whose locks writers hold, and reports it as `more`: call again.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the engine could not read or write one
    /// of its files, now or in background steps since the last call. No commit is affected, and the
    /// garbage is still there: call again.
    pub fn reclaim(&self) -> Result<Reclaimed, Error> {
        Ok(self.typed.get()?.store.reclaim()?)
    }

    /// Returns the memory that the graph uses. The dictionary, the counts of parallel edges, the
    /// record of conflicts and the list of past states count as index.
    /// [`GraphOptions::memory_limit`](crate::GraphOptions::memory_limit) limits the sum, and names
    /// the memory that is not counted.
    ///
    /// [`MemoryUse::reserved_bytes`] belongs to the whole process and is not part of the sum.
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        self.typed.get().map(TypedStore::memory).unwrap_or_default()
    }
}

impl Writes for Graph {
    type Written = Commit;

    #[inline]
    fn typed(&self) -> Result<&TypedStore, Error> {
        self.typed.get()
    }

    fn write(&self, operation: Operation) -> Result<Commit, Error> {
        Ok(self.typed.get()?.store.commit(&[operation], None)?)
    }

    fn update(&self, update: RecordUpdate) -> Result<Updated<Commit>, Error> {
        let commit = self.write(update.into())?;
        // An update compares the record, so the commit knows if it changes.
        let changed = commit.changed != Some(false);
        Ok(Updated { held: commit.conditions_failed == 0, changed, written: commit })
    }

    #[inline]
    fn write_edge(&self, typed: &TypedStore, edge: EdgeWrite<'_>) -> Result<Commit, Error> {
        Ok(typed.commit_edge(edge)?)
    }
}

/// Each read opens a snapshot.
impl Reads for Graph {
    fn typed(&self) -> Result<&TypedStore, Error> {
        self.typed.get()
    }

    fn state(&self, _: Reading<'_>) -> Result<State<'_>, Error> {
        Ok(State::Snapshot(Cow::Owned(self.snapshot()?)))
    }
}
