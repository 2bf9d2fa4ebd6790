//! What there is one of per core, so that threads seldom share one.

use std::ops::Deref;

/// There is one per core, but not more than this.
pub(crate) const MOST: usize = 64;

/// One per core. A thread always uses the same one, which it shares with few others.
#[derive(Debug)]
pub(crate) struct PerCore<T>(Box<[T]>);

impl<T> PerCore<T> {
    /// All of them, each made by `make`; one alone under the model checker.
    pub(crate) fn new(make: impl FnMut() -> T) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if cfg!(hedgerow_shuttle) { 1 } else { cores.min(MOST) };
        PerCore(std::iter::repeat_with(make).take(count).collect())
    }

    /// Which of them this thread uses.
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

/// A number for each thread: they count up, so that they spread.
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
        // A thread that ends has none any more.
        NUMBER.try_with(|number| *number).unwrap_or(0)
    }
}
