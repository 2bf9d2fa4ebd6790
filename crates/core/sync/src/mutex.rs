//! A mutex and a condition variable without lock poisoning.
//!
//! After a panic, the code that owns the state decides what is broken (a graph poisons itself), not
//! the next thread that locks it.

#[cfg(hedgerow_shuttle)]
use shuttle::sync as imp;
#[cfg(not(hedgerow_shuttle))]
use std::sync as imp;
use std::sync::{PoisonError, TryLockError};
use std::time::{Duration, Instant};

pub use imp::MutexGuard;

/// A mutual exclusion lock.
#[derive(Debug, Default)]
pub struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub fn new(value: T) -> Self {
        Mutex(imp::Mutex::new(value))
    }

    /// Waits for the lock and takes it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the value, without locking.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value by exclusive borrow, without locking.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for use with a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(imp::Condvar);

impl Condvar {
    /// Creates a condition variable without waiting threads.
    pub fn new() -> Self {
        Condvar(imp::Condvar::new())
    }

    /// Releases the lock, sleeps until notified, and takes the lock again. Wakes spuriously: test
    /// the condition in a loop.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock, sleeps until `waits` returns false, at most for `time`, and takes the
    /// lock again. A model has no clock, and sleeps for any time.
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut waits: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let until = Instant::now().checked_add(time);
        while waits(&mut guard) {
            let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
            guard = match left {
                _ if cfg!(hedgerow_shuttle) => self.wait(guard),
                Duration::ZERO => return guard,
                left => self.0.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        guard
    }

    /// Wakes one waiting thread, if there is one.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes every waiting thread.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
