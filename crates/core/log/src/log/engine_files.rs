//! The log as the holder of the lock that permits changes of an engine's files.

use super::Log;
use crate::files::{EngineFiles, LockHolder};
use hedgerow_sync::Arc;
use std::io;

impl EngineFiles {
    /// Permits changes of the files while `log` holds the store's lock.
    pub fn belong_to(&self, log: &Arc<Log>) {
        self.hand_over(Arc::<Log>::clone(log));
    }
}

impl LockHolder for Log {
    fn confirm_lock(&self) -> io::Result<()> {
        self.check_lock().map_err(io::Error::other)
    }
}
