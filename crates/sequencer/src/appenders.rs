//! Commits that lock no unit because they append, and how they and commits that lock units keep out of each other's way.

use crate::per_core::PerCore;
use crossbeam_utils::CachePadded;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Condvar, Mutex};

/// Lets in commits that lock units, or commits that append, never both at a time.
///
/// A commit that appends never waits: if one that locks units is inside or waits, it is sent away. One that locks units
/// waits for those that append and came before it, and for a moment for such as came at the same time and are sent away.
#[derive(Debug)]
pub(crate) struct Appenders {
    /// How many commits that lock units are inside or wait.
    locking: CachePadded<AtomicUsize>,
    /// By core, how many commits that append are inside, or about to be sent away.
    appending: PerCore<CachePadded<AtomicUsize>>,
    /// Held between a look at `appending` and the wait for a change.
    waiting: Mutex<()>,
    left: Condvar,
}

/// A commit that appends and is inside.
#[derive(Debug)]
pub(crate) struct Entered {
    core: usize,
}

// Those who append add to `appending` and then look at `locking`; those who lock units do it the other way round. Both are
// sequentially consistent, so at least one of two who come together sees the other.
impl Appenders {
    pub(crate) fn new() -> Self {
        Appenders {
            locking: CachePadded::default(),
            appending: PerCore::new(CachePadded::default),
            waiting: Mutex::default(),
            left: Condvar::default(),
        }
    }

    /// Lets a commit that appends in, or sends it away.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Entered> {
        if self.locking.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let entered = Entered { core: self.appending.number() };
        self.appending[entered.core].fetch_add(1, Ordering::SeqCst);
        if self.locking.load(Ordering::SeqCst) == 0 {
            return Some(entered);
        }
        self.leave(&entered);
        None
    }

    /// Lets a commit that appended out. Once for each that entered.
    #[inline]
    pub(crate) fn leave(&self, entered: &Entered) {
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

    /// Lets a commit that locks units in, as soon as all that append have left.
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

    /// Lets a commit that locked units out. Once for each that was let in.
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
