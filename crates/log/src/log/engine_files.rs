//! The log as what lets an engine change the files that it keeps in the store.

use super::Log;
use crate::files::{EngineFiles, LockHolder};
use hedgerow_sync::Arc;
use std::io;

impl EngineFiles {
    /// From now on they can be changed while `log` has the lock of the store.
    pub fn belong_to(&self, log: &Arc<Log>) {
        self.hand_over(Arc::<Log>::clone(log));
    }
}

impl LockHolder for Log {
    fn confirm_lock(&self) -> io::Result<()> {
        self.check_lock().map_err(io::Error::other)
    }
}
