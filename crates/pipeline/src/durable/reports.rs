//! What a checkpoint tells, and how it is asked for.

use hedgerow_compute::CancelToken;
use hedgerow_log::checkpoint::{WriteOptions, WriteProgress};
use hedgerow_model::Timestamp;
use hedgerow_sync::Arc;
use std::fmt;

/// How `Graph::checkpoint` works. By default on the graph's worker threads, as fast as it can where nobody commits, and
/// for half of the time beside those who do.
#[derive(Clone, Default)]
pub struct CheckpointOptions {
    share: Option<f64>,
    cancel: Option<CancelToken>,
    progress: Option<Arc<dyn Fn(WriteProgress) + Send + Sync>>,
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

    /// Stops when `token` is raised, with `ErrorKind::Cancelled`.
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
    /// Edges in it, over all labels. 0 if the engine keeps them in files of its own, which then have everything up to the same commit.
    pub edges: u64,
    /// Segments of the log that were removed, because nobody needs them any more.
    pub pruned: usize,
}

impl CheckpointOptions {
    /// Runs `write` with these options in the form in which the writer takes them, and with `share` if they have none.
    pub(super) fn with<T>(
        &self,
        pool: Option<&rayon::ThreadPool>,
        share: &(dyn Fn() -> f64 + Sync),
        write: impl FnOnce(&WriteOptions<'_>) -> T,
    ) -> T {
        let share = || self.share.unwrap_or_else(share);
        let is_cancelled = || self.cancel.as_ref().is_some_and(CancelToken::is_cancelled);
        let progress = |progress: WriteProgress| self.progress.iter().for_each(|report| report(progress));
        write(&WriteOptions {
            pool,
            share: Some(&share),
            is_cancelled: Some(&is_cancelled),
            progress: Some(&progress),
            check_owner: None,
        })
    }
}
