//! Snapshots: states of the graph that do not change.

#[cfg(feature = "kernels")]
mod analytics;
mod count;
mod edge_reader;
#[cfg(feature = "kernels")]
mod follow;
mod iterate;
mod options;
mod reads;
mod unarchived;

pub use edge_reader::EdgeReader;
pub(crate) use edge_reader::EdgeReads;
pub use iterate::{Edge, Edges, Vertices};
pub use options::SnapshotOptions;
pub use unarchived::UnarchivedEdge;

use crate::engine_kind::EngineKind;
use crate::engines::{EngineSnapshot, SharedStore, TypedStore};
use crate::error::Error;
use crate::label::Hop;
use crate::reads::State;
use crate::record_ref::RecordRef;
use hedgerow_erased::ErasedView;
use hedgerow_model::token::Registered;
use hedgerow_model::{AsKey, Catalog, CommitTimestamp, Count, GraphView, Key, LabelId, Topology, VertexId};
use hedgerow_pipeline::{Newest, Overlay, StagedChanges, Which};
use hedgerow_sequencer::{AsOf, ReaderKind, Registrar, Registration, Sequencer};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Deref, Range};
use std::time::Duration;

/// A state of the graph that does not change, whatever is committed meanwhile.
///
/// [`Graph::snapshot`](crate::Graph::snapshot) opens a snapshot in O(1); cloning it takes O(1). It
/// can be sent to any thread and kept for any time, retains exactly the versions that it can see,
/// and stays readable when the graph handle is dropped.
///
/// [`WriteTxn::snapshot`](crate::WriteTxn::snapshot) returns the state that a transaction reads,
/// with its own writes.
#[derive(Clone)]
pub struct Snapshot {
    open: Arc<Open>,
    /// The writes of the transaction whose state this is.
    staged: Option<Arc<StagedChanges>>,
}

impl Drop for Snapshot {
    /// In a forked child, leaks the snapshot: locks of the parent may never be released there.
    fn drop(&mut self) {
        if self.shared().get().is_err() {
            std::mem::forget(Arc::clone(&self.open));
        }
    }
}

/// An open snapshot. The engine's state is dropped before the registration that retains it.
struct Open {
    state: EngineSnapshot,
    registration: Registration<Ordered>,
}

/// A reference to the store of a graph that dereferences to its sequencer. It is the only shared
/// object of a snapshot: each shared object costs two contended accesses per snapshot.
struct Ordered(SharedStore);

impl Deref for Ordered {
    type Target = Sequencer;

    #[inline]
    fn deref(&self) -> &Sequencer {
        &self.0.even_in_child().store.sequencer
    }
}

impl Registrar for Ordered {
    #[inline]
    fn released(&self) {
        self.0.even_in_child().store.reclaim_after_close();
    }
}

/// An open snapshot, as [`Graph::snapshots`](crate::Graph::snapshots) lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SnapshotInfo {
    /// The commit whose state is read.
    pub timestamp: CommitTimestamp,
    /// The number of snapshots and transactions that read this state; clones of a snapshot count
    /// once.
    pub handles: usize,
    /// The time since the first of its readers opened the state.
    pub age: Duration,
    /// The number of later commits.
    pub behind: u64,
    /// Bytes of versions that are retained for this state and for no newer one.
    pub retained_bytes: usize,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("timestamp", &self.timestamp()).field("age", &self.age()).finish()
    }
}

/// Returns the number of edges of a label; an engine counts parallel edges as one.
fn count_edges(view: &impl GraphView, label: LabelId) -> Count {
    let each = view.parallel_edge_count(label);
    if each.at_most() == 0 { view.edge_count(label) } else { each }
}

impl Snapshot {
    /// Registers the newest state.
    pub(crate) fn open(typed: &SharedStore, reader: ReaderKind) -> Result<Self, Error> {
        typed.get()?;
        Self::of(Sequencer::open(Ordered(typed.clone()), reader)?, false)
    }

    /// Registers a past state.
    pub(crate) fn open_past(typed: &SharedStore, as_of: AsOf) -> Result<Self, Error> {
        typed.get()?;
        Self::of(Sequencer::open_past(Ordered(typed.clone()), as_of)?, false)
    }

    fn of(registration: Registration<Ordered>, is_private: bool) -> Result<Self, Error> {
        let state = registration.by().0.get()?.open_snapshot(registration.token(), is_private)?;
        Ok(Snapshot { open: Arc::new(Open { state, registration }), staged: None })
    }

    /// Returns this state with the writes of a transaction that reads it.
    pub(crate) fn with_staged(&self, staged: Arc<StagedChanges>) -> Self {
        Snapshot { open: Arc::clone(&self.open), staged: Some(staged) }
    }

    #[inline]
    pub(crate) fn staged(&self) -> Option<&StagedChanges> {
        self.staged.as_deref()
    }

    pub(crate) fn shared(&self) -> &SharedStore {
        &self.open.registration.by().0
    }

    /// Returns the store, for reads. Fails in a forked child.
    #[inline]
    pub(crate) fn typed(&self) -> Result<&TypedStore, Error> {
        self.shared().get()
    }

    fn registered_timestamp(&self) -> &Registered {
        self.open.registration.token()
    }

    /// Returns the engine's part of this snapshot, and its registration.
    #[inline]
    pub(crate) fn registered(&self) -> (&EngineSnapshot, &Registered) {
        (&self.open.state, self.registered_timestamp())
    }

    /// Returns the view behind virtual calls, for code compiled in the caller's crate whose compile
    /// time costs more than the virtual calls.
    ///
    /// # Errors
    /// This is a forked child.
    pub(crate) fn erased_view(&self) -> Result<ErasedView<'_>, Error> {
        self.typed()?;
        Ok(self.view_even_in_child())
    }

    /// Returns the view behind virtual calls, even in a forked child, for reads of memory only.
    fn view_even_in_child(&self) -> ErasedView<'_> {
        match self.staged() {
            None => self.view_below(),
            Some(staged) => ErasedView::new(Overlay::new(self.view_below(), staged)),
        }
    }

    /// Returns the key of a vertex that exists in this state.
    fn key_of(&self, vertex: VertexId) -> Key {
        let new = self.staged().and_then(|staged| staged.key_of_new(vertex));
        new.map_or_else(|| self.shared().even_in_child().store.dictionary.key(vertex), Key::clone)
    }

    /// Returns the commit whose state this is.
    #[must_use]
    pub fn timestamp(&self) -> CommitTimestamp {
        self.registered_timestamp().at()
    }

    /// Returns the time since this snapshot was opened; for a [stale](SnapshotOptions::stale) view,
    /// the time since its state was the newest.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.open.registration.opened().elapsed()
    }

    /// Returns the engine that holds the graph.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.shared().engine
    }

    /// Returns the topology: directed or undirected, with reverse adjacency or without.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.shared().even_in_child().store.topology
    }

    /// Returns the labels and schemas of the graph, as [`Graph::catalog`](crate::Graph::catalog)
    /// does. Labels that were added after this state have no edges in it. O(labels).
    #[must_use]
    pub fn catalog(&self) -> Catalog {
        self.shared().even_in_child().catalog().to_catalog()
    }

    /// Returns the number of vertices. O(1).
    #[must_use]
    pub fn vertex_count(&self) -> u64 {
        match self.staged() {
            None => self.registered_timestamp().counts().vertices,
            Some(_) => self.view_even_in_child().vertex_count(),
        }
    }

    /// Returns the number of edges over all labels: parallel edges one by one, an undirected edge
    /// once. Exact, unless the engine counts later. O(labels).
    #[must_use]
    pub fn edge_count(&self) -> Count {
        let (view, store) = (self.view_even_in_child(), &self.shared().even_in_child().store);
        store.labels().map(|label| count_edges(&view, label)).sum()
    }

    /// Returns the number of edges of `label`: parallel edges one by one, an undirected edge once.
    /// Exact, unless the engine counts later. O(1).
    #[must_use]
    pub fn edge_count_of(&self, label: impl Into<LabelId>) -> Count {
        self.edges_of(label.into())
    }

    fn edges_of(&self, label: LabelId) -> Count {
        count_edges(&self.view_even_in_child(), label)
    }

    /// Returns the number of pairs of vertices that edges of `label` connect: fewer than edges if
    /// some are parallel. Exact, unless the engine counts later. O(1).
    #[must_use]
    pub fn pair_count_of(&self, label: impl Into<LabelId>) -> Count {
        self.pairs_of(label.into())
    }

    fn pairs_of(&self, label: LabelId) -> Count {
        self.view_even_in_child().edge_count(label)
    }

    /// Returns a bound above all vertex ids. O(1).
    #[must_use]
    pub fn vertex_bound(&self) -> u32 {
        self.view_even_in_child().vertex_bound()
    }

    /// Returns the vertex that `key` has in this state. O(1).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn vertex_id(&self, key: impl AsKey) -> Result<Option<VertexId>, Error> {
        self.typed()?;
        State::of(self).vertex(key.as_key())
    }

    /// Returns the key of a vertex; `None` if it does not exist in this state. O(1).
    ///
    /// # Errors
    /// The store could not be read.
    pub fn key(&self, vertex: VertexId) -> Result<Option<Key>, Error> {
        let exists = self.erased_view()?.contains_vertex(vertex)?;
        Ok(exists.then(|| self.key_of(vertex)))
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

    /// Visits the vertices with their keys, ascending by id, until `visit` fails.
    ///
    /// # Errors
    /// The error of `visit`, or the store could not be read.
    pub fn try_for_each_vertex<F: From<Error>>(
        &self,
        mut visit: impl FnMut(VertexId, Key) -> Result<(), F>,
    ) -> Result<(), F> {
        let flow = self.scan_vertices(0..self.vertex_bound(), |vertex, key| match visit(vertex, key) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        })?;
        flow.break_value().map_or(Ok(()), Err)
    }

    /// Visits the vertices in a range of ids, ascending, until `visit` breaks.
    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId, Key) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let view = self.erased_view()?;
        let flow = view.scan_vertices(range, |vertex| visit(vertex, self.key_of(vertex)));
        Ok(flow?)
    }

    /// Returns the number of edges of a vertex over a label whose edges may be parallel, where
    /// [`degree`](crate::ReadGraph::degree) counts neighbors. O(degree).
    ///
    /// # Errors
    /// As [`ReadGraph::parallel_neighbors`](crate::ReadGraph::parallel_neighbors).
    pub fn parallel_degree(&self, hop: impl Into<Hop>, key: impl AsKey) -> Result<u64, Error> {
        let hop = hop.into();
        self.typed()?.parallel_schema(hop.label)?;
        self.typed()?.check_direction(hop.direction)?;
        State::of(self).parallel_degree(hop, key.as_key())
    }

    /// Visits the newest edges of a vertex, newest first, with their records in place:
    /// [`ReadGraph::newest`](crate::ReadGraph::newest) without copies. Versions that writers
    /// replace in the meantime are freed after the visit.
    ///
    /// # Errors
    /// As [`ReadGraph::newest`](crate::ReadGraph::newest), or the label's edges have no records.
    pub fn visit_newest_records(
        &self,
        hop: impl Into<Hop>,
        key: impl AsKey,
        newest: &Newest,
        mut visit: impl FnMut(VertexId, RecordRef<'_>),
    ) -> Result<(), Error> {
        let hop = hop.into();
        self.typed()?.any_record_schema(hop.label)?;
        self.typed()?.check_direction(hop.direction)?;
        State::of(self).visit_edges(hop, key.as_key(), Which::Newest(newest), &mut |edge| {
            visit(edge.neighbor, RecordRef::new(edge.record));
            Ok(())
        })
    }
}
