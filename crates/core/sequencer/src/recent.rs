//! The newest commits of a graph without a log, kept for its followers.
//!
//! A commit adds its body in the order of stamps. A follower takes whole pieces of commits, which
//! no longer change, or copies the newest few, so that neither waits for the other. The oldest
//! pieces are dropped when there are too many bytes, whether they were read or not: a follower that
//! is too slow is told.

use crate::sequencer::Sequencer;
use hedgerow_log::{Body, LogRecord};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::fork::Process;
use hedgerow_sync::{Arc, Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;

/// Bytes from which on a piece takes no more commits.
const PIECE_BYTES: usize = if cfg!(hedgerow_shuttle) { 4 } else { 64 << 10 };

/// Bytes of commits up to which a follower copies them. If it ended a piece instead, the writer
/// would have to allocate the next one.
const COPIED_BYTES: usize = if cfg!(hedgerow_shuttle) { 2 } else { 8 << 10 };

/// Looks for a commit, and turns of a processor between two of them, before a follower sleeps:
/// about 15 µs. To wake it costs a writer more than a commit.
const LOOKS: usize = if cfg!(hedgerow_shuttle) { 0 } else { 32 };
const TURNS: usize = 32;

/// Turns between a commit and the follower that takes it, about 4 µs, in which more commits come:
/// a follower that takes each by itself keeps a fast writer from the mutex.
const GATHERING: usize = 256;

/// The newest commits of a graph.
#[derive(Debug)]
pub(crate) struct RecentCommits {
    kept: Mutex<Kept>,
    added: Condvar,
    /// The next commit, for followers that look for it without the mutex. Changed under it.
    next: AtomicU64,
}

#[derive(Debug)]
struct Kept {
    /// Consecutive pieces, of which none is empty.
    pieces: VecDeque<Arc<CommitPiece>>,
    /// The commits after the pieces.
    last: CommitPiece,
    /// Bytes of the pieces, and how many they may be.
    bytes: usize,
    limit: usize,
    followers: usize,
    /// Number of followers that wait for a commit.
    waiting: usize,
}

/// Consecutive commits.
#[derive(Debug)]
pub struct CommitPiece {
    first: CommitTimestamp,
    /// The end of the body of each commit, and its wall-clock time.
    commits: Vec<(usize, u64)>,
    bodies: Vec<u8>,
}

impl CommitPiece {
    fn new(first: CommitTimestamp) -> Self {
        CommitPiece { first, commits: Vec::new(), bodies: Vec::new() }
    }

    /// The commit after these.
    #[must_use]
    pub fn next(&self) -> CommitTimestamp {
        CommitTimestamp(self.first.0 + self.commits.len() as u64)
    }

    /// A copy of the commits from `from` on.
    fn copy_from(&self, from: CommitTimestamp) -> CommitPiece {
        let passed = (from.0 - self.first.0) as usize;
        let begin = self.begin_of(passed);
        let commits = self.commits[passed..].iter().map(|(end, wall_clock)| (end - begin, *wall_clock));
        CommitPiece { first: from, commits: commits.collect(), bodies: self.bodies[begin..].to_vec() }
    }

    /// The position at which the body of a commit begins, given its number.
    fn begin_of(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.commits[before].0)
    }

    /// Bytes of the commits from a number on.
    fn bytes_from(&self, number: usize) -> usize {
        self.bodies.len() - self.begin_of(number) + size_of_val(&self.commits[number..])
    }

    /// The commits from `from` on, in order.
    pub fn commits(&self, from: CommitTimestamp) -> impl Iterator<Item = LogRecord<'_>> {
        let passed = from.0.saturating_sub(self.first.0) as usize;
        (passed..self.commits.len()).map(|number| {
            let begin = self.begin_of(number);
            let (end, wall_clock) = self.commits[number];
            let at = CommitTimestamp(self.first.0 + number as u64);
            LogRecord { at, wall_clock, body: &self.bodies[begin..end] }
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.commits.capacity() * size_of::<(usize, u64)>() + self.bodies.capacity()
    }
}

/// A commit that is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "commit {asked} is not kept any more for followers of the graph; the oldest that is kept is {oldest}: begin again with a snapshot, \
     and pull more often, or let the subscription keep more bytes"
)]
pub struct CommitDropped {
    /// The commit.
    pub asked: CommitTimestamp,
    /// The oldest commit that is kept.
    pub oldest: CommitTimestamp,
}

impl RecentCommits {
    /// Keeps the commits from `next` on.
    pub(crate) fn new(next: CommitTimestamp) -> Self {
        let (pieces, last) = (VecDeque::new(), CommitPiece::new(next));
        let kept = Kept { pieces, last, bytes: 0, limit: 0, followers: 0, waiting: 0 };
        RecentCommits { kept: Mutex::new(kept), added: Condvar::new(), next: AtomicU64::new(next.0) }
    }

    /// Adds the next commits. The caller holds the mutex that orders stamps.
    pub(crate) fn add(&self, wall_clock: u64, bodies: &[Body]) {
        let mut kept = self.kept.lock();
        let Kept { last, waiting, .. } = &mut *kept;
        for body in bodies {
            last.bodies.extend_from_slice(body.as_bytes());
            last.commits.push((last.bodies.len(), wall_clock));
        }
        let is_awaited = *waiting > 0;
        // Relaxed: a follower that sees the number takes the mutex to read the commit.
        self.next.store(last.next().0, Ordering::Relaxed);
        if last.bytes_from(0) >= PIECE_BYTES {
            kept.end_piece();
        }
        drop(kept);
        if is_awaited {
            self.added.notify_all();
        }
    }

    /// Counts another follower, which asks for this many bytes.
    pub(crate) fn add_follower(&self, bytes: usize) {
        let mut kept = self.kept.lock();
        kept.limit = kept.limit.max(bytes);
        kept.followers += 1;
    }

    /// Returns true if the follower that leaves was the last.
    pub(crate) fn remove_follower(&self) -> bool {
        let mut kept = self.kept.lock();
        kept.followers -= 1;
        kept.followers == 0
    }

    /// A piece with the commit `at`; `None` if there is no such commit yet.
    fn piece(&self, at: CommitTimestamp) -> Result<Option<Arc<CommitPiece>>, CommitDropped> {
        let mut kept = self.kept.lock();
        if at >= kept.last.next() {
            return Ok(None);
        }
        if at >= kept.last.first {
            if kept.last.bytes_from((at.0 - kept.last.first.0) as usize) <= COPIED_BYTES {
                return Ok(Some(Arc::new(kept.last.copy_from(at))));
            }
            kept.end_piece();
        }
        let after = kept.pieces.partition_point(|piece| piece.first <= at);
        match after.checked_sub(1).and_then(|number| kept.pieces.get(number)) {
            Some(piece) => Ok(Some(Arc::clone(piece))),
            None => Err(CommitDropped { asked: at, oldest: kept.oldest() }),
        }
    }

    /// Waits until there is a commit `at`, at most for `time`.
    fn wait(&self, at: CommitTimestamp, time: Duration) {
        for _ in 0..LOOKS {
            let is_there = self.next.load(Ordering::Relaxed) > at.0;
            let turns = if is_there { GATHERING } else { TURNS };
            (0..turns).for_each(|_| std::hint::spin_loop());
            if is_there {
                return;
            }
        }
        let mut kept = self.kept.lock();
        kept.waiting += 1;
        let mut kept = self.added.wait_while(kept, time, |kept| at >= kept.last.next());
        kept.waiting -= 1;
    }
}

impl Kept {
    fn oldest(&self) -> CommitTimestamp {
        self.pieces.front().map_or(self.last.first, |piece| piece.first)
    }

    /// Ends the last piece, and drops the oldest if they are too many.
    fn end_piece(&mut self) {
        let next = CommitPiece::new(self.last.next());
        let piece = std::mem::replace(&mut self.last, next);
        self.bytes += piece.bytes();
        self.pieces.push_back(Arc::new(piece));
        // The newest piece stays, however large.
        while self.bytes > self.limit && self.pieces.len() > 1 {
            let dropped = self.pieces.pop_front();
            self.bytes -= dropped.map_or(0, |piece| piece.bytes());
        }
    }
}

/// The commits of a graph without a log from some moment on, until this is dropped.
#[derive(Debug)]
pub struct Following {
    sequencer: Arc<Sequencer>,
    recent: Arc<RecentCommits>,
    after: CommitTimestamp,
    /// The process that made it.
    process: Process,
}

impl Following {
    /// Keeps the commits from now on, in at most about this many bytes; if several followers ask
    /// for it, in as many as the greediest of them asked for. O(1).
    #[must_use]
    pub fn new(sequencer: Arc<Sequencer>, bytes: usize) -> Self {
        let (recent, after) = sequencer.keep_recent(bytes);
        Following { sequencer, recent, after, process: Process::current() }
    }

    /// The newest commit when this was made: the first that it does not have.
    #[must_use]
    pub fn after(&self) -> CommitTimestamp {
        self.after
    }

    /// The oldest commit that is kept; of a follower that came earlier, it may be before this one's
    /// first.
    #[must_use]
    pub fn oldest(&self) -> CommitTimestamp {
        self.recent.kept.lock().oldest()
    }

    /// The piece with the commit `at`; `None` if there is no such commit yet. No writer waits for
    /// it. O(log pieces).
    ///
    /// # Errors
    /// The commit is not kept any more, or was made before the first follower came.
    pub fn piece(&self, at: CommitTimestamp) -> Result<Option<Arc<CommitPiece>>, CommitDropped> {
        self.recent.piece(at)
    }

    /// Bytes of the commits from `at` on that are kept. O(pieces).
    #[must_use]
    pub fn bytes_from(&self, at: CommitTimestamp) -> usize {
        let kept = self.recent.kept.lock();
        let bytes = |piece: &CommitPiece| match piece.next() <= at {
            true => 0,
            false => piece.bytes_from(at.0.saturating_sub(piece.first.0) as usize),
        };
        kept.pieces.iter().map(|piece| bytes(piece)).sum::<usize>() + bytes(&kept.last)
    }

    /// Waits until there is a commit `at`, at most for `time`.
    pub fn wait(&self, at: CommitTimestamp, time: Duration) {
        self.recent.wait(at, time);
    }
}

impl Drop for Following {
    /// Does nothing in a forked child, where the locks of its parent may never be released.
    fn drop(&mut self) {
        if self.process.is_current() {
            self.sequencer.stop_keeping_recent();
        }
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_commits_from_its_first_on() {
        let first = CommitTimestamp(5);
        let commits = vec![(0, 1), (3, 1), (3, 2), (8, 2)];
        let piece = CommitPiece { first, commits, bodies: b"onethree".to_vec() };
        for from in (5..=9).map(CommitTimestamp) {
            let copy = piece.copy_from(from);
            let records = |piece: &CommitPiece| -> Vec<_> {
                let records = piece.commits(from);
                records.map(|record| (record.at, record.wall_clock, record.body.to_vec())).collect()
            };
            assert_eq!(records(&copy), records(&piece));
            assert_eq!((copy.first, copy.next()), (from, piece.next()));
            assert_eq!(copy.bytes_from(0), piece.bytes_from((from.0 - first.0) as usize));
        }
    }
}
