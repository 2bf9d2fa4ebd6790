//! The threads that kernels and imports run on.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::kernels::Execution;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// Items that wait to be visited.
const ITEMS_AHEAD: usize = 1;

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

    /// Fills items and visits them in their order, until `fill` returns false for the last one or
    /// fails, or `visit` fails; returns both ends. An item is visited even if `fill` failed. If
    /// there are several threads, a few items are filled ahead, and both may use the pool; the
    /// calling thread visits. Items are filled again after they were visited.
    pub fn read_ahead<T: Default + Send + 'static, E: Send, F>(
        &self,
        mut fill: impl FnMut(&mut T) -> Result<bool, E> + Send,
        mut visit: impl FnMut(&mut T) -> Result<(), F>,
    ) -> (Result<(), E>, Result<(), F>) {
        if self.count == 1 {
            let mut item = T::default();
            loop {
                let filled = fill(&mut item);
                let visited = visit(&mut item);
                if !matches!((&filled, &visited), (Ok(true), Ok(()))) {
                    return (filled.map(drop), visited);
                }
            }
        }
        // Channels of one type for all items, because their code is large.
        let (filled, full) = sync_channel::<Box<dyn Any + Send>>(ITEMS_AHEAD);
        let (visited, spare) = channel::<Box<dyn Any + Send>>();
        thread::scope(|scope| {
            let filler = scope.spawn(move || {
                loop {
                    let visited = spare.try_recv().ok().and_then(|item| item.downcast().ok());
                    let mut item: Box<T> = visited.unwrap_or_default();
                    let end = fill(&mut item);
                    if filled.send(item).is_err() || !matches!(end, Ok(true)) {
                        return end.map(drop);
                    }
                }
            });
            let mut items = full.into_iter().filter_map(|item| item.downcast::<T>().ok());
            let end = items.try_for_each(|mut item| {
                visit(&mut item)?;
                // The last items are not filled again.
                let _ = visited.send(item);
                Ok(())
            });
            drop(items);
            (filler.join().unwrap_or_else(|panic| resume_unwind(panic)), end)
        })
    }

    /// An execution on these threads that stops at Ctrl-C.
    pub fn execution<'a>(&'a self, interrupt: &'a Interrupt) -> Execution<'a> {
        let execution = Execution { pool: self.pool(), ..Execution::default() };
        execution.cancelled_by(interrupt.token())
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
