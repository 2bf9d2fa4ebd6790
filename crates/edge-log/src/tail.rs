//! What a view reads of the log: the runs that its version of the adjacency does not have.

use crate::archive::Cut;
use crate::buffer::EdgeBuffer;
use crate::changes::ChangeList;
use crate::ends::Ends;
use crate::run::Run;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::Arc;

/// A version of the adjacency that the log feeds: the state at a timestamp (GraphOne, 4: a coarse-grained version).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The round of archiving that made it, counted from 1; 0 is what the log began with.
    pub round: u32,
    /// The version has the commits up to this one, and no others.
    pub through: CommitTimestamp,
}

/// A version of the adjacency, and the part of the log after it (GraphOne, 4: dual versioning). While it is held,
/// the adjacency keeps the version.
#[derive(Debug)]
pub struct LogTail {
    /// Shared by all tails of this version, so that its references tell whether the version is read.
    archived: Arc<Archived>,
    /// The oldest first. Those that hold the first runs after the version may have some of it, too.
    buffers: Vec<Arc<EdgeBuffer>>,
}

impl LogTail {
    pub(crate) fn new(archived: Arc<Archived>, buffers: Vec<Arc<EdgeBuffer>>) -> Arc<Self> {
        Arc::new(LogTail { archived, buffers })
    }

    /// The part of this tail that readers of timestamps before `end` need.
    pub(crate) fn up_to(&self, end: CommitTimestamp) -> Arc<Self> {
        self.with_buffers(self.buffers.iter().filter(|buffer| buffer.oldest() < end).cloned().collect())
    }

    /// The tail of the version after this one, which has the runs up to a cut. Keeps a buffer if one before it is kept: to read whole buffers one after the other is
    /// right even if the version has some of their runs, as long as none is left out in between.
    pub(crate) fn followed_by(&self, archived: Archived, cut: Cut) -> Arc<Self> {
        let is_archived = |buffer: &Arc<EdgeBuffer>| buffer.is_complete() && buffer.latest() <= cut.last();
        let first = self.buffers.iter().position(|buffer| !is_archived(buffer));
        let left = first.map_or(&[][..], |first| &self.buffers[first..]);
        LogTail::new(Arc::new(archived), left.to_vec())
    }

    /// Another tail of this version, with these buffers after it.
    pub(crate) fn with_buffers(&self, buffers: Vec<Arc<EdgeBuffer>>) -> Arc<Self> {
        LogTail::new(Arc::clone(&self.archived), buffers)
    }

    /// The version.
    #[must_use]
    pub fn archived(&self) -> Archived {
        *self.archived
    }

    /// The buffers, the oldest first.
    #[must_use]
    pub fn buffers(&self) -> &[Arc<EdgeBuffer>] {
        &self.buffers
    }

    /// The runs after the version of commits up to `at`, for a reader who sees all of these commits. Those of one edge ascend by
    /// timestamp.
    ///
    /// With the largest timestamp: those of all commits that have been applied, and perhaps some of others.
    pub fn runs(&self, at: CommitTimestamp) -> impl Iterator<Item = Run<'_>> {
        self.buffers.iter().flat_map(move |buffer| self.runs_in(buffer, at))
    }

    /// As [`LogTail::runs`], those in one of the buffers.
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

    /// The last change of each edge of an adjacency in the commits up to `at`, as [`LogTail::runs`] has them. `ends` says where
    /// the edges of a table belong. An index for reading many rows: O(n log n) once.
    #[must_use]
    pub fn changes(&self, at: CommitTimestamp, adjacency: u32, ends: impl Fn(u16) -> Ends) -> ChangeList {
        let mut changes = ChangeList::default();
        for run in self.runs(at) {
            ends(run.table).for_each_change(&run, adjacency, |owner, neighbor, content| {
                changes.add(owner, neighbor, content);
            });
        }
        changes.order();
        changes
    }

    /// As [`LogTail::changes`], those of one owner, perhaps with some that the version has already. O(buffers · log n), and O(n) once per buffer: a buffer that takes no more
    /// runs is indexed for all tails, which must have the same `ends`.
    #[must_use]
    pub fn changes_of(
        &self,
        at: CommitTimestamp,
        (adjacency, wanted): (u32, VertexId),
        ends: impl Fn(u16) -> Ends,
    ) -> ChangeList {
        let mut changes = ChangeList::default();
        for buffer in &self.buffers {
            visit_row(buffer, at, (adjacency, wanted), &ends, |neighbor, content| {
                changes.add(wanted, neighbor, content);
            });
        }
        changes.order();
        changes
    }

    /// The last change of the edge from an owner to a neighbor in an adjacency, if there is one: its value, or `None` if it is
    /// deleted. May find one that the version has already. Costs as [`LogTail::changes_of`].
    #[must_use]
    pub fn find(
        &self,
        at: CommitTimestamp,
        (adjacency, owner, neighbor): (u32, VertexId, VertexId),
        ends: impl Fn(u16) -> Ends,
    ) -> Option<Option<EdgeValue>> {
        self.buffers.iter().rev().find_map(|buffer| match buffer.index(at, &ends) {
            Some(index) => index.changes(adjacency)?.row(owner)?.find(neighbor),
            None => {
                let mut last = None;
                visit_row(buffer, at, (adjacency, owner), &ends, |changed, content| {
                    if changed == neighbor {
                        last = Some(content);
                    }
                });
                last
            }
        })
    }

    /// Whether only the caller holds the tail, and no other tail has its version.
    pub(crate) fn is_unread(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && Arc::strong_count(&self.archived) == 1
    }
}

/// Visits the changes of a row in the commits up to `at` of a buffer, in their order; from its index, the last of each edge.
fn visit_row(
    buffer: &EdgeBuffer,
    at: CommitTimestamp,
    (adjacency, wanted): (u32, VertexId),
    ends: &impl Fn(u16) -> Ends,
    mut visit: impl FnMut(VertexId, Option<EdgeValue>),
) {
    if buffer.oldest() > at {
        return;
    }
    if let Some(index) = buffer.index(at, ends) {
        let row = index.changes(adjacency).and_then(|changes| changes.row(wanted));
        row.into_iter().flat_map(|row| row.iter()).for_each(|(neighbor, content)| visit(neighbor, content));
        return;
    }
    for run in buffer.runs().filter(|run| run.at <= at) {
        ends(run.table).for_each_change(&run, adjacency, |owner, neighbor, content| {
            if owner == wanted {
                visit(neighbor, content);
            }
        });
    }
}
