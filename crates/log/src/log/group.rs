//! Group commit: of the threads that wait for the disk one leads, and writes and syncs for all.
//!
//! A round is one leader's write. Whoever comes while a round is under way, too late to be in it, waits for the next
//! round, whose leader is the first of them that wakes. So threads that the round covered are woken all at once when it
//! ends, and of the others one. No timer runs, and without commits nobody runs.
//!
//! Threads that commit again and again would end up in two halves, each waiting while the other is synced. So a leader gives
//! those that the round before has just released a moment to come back: one round then covers all. If that takes long, others
//! have the processors, and leaders don't wait for a while.

use crate::error::LogError;
use hedgerow_model::Timestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Condvar, Mutex, MutexGuard, thread};
use std::time::{Duration, Instant};

/// How often a leader lets others run who may come back, at most.
const PATIENCE: u32 = 64;

/// How long that may take: much longer than threads need that commit again at once, shorter than others run in one go.
const PATIENT_TIME: Duration = Duration::from_millis(2);

/// How many rounds go without, after it took longer.
const HURRIED_ROUNDS: u32 = 64;

/// Who writes, and how far it is.
#[derive(Debug)]
pub(super) struct Group {
    progress: Mutex<Progress>,
    /// Those who wait for a round: of even and of odd number.
    finished: [Condvar; 2],
    /// The same as in the progress, to be looked at without the lock.
    durable: AtomicU64,
}

#[derive(Debug)]
struct Progress {
    /// Every commit up to this is durable.
    durable: Timestamp,
    /// The number of the round that is under way or comes next.
    round: usize,
    /// Somebody leads it.
    is_led: bool,
    /// The last commit that the round covers.
    covers: Timestamp,
    /// How many wait for rounds of even and of odd number.
    waiting: [usize; 2],
    /// How many waited for the last sync or came too late for it, its leader among them.
    company: usize,
    /// In how many of the next rounds nobody is waited for.
    hurried: u32,
    failure: Option<LogError>,
}

/// What a round is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// To make durable whatever has its place.
    Sync,
    /// To make room in the buffer.
    Write,
}

/// The duty to lead a round. If it is dropped before [`Lead::finish`] or [`Lead::fail`], the thread that had it has
/// panicked, and nobody knows what was written.
#[must_use]
pub(super) struct Lead<'g> {
    group: &'g Group,
    is_over: bool,
}

impl Group {
    pub(super) fn new(durable: Timestamp) -> Self {
        let progress = Progress {
            durable,
            round: 0,
            is_led: false,
            covers: Timestamp::ZERO,
            waiting: [0; 2],
            company: 1,
            hurried: 0,
            failure: None,
        };
        Group {
            progress: Mutex::new(progress),
            finished: [Condvar::new(), Condvar::new()],
            durable: AtomicU64::new(durable.0),
        }
    }

    /// Every commit up to this is durable. O(1), without a lock.
    pub(super) fn durable(&self) -> Timestamp {
        Timestamp(self.durable.load(Ordering::Acquire))
    }

    /// Waits until a commit is durable, or gives the duty to make it so.
    pub(super) fn wait(&self, at: Timestamp) -> Result<Option<Lead<'_>>, LogError> {
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

    /// Gives the duty to write, if nobody has it. With `patient`, waits for whoever has it to end.
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

    fn wait_for<'a>(&self, mut progress: MutexGuard<'a, Progress>, round: usize) -> MutexGuard<'a, Progress> {
        let side = round % 2;
        progress.waiting[side] += 1;
        let mut progress = self.finished[side].wait(progress);
        progress.waiting[side] -= 1;
        progress
    }

    /// Ends all rounds: whoever waits, now or later, gets this error.
    pub(super) fn fail(&self, failure: &LogError) {
        self.progress.lock().failure.get_or_insert_with(|| failure.clone());
        self.finished.iter().for_each(Condvar::notify_all);
    }
}

impl<'g> Lead<'g> {
    fn new(group: &'g Group) -> Self {
        Lead { group, is_over: false }
    }

    /// Lets those come back that the round before has released. Whoever is alone does not wait.
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

    /// Takes what the round writes, by `take`. Who waits for a commit in it now knows.
    pub(super) fn begin<T>(&self, take: impl FnOnce() -> (T, Timestamp)) -> T {
        let mut progress = self.group.progress.lock();
        let (taken, last) = take();
        if progress.covers != Timestamp::ZERO {
            progress.covers = last;
        }
        taken
    }

    /// Ends the round. `durable`: every commit up to there is, if there was a sync.
    pub(super) fn finish(mut self, durable: Option<Timestamp>) {
        self.is_over = true;
        let Group { progress, finished, durable: published } = self.group;
        let mut progress = progress.lock();
        if let Some(durable) = durable {
            progress.durable = durable;
            progress.company = 1 + progress.waiting.iter().sum::<usize>();
            published.store(durable.0, Ordering::Release);
        }
        let ended = progress.round % 2;
        progress.round += 1;
        progress.is_led = false;
        let (covered, next) = (progress.waiting[ended] > 0, progress.waiting[1 - ended] > 0);
        drop(progress);
        if next {
            finished[1 - ended].notify_one();
        }
        if covered {
            finished[ended].notify_all();
        }
    }

    /// Ends the round, and all others.
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

impl Progress {
    fn lead(&mut self, goal: Goal) {
        self.is_led = true;
        // Until it has taken what it writes, a round that syncs covers whoever comes; one that only writes, nobody.
        self.covers = match goal {
            Goal::Sync => Timestamp(u64::MAX),
            Goal::Write => Timestamp::ZERO,
        };
    }
}
