//! Groups: commits of a stream that are made together.

use crate::commit::Commit;
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::Body;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{CommitTimestamp, Count, StoredEdge};
use hedgerow_sequencer::{CountChanges, ManyStamped, PendingReclaim, Stripes, WriterKind};

/// The result of a stream of commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Commits {
    /// Number of edges committed, from the beginning of the stream.
    pub committed: usize,
    /// Number of commits that changed something. Exact, unless the engine counts later; the upper
    /// bound is the number of timestamps that the commits took.
    pub changed: Count,
    /// The newest timestamp of the commits; zero if they took none.
    pub at: CommitTimestamp,
    /// Edges that did not exist before.
    pub edges_added: Count,
    /// Edges that existed and no longer do.
    pub edges_removed: Count,
    /// Vertices that did not exist before.
    pub vertices_added: u64,
}

impl Commits {
    /// Adds a commit that was made alone.
    pub fn count(&mut self, commit: Commit) {
        self.committed += 1;
        if commit.changed != Some(false) {
            self.changed += commit.changed.map_or(Count::between(0, 1), |_| Count::exactly(1));
            self.at = commit.at;
        }
        self.edges_added += commit.edges_added;
        self.edges_removed += commit.edges_removed;
        self.vertices_added += commit.vertices_added;
    }
}

/// The next edges of a stream whose commits are made together: all their locks, if they take any,
/// are held at once.
#[derive(Default)]
pub(super) struct Group {
    pub(super) edges: Vec<StoredEdge>,
    pub(super) stripes: Stripes,
    /// Reusable memory for log bodies.
    pub(super) bodies: Vec<Body>,
}

/// A way to make the commits of a group together.
pub(super) trait Together {
    /// The maximum number of commits in a group. They also hold each other's locks.
    const LARGEST: usize;

    /// True if the keys of all edges are prefetched: groups rarely end early.
    const PREFETCHES_KEYS: bool;

    /// True if the commits [append](LockGuard::append) instead of taking locks, while no other
    /// commit has locks.
    const APPENDS: bool;

    /// Returns true if another edge, which needs these locks, can join the group.
    fn admits(&self, group: &Group, edge: &StoredEdge, stripes: &[u32]) -> bool;

    /// The shrinking phase of the commits, or of the first few. Both ends of their edges exist, and
    /// their locks, if they take any, are held.
    fn commit(
        &mut self,
        store: &Store,
        held: &HeldLocks<'_>,
        group: &mut Group,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error>;
}

impl Store {
    /// Encodes the commits of `count` edges for the log, if there is one.
    pub(super) fn encode_each<'e, 'b>(
        &self,
        (count, edges): (usize, impl Iterator<Item = &'e StoredEdge>),
        bodies: &'b mut Vec<Body>,
    ) -> &'b mut [Body] {
        if self.journal().is_none() {
            return &mut [];
        }
        bodies.resize_with(count.max(bodies.len()), Body::default);
        let bodies = &mut bodies[..count];
        edges.zip(&mut *bodies).for_each(|(edge, body)| body.encode_edge(edge, self.topology));
        bodies
    }

    /// Stamps the commits of `count` [encoded](Store::encode_each) edges in one step, also in the
    /// log.
    pub(super) fn stamp_each(
        &self,
        count: usize,
        bodies: &mut [Body],
        counts: CountChanges<'_>,
    ) -> Result<ManyStamped, Error> {
        let Some(journal) = self.journal() else {
            return Ok(self.sequencer.stamp_many(count, counts, WriterKind::Blind)?);
        };
        let log = journal.commit_log()?;
        Ok(self.sequencer.stamp_many_logged(log, bodies, None, counts, WriterKind::Blind)?)
    }
}
