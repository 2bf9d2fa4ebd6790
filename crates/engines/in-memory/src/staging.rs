//! Changes that an engine has staged, of either form in which they come
//! ([`Changes`](hedgerow_model::Changes)), and the room for them.

use crate::records::StagedEffects;
use hedgerow_model::token::{Stamp, Stamps};
use hedgerow_model::{Outcome, Staged, StoredEdge};
use smallvec::SmallVec;

/// Reusable room for what is staged.
#[derive(Debug, Default)]
pub struct StagingRoom<E> {
    /// Room for a commit of effects. Most commits are of single edges, and do without.
    pub effects: Option<Box<StagedEffects>>,
    /// Room for commits of one edge each.
    pub edges: E,
}

/// Staged changes.
#[derive(Debug)]
pub enum EachOrCommit<E, C> {
    /// Commits of one edge each.
    Each(E),
    /// A commit of effects, boxed so that a commit of one edge moves little.
    Commit(Box<C>),
}

/// A change of one edge, planned in place.
#[derive(Clone, Copy, Debug)]
pub struct EdgePlan<P> {
    /// True if the state changes.
    pub changed: bool,
    /// Edges added.
    pub added: u8,
    /// Edges removed.
    pub removed: u8,
    /// The places of the edge's entries.
    pub places: P,
}

/// Room for the plans of edges that are staged together, of which most commits have one.
pub type EdgePlans<P> = SmallVec<[EdgePlan<P>; 1]>;

/// The located entries of edges that are staged together.
pub type EdgeEntries<N> = SmallVec<[N; 16]>;

/// Staged commits of one edge each.
#[derive(Debug)]
pub struct StagedEdges<'l, P> {
    edges: &'l [StoredEdge],
    plans: &'l [EdgePlan<P>],
}

impl<'l, P> StagedEdges<'l, P> {
    /// Plans the changes of the first edges. Runs each step for all edges before the next step, so
    /// that their cache misses overlap: `find` adds the entries of an edge, or returns false if the
    /// edge cannot be staged in this way; `fetch` may prefetch entries; `plan` returns the plan of
    /// an edge, from its entries, or `None` as `find` returns false.
    #[inline(always)]
    pub fn plan<N>(
        edges: &'l [StoredEdge],
        plans: &'l mut EdgePlans<P>,
        mut find: impl FnMut(&'l StoredEdge, &mut EdgeEntries<N>) -> bool,
        fetch: impl Fn(&N),
        plan: impl Fn(&StoredEdge, &[N]) -> Option<EdgePlan<P>>,
    ) -> Staged<Self> {
        plans.clear();
        let mut entries = EdgeEntries::new();
        let found = edges.iter().take_while(|edge| find(edge, &mut entries)).count();
        entries.iter().for_each(fetch);
        let (mut entries, mut changing, mut outcome) = (entries.as_slice(), 0, Outcome::default());
        let (mut added, mut removed) = (0, 0);
        for (number, edge) in edges[..found].iter().enumerate() {
            let (own, others) = entries.split_at(edge.entries().len());
            let Some(plan) = plan(edge, own) else { break };
            changing |= u64::from(plan.changed) << number;
            (added, removed) = (added + u64::from(plan.added), removed + u64::from(plan.removed));
            plans.push(plan);
            entries = others;
        }
        if added + removed > 0 {
            outcome.count(edges[0].label, added, removed);
        }
        Staged { changes: StagedEdges { edges, plans }, commits: plans.len(), changing, outcome }
    }

    /// Applies each edge that changes the state at its stamp.
    #[inline(always)]
    pub fn apply(self, stamps: Stamps, apply: impl Fn(Stamp, &StoredEdge, &EdgePlan<P>)) {
        let StagedEdges { edges, plans } = self;
        if let ([edge], [plan]) = (edges, plans) {
            return apply(stamps.first(), edge, plan);
        }
        let changes = edges.iter().zip(plans).filter(|(_, plan)| plan.changed);
        changes.zip(stamps.iter()).for_each(|((edge, plan), stamp)| apply(stamp, edge, plan));
    }
}
