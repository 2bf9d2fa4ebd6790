//! Which state a view of an engine shows.

use crate::token::{HeldLocks, Registered};
use crate::{Count, Counts, LabelId, Timestamp, VertexId};

/// The state that a view of an engine shows, in memory or on files: its timestamp and its counts. Costs nothing to make or copy.
///
/// A view on files has beside it what its snapshot reads through.
#[derive(Clone, Copy, Debug)]
pub enum ViewState<'s> {
    /// The state at a registered timestamp.
    Registered(&'s Registered),
    /// The newest state of the locked units.
    Locked(&'s HeldLocks<'s>),
}

impl ViewState<'_> {
    /// The registered timestamp; for the newest state of locked units the largest number there is.
    #[inline]
    #[must_use]
    pub fn timestamp(self) -> Timestamp {
        match self {
            ViewState::Registered(at) => at.at(),
            ViewState::Locked(_) => Timestamp(u64::MAX),
        }
    }

    /// Every vertex id of the state is below this.
    #[inline]
    #[must_use]
    pub fn vertex_bound(self) -> u32 {
        self.with_counts(|counts| counts.vertex_bound)
    }

    /// How many vertices exist.
    #[must_use]
    pub fn vertex_count(self) -> u64 {
        self.with_counts(|counts| counts.vertices)
    }

    /// How many edges of a label exist.
    #[must_use]
    pub fn edge_count(self, label: LabelId) -> Count {
        self.with_counts(|counts| counts.edges_of(label))
    }

    /// Whether the state may have this vertex. The engine itself has nothing at or above the bound of the newest state.
    #[inline]
    #[must_use]
    pub fn may_have(self, vertex: VertexId) -> bool {
        match self {
            ViewState::Registered(at) => vertex.get() < at.counts().vertex_bound,
            ViewState::Locked(_) => true,
        }
    }

    fn with_counts<R>(self, read: impl FnOnce(&Counts) -> R) -> R {
        match self {
            ViewState::Registered(at) => read(at.counts()),
            ViewState::Locked(locks) => read(&locks.counts()),
        }
    }
}
