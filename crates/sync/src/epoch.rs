//! Epoch-based reclamation: unlinked memory is freed once no thread can be accessing it any more.
//!
//! A thread pins itself only for the few loads of a traversal; see `docs/concurrency.md`. In
//! production this is `crossbeam-epoch`. Under the model checker it is a small exact substitute
//! that frees at the earliest moment that the contract allows and remembers what was freed, so that
//! [`check_live`] catches a use after free.

#[cfg(not(hedgerow_shuttle))]
pub use production::{GracePeriod, Guard, check_live, free_deferred, pin};

#[cfg(hedgerow_shuttle)]
pub use modelled::{GracePeriod, Guard, check_live, free_deferred, pin};

#[cfg(not(hedgerow_shuttle))]
mod production {
    use crossbeam_epoch::Shared;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// While this lives, nothing that was reachable when it was created is freed.
    pub struct Guard(crossbeam_epoch::Guard);

    /// Pins the current thread. Takes a few nanoseconds; may be nested.
    #[inline]
    #[must_use]
    pub fn pin() -> Guard {
        Guard(crossbeam_epoch::pin())
    }

    /// Frees deferred memory that can be freed by now, up to about `count` pieces. Otherwise
    /// threads free a few pieces each as they pin themselves, which is slow after a large commit
    /// has deferred many.
    pub fn free_deferred(count: usize) {
        // A flush frees up to 512 pieces; the first ones may have to let epochs pass.
        for _ in 0..count / 256 + 3 {
            pin().flush();
        }
    }

    /// Panics under the model checker if `pointer` was already dropped. Otherwise does nothing.
    #[inline]
    pub fn check_live<T>(_pointer: *const T) {}

    /// The time until every thread that was pinned at its beginning has unpinned: for an owner that
    /// frees unlinked memory itself, many pieces together. Dropped with that memory.
    pub struct GracePeriod(Arc<AtomicBool>);

    impl GracePeriod {
        /// Begins after these pieces of memory were unlinked: no thread that pins itself from now
        /// on can reach them. Only the model checker looks at them.
        pub fn begin(_unlinked: impl Iterator<Item = *const u8>) -> Self {
            let has_passed = Arc::new(AtomicBool::new(false));
            let set = Arc::clone(&has_passed);
            let guard = crossbeam_epoch::pin();
            guard.defer(move || set.store(true, Ordering::Release));
            // Otherwise the thread keeps it until it has deferred more.
            guard.flush();
            GracePeriod(has_passed)
        }

        /// Whether it is over. Found out late, unless [`free_deferred`] is called.
        #[must_use]
        pub fn has_passed(&self) -> bool {
            self.0.load(Ordering::Acquire)
        }
    }

    impl Guard {
        /// Drops the box behind `pointer` once every thread pinned now has unpinned.
        ///
        /// # Safety
        /// `pointer` came from `Box::into_raw`, is unlinked (no thread that pins itself from now
        /// on can reach it), and is passed here once.
        pub unsafe fn defer_drop<T: Send + 'static>(&self, pointer: *mut T) {
            let unlinked = Shared::from(pointer.cast_const());
            // SAFETY: the caller promises what `defer_destroy` requires: unlinked, a box, once.
            unsafe { self.0.defer_destroy(unlinked) }
        }

        /// Runs `free`, which frees the memory behind `pointer`, once every thread pinned now has
        /// unpinned.
        ///
        /// # Safety
        /// The memory is unlinked (no thread that pins itself from now on can reach it), and
        /// `free`, with everything that it uses, may run on any thread at any later time.
        pub unsafe fn defer_free(&self, _pointer: *const u8, free: impl FnOnce() + Send + 'static) {
            // SAFETY: the caller promises what `defer_unchecked` requires.
            unsafe { self.0.defer_unchecked(free) }
        }

        /// Unpins and pins again, so that memory unlinked meanwhile can be freed. Cheaper than a
        /// new guard; has no effect while the thread has another one.
        #[inline]
        pub fn repin(&mut self) {
            self.0.repin();
        }

        /// Makes this thread's deferred drops available to all threads.
        pub fn flush(&self) {
            self.0.flush();
        }
    }
}

#[cfg(hedgerow_shuttle)]
mod modelled {
    use std::cell::RefCell;
    use std::collections::{BTreeSet, HashSet};

    struct Deferred {
        address: usize,
        waits_for: BTreeSet<u64>,
    }

    #[derive(Default)]
    struct State {
        next_pin: u64,
        pinned: BTreeSet<u64>,
        deferred: Vec<Deferred>,
        dropped: HashSet<usize>,
    }

    // All tasks of one modelled execution run on one operating system thread.
    thread_local! {
        static STATE: RefCell<State> = RefCell::default();
    }

    /// While this lives, nothing that was reachable when it was created is freed.
    pub struct Guard(u64);

    /// Pins the current task.
    #[must_use]
    pub fn pin() -> Guard {
        STATE.with_borrow_mut(|state| {
            state.next_pin += 1;
            let pin = state.next_pin;
            state.pinned.insert(pin);
            Guard(pin)
        })
    }

    /// Does nothing: what can be dropped is dropped at once.
    pub fn free_deferred(_count: usize) {}

    /// Panics if `pointer` was already dropped.
    pub fn check_live<T>(pointer: *const T) {
        STATE.with_borrow(|state| {
            assert!(!state.dropped.contains(&(pointer as usize)), "a version was used after it was dropped");
        });
    }

    /// The time until every task that was pinned at its beginning has unpinned.
    pub struct GracePeriod {
        addresses: Vec<usize>,
    }

    impl GracePeriod {
        /// Marks these pieces of memory as dropped once every task pinned now has unpinned, until
        /// this is dropped with them.
        pub fn begin(unlinked: impl Iterator<Item = *const u8>) -> Self {
            let _pinned = pin();
            let addresses: Vec<usize> = unlinked.map(|pointer| pointer as usize).collect();
            addresses.iter().for_each(|address| defer(*address));
            GracePeriod { addresses }
        }

        /// Never, so that an address identifies one object while its owner lives.
        #[must_use]
        pub fn has_passed(&self) -> bool {
            false
        }
    }

    impl Drop for GracePeriod {
        fn drop(&mut self) {
            STATE.with_borrow_mut(|state| {
                state.deferred.retain(|deferred| !self.addresses.contains(&deferred.address));
                state.dropped.retain(|address| !self.addresses.contains(address));
            });
        }
    }

    fn defer(address: usize) {
        STATE.with_borrow_mut(|state| {
            assert!(
                !state.dropped.contains(&address)
                    && state.deferred.iter().all(|other| other.address != address),
                "a version was dropped twice"
            );
            let waits_for = state.pinned.clone();
            state.deferred.push(Deferred { address, waits_for });
        });
    }

    impl Guard {
        /// Marks the box behind `pointer` as dropped once every task pinned now has unpinned.
        ///
        /// The memory is leaked, so that an address identifies one object during the whole
        /// execution.
        ///
        /// # Safety
        /// Nothing is required; the signature matches production.
        pub unsafe fn defer_drop<T: Send + 'static>(&self, pointer: *mut T) {
            defer(pointer as usize);
        }

        /// Marks the memory behind `pointer` as dropped once every task pinned now has unpinned.
        ///
        /// # Safety
        /// Nothing is required; the signature matches production.
        pub unsafe fn defer_free(&self, pointer: *const u8, free: impl FnOnce() + Send + 'static) {
            drop(free);
            defer(pointer as usize);
        }

        /// Unpins the current task and pins it again.
        pub fn repin(&mut self) {
            *self = pin();
        }

        /// Does nothing: what can be dropped is dropped when a pin ends.
        pub fn flush(&self) {}
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            STATE.with_borrow_mut(|state| {
                state.pinned.remove(&self.0);
                let dropped = &mut state.dropped;
                state.deferred.retain_mut(|deferred| {
                    deferred.waits_for.remove(&self.0);
                    if deferred.waits_for.is_empty() {
                        dropped.insert(deferred.address);
                    }
                    !deferred.waits_for.is_empty()
                });
            });
        }
    }
}
