//! The most frequent commit: one edge between vertices that exist.
//!
//! It does what the general commit does, in the same order; but with one operation there is nothing to sort, to override or
//! to create, so that acquiring and resolving it takes no memory and few instructions.

use crate::commit::Commit;
use crate::commit::locks::LockGuard;
use crate::commit::resolve::Resolved;
use crate::commit::sequencer::{VertexCounts, Writer};
use crate::error::Reason;
use crate::store::{PendingReclaim, Store};
use hedgerow_model::{
    EdgeOutcome, EdgePlan, EdgeValue, Engine, GraphView, Key, LabelId, Operation, StoredEdge,
};

/// The edge that an operation puts or deletes, by keys.
fn edge_of(operation: &Operation) -> Option<(LabelId, [&Key; 2], Option<EdgeValue>)> {
    match operation {
        Operation::PutEdge { label, source, destination, value } => {
            Some((*label, [source, destination], Some(*value)))
        }
        Operation::DeleteEdge { label, source, destination } => Some((*label, [source, destination], None)),
        _ => None,
    }
}

impl<E: Engine> Store<E> {
    /// Commits one edge, if both ends exist; `None` if this needs the general commit. Blind.
    pub(crate) fn try_commit_edge(&self, operation: &Operation) -> Result<Option<Commit>, Reason> {
        let Some((label, [source, destination], value)) = edge_of(operation) else { return Ok(None) };
        let generation = self.dictionary.generation();
        let ends = {
            let current = self.dictionary.current_ids();
            current.get(source.as_ref())?.zip(current.get(destination.as_ref())?)
        };
        let Some((source, destination)) = ends else { return Ok(None) };
        self.engine.prefetch(label, source, destination);
        let guard = {
            let units = [source, destination].map(|end| self.engine.lock_unit(end));
            LockGuard::lock(&self.units, self.units.stripes(units.into_iter()))
        };
        let (commit, pending) = {
            let held = guard.held(&self.sequencer);
            self.engine.prefetch_neighbours(&held, label, source);
            let latest = self.engine.latest(&held);
            let exist = latest.contains_vertex(source) && latest.contains_vertex(destination);
            if !exist || self.dictionary.generation() != generation {
                return Ok(None);
            }
            let edge = StoredEdge::new(self.topology, label, source, destination, value);
            match self.engine.plan_edge(&held, &edge) {
                Some(plan) => self.finish_edge(&edge, &plan)?,
                None => self.finish(&held, &Resolved::edge(&edge), Writer::Blind)?,
            }
        };
        drop(guard);
        self.reclaim_after_commit(pending);
        Ok(Some(commit))
    }

    /// The shrinking phase, as in the general commit: stamp, apply, publish. The locks of both ends are held.
    fn finish_edge(&self, edge: &StoredEdge, plan: &EdgePlan) -> Result<(Commit, PendingReclaim), Reason> {
        if !plan.changed {
            let nothing = Commit { at: self.sequencer.newest().0, ..Commit::default() };
            return Ok((nothing, PendingReclaim::default()));
        }
        let stamped = self.sequencer.stamp(VertexCounts::default(), &[plan.outcome], Writer::Blind)?;
        let stamp = stamped.stamp;
        self.poisoning_on_panic(|| {
            self.engine.apply_edge(stamp, edge, plan);
            if stamped.record_conflicts {
                self.record_conflicts(&Resolved::edge(edge), stamp);
            }
        });
        let pending = self.sequencer.applied(stamp);
        let EdgeOutcome { added, removed, .. } = plan.outcome;
        let commit = Commit {
            at: stamp.at(),
            changed: true,
            edges_added: added,
            edges_removed: removed,
            ..Commit::default()
        };
        Ok((commit, pending))
    }
}
