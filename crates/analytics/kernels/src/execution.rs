//! The threads of a kernel, its progress reports and its cancellation.

use crate::csr::BuildOptions;
use crate::{CancelToken, KernelError, MemoryBudget};
use hedgerow_sync::map_chunks;
use rayon::ThreadPool;
use std::fmt;

/// Execution options of a kernel. By default it runs on the calling thread, in the memory that is
/// available.
#[derive(Clone, Copy, Default)]
pub struct Execution<'a> {
    /// The threads to run on; `None` is the calling thread alone. Never the global pool.
    pub pool: Option<&'a ThreadPool>,
    /// Stops the kernel: [`KernelError::Cancelled`].
    pub cancel: Option<&'a CancelToken>,
    /// Called on the thread that runs the kernel after every iteration.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// The memory that the kernel may allocate.
    pub memory: MemoryBudget,
}

/// The progress of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Iterations done: rounds of PageRank, levels of a search, buckets of distances.
    pub iteration: u32,
    /// The maximum number of iterations, if known.
    pub at_most: Option<u32>,
    /// Neighbors examined by the last iteration.
    pub neighbors: u64,
}

impl<'a> Execution<'a> {
    /// Runs on the threads of `pool`.
    #[must_use]
    pub fn on(mut self, pool: &'a ThreadPool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Stops when `token` is canceled.
    #[must_use]
    pub fn cancelled_by(mut self, token: &'a CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Reports every iteration to `progress`.
    #[must_use]
    pub fn reporting_to(mut self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Allocates no more than `memory`.
    #[must_use]
    pub fn within(mut self, memory: MemoryBudget) -> Self {
        self.memory = memory;
        self
    }

    /// The number of threads to run on.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.pool.map_or(1, ThreadPool::current_num_threads)
    }

    /// The number of chunks for work whose division does not affect the result.
    #[must_use]
    pub fn parts(&self) -> usize {
        16 * self.threads()
    }

    /// Runs `work` on every chunk, on the pool or one after the other, and returns the results in
    /// the order of the chunks.
    ///
    /// # Errors
    /// An error of `work`, or [`KernelError::Cancelled`], which is checked before each chunk.
    pub fn map_chunks<C: Send, R: Send>(
        &self,
        chunks: Vec<C>,
        work: impl Fn(C) -> Result<R, KernelError> + Sync,
    ) -> Result<Vec<R>, KernelError> {
        map_chunks(self.pool, chunks, |chunk| {
            self.check_cancelled()?;
            work(chunk)
        })
    }

    /// Fails if the kernel was canceled: for chunks that take long.
    ///
    /// # Errors
    /// [`KernelError::Cancelled`]
    #[inline]
    pub fn check_cancelled(&self) -> Result<(), KernelError> {
        match self.cancel {
            Some(token) if token.is_cancelled() => Err(KernelError::Cancelled),
            _ => Ok(()),
        }
    }

    /// Calls the progress callback, if there is one.
    pub fn report(&self, progress: Progress) {
        if let Some(report) = self.progress {
            report(progress);
        }
    }

    /// Options with the same threads, token and memory for building a graph.
    #[must_use]
    pub fn build_options(&self) -> BuildOptions<'a> {
        BuildOptions { pool: self.pool, cancel: self.cancel, memory: self.memory }
    }
}

impl fmt::Debug for Execution<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("threads", &self.threads())
            .field("cancel", &self.cancel)
            .field("progress", &self.progress.is_some())
            .field("memory", &self.memory)
            .finish()
    }
}
