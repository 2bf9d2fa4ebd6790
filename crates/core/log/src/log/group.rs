//! Group commit: one of the waiting threads leads, and writes and syncs for all of them.
//!
//! A round is one leader's write. A thread that comes too late for the current round waits for the
//! next one, and the first of these threads to wake leads it. So when a round ends, all threads
//! that it covered are woken at once, and only one other thread. There is no timer, and without
//! commits no thread runs.
//!
//! Threads that commit in a loop would split into two halves, each waiting while the other is
//! synced. So a leader gives the threads that the previous round released a moment to come back:
//! one round then covers all. If that takes long, other threads are using the processors, and
//! leaders stop waiting for a while.

use crate::error::LogError;
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Condvar, Mutex, MutexGuard, thread};
use std::time::{Duration, Instant};

/// Maximum number of times that a leader yields to threads that may come back.
const PATIENCE: u32 = 64;

/// Maximum time for which a leader yields: much longer than threads need to commit again, shorter
/// than a scheduling time slice of other threads.
const PATIENT_TIME: Duration = Duration::from_millis(2);

/// Number of rounds without yielding after a round in which [`PATIENT_TIME`] was exceeded.
const HURRIED_ROUNDS: u32 = 64;

/// The current round, its leader and its waiters.
#[derive(Debug)]
pub(super) struct GroupCommit {
    progress: Mutex<CommitProgress>,
    /// Wakes the threads that wait for rounds of even and of odd number.
    finished: [Condvar; 2],
    /// Wakes the threads that wait for others to make commits durable.
    advanced: Condvar,
    /// A copy of `CommitProgress::durable`, readable without the lock.
    durable: AtomicU64,
}

#[derive(Debug)]
struct CommitProgress {
    /// Every commit up to this one is durable.
    durable: CommitTimestamp,
    /// The number of the current or next round.
    round: usize,
    /// True if a thread leads the round.
    is_led: bool,
    /// The last commit that the round covers.
    covers: CommitTimestamp,
    /// Number of threads that wait for rounds of even and of odd number.
    waiting: [usize; 2],
    /// Number of threads that wait for others to make commits durable.
    following: usize,
    /// Number of threads that waited for the last sync or came too late for it, including its
    /// leader.
    company: usize,
    /// Number of coming rounds that do not wait for threads to come back.
    hurried: u32,
    failure: Option<LogError>,
    /// True if no more commits come.
    is_closed: bool,
}

/// The goal of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Make all appended commits durable.
    Sync,
    /// Free space in the buffer.
    Write,
}

/// The duty to lead a round. If it is dropped without [`Lead::finish`] or [`Lead::fail`], the
/// leader has panicked, and it is unknown what was written.
#[must_use]
pub(super) struct Lead<'g> {
    group: &'g GroupCommit,
    is_over: bool,
}

impl GroupCommit {
    pub(super) fn new(durable: CommitTimestamp) -> Self {
        let progress = CommitProgress {
            durable,
            round: 0,
            is_led: false,
            covers: CommitTimestamp::ZERO,
            waiting: [0; 2],
            following: 0,
            company: 1,
            hurried: 0,
            failure: None,
            is_closed: false,
        };
        GroupCommit {
            progress: Mutex::new(progress),
            finished: [Condvar::new(), Condvar::new()],
            advanced: Condvar::new(),
            durable: AtomicU64::new(durable.0),
        }
    }

    /// The last commit of the durable prefix of the log. O(1), lock-free.
    pub(super) fn durable(&self) -> CommitTimestamp {
        CommitTimestamp(self.durable.load(Ordering::Acquire))
    }

    /// Waits until a commit is durable, or until the caller must lead a round.
    pub(super) fn wait(&self, at: CommitTimestamp) -> Result<Option<Lead<'_>>, LogError> {
        if self.durable() >= at {
            return Ok(None);
        }
        let mut progress = self.progress.lock();
        loop {
            if progress.durable >= at {
                return Ok(None);
            }
            if let Some(failure) = &progress.failure {
                return Err(failure.clone());
            }
            if !progress.is_led {
                progress.lead(Goal::Sync);
                return Ok(Some(Lead::new(self)));
            }
            let round = if at <= progress.covers { progress.round } else { progress.round + 1 };
            progress = self.wait_for(progress, round);
        }
    }

    /// Waits until others have made a commit durable, at most for `time`. Never leads a round.
    pub(super) fn follow(&self, at: CommitTimestamp, time: Duration) -> Result<(), LogError> {
        let mut progress = self.progress.lock();
        progress.following += 1;
        let mut progress = self.advanced.wait_while(progress, time, |progress| {
            progress.durable < at && progress.failure.is_none() && !progress.is_closed
        });
        progress.following -= 1;
        match &progress.failure {
            _ if progress.durable >= at => Ok(()),
            Some(failure) => Err(failure.clone()),
            None if progress.is_closed => Err(LogError::Closed),
            None => Ok(()),
        }
    }

    /// Makes the caller the leader of a write, unless another thread leads. With `patient`, waits
    /// for the other leader first.
    pub(super) fn write(&self, patient: bool) -> Result<Option<Lead<'_>>, LogError> {
        let mut progress = self.progress.lock();
        if patient && progress.is_led {
            let round = progress.round;
            progress = self.wait_for(progress, round);
        }
        match &progress.failure {
            Some(failure) => Err(failure.clone()),
            None if progress.is_led => Ok(None),
            None => {
                progress.lead(Goal::Write);
                Ok(Some(Lead::new(self)))
            }
        }
    }

    fn wait_for<'a>(
        &self,
        mut progress: MutexGuard<'a, CommitProgress>,
        round: usize,
    ) -> MutexGuard<'a, CommitProgress> {
        let side = round % 2;
        progress.waiting[side] += 1;
        let mut progress = self.finished[side].wait(progress);
        progress.waiting[side] -= 1;
        progress
    }

    /// Tells the threads that follow that no more commits come.
    pub(super) fn close(&self) {
        self.progress.lock().is_closed = true;
        self.advanced.notify_all();
    }

    /// Ends all rounds: all current and future waiters get this error.
    pub(super) fn fail(&self, failure: &LogError) {
        self.progress.lock().failure.get_or_insert_with(|| failure.clone());
        self.finished.iter().chain([&self.advanced]).for_each(Condvar::notify_all);
    }
}

impl<'g> Lead<'g> {
    fn new(group: &'g GroupCommit) -> Self {
        Lead { group, is_over: false }
    }

    /// Waits for the threads that the previous round released to come back. A lone thread does not
    /// wait.
    pub(super) fn gather(&self) {
        let started = Instant::now();
        for _ in 0..PATIENCE {
            let mut progress = self.group.progress.lock();
            if 1 + progress.waiting[progress.round % 2] >= progress.company {
                return;
            }
            if progress.hurried > 0 {
                progress.hurried -= 1;
                return;
            }
            // A model has no clock.
            if !cfg!(hedgerow_shuttle) && started.elapsed() > PATIENT_TIME {
                progress.hurried = HURRIED_ROUNDS;
                return;
            }
            drop(progress);
            thread::yield_now();
        }
    }

    /// Calls `take` for the batch that the round writes, and records the last commit that it
    /// covers, for the waiting threads.
    pub(super) fn begin<T>(&self, take: impl FnOnce() -> (T, CommitTimestamp)) -> T {
        let mut progress = self.group.progress.lock();
        let (taken, last) = take();
        if progress.covers != CommitTimestamp::ZERO {
            progress.covers = last;
        }
        taken
    }

    /// Ends the round. After a sync, every commit up to `durable` is durable.
    pub(super) fn finish(mut self, durable: Option<CommitTimestamp>) {
        self.is_over = true;
        let GroupCommit { progress, finished, advanced, durable: lock_free } = self.group;
        let mut progress = progress.lock();
        if let Some(durable) = durable {
            progress.durable = durable;
            progress.company = 1 + progress.waiting.iter().sum::<usize>();
            lock_free.store(durable.0, Ordering::Release);
        }
        let ended = progress.round % 2;
        progress.round += 1;
        progress.is_led = false;
        let (covered, next) = (progress.waiting[ended] > 0, progress.waiting[1 - ended] > 0);
        let is_followed = durable.is_some() && progress.following > 0;
        drop(progress);
        if next {
            finished[1 - ended].notify_one();
        }
        if covered {
            finished[ended].notify_all();
        }
        if is_followed {
            advanced.notify_all();
        }
    }

    /// Ends this round and all others.
    pub(super) fn fail(mut self, failure: &LogError) {
        self.is_over = true;
        self.group.fail(failure);
        self.group.progress.lock().is_led = false;
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.group.fail(&LogError::Abandoned);
        }
    }
}

impl CommitProgress {
    fn lead(&mut self, goal: Goal) {
        self.is_led = true;
        // Until it has taken its batch, a syncing round covers all comers; a writing round covers
        // none.
        self.covers = match goal {
            Goal::Sync => CommitTimestamp(u64::MAX),
            Goal::Write => CommitTimestamp::ZERO,
        };
    }
}
