//! A stream of edges with one commit per edge, whose changes the engine plans.

use crate::commit::decided::{PlannedCounts, PlannedEdge, apply};
use crate::commit::group::{Commits, Group, Together};
use crate::error::Error;
use crate::store::Store;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Count, ShortPlan, ShortWrites, StoredEdge};
use hedgerow_sequencer::PendingReclaim;

/// Commits that are planned together: no two need the same lock.
pub(super) struct Planning<'p, S: ShortWrites> {
    pub(super) short: &'p S,
    /// Memory for plans.
    pub(super) plans: &'p mut Vec<S::Plan>,
}

impl<S: ShortWrites> Together for Planning<'_, S> {
    /// Enough to overlap the waits for memory.
    const LARGEST: usize = if cfg!(hedgerow_shuttle) { 2 } else { 16 };

    const PREFETCHES_KEYS: bool = false;

    const APPENDS: bool = false;

    #[inline]
    fn admits(&self, group: &Group, _edge: &StoredEdge, stripes: &[u32]) -> bool {
        !stripes.iter().any(|stripe| group.stripes.contains(stripe))
    }

    /// Applies the commits one after the other, up to the first that the engine does not plan.
    fn commit(
        &mut self,
        store: &Store,
        held: &HeldLocks<'_>,
        group: &mut Group,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let Planning { short, plans } = self;
        plans.clear();
        short.plan_edges(held, &group.edges, store.is_unlimited(), plans);
        let Group { edges, bodies, .. } = group;
        let mut pending = PendingReclaim::default();
        let changes = || edges.iter().zip(&**plans).filter(|(_, plan)| plan.is_change());
        let changed = changes().count();
        if changed > 0 {
            let counts = PlannedCounts::of(plans);
            let changed_edges = changes().map(|(edge, _)| edge);
            let bodies = store.encode_each((changed, changed_edges), bodies);
            let mut stamps = store.stamp_each(changed, bodies, counts.changes())?;
            let (record_conflicts, released) = (stamps.record_conflicts, stamps.released);
            store.poisoning_on_panic(|| {
                for ((edge, plan), stamp) in changes().zip(&mut stamps) {
                    let mut decided = PlannedEdge::new(store, *short, edge, plan);
                    apply(&mut decided, stamp, record_conflicts);
                    pending = store.sequencer.applied(stamp, released);
                    done.at = stamp.at();
                }
            });
            let (added, removed) = counts.edges();
            done.edges_added += added;
            done.edges_removed += removed;
        }
        let known = changes().filter(|(_, plan)| !plan.is_deferred()).count();
        done.changed += Count::between(known as u64, changed as u64);
        done.committed += plans.len();
        Ok(pending)
    }
}
