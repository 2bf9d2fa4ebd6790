//! Options and report of a checkpoint.

use hedgerow_log::checkpoint::{WriteOptions, WriteProgress};
use hedgerow_model::{CommitTimestamp, Count};
use hedgerow_sync::Arc;
use hedgerow_sync::CancelToken;
use std::fmt;

/// Options of `Graph::checkpoint`. By default it runs on the graph's worker threads, at full speed
/// while there are no commits, and half of the time otherwise.
#[derive(Clone, Default)]
pub struct CheckpointOptions {
    share: Option<f64>,
    cancel: Option<CancelToken>,
    progress: Option<Arc<dyn Fn(WriteProgress) + Send + Sync>>,
}

impl CheckpointOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the fraction of its time that each thread works, between 0 and 1, regardless of
    /// commits; it sleeps for the rest. 1 is full speed.
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

    /// Reports to `progress` whenever a part was written: on the calling thread, or on those that
    /// write the first state of a store into the files of its engine.
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

/// The result of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CheckpointReport {
    /// The number of the checkpoint, which is in its file name. 0 if there is no checkpoint,
    /// because the engine keeps the graph in its own files: these were brought up to `timestamp`
    /// instead.
    pub number: u64,
    /// The commit whose state the checkpoint contains.
    pub timestamp: CommitTimestamp,
    /// True if files were written; false if there was no commit since the existing checkpoint or
    /// flush.
    pub written: bool,
    /// Bytes of the checkpoint's file; 0 without a file.
    pub bytes: u64,
    /// Vertices in the checkpoint.
    pub vertices: u64,
    /// Edges in the checkpoint, over all labels. Exact in a checkpoint's file; without a file, as
    /// far as the engine knows.
    pub edges: Count,
    /// Number of log segments that were removed because they are obsolete.
    pub pruned: usize,
}

impl CheckpointOptions {
    /// Calls `write` with these options in the form that the writer takes; `share`, the fraction of
    /// its time that a thread works, applies if they set none.
    pub fn with<T>(
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
