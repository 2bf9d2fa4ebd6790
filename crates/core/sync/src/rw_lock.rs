//! A reader-writer lock without lock poisoning.
//!
//! A thread that holds the lock must not take it again, not even to read: a writer may be waiting
//! in between.

#[cfg(not(hedgerow_shuttle))]
pub use parking_lot::{RwLockReadGuard, RwLockWriteGuard};
#[cfg(hedgerow_shuttle)]
pub use shuttle::sync::{RwLockReadGuard, RwLockWriteGuard};

#[cfg(not(hedgerow_shuttle))]
type Inner<T> = parking_lot::RwLock<T>;
#[cfg(hedgerow_shuttle)]
type Inner<T> = shuttle::sync::RwLock<T>;

/// A lock that any number of readers or one writer holds. Takes one word in addition to the value.
#[derive(Debug, Default)]
pub struct RwLock<T>(Inner<T>);

impl<T> RwLock<T> {
    /// A lock that is not held.
    pub fn new(value: T) -> Self {
        RwLock(Inner::new(value))
    }
}

#[cfg(not(hedgerow_shuttle))]
impl<T> RwLock<T> {
    /// Waits until no writer holds the lock, then shares it.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read()
    }

    /// Waits until no thread holds the lock, then takes it.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write()
    }
}

#[cfg(hedgerow_shuttle)]
impl<T> RwLock<T> {
    /// Waits until no writer holds the lock, then shares it.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until no thread holds the lock, then takes it.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
