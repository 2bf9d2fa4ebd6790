//! The fast path: a single edge is put, and the edges of a stream are put and deleted, without reading whether they exist.

use crate::engine::{Hybrid, check_lock};
use hedgerow_edge_log::{NewRun, RunChange};
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    ColumnType, Direction, EdgeChange, EdgeOutcome, ShortPlan, ShortWrites, StoredEdge, VertexId,
};
use hedgerow_sync::prefetch;
use hedgerow_vertices::Vertex;

/// A planned change of one edge. The edge itself is the plan.
#[derive(Clone, Copy, Debug)]
pub struct HybridPlan(EdgeOutcome);

impl ShortPlan for HybridPlan {
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

impl ShortWrites for Hybrid {
    type Plan = HybridPlan;

    #[inline]
    fn exists(&self, vertex: VertexId) -> bool {
        self.vertices.get(vertex.get()).is_some_and(Vertex::exists_now)
    }

    /// Prefetches the vertices, which are asked whether they exist. Nothing else is read.
    #[inline]
    fn prefetch(&self, edges: &[StoredEdge]) {
        for edge in edges {
            let (source, destination) = edge.ends();
            let vertices = [source, destination].map(|end| self.vertices.get(end.get()));
            vertices.into_iter().flatten().for_each(|vertex| prefetch(vertex, 1));
        }
    }

    /// `None` for a deletion, whose caller wants to know whether the edge existed, for an edge with a record, and if memory
    /// is limited.
    #[inline]
    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<HybridPlan> {
        self.plan(locks, edge, may_grow).filter(|plan| plan.0.removed == 0)
    }

    /// Deletions, too: their caller gets the counts of a stream, which may have bounds.
    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<HybridPlan>,
    ) {
        plans.extend(edges.iter().map_while(|edge| self.plan(locks, edge, may_grow)));
    }

    #[inline]
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, _plan: &HybridPlan) {
        let (source, destination) = edge.ends();
        let (_, EdgeChange { value, .. }) = edge.entries()[0];
        let (edges, values) = ([EdgeChange::position_of(source, destination)], [value.unwrap_or_default().0]);
        let change = match value {
            None => RunChange::Delete,
            Some(_) if self.has_values(edge) => RunChange::PutValues(&values),
            Some(_) => RunChange::Put,
        };
        let runs = [NewRun { table: edge.label.0, change, edges: &edges }];
        self.log.reserve(stamp.at(), &runs).write(&runs);
    }
}

impl Hybrid {
    #[inline]
    fn plan(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<HybridPlan> {
        edge.entries().iter().for_each(|(_, change)| check_lock(locks, change.owner, "changed"));
        let column = self.tables.at(self.tables.number_of(edge.label, Direction::Out)).column;
        let puts = edge.entries()[0].1.value.is_some();
        let outcome = EdgeOutcome { label: edge.label, added: puts.into(), removed: (!puts).into() };
        (may_grow && column != ColumnType::Record).then_some(HybridPlan(outcome))
    }

    #[inline]
    fn has_values(&self, edge: &StoredEdge) -> bool {
        self.tables.at(self.tables.number_of(edge.label, Direction::Out)).column.width() > 0
    }
}
