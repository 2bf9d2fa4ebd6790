//! The fast path: puts of a single edge, and puts and deletions of the edges of a stream, without
//! reading whether they exist.

use crate::adjacency::number_of;
use crate::graph::{LsmEngine, check_lock};
use crate::mem_graph::MemContent;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    ColumnType, Direction, EdgeChange, EdgeOutcome, ShortPlan, ShortWrites, StoredEdge, VertexId,
};

/// A planned change of one edge. The edge itself is the plan.
#[derive(Clone, Copy, Debug)]
pub struct LsmPlan(EdgeOutcome);

impl ShortPlan for LsmPlan {
    #[inline]
    fn is_change(&self) -> bool {
        true
    }

    #[inline]
    fn outcome(&self) -> EdgeOutcome {
        self.0
    }

    #[inline]
    fn is_deferred(&self) -> bool {
        true
    }
}

impl ShortWrites for LsmEngine {
    type Plan = LsmPlan;

    #[inline]
    fn exists(&self, vertex: VertexId) -> bool {
        self.vertices.contains(vertex)
    }

    /// Prefetches the buckets of all ends, then the nodes behind them, then the ends of their rows.
    fn prefetch(&self, edges: &[StoredEdge]) {
        let sources = self.sources.read();
        let active = sources.active();
        let rows = || {
            edges.iter().flat_map(|edge| {
                let row = |(stored, change): &(_, EdgeChange)| (number_of(edge.label, *stored), change.owner);
                edge.entries().iter().map(row)
            })
        };
        rows().for_each(|(adjacency, owner)| active.prefetch_bucket(adjacency, owner));
        rows().for_each(|(adjacency, owner)| active.prefetch_node(adjacency, owner));
        rows().for_each(|(adjacency, owner)| active.prefetch_end(adjacency, owner));
    }

    /// Returns `None` for a deletion, whose caller wants to know whether the edge existed, for an
    /// edge with a record, and if memory is limited.
    #[inline]
    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<LsmPlan> {
        self.plan(locks, edge, may_grow).filter(|plan| plan.0.removed == 0)
    }

    /// Plans deletions, too: their caller gets the counts of a stream, which may have bounds.
    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<LsmPlan>,
    ) {
        plans.extend(edges.iter().map_while(|edge| self.plan(locks, edge, may_grow)));
    }

    #[inline]
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, _plan: &LsmPlan) {
        let (at, editable_from) = (stamp.at(), stamp.editable_from());
        self.with_active(at, |active| {
            for (stored, change) in edge.entries() {
                let (adjacency, content) =
                    (number_of(edge.label, *stored), change.value.map(MemContent::Value));
                active.push(adjacency, change.owner, change.neighbor, at, editable_from, content);
            }
        });
    }
}

impl LsmEngine {
    #[inline]
    fn plan(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<LsmPlan> {
        edge.entries().iter().for_each(|(_, change)| check_lock(locks, change.owner, "changed"));
        // The column is the same in both directions.
        let column = self.columns.get(number_of(edge.label, Direction::Out) as usize)?;
        let puts = edge.entries().iter().all(|(_, change)| change.value.is_some());
        let outcome = EdgeOutcome { label: edge.label, added: puts.into(), removed: (!puts).into() };
        (may_grow && *column != ColumnType::Record).then_some(LsmPlan(outcome))
    }
}
