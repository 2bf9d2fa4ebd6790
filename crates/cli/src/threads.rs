//! The threads that kernels and imports run on.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::kernels::Execution;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::thread;

/// A pool, or the calling thread for one thread.
#[derive(Debug)]
pub struct Threads {
    pool: Option<ThreadPool>,
    count: usize,
}

impl Threads {
    /// Makes `count` threads; by default one per core.
    pub fn new(count: Option<NonZeroUsize>) -> Result<Self, CliError> {
        let count = count.map_or_else(cores, NonZeroUsize::get);
        let build = || ThreadPoolBuilder::new().num_threads(count).build();
        let pool = (count > 1).then(build).transpose()?;
        Ok(Threads { pool, count })
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The pool; `None` for the calling thread.
    pub fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    /// Runs two functions at the same time, if there are several threads, else one after the other.
    /// The calling thread runs the first. Both may use the pool.
    pub fn both<A, B: Send>(&self, one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
        if self.count == 1 {
            return (one(), other());
        }
        thread::scope(|scope| {
            let other = scope.spawn(other);
            let one = one();
            (one, other.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// An execution on these threads that stops at Ctrl-C.
    pub fn execution<'a>(&'a self, interrupt: &'a Interrupt) -> Execution<'a> {
        let execution = Execution { pool: self.pool(), ..Execution::default() };
        execution.cancelled_by(interrupt.token())
    }
}

/// The number of cores.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
