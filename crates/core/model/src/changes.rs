//! Changes that an engine stages together, and its findings.

use crate::{Effects, LabelId, Outcome, StoredEdge};

/// Changes to [stage](crate::Engine::stage) together: of one commit, or of several commits of one
/// edge each.
#[derive(Clone, Copy, Debug)]
pub enum Changes<'c> {
    /// One commit.
    Commit {
        /// The sorted changes.
        effects: &'c Effects,
        /// Further edges, in the order of arrival, for an engine that
        /// [appends](crate::Engine::APPENDS).
        appended: Option<AppendedEdges<'c>>,
    },
    /// Commits of one edge each, in this order: at most [`MOST_COMMITS`]. All edges have one label,
    /// and no two need a lock of the same unit, unless the engine appends. A single put is a slice
    /// of one edge.
    Each(&'c [StoredEdge]),
}

/// Maximum number of commits that are staged together.
pub const MOST_COMMITS: usize = u64::BITS as usize;

/// Bits for that many commits, of which each changes the state.
#[must_use]
pub fn first_bits(commits: usize) -> u64 {
    u64::MAX.checked_shr((MOST_COMMITS - commits) as u32).unwrap_or(0)
}

impl<'c> From<&'c Effects> for Changes<'c> {
    fn from(effects: &'c Effects) -> Self {
        Changes::Commit { effects, appended: None }
    }
}

/// Edges of a label without records to put, unsorted and with duplicates.
#[derive(Clone, Copy, Debug)]
pub struct AppendedEdges<'e> {
    /// The label.
    pub label: LabelId,
    /// Source and destination of each edge, as a [position](crate::EdgeChange::position_of).
    pub edges: &'e [u64],
    /// The bits of the value of each edge; ignored, and possibly empty, if the label has no
    /// values.
    pub values: &'e [u64],
}

/// Changes that can be applied, and what the engine found. Dropping them changes nothing.
#[derive(Debug)]
pub struct Staged<C> {
    /// The argument of [`Engine::apply`](crate::Engine::apply).
    pub changes: C,
    /// The number of commits that are staged, from the first one on: 1 for a
    /// [commit of effects](Changes::Commit). Of [several](Changes::Each), an engine leaves out all
    /// from the first one on that must be staged as effects, because one end of its edge does not
    /// exist, or because the engine has no shorter way to change it, as for an edge with a record
    /// or at a limit.
    pub commits: usize,
    /// The staged commits that change the state, and take a timestamp each: a bit per commit, the
    /// lowest for the first.
    pub changing: u64,
    /// Edges added and removed by all staged commits. While it has
    /// [deferred](Outcome::deferred) edges, the commits may change nothing after all.
    pub outcome: Outcome,
}

impl<C> Staged<C> {
    /// The changes of a commit of effects, which changes the state or does not.
    pub fn commit(changes: C, outcome: Outcome, is_change: bool) -> Self {
        Staged { changes, commits: 1, changing: is_change.into(), outcome }
    }

    /// No staged commit, in an engine that stages effects only.
    pub fn none(changes: C) -> Self {
        Staged { changes, commits: 0, changing: 0, outcome: Outcome::default() }
    }

    /// Converts the changes, and keeps the rest.
    #[inline(always)]
    pub fn map<D>(self, convert: impl FnOnce(C) -> D) -> Staged<D> {
        let Staged { changes, commits, changing, outcome } = self;
        Staged { changes: convert(changes), commits, changing, outcome }
    }
}
