//! One loop over chunks of work, on a pool or on the calling thread.

use crate::Mutex;
use crate::atomic::{AtomicBool, Ordering};
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// Runs `work` on every chunk and returns the results in the order of the chunks.
///
/// With a pool the chunks are distributed to its threads; without, they run one after the other on
/// the calling thread. The global pool is never used. A single chunk runs on the calling thread.
///
/// # Errors
/// An error of `work`; chunks that had not begun are then skipped.
pub fn map_chunks<C: Send, R: Send, E: Send>(
    pool: Option<&ThreadPool>,
    chunks: Vec<C>,
    work: impl Fn(C) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    // Whatever does not depend on the work is in the functions below, because this is compiled for
    // every kind of work.
    let slots = ChunkSlots::new(chunks);
    on_each(pool, slots.chunks.len(), &|index| {
        if let Some(chunk) = slots.take(index) {
            slots.put(index, work(chunk));
        }
    });
    slots.into_results()
}

/// The chunks that wait, and the results of those that are done.
struct ChunkSlots<C, R, E> {
    chunks: Vec<Mutex<Option<C>>>,
    results: Vec<Mutex<Option<Result<R, E>>>>,
    has_failed: AtomicBool,
}

impl<C, R, E> ChunkSlots<C, R, E> {
    #[inline(never)]
    fn new(chunks: Vec<C>) -> Self {
        let mut slots = ChunkSlots {
            chunks: Vec::with_capacity(chunks.len()),
            results: Vec::with_capacity(chunks.len()),
            has_failed: AtomicBool::new(false),
        };
        for chunk in chunks {
            slots.chunks.push(Mutex::new(Some(chunk)));
            slots.results.push(Mutex::new(None));
        }
        slots
    }

    /// Returns a chunk to work on; `None` once another one failed.
    #[inline(never)]
    fn take(&self, index: usize) -> Option<C> {
        if self.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        self.chunks[index].lock().take()
    }

    #[inline(never)]
    fn put(&self, index: usize, result: Result<R, E>) {
        if result.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        *self.results[index].lock() = Some(result);
    }

    #[inline(never)]
    fn into_results(self) -> Result<Vec<R>, E> {
        let mut results = Vec::with_capacity(self.results.len());
        for result in self.results {
            // A chunk without a result was skipped after an error, which is among the results.
            if let Some(result) = result.into_inner() {
                results.push(result?);
            }
        }
        Ok(results)
    }
}

/// Calls `work` with every index below `count`, on the threads of `pool` if there is one.
///
/// Not generic, so that the machinery of parallel iteration is compiled once, and the work once for
/// both ways, and not for every kernel on every engine.
fn on_each(pool: Option<&ThreadPool>, count: usize, work: &(dyn Fn(usize) + Sync)) {
    match pool {
        // Chunks may differ in cost, so each can be stolen by itself.
        Some(pool) if count > 1 => {
            pool.install(|| (0..count).into_par_iter().with_max_len(1).for_each(work));
        }
        _ => (0..count).for_each(work),
    }
}
