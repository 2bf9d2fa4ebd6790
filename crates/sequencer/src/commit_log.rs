//! The log of a graph, as far as the order of commits depends on it.

use hedgerow_log::{Durability, Log};
use hedgerow_model::Timestamp;
use hedgerow_sync::Arc;

/// The log in which each commit takes its place together with its stamp, and which knows what is durable. Clones share one log.
#[derive(Clone, Debug)]
pub struct CommitLog {
    log: Arc<Log>,
    /// A commit is published when it survives a loss of power.
    is_synced: bool,
}

impl CommitLog {
    /// A log that takes the commits of one graph.
    pub fn new(log: Arc<Log>) -> Self {
        let is_synced = log.durability() == Durability::Sync;
        CommitLog { log, is_synced }
    }

    /// The log itself.
    #[inline]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Whether a commit is published only when it survives a loss of power.
    #[inline]
    pub fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Every commit up to this survives a loss of power.
    #[inline]
    pub fn durable(&self) -> Timestamp {
        self.log.durable()
    }
}
