//! Past states that can be read though nobody reads them: which are kept, and until when.
//!
//! A kept state is as good as a registered one. While a graph keeps its history, every timestamp from the oldest that is kept is live
//! to every reclamation, and no stamp lets anything be edited in place that an earlier one has made. So engines need not know of it.

use crate::clock::Now;
use crate::error::SequencerError;
use crate::heads::Head;
use hedgerow_model::{Counts, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// The states of a graph that can be asked for, ascending.
#[derive(Debug)]
pub(crate) struct KeptStates {
    /// The state of each commit, from the oldest that is kept.
    states: VecDeque<State>,
    /// For how long, in microseconds; `None` is for ever.
    keep_for: Option<u64>,
}

/// What is known of a state without a look at the engine.
#[derive(Clone, Debug)]
struct State {
    at: Timestamp,
    /// The time that its commit carries.
    wall_clock: u64,
    /// When it became the newest, by the monotonic clock.
    since: u64,
    counts: Counts,
}

/// Which past states of a graph can be read, beside those that snapshots are open on.
///
/// A graph that keeps them changes nothing in place: engine `rapid` copies a partition for each commit that touches it, `tel`
/// keeps 32 bytes for an entry that ends. Each commit is remembered with its time and the size of the graph: 72 bytes with at most two
/// labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// The newest alone.
    #[default]
    None,
    /// Every state that was the newest within this time, measured by a monotonic clock.
    For(Duration),
    /// All, since the graph was made or opened.
    All,
}

/// Which state of a graph is asked for: a past one, or the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The state after this commit.
    Commit(Timestamp),
    /// What was the newest state at this time, in microseconds since 1970-01-01 UTC; of several commits at that microsecond, after the
    /// last. At or after the present time this is the newest state.
    ///
    /// A commit carries the wall-clock time at which it was made, but never an earlier one than the commit before it. If the clock was
    /// ahead, or is set back, commits carry times in the future, and a store does not tell when they were made:
    /// `Graph::open_at` then refuses times between the commit before them and now. A graph that keeps its history
    /// also measures their age by a monotonic clock, and finds them by that.
    Time(u64),
}

impl From<Timestamp> for AsOf {
    fn from(commit: Timestamp) -> Self {
        AsOf::Commit(commit)
    }
}

impl AsOf {
    /// Whether a commit that was made then belongs to the state.
    pub fn includes(self, at: Timestamp, wall_clock: u64) -> bool {
        match self {
            AsOf::Commit(last) => at <= last,
            AsOf::Time(last) => wall_clock <= last,
        }
    }
}

impl KeptStates {
    /// From a state on; `None` if the graph keeps no history.
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

    /// Keeps the state of the newest commit, made at `since` by the monotonic clock. O(1) amortised.
    pub(crate) fn push(&mut self, head: &Head, since: u64) {
        debug_assert!(self.states.back().is_none_or(|newest| newest.at < head.at));
        // Commits read the clock before they take their stamps.
        let since = self.states.back().map_or(since, |newest| newest.since.max(since));
        let Head { at, counts, wall_clock, .. } = head;
        self.states.push_back(State { at: *at, wall_clock: *wall_clock, since, counts: counts.clone() });
    }

    /// Forgets states that have not been the newest for long enough at `now` by the monotonic clock. Says how many; amortised O(1).
    pub(crate) fn expire(&mut self, now: u64) -> usize {
        let Some(keep_for) = self.keep_for else { return 0 };
        let expired = |next: &State| next.since.saturating_add(keep_for) <= now;
        let before = self.states.len();
        while self.states.get(1).is_some_and(expired) {
            self.states.pop_front();
        }
        before - self.states.len()
    }

    /// Bytes held. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<State>()
    }

    /// The oldest state that is kept.
    pub(crate) fn oldest(&self) -> Timestamp {
        self.states.front().map_or(Timestamp::ZERO, |oldest| oldest.at)
    }

    /// When the commit of the oldest state was made, in microseconds since 1970-01-01 UTC.
    pub(crate) fn oldest_wall_clock(&self) -> u64 {
        self.states.front().map_or(0, |oldest| oldest.wall_clock)
    }

    /// A state among those up to `published`, and how large the graph is there. O(log states).
    pub(crate) fn find(
        &self,
        as_of: AsOf,
        published: Timestamp,
        now: Now,
    ) -> Result<(Timestamp, Counts), SequencerError> {
        let known = self.states.partition_point(|state| state.at <= published);
        let after = match as_of {
            AsOf::Commit(at) if at > published => {
                return Err(SequencerError::NotYet { at, newest: published });
            }
            AsOf::Commit(at) => self.states.partition_point(|state| state.at <= at),
            AsOf::Time(time) if time >= now.wall => known,
            AsOf::Time(time) => self.made_until(time, now).min(known),
        };
        let state = after.checked_sub(1).map(|last| &self.states[last]);
        let state = state.ok_or_else(|| SequencerError::NotKept { oldest: self.oldest() })?;
        Ok((state.at, state.counts.clone()))
    }

    /// How many states there were at a time in the past.
    fn made_until(&self, time: u64, now: Now) -> usize {
        let dated_until = |time: u64| self.states.partition_point(|state| state.wall_clock <= time);
        let (until_then, until_now) = (dated_until(time), dated_until(now.wall));
        if until_then < until_now {
            return until_then;
        }
        // The others carry times in the future, so their age tells whether they had been made by then.
        let age = now.wall - time;
        let was_made = |state: &State| state.since.saturating_add(age) <= now.monotonic;
        self.states.partition_point(|state| state.wall_clock <= now.wall || was_made(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now { wall: 1_000, monotonic: 2_000 };

    /// Commits 5, 6 and 8, made at 100, 100 and 200, by the other clock 1,000 later.
    fn kept(history: History) -> KeptStates {
        let head = |at, wall_clock| Head {
            at: Timestamp(at),
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
        let found =
            |as_of| kept.find(as_of, Timestamp(8), NOW).ok().map(|(at, counts)| (at.0, counts.vertices));
        assert_eq!([5, 6, 7, 8].map(|at| found(AsOf::Commit(Timestamp(at))).unwrap().0), [5, 6, 6, 8]);
        assert_eq!(found(AsOf::Time(150)), Some((6, 6)));
        assert_eq!(found(AsOf::Time(u64::MAX)), Some((8, 8)));
        assert_eq!([found(AsOf::Time(99)), found(AsOf::Commit(Timestamp(4)))], [None, None]);
        assert!(matches!(
            kept.find(AsOf::Commit(Timestamp(9)), Timestamp(8), NOW),
            Err(SequencerError::NotYet { newest: Timestamp(8), .. })
        ));
        // What is not published yet is not shown.
        assert_eq!(kept.find(AsOf::Time(300), Timestamp(7), NOW).unwrap().0, Timestamp(6));
    }

    /// The wall clock says 150. Commit 8 was made 30 ago, when it said 200.
    #[test]
    fn a_state_dated_in_the_future_is_found_by_its_age() {
        let kept = kept(History::All);
        let now = Now { wall: 150, monotonic: 1230 };
        let found = |time| kept.find(AsOf::Time(time), Timestamp(8), now).ok().map(|(at, _)| at.0);
        assert_eq!([99, 100, 119].map(found), [None, Some(6), Some(6)]);
        assert_eq!([120, 149, 150, 199].map(found), [Some(8); 4]);
    }

    #[test]
    fn a_state_takes_what_the_documentation_says() {
        assert_eq!(size_of::<State>(), 72);
    }

    #[test]
    fn a_state_is_kept_until_it_was_not_the_newest_for_so_long() {
        let mut kept = kept(History::For(Duration::from_micros(50)));
        assert_eq!((kept.expire(1149), kept.oldest()), (0, Timestamp(5)));
        assert_eq!((kept.expire(1150), kept.oldest()), (1, Timestamp(6)));
        assert_eq!((kept.expire(1249), kept.oldest()), (0, Timestamp(6)));
        assert_eq!((kept.expire(1 << 40), kept.oldest()), (1, Timestamp(8)));
        assert!(KeptStates::new(History::None, &Head::default(), 0).is_none());
    }
}
