//! Capability: the fast path for commits of single edges, without `prepare`.

use crate::token::{HeldLocks, Stamp};
use crate::{EdgeOutcome, StoredEdge, VertexId};

/// Plans and applies the change of one edge without preparing effects.
///
/// The most frequent commit is one edge between existing vertices. An engine that finds and changes
/// an edge in place does so here, without [`Effects`](crate::Effects) to sort or
/// [`Changes`](crate::Engine::Changes) to build and drop. All other changes go through
/// [`Engine::prepare`](crate::Engine::prepare), so an engine may support only the frequent cases.
pub trait ShortWrites {
    /// The planned change of an edge. The plan of a single edge stays on the stack.
    type Plan: ShortPlan + Send + 'static;

    /// Returns true if a vertex exists in the newest state; called for both ends of an edge. O(1).
    ///
    /// Without the vertex's lock the result may be outdated at once. But if edges are stored from
    /// one end only, deleting a vertex takes every lock of the graph, so while the caller holds any
    /// lock, an existing vertex stays. While a commit [appends](crate::AppendEdges), no other
    /// commit deletes a vertex.
    fn exists(&self, vertex: VertexId) -> bool;

    /// Prefetches the start of the search for these edges. A hint: the caller holds no lock yet,
    /// and is about to lock the ends that store the edges.
    fn prefetch(&self, edges: &[StoredEdge]);

    /// Plans the change of an edge between existing vertices; `None` if it must go through
    /// [`Engine::prepare`](crate::Engine::prepare).
    ///
    /// `locks` covers the units of all ends that store the edge. If `may_grow` is false, a change
    /// that may take memory is left to `prepare`, which checks the limit.
    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<Self::Plan>;

    /// Like [`plan_edge`](ShortWrites::plan_edge), for several edges of a stream, no two of which
    /// share a unit: appends plans up to the first edge that must go through
    /// [`Engine::prepare`](crate::Engine::prepare). Their cache misses may overlap. Each edge may
    /// be [counted later](ShortPlan::is_deferred), whereas a caller with a single edge may need its
    /// count.
    #[inline]
    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<Self::Plan>,
    ) {
        plans.extend(edges.iter().map_while(|edge| self.plan_edge(locks, edge, may_grow)));
    }

    /// Applies the planned change of `edge`, under the same locks. Cannot fail, and is short.
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &Self::Plan);
}

/// The planned change of one edge.
pub trait ShortPlan {
    /// Returns true if applying the plan changes anything.
    fn is_change(&self) -> bool;

    /// The change of the counts; if it is [deferred](ShortPlan::is_deferred), its maximum.
    fn outcome(&self) -> EdgeOutcome;

    /// Returns true if the engine counts the edge later, because it has not looked the edge up:
    /// then [`outcome`](ShortPlan::outcome) is the maximum that may be added or removed.
    #[inline]
    fn is_deferred(&self) -> bool {
        false
    }
}

/// The capability type of an engine without a fast path. It has no values.
#[derive(Clone, Copy, Debug)]
pub enum NoShortWrites {}

impl ShortWrites for NoShortWrites {
    type Plan = NoShortWrites;

    fn exists(&self, _vertex: VertexId) -> bool {
        match *self {}
    }

    fn prefetch(&self, _edges: &[StoredEdge]) {
        match *self {}
    }

    fn plan_edge(
        &self,
        _locks: &HeldLocks<'_>,
        _edge: &StoredEdge,
        _may_grow: bool,
    ) -> Option<NoShortWrites> {
        match *self {}
    }

    fn apply_edge(&self, _stamp: Stamp, _edge: &StoredEdge, _plan: &NoShortWrites) {
        match *self {}
    }
}

impl ShortPlan for NoShortWrites {
    fn is_change(&self) -> bool {
        match *self {}
    }

    fn outcome(&self) -> EdgeOutcome {
        match *self {}
    }
}
