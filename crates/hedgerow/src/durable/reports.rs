//! What opening a store, checkpoints and a look at a store tell, and how a checkpoint is asked for.

use crate::kernels::CancelToken;
use crate::options::EngineKind;
use hedgerow_log::checkpoint::WriteProgress;
use hedgerow_log::{CheckpointEntry, TornTail};
use hedgerow_model::Timestamp;
use hedgerow_sync::Arc;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What was found when a store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The commit whose state the checkpoint had that was loaded, if there was one.
    pub checkpoint: Option<Timestamp>,
    /// How many commits of the log were replayed on top of it.
    pub commits: u64,
    /// The last commit that was found: the state of the graph.
    pub last: Timestamp,
    /// What a loss of power left behind the last commit, if anything. It was cut. Nobody was told that any of it is durable.
    pub torn: Option<TornTail>,
    /// How far the time of the newest commit is ahead of this machine's clock; zero if it is not. One of the clocks is, or was, wrong. No data
    /// is affected, but until the clock has caught up, new commits carry that same time ([`AsOf::Time`](crate::AsOf::Time)).
    pub ahead_of_clock: Duration,
    /// How long loading the checkpoint took.
    pub loading: Duration,
    /// How long replaying the log took.
    pub replaying: Duration,
}

/// What belongs to the store of a graph, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreInfo {
    /// The directory.
    pub path: PathBuf,
    /// Different in every store.
    pub id: [u8; 16],
    /// The engine that holds the graph now.
    pub engine: EngineKind,
    /// The name of the engine that the store was made with, which it is opened with if no other one is asked for.
    pub made_with: String,
    /// Segments of the log.
    pub segments: usize,
    /// Bytes of the segments' files.
    pub log_bytes: u64,
    /// The newest checkpoint.
    pub checkpoint: Option<CheckpointEntry>,
    /// The oldest commit whose state can still be had from log and checkpoint.
    pub oldest_readable: Timestamp,
    /// Every commit up to this survives a loss of power.
    pub durable: Timestamp,
}

/// How [`Graph::checkpoint`](crate::Graph::checkpoint) works. By default on the graph's worker threads, as fast as it can where nobody commits, and
/// for half of the time beside those who do.
#[derive(Clone, Default)]
pub struct CheckpointOptions {
    pub(crate) share: Option<f64>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) progress: Option<Arc<dyn Fn(WriteProgress) + Send + Sync>>,
}

impl CheckpointOptions {
    /// The default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How much of its time each thread works, between 0 and 1, whoever else commits; it sleeps for the rest. 1 is as fast as it can.
    #[must_use]
    pub fn share(mut self, share: f64) -> Self {
        self.share = Some(share);
        self
    }

    /// Stops when `token` is raised, with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Reports to `progress`, on the calling thread, whenever a part was written.
    #[must_use]
    pub fn reporting_to(mut self, progress: impl Fn(WriteProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

impl fmt::Debug for CheckpointOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckpointOptions").field("share", &self.share).finish_non_exhaustive()
    }
}

/// What a checkpoint did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointReport {
    /// The number of the checkpoint, which tells its file from others.
    pub number: u64,
    /// The commit whose state it is.
    pub timestamp: Timestamp,
    /// Whether it was written now. If not, nothing was committed since the one that there is.
    pub written: bool,
    /// Bytes of its file.
    pub bytes: u64,
    /// Vertices in it.
    pub vertices: u64,
    /// Edges in it, over all labels. None if the engine keeps them in files of its own, which were brought up to the same commit.
    pub edges: u64,
    /// Segments of the log that were removed, because nobody needs them any more.
    pub pruned: usize,
}
