//! Turns for those that need many locks, so that those that need few do not overtake them without end.

use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Condvar, Mutex};

/// Lets one thread at a time take many locks, in the order in which they ask, while those that need few locks and have none wait.
///
/// Each of those waits for the end of one turn at most and then passes, however many turns are asked for meanwhile: so neither side waits for ever. A
/// thread in its turn waits for those that passed before, each of which has its locks already or takes them in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Whether a thread has a turn, or waits for one. Read by all, and seldom written.
    is_closed: AtomicBool,
    turns: Mutex<Turns>,
    ended: Condvar,
}

/// Turns by number, in the order in which they were asked for.
#[derive(Debug, Default)]
struct Turns {
    asked: u64,
    ended: u64,
    /// Threads that wait to pass.
    waiting: usize,
}

impl Gate {
    /// Waits, if a thread has a turn, until one has ended.
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

    /// Waits for a turn, and takes locks in it.
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

    /// How many turns are asked for and not ended.
    #[cfg(test)]
    pub(crate) fn turns(&self) -> u64 {
        let turns = self.turns.lock();
        turns.asked - turns.ended
    }

    /// How many threads wait to pass.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.turns.lock().waiting
    }
}
