//! The graph: what applications hold.

use crate::declared::{DeclaredTxn, transact_declared};
use crate::edge_update::EdgeUpdate;
use crate::error::Error;
use crate::options::{GraphOptions, Isolation};
use crate::retries::Retries;
use crate::snapshot::{Snapshot, SnapshotInfo};
use crate::stores::{OpenStores, Stores, with_store};
use crate::stream::StreamError;
use crate::transaction::WriteTxn;
use hedgerow_model::{
    AsKey, Catalog, Column, Key, KeyKind, LabelId, MemoryUse, Operation, Reclaimed, Record, Timestamp,
    Topology, Value,
};
use hedgerow_pipeline::{BulkEdge, Commit, Commits, EdgeWrite};
use hedgerow_sequencer::{AsOf, Reader};
use hedgerow_sync::Arc;

/// A graph that can be written and read by any number of threads at the same time.
///
/// A handle: cloning it is cheap and gives the same graph.
///
/// ```
/// use hedgerow::{Graph, GraphOptions};
///
/// let graph = Graph::in_memory(GraphOptions::new())?;
/// graph.put_edge(1, 2)?;
/// let before = graph.snapshot()?;
///
/// let mut transaction = graph.begin()?;
/// transaction.put_edge(2, 3)?;
/// transaction.delete_edge(1, 2)?;
/// transaction.commit()?;
///
/// assert_eq!(before.edge_count(), 1);
/// assert!(before.contains_edge(1, 2)?);
/// assert_eq!(graph.neighbors(2)?, [3.into()]);
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph {
    pub(crate) stores: Arc<OpenStores>,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("topology", &self.topology()).field("keys", &self.key_kind()).finish()
    }
}

impl Graph {
    /// An empty graph that lives in memory and ends with its last handle.
    ///
    /// # Errors
    /// The schemas contradict themselves, or ask the engine for something that it has not.
    pub fn in_memory(options: GraphOptions) -> Result<Self, Error> {
        let retries = options.retries_or_default();
        Ok(Graph { stores: OpenStores::new(Stores::new(options, None)?, retries) })
    }

    /// Whether edges are directed, and whether in-neighbors can be read.
    #[must_use]
    pub fn topology(&self) -> Topology {
        with_store!(&*self.stores, store => store.topology)
    }

    /// What application keys are.
    #[must_use]
    pub fn key_kind(&self) -> KeyKind {
        with_store!(&*self.stores, store => store.dictionary.kind())
    }

    /// The labels and schemas.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        self.stores.catalog()
    }

    /// The label called `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn label(&self, name: &str) -> Result<LabelId, Error> {
        Ok(self.catalog().label_id(name)?)
    }

    // --- writes of one operation -------------------------------------------------------------

    /// Puts an edge of the default label, as a commit of its own.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, the edges of the default label carry a value, or
    /// a limit would be exceeded.
    pub fn put_edge(&self, source: impl AsKey, destination: impl AsKey) -> Result<Commit, Error> {
        self.put_edge_value(LabelId::DEFAULT, source, destination, ())
    }

    /// Puts an edge with a value, or replaces its value, as a commit of its own.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges carry another
    /// type, or a limit would be exceeded.
    pub fn put_edge_value<W: Column>(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        value: W,
    ) -> Result<Commit, Error> {
        self.stores.check_written_column::<W>(label)?;
        let (source, destination) = (source.as_key(), destination.as_key());
        self.commit_edge(EdgeWrite { label, source, destination, value: Some(value.to_bits()) })
    }

    /// Deletes an edge of the default label, as a commit of its own; says whether it existed.
    ///
    /// # Errors
    /// A key is of another kind than the graph's.
    pub fn delete_edge(&self, source: impl AsKey, destination: impl AsKey) -> Result<bool, Error> {
        self.delete_edge_of(LabelId::DEFAULT, source, destination)
    }

    /// Deletes an edge, as a commit of its own; says whether it existed.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or there is no such label.
    pub fn delete_edge_of(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<bool, Error> {
        let commit = if self.stores.has_records(label)? {
            self.commit_one(self.stores.delete_edge(label, &source, &destination)?)?
        } else {
            let (source, destination) = (source.as_key(), destination.as_key());
            self.commit_edge(EdgeWrite { label, source, destination, value: None })?
        };
        // It is exact of a commit that deletes one edge.
        Ok(commit.edges_removed.at_least() > 0)
    }

    #[inline]
    fn commit_edge(&self, write: EdgeWrite<'_>) -> Result<Commit, Error> {
        Ok(with_store!(&*self.stores, store => store.commit_edge(write))?)
    }

    pub(crate) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Puts, changes or deletes an edge that has a record, as a commit of its own, and decides a condition on the newest state.
    ///
    /// [`Commit::changed`] says whether the condition held and anything is different now.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges have no records, a property is unknown, of
    /// another type or null where it must not be, or a limit would be exceeded.
    pub fn update_edge(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
        update: &EdgeUpdate<'_>,
    ) -> Result<Commit, Error> {
        self.commit_one(self.stores.update_edge(label, &source, &destination, update)?)
    }

    /// Makes a vertex exist, as a commit of its own; says whether it is new.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or a limit would be exceeded.
    pub fn add_vertex(&self, key: impl AsKey) -> Result<bool, Error> {
        let commit = self.commit_one(self.stores.add_vertex(&key)?)?;
        Ok(commit.vertices_added > 0)
    }

    /// Deletes a vertex and all its incident edges, as a commit of its own; says whether it existed.
    ///
    /// Costs O(degree) on undirected graphs and with reverse adjacency, else one scan of all
    /// edges: delete many vertices in one transaction, which shares the scan.
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn delete_vertex(&self, key: impl AsKey) -> Result<bool, Error> {
        let commit = self.commit_one(self.stores.delete_vertex(&key)?)?;
        Ok(commit.vertices_removed > 0)
    }

    /// Sets properties of a vertex by name, as a commit of its own; creates it if it does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or a property is unknown or of another type.
    pub fn set_properties(&self, key: impl AsKey, properties: &[(&str, Value)]) -> Result<Commit, Error> {
        self.commit_one(self.stores.set_properties(&key, properties)?)
    }

    pub(crate) fn commit_one(&self, operation: Operation) -> Result<Commit, Error> {
        Ok(with_store!(&*self.stores, store => store.commit(&[operation], None))?)
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
        WriteTxn::begin(&self.stores, isolation)
    }

    /// Runs `run` in a transaction at isolation [`Isolation::Snapshot`] and commits it; again if
    /// another commit came first, after a wait, as often as [`GraphOptions::retries`] says.
    ///
    /// Write through the transaction only: a `run` that also commits to the same vertices by other
    /// means is in conflict with itself, every time. Where many threads write the same few vertices, and each has to succeed,
    /// [`Graph::transact_declared`] queues them instead.
    ///
    /// # Errors
    /// What `run` returned, or a commit that cannot succeed: [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if another commit came first
    /// every time, and nothing has changed.
    pub fn transact<T>(&self, run: impl FnMut(&mut WriteTxn) -> Result<T, Error>) -> Result<T, Error> {
        self.transact_with(Isolation::Snapshot, run)
    }

    /// Runs a transaction as [`Graph::transact`] does, at any isolation.
    ///
    /// # Errors
    /// As [`Graph::transact`].
    pub fn transact_with<T>(
        &self,
        isolation: Isolation,
        mut run: impl FnMut(&mut WriteTxn) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut retries = Retries::new(self.stores.retries);
        loop {
            let mut transaction = self.begin_with(isolation)?;
            let result = run(&mut transaction)?;
            match transaction.commit() {
                Err(error) if error.is_conflict() && retries.wait() => {
                    // The commit that came first may not be published yet.
                    with_store!(&*self.stores, store => store.settle_seen())?;
                }
                Err(error) => return Err(error),
                Ok(_) => return Ok(result),
            }
        }
    }

    /// Locks `vertices`, runs `run` on their newest state, and commits what it staged.
    ///
    /// Never fails with a conflict; keep it short, for other writers of these vertices, and of
    /// some that share a lock with them, wait. `run` must not write to this graph by other means, nor wait for a thread that does, or
    /// it waits for itself.
    ///
    /// # Errors
    /// What `run` returned (nothing has changed then), a key of another kind than the graph's, or a limit
    /// that would be exceeded.
    pub fn transact_declared<K: AsKey, T>(
        &self,
        vertices: &[K],
        run: impl FnOnce(&mut DeclaredTxn<'_>) -> Result<T, Error>,
    ) -> Result<(T, Commit), Error> {
        let declared =
            vertices.iter().map(|key| self.stores.check_key(key)).collect::<Result<Vec<Key>, _>>()?;
        with_store!(&*self.stores, store => transact_declared(store, &self.stores, declared, run))
    }

    /// Puts edges of the default label as one commit: `(source, destination)` pairs, or
    /// `(source, destination, value)` triples. Of several equal edges the last one counts.
    ///
    /// Sorted and applied on several threads. Blind: never in conflict.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, the label's edges carry another type, or a limit would be
    /// exceeded. Nothing has changed then.
    pub fn ingest<B: BulkEdge>(&self, edges: &[B]) -> Result<Commit, Error> {
        self.ingest_into(LabelId::DEFAULT, edges)
    }

    /// Puts edges of any label, all as one commit.
    ///
    /// # Errors
    /// As [`Graph::ingest`], or there is no such label.
    pub fn ingest_into<B: BulkEdge>(&self, label: LabelId, edges: &[B]) -> Result<Commit, Error> {
        self.stores.check_written_column::<B::Value>(label)?;
        Ok(with_store!(&*self.stores, store => store.ingest(label, edges, None))?)
    }

    /// Puts edges of a label that has records as one commit: source, destination, and the record, a value per property in the order
    /// of the schema. Of several equal edges the last one counts. Versions are counted by the store, whatever the records have there.
    ///
    /// Sorted and applied on several threads. Blind: never in conflict. Not for labels whose edges may be parallel.
    ///
    /// ```
    /// use hedgerow::{EdgeSchema, Field, Graph, GraphOptions, LabelId, LabelSchema, Record, RecordSchema, Value, ValueType};
    ///
    /// let amount = Field { name: "amount".into(), value_type: ValueType::F64, nullable: false };
    /// let pays = LabelSchema { name: "pays".into(), edges: EdgeSchema::Record(RecordSchema { fields: vec![amount] }) };
    /// let graph = Graph::in_memory(GraphOptions::new().label(pays))?;
    /// let payments = [(1u64, 2u64, 9.5), (2, 3, 4.0)].map(|(from, to, amount)| (from, to, Record::new(vec![Value::F64(amount)])));
    /// assert_eq!(graph.ingest_records(LabelId::DEFAULT, &payments)?.edges_added, 2);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges have no records or may be parallel, a record does not
    /// fit its schema, or a limit would be exceeded. Nothing has changed then.
    pub fn ingest_records<K: AsKey + Sync>(
        &self,
        label: LabelId,
        edges: &[(K, K, Record)],
    ) -> Result<Commit, Error> {
        self.stores.ingest_records(label, edges, None)
    }

    // --- streams: many commits of one operation ------------------------------------------------

    /// Puts edges of the default label, each as a commit of its own, in their order: as a loop of
    /// [`Graph::put_edge`], faster, for what the next commits touch is fetched ahead.
    ///
    /// A snapshot may show any beginning of the stream. Use [`Graph::ingest`] where readers must not see an intermediate state.
    ///
    /// # Errors
    /// As [`Graph::put_edge`], at the first edge that cannot be put; those before it are committed.
    pub fn put_each<B: BulkEdge>(&self, edges: &[B]) -> Result<Commits, StreamError> {
        self.put_each_into(LabelId::DEFAULT, edges)
    }

    /// Puts edges of any label, each as a commit of its own, like [`Graph::put_each`].
    ///
    /// # Errors
    /// As [`Graph::put_edge_value`], at the first edge that cannot be put; those before it are committed.
    pub fn put_each_into<B: BulkEdge>(&self, label: LabelId, edges: &[B]) -> Result<Commits, StreamError> {
        self.stores.commit_put_each(label, edges)
    }

    /// Deletes edges of the default label, each as a commit of its own, in their order.
    ///
    /// # Errors
    /// As [`Graph::delete_edge`], at the first edge that cannot be deleted; those before it are gone.
    pub fn delete_each<B: BulkEdge<Value = ()>>(&self, edges: &[B]) -> Result<Commits, StreamError> {
        self.delete_each_of(LabelId::DEFAULT, edges)
    }

    /// Deletes edges of any label, each as a commit of its own, in their order.
    ///
    /// # Errors
    /// As [`Graph::delete_edge_of`], at the first edge that cannot be deleted; those before it are gone.
    pub fn delete_each_of<B: BulkEdge<Value = ()>>(
        &self,
        label: LabelId,
        edges: &[B],
    ) -> Result<Commits, StreamError> {
        self.stores.commit_delete_each(label, edges)
    }

    // --- reads -------------------------------------------------------------------------------

    /// Opens a snapshot of the newest state: everything that was committed before this call. O(1).
    ///
    /// # Errors
    /// The graph is poisoned.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        Snapshot::open(&self.stores, Reader::Snapshot)
    }

    /// Opens a snapshot of a past state, which the graph [keeps](GraphOptions::history): after a commit, or at a time. O(log commits kept).
    ///
    /// Reading it costs more the more was changed since: on `rapid` O(commits to its partition since then) for each partition.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the state is not kept any more or not there yet,
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph keeps no history; the graph is poisoned.
    pub fn snapshot_at(&self, state: impl Into<AsOf>) -> Result<Snapshot, Error> {
        Snapshot::open_past(&self.stores, state.into())
    }

    /// The oldest past state that the graph keeps, and the [time](AsOf::Time) that its commit carries, in microseconds since 1970-01-01 UTC; `None` if it
    /// keeps no history. O(1).
    #[must_use]
    pub fn oldest_kept(&self) -> Option<(Timestamp, u64)> {
        with_store!(&*self.stores, store => store.sequencer.oldest_kept())
    }

    /// Whether there is an edge of the default label, now.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or the graph is poisoned.
    pub fn contains_edge(&self, source: impl AsKey, destination: impl AsKey) -> Result<bool, Error> {
        self.snapshot()?.contains_edge(source, destination)
    }

    /// The value of an edge, now; `None` if it does not exist.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges carry another type, or
    /// the graph is poisoned.
    pub fn get_edge<W: Column>(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<W>, Error> {
        self.snapshot()?.get_edge(label, source, destination)
    }

    /// The out-neighbors of a vertex over edges of the default label, now.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or the graph is poisoned.
    pub fn neighbors(&self, key: impl AsKey) -> Result<Vec<Key>, Error> {
        self.snapshot()?.neighbors(key)
    }

    /// The record of an edge in the newest state; `None` if the edge does not exist. O(log degree).
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, its edges have no records, or the graph is poisoned.
    pub fn edge_record(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<Record>, Error> {
        self.snapshot()?.edge_record(label, source, destination)
    }

    // --- housekeeping ------------------------------------------------------------------------

    /// The states that are being read, oldest first, and what each keeps in memory.
    #[must_use]
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        with_store!(&*self.stores, store => {
            let open = store.sequencer.open_timestamps();
            let newest = store.sequencer.newest().0;
            let retained = store.retained();
            let info = |open: &hedgerow_sequencer::OpenTimestamp| SnapshotInfo {
                timestamp: open.at,
                handles: open.handles,
                age: open.since.elapsed(),
                behind: newest.0 - open.at.0,
                retained_bytes: retained.get(&open.at).copied().unwrap_or(0),
            };
            open.iter().map(info).collect()
        })
    }

    /// Frees every version that no open snapshot sees, and the keys of deleted vertices. Writers, or a thread, do this in passing, a little at a time: [`Compaction`](crate::Compaction).
    ///
    /// What `more` reports was being written at this moment; call again.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the engine could not read or write one of its files, now or in passing since the last
    /// call. No commit is affected, and what was to be freed is still there: call again.
    pub fn reclaim(&self) -> Result<Reclaimed, Error> {
        Ok(with_store!(&*self.stores, store => store.reclaim())?)
    }

    /// What the graph holds in memory; the dictionary, the counts of parallel edges, the record of conflicts and the list of past states are part of
    /// the index. [`GraphOptions::memory_limit`](crate::GraphOptions::memory_limit) limits the sum, and says what is not counted.
    ///
    /// [`MemoryUse::reserved_bytes`] is beside it, and of the whole process.
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        self.stores.memory()
    }
}
