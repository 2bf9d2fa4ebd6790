//! The state that a view of an engine shows.

use crate::token::{HeldLocks, Registered};
use crate::{CommitTimestamp, Count, Counts, LabelId, VertexId};

/// The state that a view of an engine shows: its timestamp and its counts. Costs nothing to make or
/// copy.
///
/// A view on files also holds the state through which its snapshot reads.
#[derive(Clone, Copy, Debug)]
pub enum ViewState<'s> {
    /// The state at a registered timestamp.
    Registered(&'s Registered),
    /// The newest state of the locked units.
    Locked(&'s HeldLocks<'s>),
}

impl ViewState<'_> {
    /// The registered timestamp; the largest number for the newest state of locked units.
    #[inline]
    #[must_use]
    pub fn timestamp(self) -> CommitTimestamp {
        match self {
            ViewState::Registered(at) => at.at(),
            ViewState::Locked(_) => CommitTimestamp(u64::MAX),
        }
    }

    /// Greater than every vertex id of the state.
    #[inline]
    #[must_use]
    pub fn vertex_bound(self) -> u32 {
        self.with_counts(|counts| counts.vertex_bound)
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(self) -> u64 {
        self.with_counts(|counts| counts.vertices)
    }

    /// Number of edges of a label.
    #[must_use]
    pub fn edge_count(self, label: LabelId) -> Count {
        self.with_counts(|counts| counts.edges_of(label))
    }

    /// Number of parallel edges of a label.
    #[must_use]
    pub fn parallel_edge_count(self, label: LabelId) -> Count {
        Count::exactly(self.with_counts(|counts| counts.parallel_of(label)))
    }

    /// Returns true if the state may contain this vertex. The engine itself stores nothing at or
    /// above the bound of the newest state.
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
