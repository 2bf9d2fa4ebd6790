//! The log of a graph, as far as the sequencer needs it.

use hedgerow_log::{Durability, Log};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Arc;

/// The log in which a commit gets its position together with its stamp, and which tracks the
/// durable commits. Clones share one log.
#[derive(Clone, Debug)]
pub struct CommitLog {
    log: Arc<Log>,
    /// True if a commit is published only once it survives a loss of power.
    is_synced: bool,
}

impl CommitLog {
    /// Wraps the log of one graph.
    pub fn new(log: Arc<Log>) -> Self {
        let is_synced = log.durability() == Durability::Sync;
        CommitLog { log, is_synced }
    }

    /// The log itself.
    #[inline]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// True if a commit is published only once it survives a loss of power.
    #[inline]
    pub fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// The newest commit that survives a loss of power together with all earlier commits.
    #[inline]
    pub fn durable(&self) -> CommitTimestamp {
        self.log.durable()
    }
}
