//! Past states that stay readable without an open snapshot, and their retention.
//!
//! A kept state is treated like a registered one. While a graph keeps history, every timestamp from
//! the oldest kept one on is live for each reclamation, and no stamp permits in-place edits of
//! anything that an earlier stamp made. So engines need not know of history.

use crate::clock::Now;
use crate::error::SequencerError;
use crate::heads::Head;
use hedgerow_model::{CommitTimestamp, Counts};
use std::collections::VecDeque;
use std::time::Duration;

/// The states of a graph that can still be opened, ascending.
#[derive(Debug)]
pub(crate) struct KeptStates {
    /// The state after each commit, from the oldest kept state on.
    states: VecDeque<PastState>,
    /// Retention time in microseconds; `None` means forever.
    keep_for: Option<u64>,
}

/// A past state, as far as the sequencer tracks it.
#[derive(Clone, Debug)]
struct PastState {
    at: CommitTimestamp,
    /// The wall-clock time of the commit.
    wall_clock: u64,
    /// The monotonic time at which the state became the newest.
    since: u64,
    counts: Counts,
}

/// Retention of past states, in addition to the states of open snapshots.
///
/// A graph with history changes nothing in place: engine `rapid` copies a partition for each commit
/// that touches it, `tel` keeps 32 bytes for an entry that ends. Each commit is recorded with its
/// wall-clock time and the size of the graph: 72 bytes with at most two labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// Only the newest state.
    #[default]
    None,
    /// Every state that was the newest within this time, on a monotonic clock.
    For(Duration),
    /// All states since the graph was created or opened.
    All,
}

/// Selects a past state of a graph, or the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The state after this commit.
    Commit(CommitTimestamp),
    /// The newest state at this wall-clock time, in microseconds since 1970-01-01 UTC: the state
    /// after the last commit of that microsecond. At or after the present time, this is the newest
    /// state.
    ///
    /// A commit carries the wall-clock time at which it was made, but never an earlier time than
    /// the commit before it. If the clock was ahead, or is set back, commits carry times in the
    /// future, and a store does not record their true times: `GraphOptions::as_of` then refuses
    /// times between the commit before them and now. A graph with history also measures the age of
    /// commits on a monotonic clock, and finds them by age.
    Time(u64),
}

impl From<CommitTimestamp> for AsOf {
    fn from(commit: CommitTimestamp) -> Self {
        AsOf::Commit(commit)
    }
}

impl AsOf {
    /// Returns true if the state contains a commit made at `at` and `wall_clock`.
    pub fn includes(self, at: CommitTimestamp, wall_clock: u64) -> bool {
        match self {
            AsOf::Commit(last) => at <= last,
            AsOf::Time(last) => wall_clock <= last,
        }
    }
}

impl KeptStates {
    /// Keeps states from the newest state, `from`, on. Returns `None` if the graph keeps no
    /// history.
    pub(crate) fn new(history: History, from: &Head, since: u64) -> Option<Self> {
        let microseconds = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let keep_for = match history {
            History::None => return None,
            History::For(duration) => Some(microseconds(duration)),
            History::All => None,
        };
        let mut kept = KeptStates { states: VecDeque::new(), keep_for };
        kept.push(from, since);
        Some(kept)
    }

    /// Adds the state after the newest commit, made at `since` on the monotonic clock. Amortized
    /// O(1).
    pub(crate) fn push(&mut self, head: &Head, since: u64) {
        debug_assert!(self.states.back().is_none_or(|newest| newest.at < head.at));
        // Commits read the clock before they take their stamps.
        let since = self.states.back().map_or(since, |newest| newest.since.max(since));
        let Head { at, counts, wall_clock, .. } = head;
        self.states.push_back(PastState { at: *at, wall_clock: *wall_clock, since, counts: counts.clone() });
    }

    /// Drops the states whose retention time is over at `now`, on the monotonic clock. Returns
    /// their number. Amortized O(1).
    pub(crate) fn expire(&mut self, now: u64) -> usize {
        let Some(keep_for) = self.keep_for else { return 0 };
        let expired = |next: &PastState| next.since.saturating_add(keep_for) <= now;
        let before = self.states.len();
        while self.states.get(1).is_some_and(expired) {
            self.states.pop_front();
        }
        before - self.states.len()
    }

    /// Heap bytes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<PastState>()
    }

    /// The timestamp of the oldest kept state.
    pub(crate) fn oldest(&self) -> CommitTimestamp {
        self.states.front().map_or(CommitTimestamp::ZERO, |oldest| oldest.at)
    }

    /// The wall-clock time of the oldest kept state, in microseconds since 1970-01-01 UTC.
    pub(crate) fn oldest_wall_clock(&self) -> u64 {
        self.states.front().map_or(0, |oldest| oldest.wall_clock)
    }

    /// Finds a state up to `newest`, and the size of the graph in it. O(log states).
    pub(crate) fn find(
        &self,
        as_of: AsOf,
        newest: CommitTimestamp,
        now: Now,
    ) -> Result<(CommitTimestamp, Counts), SequencerError> {
        let known = self.states.partition_point(|state| state.at <= newest);
        let after = match as_of {
            AsOf::Commit(at) if at > newest => {
                return Err(SequencerError::NotYet { at, newest });
            }
            AsOf::Commit(at) => self.states.partition_point(|state| state.at <= at),
            AsOf::Time(time) if time >= now.wall => known,
            AsOf::Time(time) => self.made_until(time, now).min(known),
        };
        let state = after.checked_sub(1).map(|last| &self.states[last]);
        let not_kept =
            || SequencerError::NotKept { oldest: self.oldest(), wall_clock: self.oldest_wall_clock() };
        let state = state.ok_or_else(not_kept)?;
        Ok((state.at, state.counts.clone()))
    }

    /// Number of states that existed at a past wall-clock time.
    fn made_until(&self, time: u64, now: Now) -> usize {
        let dated_until = |time: u64| self.states.partition_point(|state| state.wall_clock <= time);
        let (until_then, until_now) = (dated_until(time), dated_until(now.wall));
        if until_then < until_now {
            return until_then;
        }
        // The remaining states carry future times, so their ages decide.
        let age = now.wall - time;
        let was_made = |state: &PastState| state.since.saturating_add(age) <= now.monotonic;
        self.states.partition_point(|state| state.wall_clock <= now.wall || was_made(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now { wall: 1_000, monotonic: 2_000 };

    /// Commits 5, 6 and 8, made at wall-clock time 100, 100 and 200 and monotonic time 1,000 later.
    fn kept(history: History) -> KeptStates {
        let head = |at, wall_clock| Head {
            at: CommitTimestamp(at),
            wall_clock,
            counts: Counts { vertices: at, ..Counts::default() },
            ..Head::default()
        };
        let mut kept = KeptStates::new(history, &head(5, 100), 1100).unwrap();
        kept.push(&head(6, 100), 1100);
        kept.push(&head(8, 200), 1200);
        kept
    }

    #[test]
    fn a_state_is_found_by_its_commit_and_by_the_time() {
        let kept = kept(History::All);
        let found = |as_of| {
            kept.find(as_of, CommitTimestamp(8), NOW).ok().map(|(at, counts)| (at.0, counts.vertices))
        };
        assert_eq!([5, 6, 7, 8].map(|at| found(AsOf::Commit(CommitTimestamp(at))).unwrap().0), [5, 6, 6, 8]);
        assert_eq!(found(AsOf::Time(150)), Some((6, 6)));
        assert_eq!(found(AsOf::Time(u64::MAX)), Some((8, 8)));
        assert_eq!([found(AsOf::Time(99)), found(AsOf::Commit(CommitTimestamp(4)))], [None, None]);
        assert!(matches!(
            kept.find(AsOf::Commit(CommitTimestamp(9)), CommitTimestamp(8), NOW),
            Err(SequencerError::NotYet { newest: CommitTimestamp(8), .. })
        ));
        // A snapshot cannot show commit 8 yet.
        assert_eq!(kept.find(AsOf::Time(300), CommitTimestamp(7), NOW).unwrap().0, CommitTimestamp(6));
    }

    /// The wall clock is at 150. Commit 8 was made 30 µs ago, when the wall clock was at 200.
    #[test]
    fn a_state_dated_in_the_future_is_found_by_its_age() {
        let kept = kept(History::All);
        let now = Now { wall: 150, monotonic: 1230 };
        let found = |time| kept.find(AsOf::Time(time), CommitTimestamp(8), now).ok().map(|(at, _)| at.0);
        assert_eq!([99, 100, 119].map(found), [None, Some(6), Some(6)]);
        assert_eq!([120, 149, 150, 199].map(found), [Some(8); 4]);
    }

    #[test]
    fn a_state_takes_the_documented_bytes() {
        assert_eq!(size_of::<PastState>(), 72);
    }

    #[test]
    fn a_state_expires_after_it_has_not_been_the_newest_for_the_retention_time() {
        let mut kept = kept(History::For(Duration::from_micros(50)));
        assert_eq!((kept.expire(1149), kept.oldest()), (0, CommitTimestamp(5)));
        assert_eq!((kept.expire(1150), kept.oldest()), (1, CommitTimestamp(6)));
        assert_eq!((kept.expire(1249), kept.oldest()), (0, CommitTimestamp(6)));
        assert_eq!((kept.expire(1 << 40), kept.oldest()), (1, CommitTimestamp(8)));
        assert!(KeptStates::new(History::None, &Head::default(), 0).is_none());
    }
}
