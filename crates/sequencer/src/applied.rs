//! Which stamps are applied: one store for a writer, a few loads for whoever opens a snapshot.

use hedgerow_model::Timestamp;
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use hedgerow_sync::thread;

/// Stamps that are remembered one by one. A commit waits for the one so many stamps before it.
const REMEMBERED: usize = if cfg!(hedgerow_shuttle) { 2 } else { 256 };

/// Looks after which a waiting thread lets others run in between, and after which it sleeps in between.
const LOOKS: u32 = 64;
const YIELDS: u32 = 256;

/// The newest applied stamp of each residue.
///
/// A stamp s writes to place s mod [`REMEMBERED`] when it is applied, and before that waits until every stamp up to
/// s - [`REMEMBERED`] is. So places hold ascending stamps, and what a place shows, it and every stamp of
/// its residue before it are applied.
#[derive(Debug)]
pub(crate) struct Applied {
    places: Box<[AtomicU64]>,
    /// Every stamp up to this is applied. Moved by whoever opens a snapshot, and when stamps outrun it.
    published: AtomicU64,
    poisoned: AtomicBool,
}

impl Default for Applied {
    fn default() -> Self {
        let places = (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect();
        Applied { places, published: AtomicU64::new(0), poisoned: AtomicBool::new(false) }
    }
}

impl Applied {
    /// Notes that a stamp is applied. Waits for those [`REMEMBERED`] stamps before it and earlier.
    #[inline]
    pub(crate) fn note(&self, at: Timestamp) {
        let overwritten = at.0.saturating_sub(REMEMBERED as u64);
        if overwritten <= self.published.load(Ordering::Acquire) || self.publish(overwritten) {
            self.place(at.0).store(at.0, Ordering::Release);
        }
    }

    /// Waits until every stamp up to `at` is applied; false if that will never be. O(1).
    #[inline]
    pub(crate) fn wait_up_to(&self, at: Timestamp) -> bool {
        // Most of the time nothing was committed since somebody else looked, and nothing is written that others read.
        let is_published = at.0 <= self.published.load(Ordering::Acquire);
        (is_published || self.publish(at.0)) && !self.is_poisoned()
    }

    /// Waits until every stamp up to `wanted` is applied, and notes that these and those that follow are. O([`REMEMBERED`]).
    #[cold]
    fn publish(&self, wanted: u64) -> bool {
        let mut published = self.published.load(Ordering::Acquire);
        while published < wanted {
            if !self.wait_for(published + 1) {
                return false;
            }
            published += 1;
        }
        while self.place(published + 1).load(Ordering::Acquire) > published {
            published += 1;
        }
        self.published.fetch_max(published, Ordering::AcqRel);
        true
    }

    /// Everything up to `at` is applied, as nobody else can see yet.
    pub(crate) fn restore(&self, at: Timestamp) {
        self.published.store(at.0, Ordering::Release);
    }

    /// Some stamp will never be applied: ends all waiting.
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

    /// Waits until a stamp is applied; false if the graph is poisoned before.
    #[inline]
    fn wait_for(&self, stamp: u64) -> bool {
        let is_applied = || self.place(stamp).load(Ordering::Acquire) >= stamp;
        is_applied() || self.wait_long(is_applied)
    }

    /// The holder of a stamp waits for nothing but earlier stamps, so that this ends.
    #[cold]
    fn wait_long(&self, is_applied: impl Fn() -> bool) -> bool {
        let mut looks = 0;
        while !is_applied() {
            if self.is_poisoned() {
                return false;
            }
            looks += 1;
            if cfg!(hedgerow_shuttle) || (LOOKS..YIELDS).contains(&looks) {
                thread::yield_now();
            } else if looks < LOOKS {
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
        let applied = Applied::default();
        [1, 3].into_iter().for_each(|at| applied.note(Timestamp(at)));
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| applied.wait_up_to(Timestamp(3)));
            assert!(!opened.is_finished());
            assert_eq!(applied.published.load(Ordering::Acquire), 0);
            applied.note(Timestamp(2));
            assert!(opened.join().unwrap());
        });
        assert!(applied.wait_up_to(Timestamp(3)));
    }

    #[test]
    fn stamps_far_ahead_wait_for_those_whose_place_they_take() {
        let (applied, last) = (Applied::default(), REMEMBERED as u64 * 3);
        std::thread::scope(|scope| {
            for residue in 0..4 {
                let applied = &applied;
                scope.spawn(move || {
                    (1..=last).filter(|at| at % 4 == residue).for_each(|at| applied.note(Timestamp(at)));
                });
            }
            assert!(applied.wait_up_to(Timestamp(last)));
        });
        assert_eq!(applied.published.load(Ordering::Acquire), last);
    }

    #[test]
    fn nobody_waits_for_a_poisoned_graph() {
        let applied = Applied::default();
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| applied.wait_up_to(Timestamp(1)));
            applied.poison();
            assert!(!opened.join().unwrap());
        });
    }
}
