//! Cancels a long computation from another thread.

use crate::Arc;
use crate::atomic::{AtomicBool, Ordering};

/// A flag that cancels a computation. Clones share the flag.
///
/// Computations check it between chunks of work, drop what they have built, and return an error.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> Self {
        CancelToken::default()
    }

    /// Raises the flag. It stays raised.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the flag is raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
