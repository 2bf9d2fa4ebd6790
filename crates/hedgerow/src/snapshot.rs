//! Snapshots: states of the graph that do not change.

use crate::error::Error;
use crate::reads::{check_adjacency, check_column};
use crate::stores::{EngineSnapshot, OpenStores, with_snapshot, with_store};
use hedgerow_csr::{BuildOptions, Csr};
use hedgerow_kernels::Kernel;
use hedgerow_model::token::Registered;
use hedgerow_model::{
    AsKey, Catalog, Column, Count, Counts, Direction, Engine, GraphView, Key, LabelId, Record, Timestamp,
    Topology, VertexId,
};
use hedgerow_pipeline::{Error as Cause, KeyReads, StateReads, ViewReads, decoded, read_failed};
use hedgerow_sequencer::{AsOf, Reader, Registrar, Registration, Sequencer};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Deref};
use std::time::Duration;

/// A state of the graph that does not change, whatever is committed meanwhile.
///
/// Opened in O(1) by [`Graph::snapshot`](crate::Graph::snapshot), cloned in O(1), sent to any
/// thread, kept as long as one likes: it keeps in memory exactly the versions that it can see. It
/// stays readable when the graph handle is dropped.
#[derive(Clone)]
pub struct Snapshot(Arc<Open>);

/// An open snapshot. What the engine made of it is given up before the registration that keeps it.
struct Open {
    state: EngineSnapshot,
    registration: Registration<Ordered>,
}

/// A reference to the stores of a graph that dereferences to their sequencer. A snapshot shares nothing else: each shared object costs two contended
/// accesses per snapshot.
struct Ordered(Arc<OpenStores>);

impl Deref for Ordered {
    type Target = Sequencer;

    #[inline]
    fn deref(&self) -> &Sequencer {
        with_store!(&**self.0, store => &store.sequencer)
    }
}

impl Registrar for Ordered {
    #[inline]
    fn released(&self) {
        with_store!(&**self.0, store => store.reclaim_after_close());
    }
}

/// An open snapshot, as [`Graph::snapshots`](crate::Graph::snapshots) lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// The commit whose state it is.
    pub timestamp: Timestamp,
    /// How many snapshots and transactions read this state; clones of a snapshot count once.
    pub handles: usize,
    /// Since when this state is read.
    pub age: Duration,
    /// How many commits it is behind the newest.
    pub behind: u64,
    /// Bytes of versions that are kept for this state and for no newer one.
    pub retained_bytes: usize,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("timestamp", &self.timestamp()).field("age", &self.age()).finish()
    }
}

/// Runs an expression with the snapshot's view.
macro_rules! with_view {
    ($snapshot:expr, $store:ident, $view:ident => $run:expr) => {
        with_snapshot!(&**$snapshot.stores(), &$snapshot.0.state, ($store, state) => {
            let $view = $store.engine.view(state, $snapshot.token());
            $run
        })
    };
}

/// Runs an expression with point reads on the snapshot, compiled for its engine.
macro_rules! with_reads {
    ($snapshot:expr, $reads:ident => $run:expr) => {
        with_view!($snapshot, store, view => {
            let $reads = ViewReads { store, view: &view, keys: KeyReads::AsOf };
            $run
        })
    };
}

impl Snapshot {
    /// Registers the newest state.
    pub(crate) fn open(stores: &Arc<OpenStores>, reader: Reader) -> Result<Self, Error> {
        Self::of(Sequencer::open(Ordered(Arc::clone(stores)), reader)?)
    }

    /// Registers a past state.
    pub(crate) fn open_past(stores: &Arc<OpenStores>, as_of: AsOf) -> Result<Self, Error> {
        Self::of(Sequencer::open_past(Ordered(Arc::clone(stores)), as_of)?)
    }

    fn of(registration: Registration<Ordered>) -> Result<Self, Error> {
        let state = registration.by().0.open_snapshot(registration.token())?;
        Ok(Snapshot(Arc::new(Open { state, registration })))
    }

    pub(crate) fn stores(&self) -> &Arc<OpenStores> {
        &self.0.registration.by().0
    }

    fn token(&self) -> &Registered {
        self.0.registration.token()
    }

    /// Runs `read` with point reads on this state.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&dyn StateReads) -> T) -> T {
        with_view!(self, store, view => read(&ViewReads { store, view: &view, keys: KeyReads::AsOf }))
    }

    /// The commit whose state this is.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        self.token().at()
    }

    /// How long ago this snapshot was opened.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.0.registration.opened().elapsed()
    }

    /// Whether edges are directed, and whether in-neighbors can be read.
    #[must_use]
    pub fn topology(&self) -> Topology {
        with_store!(&**self.stores(), store => store.topology)
    }

    /// The labels and schemas.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        with_store!(&**self.stores(), store => &store.catalog)
    }

    /// How many vertices exist. O(1).
    #[must_use]
    pub fn vertex_count(&self) -> u64 {
        self.counts().vertices
    }

    /// How many edges exist, over all labels; an undirected edge counts once, and so do edges that are parallel. Exact, unless the engine counts
    /// later. O(labels).
    #[must_use]
    pub fn edge_count(&self) -> Count {
        with_view!(self, store, view => store.labels().map(|label| view.edge_count(label)).sum())
    }

    /// How many edges of `label` exist; of one whose edges may be parallel, how many pairs of vertices they connect
    /// ([`Snapshot::parallel_edge_count`] has the edges). Exact, unless the engine counts later. O(1).
    #[must_use]
    pub fn edge_count_of(&self, label: LabelId) -> Count {
        with_view!(self, _store, view => view.edge_count(label))
    }

    /// How many edges of a label whose edges may be parallel exist, each of them counted; an undirected one counts once. O(1).
    ///
    /// # Errors
    /// There is no such label, or its edges cannot be parallel.
    pub fn parallel_edge_count(&self, label: LabelId) -> Result<u64, Error> {
        self.stores().parallel_schema(label)?;
        Ok(self.counts().parallel_of(label))
    }

    /// Every vertex id is below this. O(1).
    #[must_use]
    pub fn vertex_bound(&self) -> u32 {
        self.counts().vertex_bound
    }

    fn counts(&self) -> &Counts {
        self.token().counts()
    }

    /// The vertex that `key` has in this state. O(1).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn vertex_id(&self, key: impl AsKey) -> Result<Option<VertexId>, Error> {
        Ok(self.read(|state| state.vertex(key.as_key()))?)
    }

    /// The key of a vertex; `None` if it does not exist in this state. O(1).
    ///
    /// # Errors
    /// The store could not be read.
    pub fn key(&self, vertex: VertexId) -> Result<Option<Key>, Error> {
        with_view!(self, store, view => {
            let exists = view.contains_vertex(vertex).map_err(read_failed)?;
            Ok(exists.then(|| store.dictionary.key(vertex)))
        })
    }

    /// Visits every vertex, ascending by id, with its key.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn for_each_vertex(&self, mut visit: impl FnMut(VertexId, Key)) -> Result<(), Error> {
        self.try_for_each_vertex(|vertex, key| {
            visit(vertex, key);
            Ok(())
        })
    }

    /// Visits the vertices, ascending by id, with their keys, up to the first for which `visit` fails.
    ///
    /// # Errors
    /// That of `visit`, or the store could not be read.
    pub fn try_for_each_vertex<F: From<Error>>(
        &self,
        mut visit: impl FnMut(VertexId, Key) -> Result<(), F>,
    ) -> Result<(), F> {
        let flow = with_view!(self, store, view => {
            let flow = view.scan_vertices(0..view.vertex_bound(), |vertex| {
                match visit(vertex, store.dictionary.key(vertex)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => ControlFlow::Break(error),
                }
            });
            flow.map_err(|error| Error::from(read_failed(error)))?
        });
        flow.break_value().map_or(Ok(()), Err)
    }

    /// Whether `key` has a vertex. O(1).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn contains_vertex(&self, key: impl AsKey) -> Result<bool, Error> {
        Ok(self.vertex_id(key)?.is_some())
    }

    /// The properties of a vertex, in the order of the schema; `None` if it does not exist. O(1).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn properties(&self, key: impl AsKey) -> Result<Option<Record>, Error> {
        let record = self.read(|state| {
            let vertex = state.owner(key.as_key())?;
            vertex.map_or(Ok(None), |vertex| state.record(vertex))
        })?;
        Ok(record.map(|record| self.filled(record)))
    }

    /// A record as users see it: nulls where nothing was ever set.
    pub(crate) fn filled(&self, record: Record) -> Record {
        if record.is_empty() { self.catalog().vertices().nulls() } else { record }
    }

    /// Whether there is an edge of the default label. O(log degree).
    ///
    /// # Errors
    /// A key is of another kind than the graph's.
    pub fn contains_edge(&self, source: impl AsKey, destination: impl AsKey) -> Result<bool, Error> {
        Ok(self.get_edge::<()>(LabelId::DEFAULT, source, destination)?.is_some())
    }

    /// The value of an edge; `None` if it does not exist. `W = ()` asks only whether it does. O(log degree).
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, or its edges carry another type.
    pub fn get_edge<W: Column>(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<W>, Error> {
        check_column::<W>(self.catalog(), label)?;
        let (source, destination) = (source.as_key(), destination.as_key());
        Ok(with_reads!(self, reads => reads.edge_value(label, source, destination))?)
    }

    /// How many neighbors a vertex has; none if it does not exist. O(1).
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label, or no such direction.
    pub fn degree(&self, label: LabelId, direction: Direction, key: impl AsKey) -> Result<usize, Error> {
        check_adjacency::<()>(self.stores(), label, direction)?;
        Ok(with_reads!(self, reads => reads.degree_of(label, direction, key.as_key()))?)
    }

    /// The out-neighbors of a vertex over edges of the default label; none if it does not exist. O(degree).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn neighbors(&self, key: impl AsKey) -> Result<Vec<Key>, Error> {
        let neighbors = self.neighbors_of::<()>(LabelId::DEFAULT, Direction::Out, key)?;
        Ok(neighbors.into_iter().map(|(neighbor, ())| neighbor).collect())
    }

    /// The neighbors of a vertex and the values beside them, ascending by vertex id. O(degree).
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, or its
    /// edges carry another type.
    pub fn neighbors_of<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(Key, W)>, Error> {
        check_adjacency::<W>(self.stores(), label, direction)?;
        let mut neighbors = Vec::new();
        with_reads!(self, reads => reads.for_each_neighbor(label, direction, key.as_key(), |neighbor, value| {
            neighbors.push((reads.store.dictionary.key(neighbor), value));
        }))?;
        Ok(neighbors)
    }

    /// The neighbors of a vertex over the edges of every label: ascending by label, then by vertex id. O(labels + degrees).
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or there is no such direction.
    pub fn neighbors_by_label(
        &self,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(LabelId, Key)>, Error> {
        check_adjacency::<()>(self.stores(), LabelId::DEFAULT, direction)?;
        let mut neighbors = Vec::new();
        self.read(|state| {
            let Some(vertex) = state.owner(key.as_key())? else { return Ok::<_, Cause>(()) };
            with_store!(&**self.stores(), store => store.labels().try_for_each(|label| {
                state.neighbors(label, direction, vertex, &mut |neighbor, _| {
                    neighbors.push((label, state.key(neighbor)));
                })
            }))
        })?;
        Ok(neighbors)
    }

    /// The record of an edge, in the order of its label's schema; `None` if the edge does not exist. O(log degree).
    ///
    /// # Errors
    /// A key is of another kind than the graph's, there is no such label, or its edges have no records.
    pub fn edge_record(
        &self,
        label: LabelId,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<Record>, Error> {
        self.stores().record_schema(label)?;
        let record =
            self.read(|state| match (state.owner(source.as_key())?, state.owner(destination.as_key())?) {
                (Some(source), Some(destination)) => state.edge_record(label, source, destination),
                _ => Ok::<_, Cause>(None),
            })?;
        Ok(record)
    }

    /// The neighbors of a vertex over a label that has records, with their records, ascending by vertex id: one that parallel
    /// edges lead to with each of them. O(edges).
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, or its edges have no records.
    pub fn neighbor_records(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
    ) -> Result<Vec<(Key, Record)>, Error> {
        self.stores().any_record_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        let (mut neighbors, mut failed) = (Vec::new(), None);
        self.read(|state| match state.owner(key.as_key())? {
            Some(vertex) => {
                state.neighbor_records(
                    label,
                    direction,
                    vertex,
                    &mut |neighbor, record| match decoded(record) {
                        Ok(record) => neighbors.push((state.key(neighbor), record)),
                        Err(error) => failed = Some(error),
                    },
                )
            }
            None => Ok(()),
        })?;
        failed.map_or(Ok(neighbors), |error| Err(error.into()))
    }

    /// Runs a kernel on this state. The engine is chosen once, here; the kernel is compiled for each.
    ///
    /// # Errors
    /// Whatever the kernel reports.
    pub fn run<K: Kernel>(&self, kernel: K) -> Result<K::Output, Error> {
        Ok(with_view!(self, _store, view => kernel.run(&view))?)
    }

    /// A static copy of one label, with its values if `W` is not `()`. O(vertices + edges).
    ///
    /// # Errors
    /// There is no such label, its edges carry another type, or the copy does not fit into memory.
    pub fn to_csr<W: Column>(&self, label: LabelId, options: BuildOptions<'_>) -> Result<Csr, Error> {
        check_column::<W>(self.catalog(), label)?;
        Ok(with_view!(self, _store, view => Csr::from_view::<_, W>(&view, label, options))?)
    }
}
