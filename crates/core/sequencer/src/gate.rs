//! Turns for threads that need many locks, so that threads that need few locks cannot overtake them
//! forever.

use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Condvar, Mutex};

/// Lets one thread at a time take many locks, in the order of the requests, while threads that need
/// few locks and hold none wait.
///
/// A waiting thread passes after at most one turn has ended, no matter how many more turns are
/// requested, so neither side starves. A thread in its turn waits for threads that passed earlier;
/// each of them has its locks already or takes them in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// True if a thread has a turn or waits for one. Read by all threads, rarely written.
    is_closed: AtomicBool,
    turns: Mutex<Turns>,
    ended: Condvar,
}

/// Turns, numbered in the order of the requests.
#[derive(Debug, Default)]
struct Turns {
    asked: u64,
    ended: u64,
    /// Number of threads that wait to pass.
    waiting: usize,
}

impl Gate {
    /// Waits until a turn has ended, if a thread has a turn.
    #[inline]
    pub(crate) fn pass(&self) {
        if self.is_closed.load(Ordering::Relaxed) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        let mut turns = self.turns.lock();
        let ended = turns.ended;
        turns.waiting += 1;
        while turns.ended == ended && turns.asked > ended {
            turns = self.ended.wait(turns);
        }
        turns.waiting -= 1;
    }

    /// Waits for a turn, and takes locks in it by calling `take`.
    pub(crate) fn in_turn(&self, take: impl FnOnce()) {
        let mut turns = self.turns.lock();
        let own = turns.asked;
        turns.asked += 1;
        self.is_closed.store(true, Ordering::Relaxed);
        while turns.ended < own {
            turns = self.ended.wait(turns);
        }
        drop(turns);
        take();
        let mut turns = self.turns.lock();
        turns.ended += 1;
        self.is_closed.store(turns.asked > turns.ended, Ordering::Relaxed);
        self.ended.notify_all();
    }

    /// Number of turns that were requested and have not ended.
    #[cfg(test)]
    pub(crate) fn turns(&self) -> u64 {
        let turns = self.turns.lock();
        turns.asked - turns.ended
    }

    /// Number of threads that wait to pass.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.turns.lock().waiting
    }
}
