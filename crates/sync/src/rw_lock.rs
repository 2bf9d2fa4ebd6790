//! A lock that readers share, without lock poisoning.
//!
//! A thread that has it must not take it again, not even to read: a writer may wait in between.

#[cfg(not(hedgerow_shuttle))]
pub use parking_lot::{RwLockReadGuard, RwLockWriteGuard};
#[cfg(hedgerow_shuttle)]
pub use shuttle::sync::{RwLockReadGuard, RwLockWriteGuard};

#[cfg(not(hedgerow_shuttle))]
type Inner<T> = parking_lot::RwLock<T>;
#[cfg(hedgerow_shuttle)]
type Inner<T> = shuttle::sync::RwLock<T>;

/// A lock that any number of readers or one writer holds. One word beside the value.
#[derive(Debug, Default)]
pub struct RwLock<T>(Inner<T>);

#[cfg(not(hedgerow_shuttle))]
impl<T> RwLock<T> {
    /// Waits until no writer holds the lock, and shares it.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read()
    }

    /// Waits until nobody holds the lock, and takes it.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write()
    }
}

#[cfg(hedgerow_shuttle)]
impl<T> RwLock<T> {
    /// Waits until no writer holds the lock, and shares it.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until nobody holds the lock, and takes it.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
