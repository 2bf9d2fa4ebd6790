//! Proofs that the commit pipeline passes to engines.
//!
//! Engines rely on these values when they free memory and edit blocks in place. So only `unsafe`
//! code, which has checked their guarantees, can make them. `docs/concurrency.md` describes the
//! protocol.

use crate::{CommitTimestamp, Counts, LockUnit};
use std::marker::PhantomData;
use std::ops::Range;

/// The timestamp of a commit, taken from the sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    at: CommitTimestamp,
    editable_from: CommitTimestamp,
}

impl Stamp {
    /// Makes a stamp.
    ///
    /// # Safety
    /// `at` is used once, is larger than every earlier stamp, and the thread that applies it holds
    /// the locks of everything that it changes, except for edges that it
    /// [appends](crate::Engine::APPENDS). (While a graph is restored and not shared, with
    /// `editable_from` 0, consecutive changes may have the same stamp.) No timestamp in
    /// `editable_from..at` is registered, and none will be before this stamp is applied.
    #[must_use]
    pub unsafe fn new(at: CommitTimestamp, editable_from: CommitTimestamp) -> Self {
        debug_assert!(editable_from <= at);
        Stamp { at, editable_from }
    }

    /// The commit's timestamp.
    #[inline]
    #[must_use]
    pub fn at(self) -> CommitTimestamp {
        self.at
    }

    /// A version born at or after this timestamp is visible to no reader and may be edited or
    /// replaced; an older version is kept for readers that registered a timestamp below this one.
    #[inline]
    #[must_use]
    pub fn editable_from(self) -> CommitTimestamp {
        self.editable_from
    }

    /// Returns true if a change at this stamp may follow a change at `base`. That must be an
    /// earlier stamp or, while a graph is restored, may be the same one.
    #[inline]
    #[must_use]
    pub fn follows(self, base: CommitTimestamp) -> bool {
        base < self.at || base == self.at && self.editable_from == CommitTimestamp::ZERO
    }

    /// The newest timestamp that was registered when the stamp was taken, or can be registered
    /// before the stamp is applied.
    #[inline]
    #[must_use]
    pub fn newest_registered(self) -> CommitTimestamp {
        CommitTimestamp(self.editable_from.0.saturating_sub(1))
    }
}

/// The consecutive stamps of commits that are applied together: at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    first: CommitTimestamp,
    last: CommitTimestamp,
    editable_from: CommitTimestamp,
}

impl Stamps {
    /// Makes the stamps from `first` to `last`.
    ///
    /// # Safety
    /// Each timestamp fulfills the conditions of [`Stamp::new`], for the smaller one of itself and
    /// `editable_from`; and no timestamp from `first` on that is below `last` is registered, nor
    /// will be.
    #[inline]
    #[must_use]
    pub unsafe fn new(first: CommitTimestamp, last: CommitTimestamp, editable_from: CommitTimestamp) -> Self {
        debug_assert!(first <= last);
        Stamps { first, last, editable_from }
    }

    /// The stamp of the first commit, or of the only one.
    #[inline]
    #[must_use]
    pub fn first(self) -> Stamp {
        Stamp { at: self.first, editable_from: self.editable_from.min(self.first) }
    }

    /// The timestamp of the last commit.
    #[inline]
    #[must_use]
    pub fn last(self) -> CommitTimestamp {
        self.last
    }

    /// The stamps, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Stamp> {
        // An inclusive range costs more per step.
        (self.first.0..self.last.0 + 1).map(move |at| {
            let at = CommitTimestamp(at);
            Stamp { at, editable_from: self.editable_from.min(at) }
        })
    }
}

impl From<Stamp> for Stamps {
    #[inline]
    fn from(Stamp { at, editable_from }: Stamp) -> Self {
        Stamps { first: at, last: at, editable_from }
    }
}

/// A timestamp that stays readable while this value lives.
#[derive(Debug)]
pub struct Registered {
    at: CommitTimestamp,
    counts: Counts,
}

impl Registered {
    /// Makes a registered timestamp.
    ///
    /// # Safety
    /// Until the value is dropped, `at` is among the live timestamps of every reclamation, and at
    /// or below the [newest registered timestamp](Stamp::newest_registered) of every later stamp;
    /// every stamp up to `at` is applied, and `counts` are the graph's counts at `at`.
    #[must_use]
    pub unsafe fn new(at: CommitTimestamp, counts: Counts) -> Self {
        Registered { at, counts }
    }

    /// The timestamp.
    #[inline]
    #[must_use]
    pub fn at(&self) -> CommitTimestamp {
        self.at
    }

    /// The size of the graph at the timestamp.
    #[inline]
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// The lock units that the current commit holds.
#[derive(Debug)]
pub struct HeldLocks<'l> {
    cover: Cover<'l>,
    counts: CountsSource<'l>,
    /// Overrides the hint of the counts' source.
    editable_now: Option<CommitTimestamp>,
}

#[derive(Debug)]
enum Cover<'l> {
    All(PhantomData<&'l ()>),
    Stripes { stripes: &'l [u32], mask: u32 },
}

/// Source of the newest counts, and of a hint about the timestamps that are read.
pub trait NewestState: Sync {
    /// The counts of the newest state.
    fn newest_counts(&self) -> Counts;

    /// A hint for the [`Stamp::editable_from`] of a stamp taken now, as far as it depends on
    /// readers. (Where each commit is synced, `editable_from` is higher, in the batch of the log
    /// that is being filled: snapshots open older timestamps, so they do not wait for such a
    /// commit.)
    fn editable_now(&self) -> CommitTimestamp;
}

/// The source of the graph's counts, which few commits need.
pub enum CountsSource<'l> {
    /// The counts themselves.
    Known(Counts),
    /// Provides the counts on request.
    Asked(&'l dyn NewestState),
}

impl std::fmt::Debug for CountsSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CountsSource::Known(counts) => counts.fmt(f),
            CountsSource::Asked(_) => f.write_str("Asked"),
        }
    }
}

impl From<Counts> for CountsSource<'_> {
    fn from(counts: Counts) -> Self {
        CountsSource::Known(counts)
    }
}

impl<'l, N: NewestState> From<&'l N> for CountsSource<'l> {
    fn from(asked: &'l N) -> Self {
        CountsSource::Asked(asked)
    }
}

impl<'l> HeldLocks<'l> {
    /// The locks of all units whose number, masked, is in `stripes`.
    ///
    /// # Safety
    /// The caller holds these locks exclusively for `'l`. `stripes` ascends. `counts` were read
    /// after the locks were taken, or will be.
    #[inline]
    #[must_use]
    pub unsafe fn stripes(stripes: &'l [u32], mask: u32, counts: impl Into<CountsSource<'l>>) -> Self {
        debug_assert!(stripes.is_sorted());
        HeldLocks { cover: Cover::Stripes { stripes, mask }, counts: counts.into(), editable_now: None }
    }

    /// The locks of every unit.
    ///
    /// # Safety
    /// The caller holds all locks exclusively for `'l`. `counts` were read after the locks were
    /// taken, or will be.
    #[must_use]
    pub unsafe fn all(counts: impl Into<CountsSource<'l>>) -> Self {
        HeldLocks { cover: Cover::All(PhantomData), counts: counts.into(), editable_now: None }
    }

    /// Sets the hint for a commit whose [`Stamp::editable_from`] will most likely be
    /// `editable_now`.
    #[inline]
    #[must_use]
    pub fn with_editable_now(self, editable_now: CommitTimestamp) -> Self {
        HeldLocks { editable_now: Some(editable_now), ..self }
    }

    /// The birth timestamp from which on versions will most likely be
    /// [editable](Stamp::editable_from) for the commit. Only a hint; 0 if unknown.
    ///
    /// A reader that opens a snapshot waits for commits that have a stamp. So copies are better
    /// made before the stamp is taken.
    #[must_use]
    pub fn editable_now(&self) -> CommitTimestamp {
        let asked = || match &self.counts {
            CountsSource::Known(_) => CommitTimestamp::ZERO,
            CountsSource::Asked(state) => state.editable_now(),
        };
        self.editable_now.unwrap_or_else(asked)
    }

    /// Returns true if the lock of `unit` is held. O(log locks).
    #[inline]
    #[must_use]
    pub fn covers(&self, unit: LockUnit) -> bool {
        match &self.cover {
            Cover::All(_) => true,
            Cover::Stripes { stripes, mask } => stripes.binary_search(&(unit.0 & mask)).is_ok(),
        }
    }

    /// The graph's counts, at least as new as anything in the locked units. May briefly take a
    /// lock.
    ///
    /// Exact if every lock is held; otherwise concurrent commits may change other units.
    #[must_use]
    pub fn counts(&self) -> Counts {
        match &self.counts {
            CountsSource::Known(counts) => counts.clone(),
            CountsSource::Asked(asked) => asked.newest_counts(),
        }
    }
}

/// The timestamps that readers can still see.
#[derive(Clone, Debug)]
pub struct LiveTimestamps {
    timestamps: Vec<CommitTimestamp>,
    /// Every timestamp from this one on is live.
    all_from: CommitTimestamp,
    as_of: CommitTimestamp,
}

impl LiveTimestamps {
    /// The live timestamps, ascending, collected when `next` was the oldest timestamp that could be
    /// registered next.
    ///
    /// Commits and registrations may continue while the value is in use: it decides only about
    /// versions that were superseded at or before `next`; see [`LiveTimestamps::decides`].
    ///
    /// # Safety
    /// Every registered timestamp below `next` is in `timestamps`, and no other timestamp below
    /// `next` will be registered any more, except timestamps that [`LiveTimestamps::and_all_from`]
    /// adds.
    #[must_use]
    pub unsafe fn as_of(timestamps: Vec<CommitTimestamp>, next: CommitTimestamp) -> Self {
        debug_assert!(timestamps.is_sorted());
        LiveTimestamps { timestamps, all_from: CommitTimestamp(u64::MAX), as_of: next }
    }

    /// Adds every timestamp from `oldest` on, registered or not, for a graph with history.
    #[must_use]
    pub fn and_all_from(self, oldest: CommitTimestamp) -> Self {
        LiveTimestamps { all_from: oldest, ..self }
    }

    /// Returns true if this value can decide about a version that was superseded at `superseded`.
    ///
    /// A version that was superseded later may be visible at timestamps that this value does not
    /// contain.
    #[inline]
    #[must_use]
    pub fn decides(&self, superseded: CommitTimestamp) -> bool {
        superseded <= self.as_of
    }

    /// The newest live timestamp in `lifetime`, which keeps a version with that lifetime (the end
    /// is exclusive). `None` if the version is garbage. O(log n).
    #[must_use]
    pub fn holder(&self, lifetime: Range<CommitTimestamp>) -> Option<CommitTimestamp> {
        if self.all_from < lifetime.end && lifetime.start < lifetime.end {
            return Some(CommitTimestamp(lifetime.end.0 - 1));
        }
        let below_end = self.timestamps.partition_point(|live| *live < lifetime.end);
        let newest = *self.timestamps[..below_end].last()?;
        (newest >= lifetime.start).then_some(newest)
    }

    /// The oldest timestamp that is live, or may be registered later. O(1).
    #[must_use]
    pub fn oldest(&self) -> CommitTimestamp {
        let registered = self.timestamps.first().copied();
        registered.unwrap_or(self.as_of).min(self.as_of).min(self.all_from)
    }

    /// Returns true if `timestamp` is live. O(log n).
    #[must_use]
    pub fn contains(&self, timestamp: CommitTimestamp) -> bool {
        self.all_from <= timestamp || self.timestamps.binary_search(&timestamp).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_kept_by_the_newest_timestamp_within_its_life() {
        let timestamps = [3, 7, 9].map(CommitTimestamp).to_vec();
        // SAFETY: no engine is involved; the value is only queried for numbers.
        let live = unsafe { LiveTimestamps::as_of(timestamps, CommitTimestamp(20)) };
        let holder = |from, to| live.holder(CommitTimestamp(from)..CommitTimestamp(to));
        assert_eq!(holder(0, 3), None);
        assert_eq!(holder(0, 4), Some(CommitTimestamp(3)));
        assert_eq!(holder(3, 9), Some(CommitTimestamp(7)));
        assert_eq!(holder(4, 7), None);
        assert_eq!(holder(7, 8), Some(CommitTimestamp(7)));
        assert_eq!(holder(10, 20), None);
    }

    #[test]
    fn a_version_is_kept_by_the_history_up_to_the_end_of_its_life() {
        // SAFETY: no engine is involved; the value is only queried for numbers.
        let live = unsafe { LiveTimestamps::as_of(vec![CommitTimestamp(3)], CommitTimestamp(20)) };
        let live = live.and_all_from(CommitTimestamp(8));
        let holder = |from, to| live.holder(CommitTimestamp(from)..CommitTimestamp(to));
        assert_eq!(holder(0, 4), Some(CommitTimestamp(3)));
        assert_eq!(holder(4, 8), None);
        assert_eq!(holder(4, 9), Some(CommitTimestamp(8)));
        assert_eq!(holder(12, 15), Some(CommitTimestamp(14)));
        assert_eq!([3, 7, 8, 30].map(|at| live.contains(CommitTimestamp(at))), [true, false, true, true]);
        assert_eq!(live.oldest(), CommitTimestamp(3));
        assert_eq!(live.and_all_from(CommitTimestamp(2)).oldest(), CommitTimestamp(2));
    }

    #[test]
    fn versions_superseded_after_the_timestamps_were_collected_are_undecided() {
        // SAFETY: no engine is involved; the value is only queried for numbers.
        let live = unsafe { LiveTimestamps::as_of(vec![CommitTimestamp(3)], CommitTimestamp(9)) };
        assert!(live.decides(CommitTimestamp(9)));
        assert!(!live.decides(CommitTimestamp(10)));
        // SAFETY: no engine is involved; the value is only queried for numbers.
        let unread = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(9)) };
        assert_eq!(unread.oldest(), CommitTimestamp(9));
    }

    #[test]
    fn striped_locks_cover_every_unit_of_a_stripe() {
        // SAFETY: no engine is involved; the value is only queried for numbers.
        let locks = unsafe { HeldLocks::stripes(&[1, 5], 7, Counts::default()) };
        let covered: Vec<u32> = (0..16).filter(|unit| locks.covers(LockUnit(*unit))).collect();
        assert_eq!(covered, [1, 5, 9, 13]);
    }
}
