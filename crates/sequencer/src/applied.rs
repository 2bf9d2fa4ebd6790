//! Which stamps are applied: a writer stores one number, a reader that opens a snapshot loads a
//! few.

use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use hedgerow_sync::thread;

/// Number of stamps that are tracked one by one. A commit waits for the one this far before it.
const REMEMBERED: usize = if cfg!(hedgerow_shuttle) { 2 } else { 256 };

/// Checks before a waiting thread starts to yield, and before it starts to sleep.
const CHECKS: u32 = 64;
const YIELDS: u32 = 256;

/// The newest applied stamp of each residue.
///
/// When stamp s is applied it is stored in place s mod [`REMEMBERED`], once every stamp up to s -
/// [`REMEMBERED`] is applied. So the stamps in a place ascend, and the stamp in a place and every
/// earlier one of its residue are applied.
#[derive(Debug)]
pub(crate) struct AppliedStamps {
    places: Box<[AtomicU64]>,
    /// Every stamp up to this is applied. Advanced by readers that open snapshots, and by writers
    /// when stamps outrun it.
    applied_up_to: AtomicU64,
    poisoned: AtomicBool,
}

impl Default for AppliedStamps {
    fn default() -> Self {
        let places = (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect();
        AppliedStamps { places, applied_up_to: AtomicU64::new(0), poisoned: AtomicBool::new(false) }
    }
}

impl AppliedStamps {
    /// Marks a stamp as applied, once every stamp up to [`REMEMBERED`] before it is applied.
    #[inline]
    pub(crate) fn note(&self, at: CommitTimestamp) {
        let overwritten = at.0.saturating_sub(REMEMBERED as u64);
        if overwritten <= self.applied_up_to.load(Ordering::Acquire) || self.advance(overwritten) {
            self.place(at.0).store(at.0, Ordering::Release);
        }
    }

    /// Waits until every stamp up to `at` is applied; returns false if the graph is poisoned.
    /// Amortized O(1).
    #[inline]
    pub(crate) fn wait_up_to(&self, at: CommitTimestamp) -> bool {
        // Usually there was no commit since the last call, and no shared cache line is written.
        let is_known = at.0 <= self.applied_up_to.load(Ordering::Acquire);
        (is_known || self.advance(at.0)) && !self.is_poisoned()
    }

    /// Waits until every stamp up to `wanted` is applied, and advances `applied_up_to` as far as
    /// possible. O([`REMEMBERED`]).
    #[cold]
    fn advance(&self, wanted: u64) -> bool {
        let mut last = self.applied_up_to.load(Ordering::Acquire);
        while last < wanted {
            if !self.wait_for(last + 1) {
                return false;
            }
            last += 1;
        }
        while self.place(last + 1).load(Ordering::Acquire) > last {
            last += 1;
        }
        self.applied_up_to.fetch_max(last, Ordering::AcqRel);
        true
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

    /// Waits until a stamp is applied; false if the graph is poisoned first.
    #[inline]
    fn wait_for(&self, stamp: u64) -> bool {
        let is_applied = || self.place(stamp).load(Ordering::Acquire) >= stamp;
        is_applied() || self.wait_long(is_applied)
    }

    /// Ends, because the holder of a stamp waits only for earlier stamps.
    #[cold]
    fn wait_long(&self, is_applied: impl Fn() -> bool) -> bool {
        let mut checks = 0;
        while !is_applied() {
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

    #[test]
    fn stamps_far_ahead_wait_for_those_whose_place_they_take() {
        let (applied, last) = (AppliedStamps::default(), REMEMBERED as u64 * 3);
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
