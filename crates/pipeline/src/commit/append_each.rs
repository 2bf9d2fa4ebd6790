//! A stream of edges, each its own commit, to an engine that puts edges as they come.
//!
//! As [any stream](super::each), but nothing is planned: a few commits at a time take their locks and their stamps together, and the
//! engine appends them in one step.

use crate::commit::BYTES_OF_CHANGE;
use crate::commit::each::Commits;
use crate::commit::edge::EdgeWrite;
use crate::commit::resolve::Resolved;
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::Body;
use hedgerow_model::{
    AppendEdges, AppendedEdges, Count, DeferredOutcome, EdgeChange, Engine, LabelId, ShortWrites, StoredEdge,
};
use hedgerow_sequencer::{CountChanges, LockGuard, PendingReclaim, Stripes, Writer};
use std::ops::Range;

/// Number of commits that go together. They also hold each other's locks meanwhile.
const TOGETHER: usize = if cfg!(hedgerow_shuttle) { 2 } else { 32 };

/// Commits that go together: all put edges, or all delete them.
#[derive(Default)]
pub(super) struct AppendedGroup {
    edges: Vec<StoredEdge>,
    deletes: bool,
    stripes: Stripes,
    positions: Vec<u64>,
    values: Vec<u64>,
    /// Memory for what is logged.
    bodies: Vec<Body>,
}

impl AppendedGroup {
    /// Adds an edge, unless it is put where others are deleted, or the other way round; returns whether it did.
    fn admit(&mut self, edge: StoredEdge, stripes: &[u32]) -> bool {
        let (source, destination) = edge.ends();
        let (_, EdgeChange { value, .. }) = edge.entries()[0];
        if self.edges.is_empty() {
            self.deletes = value.is_none();
        }
        if self.deletes != value.is_none() {
            return false;
        }
        self.stripes.extend_from_slice(stripes);
        self.positions.push(EdgeChange::position_of(source, destination));
        self.values.extend(value.map(|value| value.0));
        self.edges.push(edge);
        true
    }

    fn clear(&mut self) {
        self.edges.clear();
        self.stripes.clear();
        self.positions.clear();
        self.values.clear();
    }

    /// Keeps only the first edges.
    fn truncate(&mut self, edges: usize) {
        self.edges.truncate(edges);
        self.positions.truncate(edges);
        self.values.truncate(edges);
    }
}

impl<E: Engine> Store<E> {
    /// The capability to put edges of a label as they come. Memory must be unlimited, since nothing asks whether there is room.
    pub(super) fn append_edges(&self, label: LabelId) -> Option<&dyn AppendEdges> {
        self.engine.append_edges().filter(|by| self.is_unlimited() && by.appends(label))
    }

    /// Commits as many of the next edges as can go together; none if the next one needs the general commit.
    pub(super) fn append_together<'k>(
        &self,
        (short, by): (&E::ShortWrites, &dyn AppendEdges),
        next: Range<usize>,
        write: impl Fn(usize) -> EdgeWrite<'k>,
        group: &mut AppendedGroup,
        done: &mut Commits,
    ) -> Result<(), Error> {
        self.admit(TOGETHER * BYTES_OF_CHANGE)?;
        let generation = self.dictionary.generation();
        self.gather_appended(next.take(TOGETHER).map(&write), group);
        short.prefetch(&group.edges);
        let guard = LockGuard::lock(&self.units, std::mem::take(&mut group.stripes));
        let pending = if self.dictionary.generation() == generation {
            group.truncate(self.count_existing(&guard.held(&self.sequencer), &group.edges)?);
            self.finish_appended_each(by, group, done)?
        } else {
            PendingReclaim::default()
        };
        group.stripes = guard.release();
        self.reclaim_after_commit(pending);
        Ok(())
    }

    /// Collects the next edges whose ends have ids.
    fn gather_appended<'k>(
        &self,
        writes: impl Iterator<Item = EdgeWrite<'k>> + Clone,
        group: &mut AppendedGroup,
    ) {
        group.clear();
        for EdgeWrite { source, destination, .. } in writes.clone() {
            [source, destination].into_iter().for_each(|key| self.dictionary.prefetch(key));
        }
        for EdgeWrite { label, source, destination, value } in writes {
            let (source, destination) =
                (self.dictionary.current(source), self.dictionary.current(destination));
            // A wrong key is reported when its edge is committed alone.
            let (Ok(Some(source)), Ok(Some(destination))) = (source, destination) else { break };
            let edge = StoredEdge::new(self.topology, label, source, destination, value);
            let stripes = self.stripes_of_edge(&edge);
            if !group.admit(edge, &stripes) {
                break;
            }
        }
        group.stripes.sort_unstable();
        group.stripes.dedup();
    }

    /// The shrinking phase of a group: stamps all in one step, also in the log, and appends them.
    fn finish_appended_each(
        &self,
        by: &dyn AppendEdges,
        group: &mut AppendedGroup,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let AppendedGroup { edges, deletes, positions, values, bodies, .. } = group;
        let Some(StoredEdge { label, .. }) = edges.first() else { return Ok(PendingReclaim::default()) };
        let count = edges.len() as u64;
        let (puts, deletions) = if *deletes { (0, count) } else { (count, 0) };
        let deferred = [DeferredOutcome { label: *label, puts, deletions }];
        let counts = CountChanges { deferred: &deferred, ..CountChanges::default() };
        let mut stamps = match self.journal() {
            None => self.sequencer.stamp_many(edges.len(), counts, Writer::Blind)?,
            Some(journal) => {
                bodies.resize_with(edges.len().max(bodies.len()), Body::default);
                let bodies = &mut bodies[..edges.len()];
                for (edge, body) in edges.iter().zip(&mut *bodies) {
                    body.encode_edge(edge, self.topology);
                }
                let log = journal.commit_log()?;
                self.sequencer.stamp_many_logged(log, bodies, None, counts, Writer::Blind)?
            }
        };
        let (record_conflicts, released) = (stamps.record_conflicts, stamps.released);
        let mut pending = PendingReclaim::default();
        self.poisoning_on_panic(|| {
            let first = stamps.next().expect("as many stamps as edges");
            let appended = AppendedEdges { label: *label, deletes: *deletes, edges: positions, values };
            by.append_each(first, &appended);
            for (edge, stamp) in edges.iter().zip(std::iter::once(first).chain(&mut stamps)) {
                if record_conflicts {
                    self.record_conflicts(&Resolved::edge(edge), stamp);
                }
                pending = self.sequencer.applied(stamp, released);
                done.at = stamp.at();
            }
        });
        done.edges_added += Count::between(0, puts);
        done.edges_removed += Count::between(0, deletions);
        done.changed += edges.len();
        done.committed += edges.len();
        Ok(pending)
    }
}
