//! A one-byte lock that is taken and released by two separate calls.

#[cfg(not(hedgerow_shuttle))]
pub use production::RawLock;

#[cfg(hedgerow_shuttle)]
pub use modelled::RawLock;

#[cfg(not(hedgerow_shuttle))]
mod production {
    use parking_lot::lock_api::RawMutex as _;

    /// A lock without data and without a guard: one byte, so that tables of thousands stay in
    /// cache.
    pub struct RawLock(parking_lot::RawMutex);

    impl Default for RawLock {
        fn default() -> Self {
            RawLock(parking_lot::RawMutex::INIT)
        }
    }

    impl RawLock {
        /// Waits for the lock and takes it.
        #[inline]
        pub fn lock(&self) {
            self.0.lock();
        }

        /// Takes the lock if it is free. Returns true if it took the lock.
        #[inline]
        pub fn try_lock(&self) -> bool {
            self.0.try_lock()
        }

        /// Releases the lock.
        ///
        /// # Safety
        /// The caller holds the lock.
        #[inline]
        pub unsafe fn unlock(&self) {
            // SAFETY: the caller holds the lock, as `RawMutex::unlock` requires.
            unsafe { self.0.unlock() }
        }
    }
}

#[cfg(hedgerow_shuttle)]
mod modelled {
    use crate::{Condvar, Mutex};

    /// The lock of one byte under the model checker: a flag with a queue of waiters.
    #[derive(Default)]
    pub struct RawLock {
        held: Mutex<bool>,
        released: Condvar,
    }

    impl RawLock {
        /// Waits for the lock and takes it.
        pub fn lock(&self) {
            let mut held = self.held.lock();
            while *held {
                held = self.released.wait(held);
            }
            *held = true;
        }

        /// Takes the lock if it is free. Returns true if it took the lock.
        pub fn try_lock(&self) -> bool {
            let mut held = self.held.lock();
            !std::mem::replace(&mut *held, true)
        }

        /// Releases the lock.
        ///
        /// # Safety
        /// The caller holds the lock.
        pub unsafe fn unlock(&self) {
            let was_held = std::mem::replace(&mut *self.held.lock(), false);
            assert!(was_held, "a lock was released that was not held");
            self.released.notify_all();
        }
    }
}
