//! Deferred destruction: what was unlinked is dropped when no thread can still be walking over it.
//!
//! A thread pins itself for the few loads of a walk and never for longer; see
//! `docs/concurrency.md`. In production this is `crossbeam-epoch`. Under the model checker it is a
//! small exact stand-in that drops at the earliest moment the contract allows and remembers what
//! was dropped, so that [`check_live`] catches a use after the drop.

#[cfg(not(hedgerow_shuttle))]
pub use production::{Guard, check_live, free_deferred, pin};

#[cfg(hedgerow_shuttle)]
pub use modelled::{Guard, check_live, free_deferred, pin};

#[cfg(not(hedgerow_shuttle))]
mod production {
    use crossbeam_epoch::Shared;

    /// While this lives, nothing that was reachable when it was made is dropped.
    pub struct Guard(crossbeam_epoch::Guard);

    /// Pins the current thread. A few nanoseconds; may be nested.
    #[inline]
    #[must_use]
    pub fn pin() -> Guard {
        Guard(crossbeam_epoch::pin())
    }

    /// Frees what was deferred and can be freed by now, up to about `count` pieces. Without it they go few at a time, as
    /// threads pin themselves: slowly, where a large commit has deferred many.
    pub fn free_deferred(count: usize) {
        // A flush frees up to 512 pieces; the first ones may have to let epochs pass.
        for _ in 0..count / 256 + 3 {
            pin().flush();
        }
    }

    /// Under the model checker: panics if `pointer` was dropped already. Otherwise nothing.
    #[inline]
    pub fn check_live<T>(_pointer: *const T) {}

    impl Guard {
        /// Drops the box behind `pointer` once every thread pinned now has been unpinned.
        ///
        /// # Safety
        /// `pointer` came from `Box::into_raw`, is unlinked (no thread that pins itself from now
        /// on can reach it), and is passed here once.
        pub unsafe fn defer_drop<T: Send + 'static>(&self, pointer: *mut T) {
            let unlinked = Shared::from(pointer.cast_const());
            // SAFETY: the caller promises what `defer_destroy` asks for: unlinked, a box, once.
            unsafe { self.0.defer_destroy(unlinked) }
        }

        /// Runs `free`, which frees what is behind `pointer`, once every thread pinned now has been unpinned.
        ///
        /// # Safety
        /// What is behind `pointer` is unlinked (no thread that pins itself from now on can reach it), and `free` may run
        /// on any thread at any later time, whatever it uses.
        pub unsafe fn defer_free(&self, _pointer: *const u8, free: impl FnOnce() + Send + 'static) {
            // SAFETY: the caller promises what `defer_unchecked` asks for.
            unsafe { self.0.defer_unchecked(free) }
        }

        /// Unpins and pins again, so that what was unlinked meanwhile can be freed. Cheaper than a new guard; without
        /// effect while the thread has another one.
        #[inline]
        pub fn repin(&mut self) {
            self.0.repin();
        }

        /// Hands this thread's deferred drops to whoever may run them next.
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

    // Every task of one modelled execution runs on one thread of the operating system.
    thread_local! {
        static STATE: RefCell<State> = RefCell::default();
    }

    /// While this lives, nothing that was reachable when it was made is dropped.
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

    /// Nothing: what can be dropped is dropped at once.
    pub fn free_deferred(_count: usize) {}

    /// Panics if `pointer` was dropped already.
    pub fn check_live<T>(pointer: *const T) {
        STATE.with_borrow(|state| {
            assert!(!state.dropped.contains(&(pointer as usize)), "a version was used after it was dropped");
        });
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
        /// Marks the box behind `pointer` as dropped once every task pinned now is unpinned.
        ///
        /// The memory is leaked, so that an address means one object for the whole execution.
        ///
        /// # Safety
        /// None is needed here; the signature is that of production.
        pub unsafe fn defer_drop<T: Send + 'static>(&self, pointer: *mut T) {
            defer(pointer as usize);
        }

        /// Marks what is behind `pointer` as dropped once every task pinned now is unpinned.
        ///
        /// # Safety
        /// None is needed here; the signature is that of production.
        pub unsafe fn defer_free(&self, pointer: *const u8, free: impl FnOnce() + Send + 'static) {
            drop(free);
            defer(pointer as usize);
        }

        /// Unpins the current task and pins it again.
        pub fn repin(&mut self) {
            *self = pin();
        }

        /// Nothing to do here: what can be dropped is dropped when a pin ends.
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
