//! Commits of single edges without the general way through `prepare`, as a capability of an engine.

use crate::token::{HeldLocks, Stamp};
use crate::{EdgeOutcome, StoredEdge, VertexId};

/// Decides and makes the change of one edge with nothing prepared.
///
/// The most frequent commit is one edge between vertices that exist. An engine that finds and changes an edge in place does so
/// here, without [`Effects`](crate::Effects) to sort and without [`Changes`](crate::Engine::Changes) to build and drop. What it cannot
/// decide this way takes [`Engine::prepare`](crate::Engine::prepare), so that a capability is free to cover the frequent cases alone.
pub trait ShortWrites {
    /// What a planned edge needs in order to be applied. The plan of a single edge stays on the stack.
    type Plan: ShortPlan + Send + 'static;

    /// Whether a vertex exists in the newest state, asked of either end of an edge. O(1).
    ///
    /// Without its lock, what it says may change at once. But whoever deletes a vertex of a graph whose edges are
    /// stored from one end only holds every lock: to whoever holds one, what exists there goes on existing.
    fn exists(&self, vertex: VertexId) -> bool;

    /// Prefetches what finding these edges starts with. A hint: the caller holds no lock yet, and is about to lock
    /// the ends that the edges are stored from.
    fn prefetch(&self, edges: &[StoredEdge]);

    /// Decides the change of an edge between existing vertices; `None` if it takes [`Engine::prepare`](crate::Engine::prepare).
    ///
    /// The units of all ends that the edge is stored from are in `locks`. Unless it `may_grow`, a change that may take memory is
    /// left to `prepare`, which checks the limit.
    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<Self::Plan>;

    /// Plans several edges, no two of which share a unit, as [`plan_edge`](ShortWrites::plan_edge) does: appends plans of the
    /// first of them, up to the first that takes [`Engine::prepare`](crate::Engine::prepare). Their cache misses may overlap.
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

    /// Makes the change that was planned for `edge` under the same locks. Cannot fail, and is short.
    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &Self::Plan);
}

/// What the change of one edge will do.
pub trait ShortPlan {
    /// Whether applying it makes any difference.
    fn is_change(&self) -> bool;

    /// Whether the edge is new, or exists no more.
    fn outcome(&self) -> EdgeOutcome;
}

/// The capability of an engine that has no short writes. It has no values.
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
