//! The fast paths: puts of single edges and of many at once, and puts and deletions of streams,
//! without reading whether the edges exist.

use crate::edge_log::{NewRun, RunChange, RunCommits};
use crate::graph::{Hybrid, check_lock};
use hedgerow_in_memory::vertices::Vertex;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    AppendEdges, AppendedEdges, ColumnType, EdgeChange, EdgeOutcome, LabelId, ShortPlan, ShortWrites,
    StoredEdge, VertexId,
};
use hedgerow_sync::prefetch;

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

    /// Prefetches the vertices, whose existence is checked. Nothing else is read.
    #[inline]
    fn prefetch(&self, edges: &[StoredEdge]) {
        for edge in edges {
            let (source, destination) = edge.ends();
            let vertices = [source, destination].map(|end| self.vertices.get(end.get()));
            vertices.into_iter().flatten().for_each(|vertex| prefetch(vertex, 1));
        }
    }

    /// Returns `None` for a deletion, whose caller wants to know whether the edge existed, for an
    /// edge with a record, and if memory is limited.
    #[inline]
    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<HybridPlan> {
        edge.entries().iter().for_each(|(_, change)| check_lock(locks, change.owner, "changed"));
        let puts = edge.entries()[0].1.value.is_some();
        let outcome = EdgeOutcome { label: edge.label, added: 1, removed: 0 };
        (may_grow && puts && self.appends(edge.label)).then_some(HybridPlan(outcome))
    }

    #[inline]
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, _plan: &HybridPlan) {
        let (source, destination) = edge.ends();
        let (_, EdgeChange { value, .. }) = edge.entries()[0];
        let (edges, values) = ([EdgeChange::position_of(source, destination)], [value.unwrap_or_default().0]);
        let edges = AppendedEdges { label: edge.label, deletes: false, edges: &edges, values: &values };
        let runs = [self.run_of(&edges, RunCommits::One)];
        self.log.reserve(stamp.at(), &runs).write(&runs);
    }
}

impl AppendEdges for Hybrid {
    fn appends(&self, label: LabelId) -> bool {
        self.column_of(label) != ColumnType::Record
    }

    fn append(&self, edges: &AppendedEdges<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>) {
        self.append_run(self.run_of(edges, RunCommits::One), take_stamp);
    }

    fn append_each(&self, edges: &AppendedEdges<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>) {
        self.append_run(self.run_of(edges, RunCommits::Each), take_stamp);
    }
}

impl Hybrid {
    fn append_run(&self, run: NewRun<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>) {
        let runs = [run];
        let reserved = self.log.reserve_in_order(&runs, || take_stamp().map(Stamp::at));
        reserved.into_iter().for_each(|reserved| reserved.write(&runs));
    }

    #[inline]
    fn run_of<'e>(&self, appended: &AppendedEdges<'e>, commits: RunCommits) -> NewRun<'e> {
        let AppendedEdges { label, deletes, edges, values } = *appended;
        let change = match deletes {
            true => RunChange::Delete,
            false if self.column_of(label).width() > 0 => RunChange::PutValues(values),
            false => RunChange::Put,
        };
        NewRun { table: label.0, change, commits, edges }
    }
}
