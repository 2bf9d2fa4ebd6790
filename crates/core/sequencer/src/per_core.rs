//! Per-core instances, so that threads rarely share one.

use std::ops::Deref;

/// The maximum number of instances.
pub(crate) const MOST: usize = 64;

/// One instance per core. A thread always uses the same instance, which it shares with few others.
#[derive(Debug)]
pub(crate) struct PerCore<T>(Box<[T]>);

impl<T> PerCore<T> {
    /// Makes all instances with `make`; a single one under the model checker.
    pub(crate) fn new(make: impl FnMut() -> T) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if cfg!(hedgerow_shuttle) { 1 } else { cores.min(MOST) };
        PerCore(std::iter::repeat_with(make).take(count).collect())
    }

    /// The index of this thread's instance.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        thread_number() % self.0.len()
    }
}

impl<T> Deref for PerCore<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

/// Numbers threads in order of first use, to spread them over instances.
#[inline]
fn thread_number() -> usize {
    #[cfg(hedgerow_shuttle)]
    return 0;
    #[cfg(not(hedgerow_shuttle))]
    {
        use hedgerow_sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        hedgerow_sync::thread_local! {
            static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        // A thread that is exiting has lost its number.
        NUMBER.try_with(|number| *number).unwrap_or(0)
    }
}
