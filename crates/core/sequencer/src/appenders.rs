//! Mutual exclusion between commits that lock units and commits that append without unit locks.

use crate::per_core::PerCore;
use crossbeam_utils::CachePadded;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Condvar, Mutex};

/// Admits commits that lock units or commits that append, never both at a time.
///
/// An appending commit never waits: it is rejected if a locking commit is inside or waits. A
/// locking commit waits for the appending commits that entered before it, and briefly for
/// concurrent appending commits that are about to be rejected.
#[derive(Debug)]
pub(crate) struct Appenders {
    /// Number of locking commits that are inside or wait.
    locking: CachePadded<AtomicUsize>,
    /// Number of appending commits that are inside or about to be rejected, by core.
    appending: PerCore<CachePadded<AtomicUsize>>,
    /// Held from the check of `appending` until the wait for a change.
    waiting: Mutex<()>,
    left: Condvar,
}

/// An appending commit that is inside.
#[derive(Debug)]
pub(crate) struct OngoingAppend {
    core: usize,
}

// An appending commit increments `appending` and then reads `locking`; a locking commit increments
// `locking` and then reads `appending`. These accesses are sequentially consistent, so at least one
// of two concurrent commits sees the other.
impl Appenders {
    pub(crate) fn new() -> Self {
        Appenders {
            locking: CachePadded::default(),
            appending: PerCore::new(CachePadded::default),
            waiting: Mutex::default(),
            left: Condvar::default(),
        }
    }

    /// Admits an appending commit, or rejects it.
    #[inline]
    pub(crate) fn enter(&self) -> Option<OngoingAppend> {
        if self.locking.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let entered = OngoingAppend { core: self.appending.number() };
        self.appending[entered.core].fetch_add(1, Ordering::SeqCst);
        if self.locking.load(Ordering::SeqCst) == 0 {
            return Some(entered);
        }
        self.leave(&entered);
        None
    }

    /// Lets an appending commit out. Called once per admitted commit.
    #[inline]
    pub(crate) fn leave(&self, entered: &OngoingAppend) {
        self.appending[entered.core].fetch_sub(1, Ordering::SeqCst);
        if self.locking.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        drop(self.waiting.lock());
        self.left.notify_all();
    }

    /// Admits a locking commit once all appending commits have left.
    #[inline]
    pub(crate) fn keep_out(&self) {
        self.locking.fetch_add(1, Ordering::SeqCst);
        for appending in self.appending.iter() {
            if appending.load(Ordering::SeqCst) > 0 {
                self.wait_for(appending);
            }
        }
    }

    #[cold]
    fn wait_for(&self, appending: &AtomicUsize) {
        let mut waiting = self.waiting.lock();
        while appending.load(Ordering::SeqCst) > 0 {
            waiting = self.left.wait(waiting);
        }
    }

    /// Lets a locking commit out. Called once per admitted commit.
    #[inline]
    pub(crate) fn stop_keeping_out(&self) {
        self.locking.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_append_and_those_who_lock_are_never_inside_together() {
        let appenders = Appenders::new();
        let (one, other) = (appenders.enter().unwrap(), appenders.enter().unwrap());
        std::thread::scope(|scope| {
            let locking = scope.spawn(|| appenders.keep_out());
            while appenders.locking.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            assert!(appenders.enter().is_none(), "one who locks waits");
            appenders.leave(&one);
            assert!(!locking.is_finished(), "one who appends is inside");
            appenders.leave(&other);
        });
        appenders.keep_out();
        appenders.stop_keeping_out();
        assert!(appenders.enter().is_none(), "one who locks is inside");
        appenders.stop_keeping_out();
        assert!(appenders.enter().is_some());
    }
}
