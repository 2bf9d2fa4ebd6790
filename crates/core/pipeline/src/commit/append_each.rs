//! A stream of edges with one commit per edge, to an engine that appends edges.
//!
//! Nothing is planned: the engine appends the edges of a few commits in one step, even equal edges.

use crate::commit::group::{Commits, Group, Together};
use crate::error::Error;
use crate::store::Store;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AppendEdges, AppendedEdges, Count, DeferredOutcome, EdgeChange, Engine as _, LabelId, StoredEdge,
};
use hedgerow_sequencer::{CountChanges, PendingReclaim};

/// Commits that are appended together: all put edges, or all delete them.
pub(super) struct Appending<'a> {
    pub(super) by: &'a dyn AppendEdges,
    pub(super) room: &'a mut AppendRoom,
}

/// Reusable memory for appended edges.
#[derive(Default)]
pub(super) struct AppendRoom {
    positions: Vec<u64>,
    values: Vec<u64>,
}

impl Together for Appending<'_> {
    const LARGEST: usize = if cfg!(hedgerow_shuttle) { 2 } else { 32 };

    const PREFETCHES_KEYS: bool = true;

    const APPENDS: bool = true;

    #[inline]
    fn admits(&self, group: &Group, edge: &StoredEdge, _stripes: &[u32]) -> bool {
        group.edges.first().is_none_or(|first| deletes(first) == deletes(edge))
    }

    fn commit(
        &mut self,
        store: &Store,
        _held: &HeldLocks<'_>,
        group: &mut Group,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let Group { edges, bodies, .. } = group;
        let Some(first) = edges.first() else { return Ok(PendingReclaim::default()) };
        let (label, deletes, count) = (first.label, deletes(first), edges.len() as u64);
        let (puts, deletions) = if deletes { (0, count) } else { (count, 0) };
        let deferred = [DeferredOutcome { label, puts, deletions }];
        let counts = CountChanges { deferred: &deferred, ..CountChanges::default() };
        let AppendRoom { positions, values } = self.room.filled_with(edges);
        let appended = AppendedEdges { label, deletes, edges: positions, values };
        let bodies = store.encode_each((edges.len(), edges.iter()), bodies);
        let (first, mut stamps) = store.stamp_in_engine(
            |take_stamp| self.by.append_each(&appended, take_stamp),
            || {
                let mut stamps = store.stamp_each(edges.len(), bodies, counts)?;
                Ok::<_, Error>((stamps.next().expect("as many stamps as edges"), stamps))
            },
        )?;
        let (record_conflicts, released) = (stamps.record_conflicts, stamps.released);
        let mut pending = PendingReclaim::default();
        store.poisoning_on_panic(|| {
            for (edge, stamp) in edges.iter().zip(std::iter::once(first).chain(&mut stamps)) {
                if record_conflicts {
                    let touched = store.touched_by_edge(label, edge.ends());
                    store.record_conflicts(touched.into_iter(), 1, stamp);
                }
                pending = store.sequencer.applied(stamp, released);
                done.at = stamp.at();
            }
        });
        done.edges_added += Count::between(0, puts);
        done.edges_removed += Count::between(0, deletions);
        done.changed += Count::between(0, edges.len() as u64);
        done.committed += edges.len();
        Ok(pending)
    }
}

impl AppendRoom {
    /// Replaces the contents by these edges.
    fn filled_with(&mut self, edges: &[StoredEdge]) -> &Self {
        let position = |edge: &StoredEdge| {
            let (source, destination) = edge.ends();
            EdgeChange::position_of(source, destination)
        };
        self.positions.clear();
        self.positions.extend(edges.iter().map(position));
        self.values.clear();
        self.values.extend(edges.iter().filter_map(|edge| edge.entries()[0].1.value).map(|value| value.0));
        self
    }
}

fn deletes(edge: &StoredEdge) -> bool {
    edge.entries()[0].1.value.is_none()
}

impl Store {
    /// Returns the engine's capability to append edges of a label. Memory must be unlimited, since
    /// appending does not check for room.
    pub(crate) fn append_edges(&self, label: LabelId) -> Option<&dyn AppendEdges> {
        self.engine.append_edges().filter(|by| self.is_unlimited() && by.appends(label))
    }
}
