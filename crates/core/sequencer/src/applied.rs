//! Tracks the applied stamps: a writer stores one number, and a reader that opens a snapshot loads
//! a few.

use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use hedgerow_sync::thread;
use std::collections::BTreeSet;

/// Number of stamps that the ring tracks. Stamps that are further ahead of the oldest unapplied
/// stamp are tracked in a set.
const REMEMBERED: usize = if cfg!(hedgerow_shuttle) { 2 } else { 256 };

/// Checks before a waiting thread starts to yield, and before it starts to sleep.
const CHECKS: u32 = 64;
const YIELDS: u32 = 256;

/// The newest applied stamp of each residue, and the stamps that had no room there.
///
/// When stamp s is applied, it is stored in place s mod [`REMEMBERED`] if every stamp up to s -
/// [`REMEMBERED`] is applied. So the stamps in a place ascend, and the stamp in a place and every
/// earlier stamp of its residue are applied. Otherwise a thread lost its core while it applied an
/// earlier stamp. Then s goes to a set, so that no other commit waits for that thread.
#[derive(Debug)]
pub(crate) struct AppliedStamps {
    places: Box<[AtomicU64]>,
    /// Every stamp up to this one is applied. Advanced by readers that open snapshots, and by
    /// writers when stamps outrun it.
    applied_up_to: AtomicU64,
    /// Applied stamps without a place in the ring. Removed once `applied_up_to` has reached them.
    ahead: Mutex<BTreeSet<u64>>,
    /// The least stamp in `ahead`, readable without its lock; `u64::MAX` if `ahead` is empty.
    ahead_from: AtomicU64,
    poisoned: AtomicBool,
}

impl Default for AppliedStamps {
    fn default() -> Self {
        AppliedStamps {
            places: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(),
            applied_up_to: AtomicU64::new(0),
            ahead: Mutex::default(),
            ahead_from: AtomicU64::new(u64::MAX),
            poisoned: AtomicBool::new(false),
        }
    }
}

impl AppliedStamps {
    /// Marks a stamp as applied. Waits for no other commit. Amortized O(1); O(log stamps) if more
    /// than [`REMEMBERED`] stamps follow an unapplied one.
    #[inline]
    pub(crate) fn note(&self, at: CommitTimestamp) {
        match self.has_reached(at.0.saturating_sub(REMEMBERED as u64)) {
            true => self.place(at.0).store(at.0, Ordering::Release),
            false => self.note_ahead(at.0),
        }
    }

    #[cold]
    fn note_ahead(&self, stamp: u64) {
        let mut ahead = self.ahead.lock();
        ahead.insert(stamp);
        self.publish_ahead(&ahead);
    }

    /// Waits until every stamp up to `at` is applied. Returns false if the graph is poisoned.
    /// Amortized O(1).
    #[inline]
    pub(crate) fn wait_up_to(&self, at: CommitTimestamp) -> bool {
        (self.has_reached(at.0) || self.wait(at.0)) && !self.is_poisoned()
    }

    /// Returns true if every stamp up to `wanted` is applied.
    #[inline]
    fn has_reached(&self, wanted: u64) -> bool {
        // Usually there was no commit since the last call, and no shared cache line is written.
        wanted <= self.applied_up_to.load(Ordering::Acquire) || self.advance() >= wanted
    }

    /// Advances `applied_up_to` as far as possible, and returns it. O([`REMEMBERED`] + s log s) for
    /// s stamps in `ahead`.
    #[cold]
    fn advance(&self) -> u64 {
        let begin = self.applied_up_to.load(Ordering::Acquire);
        let mut last = begin;
        while self.is_applied(last + 1) {
            last += 1;
        }
        if last == begin {
            return self.applied_up_to.load(Ordering::Acquire);
        }
        let reached = self.applied_up_to.fetch_max(last, Ordering::AcqRel).max(last);
        // After the advance: a thread that misses a removed stamp finds that `applied_up_to` has
        // passed it.
        if self.ahead_from.load(Ordering::Acquire) <= reached {
            let mut ahead = self.ahead.lock();
            *ahead = ahead.split_off(&(reached + 1));
            self.publish_ahead(&ahead);
        }
        reached
    }

    /// Returns true if a stamp above `applied_up_to` is applied. May return false if
    /// `applied_up_to` has passed the stamp by now.
    #[inline]
    fn is_applied(&self, stamp: u64) -> bool {
        self.place(stamp).load(Ordering::Acquire) >= stamp
            || self.ahead_from.load(Ordering::Acquire) <= stamp && self.ahead.lock().contains(&stamp)
    }

    fn publish_ahead(&self, ahead: &BTreeSet<u64>) {
        self.ahead_from.store(ahead.first().copied().unwrap_or(u64::MAX), Ordering::Release);
    }

    /// Marks everything up to `at` as applied, before the graph is shared.
    pub(crate) fn restore(&self, at: CommitTimestamp) {
        self.applied_up_to.store(at.0, Ordering::Release);
    }

    /// Ends all waits, because a stamp will never be applied.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    #[inline]
    fn place(&self, stamp: u64) -> &AtomicU64 {
        &self.places[stamp as usize % REMEMBERED]
    }

    /// Waits until every stamp up to `wanted` is applied. Returns false if the graph is poisoned
    /// first. Terminates, because the holder of a stamp waits for no other commit.
    #[cold]
    fn wait(&self, wanted: u64) -> bool {
        let mut checks = 0;
        while !self.has_reached(wanted) {
            if self.is_poisoned() {
                return false;
            }
            checks += 1;
            if cfg!(hedgerow_shuttle) || (CHECKS..YIELDS).contains(&checks) {
                thread::yield_now();
            } else if checks < CHECKS {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        }
        true
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_waits_for_every_stamp_up_to_its_own() {
        let applied = AppliedStamps::default();
        [1, 3].into_iter().for_each(|at| applied.note(CommitTimestamp(at)));
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| applied.wait_up_to(CommitTimestamp(3)));
            assert!(!opened.is_finished());
            assert_eq!(applied.applied_up_to.load(Ordering::Acquire), 0);
            applied.note(CommitTimestamp(2));
            assert!(opened.join().unwrap());
        });
        assert!(applied.wait_up_to(CommitTimestamp(3)));
    }

    /// Stamps far ahead of an unapplied stamp do not wait for it, and leave the set once it is
    /// applied.
    #[test]
    fn stamps_far_ahead_wait_for_none() {
        let (applied, last) = (AppliedStamps::default(), REMEMBERED as u64 * 3);
        (2..=last).for_each(|at| applied.note(CommitTimestamp(at)));
        assert!(!applied.has_reached(1));
        assert_eq!(applied.ahead.lock().len() as u64, last - REMEMBERED as u64);
        applied.note(CommitTimestamp(1));
        assert!(applied.has_reached(last) && applied.ahead.lock().is_empty());
        (last + 1..3 * last).for_each(|at| applied.note(CommitTimestamp(at)));
        assert!(applied.has_reached(3 * last - 1) && applied.ahead.lock().is_empty());
    }

    #[test]
    fn stamps_are_applied_by_many_threads_in_any_order() {
        let (applied, last) = (AppliedStamps::default(), REMEMBERED as u64 * 100);
        std::thread::scope(|scope| {
            for residue in 0..4 {
                let applied = &applied;
                scope.spawn(move || {
                    (1..=last)
                        .filter(|at| at % 4 == residue)
                        .for_each(|at| applied.note(CommitTimestamp(at)));
                });
            }
            assert!(applied.wait_up_to(CommitTimestamp(last)));
        });
        assert_eq!(applied.applied_up_to.load(Ordering::Acquire), last);
        assert!(applied.ahead.lock().is_empty());
    }

    #[test]
    fn poisoning_ends_every_wait() {
        let applied = AppliedStamps::default();
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| applied.wait_up_to(CommitTimestamp(1)));
            applied.poison();
            assert!(!opened.join().unwrap());
        });
    }
}
