//! The part of the log that a view reads: the runs missing from its version of the adjacency.

use crate::edge_log::buffer::EdgeBuffer;
use crate::edge_log::changes::ChangeList;
use crate::edge_log::ends::Ends;
use crate::edge_log::run::Run;
use hedgerow_model::{ChangeSlice, CommitTimestamp, EdgeChange, EdgeValue, VertexId};
use hedgerow_sync::Arc;

/// A version of the adjacency that the log feeds: the state at a timestamp (GraphOne, 4: a
/// coarse-grained version).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The round of archiving that made the version, counted from 1; 0 is the initial version.
    pub round: u32,
    /// The version has exactly the commits up to this timestamp.
    pub through: CommitTimestamp,
}

/// End of the archived part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The state at a timestamp.
    At(CommitTimestamp),
    /// Within the commit at a timestamp, whose other parts follow: for a state that is restored in
    /// parts.
    Within(CommitTimestamp),
}

impl Cut {
    /// Returns the timestamp of the last archived runs.
    pub(crate) fn last(self) -> CommitTimestamp {
        let (Cut::At(last) | Cut::Within(last)) = self;
        last
    }

    /// Returns the last commit that is archived as a whole.
    pub(crate) fn through(self) -> CommitTimestamp {
        match self {
            Cut::At(at) => at,
            Cut::Within(CommitTimestamp(at)) => CommitTimestamp(at.saturating_sub(1)),
        }
    }
}

/// A version of the adjacency, and the part of the log after it (GraphOne, 4: dual versioning). The
/// adjacency keeps the version while the tail is held.
#[derive(Debug)]
pub struct LogTail {
    /// Shared by all tails of this version: its reference count tells whether the version is read.
    archived: Arc<Archived>,
    /// Oldest first. May also have runs that the version already has.
    buffers: Vec<Arc<EdgeBuffer>>,
}

impl LogTail {
    pub(crate) fn new(archived: Arc<Archived>, buffers: Vec<Arc<EdgeBuffer>>) -> Arc<Self> {
        Arc::new(LogTail { archived, buffers })
    }

    /// Returns the part of this tail that readers of timestamps before `end` need.
    pub(crate) fn up_to(&self, end: CommitTimestamp) -> Arc<Self> {
        self.with_buffers(self.buffers.iter().filter(|buffer| buffer.oldest() < end).cloned().collect())
    }

    /// Returns the tail of the next version, which has the runs up to a cut. Keeps all buffers from
    /// the first one that is needed: re-applying archived runs is idempotent only for a contiguous
    /// suffix.
    pub(crate) fn followed_by(&self, archived: Archived, cut: Cut) -> Arc<Self> {
        let is_archived = |buffer: &Arc<EdgeBuffer>| buffer.is_complete() && buffer.latest() <= cut.last();
        let first = self.buffers.iter().position(|buffer| !is_archived(buffer));
        let left = first.map_or(&[][..], |first| &self.buffers[first..]);
        LogTail::new(Arc::new(archived), left.to_vec())
    }

    /// Returns another tail of this version, with these buffers.
    pub(crate) fn with_buffers(&self, buffers: Vec<Arc<EdgeBuffer>>) -> Arc<Self> {
        LogTail::new(Arc::clone(&self.archived), buffers)
    }

    /// Returns the version.
    #[must_use]
    pub fn archived(&self) -> Archived {
        *self.archived
    }

    /// Returns the buffers, oldest first.
    #[must_use]
    pub fn buffers(&self) -> &[Arc<EdgeBuffer>] {
        &self.buffers
    }

    /// Returns the runs after the version of commits up to `at`, for a reader that sees all of
    /// these commits. The runs of an edge ascend by timestamp.
    ///
    /// With the largest timestamp, returns the runs of all applied commits, and perhaps some of
    /// other commits.
    pub fn runs(&self, at: CommitTimestamp) -> impl Iterator<Item = Run<'_>> {
        self.buffers.iter().flat_map(move |buffer| self.runs_in(buffer, at))
    }

    /// Like [`LogTail::runs`], for one of the buffers.
    pub(crate) fn runs_in<'t>(
        &self,
        buffer: &'t EdgeBuffer,
        at: CommitTimestamp,
    ) -> impl Iterator<Item = Run<'t>> + use<'t> {
        let through = self.archived.through;
        let has_any = buffer.oldest() <= at && buffer.latest() > through;
        let runs = has_any.then(|| buffer.runs()).into_iter().flatten();
        runs.filter(move |run| through < run.at && run.at <= at)
    }

    /// Returns the last change of each edge of an adjacency in the [runs](LogTail::runs) of commits
    /// up to `at`. `ends` maps a table to the adjacencies of its edges. An index for reading many
    /// rows: O(n log n) once.
    #[must_use]
    pub fn changes(&self, at: CommitTimestamp, adjacency: u32, ends: impl Fn(u16) -> Ends) -> ChangeList {
        let mut changes = ChangeList::default();
        for run in self.runs(at) {
            ends(run.table).for_each_change(&run, adjacency, |change| changes.add(change));
        }
        changes.order();
        changes
    }

    /// Like [`LogTail::changes`] for one owner, perhaps with changes that the version already has.
    /// O(log n) per buffer, after O(n log n) once to index the buffer for all tails, which must
    /// have the same `ends`; O(n) in a buffer that still takes runs or has runs after `at`.
    #[must_use]
    pub fn changes_of(
        &self,
        at: CommitTimestamp,
        (adjacency, wanted): (u32, VertexId),
        ends: impl Fn(u16) -> Ends,
    ) -> ChangeList {
        let mut changes = ChangeList::default();
        for buffer in &self.buffers {
            visit_row(buffer, at, (adjacency, wanted), &ends, |change| changes.add(change));
        }
        changes.order();
        changes
    }

    /// Returns the last change of an edge in an adjacency up to `at`, if there is one: its value,
    /// or `None` if it is deleted. May return a change that the version already has. Costs as much
    /// as [`LogTail::changes_of`].
    #[must_use]
    pub fn find(
        &self,
        at: CommitTimestamp,
        (adjacency, owner, neighbor): (u32, VertexId, VertexId),
        ends: impl Fn(u16) -> Ends,
    ) -> Option<Option<EdgeValue>> {
        self.buffers.iter().rev().find_map(|buffer| match buffer.index(at, &ends) {
            Some(index) => Some(index.changes(adjacency)?.row(owner)?.find(neighbor)?.value),
            None => {
                let mut last = None;
                visit_row(buffer, at, (adjacency, owner), &ends, |change| {
                    if change.neighbor() == neighbor {
                        last = Some(change.value);
                    }
                });
                last
            }
        })
    }

    /// Returns true if only the caller holds the tail and no other tail has its version.
    pub(crate) fn is_unread(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && Arc::strong_count(&self.archived) == 1
    }
}

/// Visits the changes of a row in a buffer's commits up to `at`, in order. If the buffer is
/// indexed, visits only the last change of each edge.
fn visit_row(
    buffer: &EdgeBuffer,
    at: CommitTimestamp,
    (adjacency, wanted): (u32, VertexId),
    ends: &impl Fn(u16) -> Ends,
    mut visit: impl FnMut(EdgeChange),
) {
    if buffer.oldest() > at {
        return;
    }
    if let Some(index) = buffer.index(at, ends) {
        let row = index.changes(adjacency).and_then(|changes| changes.row(wanted));
        row.into_iter().flat_map(ChangeSlice::iter).for_each(visit);
        return;
    }
    for run in buffer.runs().filter(|run| run.at <= at) {
        ends(run.table).for_each_change_of(&run, (adjacency, wanted), &mut visit);
    }
}
