//! What a view reads of the log: the runs that its version of the adjacency does not have.

use crate::buffer::EdgeBuffer;
use crate::changes::ChangeList;
use crate::ends::Ends;
use crate::run::Run;
use hedgerow_model::{CommitTimestamp, VertexId};
use hedgerow_sync::Arc;

/// A version of the adjacency that the log feeds: it has all commits up to a timestamp, and none after it
/// (GraphOne, 4: a coarse-grained version).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The round of archiving that made it, counted from 1; 0 is what the log began with.
    pub round: u32,
    /// The last commit that the version has.
    pub through: CommitTimestamp,
}

/// A version of the adjacency, and the part of the log after it (GraphOne, 4: dual versioning). While it is held,
/// the adjacency keeps the version.
#[derive(Debug)]
pub struct LogTail {
    /// Shared by all tails of this version, so that its references tell whether the version is read.
    archived: Arc<Archived>,
    /// The oldest first.
    buffers: Vec<Arc<EdgeBuffer>>,
}

impl LogTail {
    pub(crate) fn new(archived: Arc<Archived>, buffers: Vec<Arc<EdgeBuffer>>) -> Arc<Self> {
        Arc::new(LogTail { archived, buffers })
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

    /// The runs after the version of commits up to `at`, ascending by timestamp, for a reader who sees all of these
    /// commits.
    ///
    /// With the largest timestamp: those of all commits that have been applied, and perhaps some of others.
    pub fn runs(&self, at: CommitTimestamp) -> impl Iterator<Item = Run<'_>> {
        self.buffers.iter().flat_map(|buffer| buffer.runs()).take_while(move |run| run.at <= at)
    }

    /// The last change of each edge of an adjacency in the commits up to `at`, as [`LogTail::runs`] has them. `ends` says where
    /// the edges of a table belong. An index for reading many rows: O(n log n) once.
    #[must_use]
    pub fn changes(&self, at: CommitTimestamp, adjacency: u32, ends: impl Fn(u16) -> Ends) -> ChangeList {
        self.changes_where(at, adjacency, ends, |_| true)
    }

    /// As [`LogTail::changes`], those of one owner. O(n).
    #[must_use]
    pub fn changes_of(
        &self,
        at: CommitTimestamp,
        (adjacency, wanted): (u32, VertexId),
        ends: impl Fn(u16) -> Ends,
    ) -> ChangeList {
        self.changes_where(at, adjacency, ends, |owner| owner == wanted)
    }

    fn changes_where(
        &self,
        at: CommitTimestamp,
        adjacency: u32,
        ends: impl Fn(u16) -> Ends,
        is_wanted: impl Fn(VertexId) -> bool,
    ) -> ChangeList {
        let mut changes = ChangeList::default();
        for run in self.runs(at) {
            ends(run.table).for_each_change(&run, adjacency, |owner, neighbor, content| {
                if is_wanted(owner) {
                    changes.add(owner, neighbor, content);
                }
            });
        }
        changes.order();
        changes
    }

    /// Whether only the caller holds the tail, and no other tail has its version.
    pub(crate) fn is_unread(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && Arc::strong_count(&self.archived) == 1
    }
}
