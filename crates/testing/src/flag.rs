//! Flags that end threads.

use hedgerow_sync::atomic::{AtomicBool, Ordering};

/// Raises a flag when it is dropped, also by a panic: threads of the scope that run until the flag
/// is up end, and the test fails instead of waiting for ever.
#[derive(Debug)]
pub struct RaiseOnDrop<'flag>(pub &'flag AtomicBool);

impl Drop for RaiseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
