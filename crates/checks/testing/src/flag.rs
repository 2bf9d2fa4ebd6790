//! Flags that end threads.

use hedgerow_sync::atomic::{AtomicBool, Ordering};

/// Raises a flag when dropped, even by a panic: the threads of the scope that run until the flag is
/// raised end, and the test fails instead of waiting forever.
#[derive(Debug)]
pub struct RaiseOnDrop<'flag>(pub &'flag AtomicBool);

impl Drop for RaiseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
