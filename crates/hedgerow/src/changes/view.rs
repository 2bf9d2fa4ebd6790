//! States of a graph, one after the other, each with the changes that lead to it.

use super::{Begin, ChangeToken, Changes, LOOK_AGAIN, Lag, SubscribeOptions, Subscription};
use crate::engines::SharedStore;
use crate::error::Error;
use crate::graph::Graph;
use crate::snapshot::{Snapshot, SnapshotOptions};
use hedgerow_log::Durability;
use hedgerow_model::{AsKey, VertexId};
use hedgerow_sequencer::AsOf;
use hedgerow_sync::OnceLock;
use std::time::{Duration, Instant};

/// A state of a graph that follows it, and the changes between the state before and this one
/// (GraphOne, section 6.2: stateful stream views).
///
/// Each [advance](StreamView::advance) opens a snapshot of the newest state, and pulls the changes
/// up to it: the state [before](StreamView::before) and the [changes](StreamView::changes) make the
/// [snapshot](StreamView::snapshot), exactly. [Filters](SubscribeOptions::label) choose among the
/// changes, not in the states.
///
/// A view keeps all changes of an advance in memory, at about 50 bytes each, and both states
/// readable, as open snapshots do: the more often it advances, the less memory it takes.
///
/// A computation over edges (algorithm 2 of the paper): the degree of each vertex, while edges come
/// and go.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{Change, SubscribeOptions};
/// use std::collections::BTreeMap;
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
/// let follows = graph.label::<()>("follows")?;
/// let mut view = graph.follow(&SubscribeOptions::new())?;
/// let mut degrees = BTreeMap::<Key, i64>::new();
/// graph.ingest(follows, &[(1, 2), (1, 3), (2, 3)])?;
/// graph.delete_vertex(3)?;
///
/// view.advance()?;
/// for change in view.changes().iter() {
///     match change {
///         Change::PutEdge(edge) => *degrees.entry(edge.source().to_key()).or_default() += 1,
///         Change::DeleteEdge(edge) => *degrees.entry(edge.source().to_key()).or_default() -= 1,
///         Change::PutVertex(_) | Change::DeleteVertex(_) => {}
///     }
/// }
/// assert_eq!(degrees[&Key::from(1)] as usize, view.snapshot().degree(follows, 1)?);
/// # Ok::<(), Error>(())
/// ```
///
/// A computation over vertices (algorithm 3 of the paper): the hops from a vertex, while edges
/// come. The kernel goes on from the changed vertices; ids in changes are those in the snapshot.
///
/// ```
/// # #[cfg(feature = "kernels")] {
/// use hedgerow::kernels::{Adjacency, Cursor, GraphView, Kernel, KernelError};
/// use hedgerow::prelude::*;
/// use hedgerow::{LabelId, SubscribeOptions, VertexId};
/// use std::ops::ControlFlow;
///
/// struct LowerDepths<'d>(LabelId, Vec<VertexId>, &'d mut Vec<u32>);
///
/// impl Kernel for LowerDepths<'_> {
///     type Output = ();
///
///     fn run<V: GraphView>(self, view: &V) -> Result<(), KernelError> {
///         let LowerDepths(label, mut changed, depths) = self;
///         depths.resize(view.vertex_bound() as usize, u32::MAX);
///         let adjacency = view.adjacency::<()>(label, Direction::Out)?;
///         let mut cursor = adjacency.cursor();
///         while let Some(vertex) = changed.pop() {
///             let next = depths[vertex.index()].saturating_add(1);
///             let _ = cursor.neighbors(vertex, |neighbors, _| {
///                 for neighbor in neighbors {
///                     let depth = &mut depths[neighbor.index()];
///                     if next < *depth {
///                         *depth = next;
///                         changed.push(*neighbor);
///                     }
///                 }
///                 ControlFlow::<()>::Continue(())
///             })?;
///         }
///         Ok(())
///     }
/// }
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
/// let follows = graph.label::<()>("follows")?;
/// graph.add_vertex(1)?;
/// let mut view = graph.follow(&SubscribeOptions::new())?;
/// let one = view.snapshot().vertex_id(1)?.expect("it was put");
/// let mut depths = vec![u32::MAX; one.index()];
/// depths.push(0);
/// for edge in [(3, 4), (2, 3), (1, 2), (1, 4)] {
///     graph.put_edge(follows, edge.0, edge.1)?;
///     while view.advance()? {
///         let changed = view.changed_vertices().to_vec();
///         view.snapshot().run(LowerDepths(follows.id(), changed, &mut depths))?;
///     }
/// }
/// let four = view.snapshot().vertex_id(4)?.expect("it has edges");
/// assert_eq!(depths[four.index()], 1);
/// # }
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub struct StreamView {
    shared: SharedStore,
    subscription: Subscription,
    options: SnapshotOptions,
    undurable: bool,
    before: Option<Snapshot>,
    snapshot: Snapshot,
    changes: Changes,
    /// The next changes. After an error those that were read, for the next advance.
    next: Changes,
    /// The vertices that the changes touch, ascending, once they were asked for.
    changed: OnceLock<Vec<VertexId>>,
}

impl std::fmt::Debug for StreamView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StreamView { subscription, snapshot, changes, .. } = self;
        let mut shown = f.debug_struct("StreamView");
        shown
            .field("subscription", subscription)
            .field("snapshot", snapshot)
            .field("changes", &changes.len());
        shown.finish_non_exhaustive()
    }
}

impl Graph {
    /// Follows the states of the graph, from the newest one on or from where the options
    /// [begin](SubscribeOptions::begin): see [`StreamView`]. Does not divide the changes of an
    /// advance [at a number](SubscribeOptions::at_once).
    ///
    /// # Errors
    /// As [`Graph::subscribe`] and [`Graph::snapshot`].
    pub fn follow(&self, options: &SubscribeOptions) -> Result<StreamView, Error> {
        self.follow_with(options, SnapshotOptions::fresh())
    }

    /// Follows the states of the graph that [`Graph::snapshot_with`] opens. If they are stale, the
    /// view begins with the newest one all the same, and stays there until a newer one is cheap to
    /// read.
    ///
    /// # Errors
    /// As [`Graph::follow`].
    pub fn follow_with(
        &self,
        options: &SubscribeOptions,
        snapshots: SnapshotOptions,
    ) -> Result<StreamView, Error> {
        // The view itself waits until a state is durable, before it reads the commits.
        let mut subscription = Subscription::of_graph(&self.typed, &options.clone().undurable(true))?;
        let snapshot = match options.begin {
            Begin::Now => subscription.snapshot()?,
            Begin::After(_) | Begin::AfterCommit(_) => {
                let begin = subscription.token().commit();
                let newest = self.snapshot()?;
                let is_newest = newest.timestamp() == begin;
                let kept = (!is_newest).then(|| Snapshot::open_past(&self.typed, AsOf::Commit(begin)).ok());
                kept.flatten().unwrap_or(newest)
            }
        };
        let changes = subscription.no_changes();
        let is_begin = snapshot.timestamp() == changes.token().commit();
        let view = StreamView {
            shared: self.typed.clone(),
            options: snapshots,
            undurable: options.undurable,
            before: is_begin.then(|| snapshot.clone()),
            snapshot,
            next: changes.none_at(changes.token()),
            changes,
            subscription,
            changed: OnceLock::new(),
        };
        view.settle(&view.snapshot)?;
        Ok(view)
    }
}

impl StreamView {
    /// Moves on to the newest state, and returns true if there are changes. Never waits for a
    /// commit; in a store waits until the state is durable, unless undurable commits were asked
    /// for. O(changes).
    ///
    /// After an error the view is as before, and the next advance goes on with what was read.
    ///
    /// # Errors
    /// As [`Graph::snapshot_with`] and [`Subscription::pull`]. After
    /// [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost), follow the graph anew.
    pub fn advance(&mut self) -> Result<bool, Error> {
        let mut snapshot = Snapshot::open_with(&self.shared, self.options)?;
        if snapshot.timestamp() < self.next.token().commit() {
            // A stale state of before the view began.
            snapshot = self.snapshot.clone();
        }
        self.settle(&snapshot)?;
        self.subscription.read(Some(snapshot.registered().1), usize::MAX, &mut self.next)?;
        debug_assert_eq!(self.next.token().commit(), snapshot.timestamp(), "all was read");
        // Also the vertices of changes that are left out.
        let changed = self.subscription.latest_only.then(|| self.next.vertices_by_id());
        self.subscription.leave_out(&mut self.next);
        let is_kept = self.snapshot.timestamp() == self.token().commit();
        self.before = is_kept.then(|| self.snapshot.clone());
        let following = self.next.none_at(self.next.token());
        self.changes = std::mem::replace(&mut self.next, following);
        self.snapshot = snapshot;
        self.changed = changed.map_or_else(OnceLock::new, OnceLock::from);
        Ok(!self.changes.is_empty())
    }

    /// Moves on to the newest state, and if there are no changes, waits for some, at most for
    /// `time`. Returns true if there are changes.
    ///
    /// # Errors
    /// As [`StreamView::advance`] and [`Subscription::pull_within`].
    pub fn advance_within(&mut self, time: Duration) -> Result<bool, Error> {
        let until = Instant::now().checked_add(time);
        loop {
            let has_changes = self.advance()?;
            let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
            if has_changes || left.is_zero() {
                return Ok(has_changes);
            }
            if self.subscription.behind()?.0 > 0 {
                // Not durable, or not archived yet.
                std::thread::sleep(left.min(LOOK_AGAIN));
            }
            self.subscription.source.wait(left)?;
        }
    }

    /// Waits until a state is durable, unless undurable commits were asked for.
    fn settle(&self, snapshot: &Snapshot) -> Result<(), Error> {
        if !self.undurable {
            let store = &self.shared.get()?.store;
            store.settle_read(snapshot.timestamp(), Durability::Sync)?;
        }
        Ok(())
    }

    /// Returns the state before the changes, which is the snapshot if there are none. `None` if the
    /// view began at a past commit whose state the graph does not [keep](crate::History), and has
    /// advanced at most once.
    #[must_use]
    pub fn before(&self) -> Option<&Snapshot> {
        self.before.as_ref()
    }

    /// Returns the state after the changes. Before the first advance, this is the state in which
    /// the view began; or the newest one, if that is not kept.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the changes of the last advance; none before the first.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Returns the vertices that the changes touch, ascending by id: those that were put or
    /// deleted, and the ends of edges that were put or deleted. No other vertex differs between the
    /// two states, if the view passes on all changes. O(changes · log changes) once, then O(1).
    ///
    /// An id is that of the vertex in both states, or in the one that has it. A put may leave a
    /// vertex as it was: see [`Change`](crate::Change).
    #[must_use]
    pub fn changed_vertices(&self) -> &[VertexId] {
        self.changed.get_or_init(|| self.changes.vertices_by_id())
    }

    /// Returns true if a vertex is among the [changed](StreamView::changed_vertices) ones.
    /// O(log changes).
    #[must_use]
    pub fn has_changed(&self, vertex: VertexId) -> bool {
        self.changed_vertices().binary_search(&vertex).is_ok()
    }

    /// Returns true if the vertex that has a key, or had it in the state
    /// [before](StreamView::before), is among the [changed](StreamView::changed_vertices) ones.
    /// O(log changes).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    pub fn has_key_changed(&self, key: impl AsKey) -> Result<bool, Error> {
        let key = key.as_key();
        for state in [Some(&self.snapshot), self.before.as_ref()].into_iter().flatten() {
            if state.vertex_id(key)?.is_some_and(|vertex| self.has_changed(vertex)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the position after the changes, at which another view can go on: see
    /// [`Subscription::token`]. Store it with the results of the computation.
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        self.changes.token()
    }

    /// Returns the distance from the newest commit.
    ///
    /// # Errors
    /// As [`Subscription::lag`].
    pub fn lag(&self) -> Result<Lag, Error> {
        self.subscription.lag()
    }
}
