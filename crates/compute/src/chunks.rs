//! One loop over chunks of work, on a pool or on the calling thread.

use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// Runs `work` on every chunk and returns the results in the order of the chunks.
///
/// With a pool the chunks are spread over its threads; without, they run one after the other on
/// the calling thread. The global pool is never used. A single chunk runs on the calling thread.
///
/// # Errors
/// An error of `work`; chunks that had not begun are not run then.
pub fn map_chunks<C: Send, R: Send, E: Send>(
    pool: Option<&ThreadPool>,
    chunks: Vec<C>,
    work: impl Fn(C) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    match pool {
        Some(pool) if chunks.len() > 1 => {
            // Chunks may differ in cost: each is worth stealing by itself.
            pool.install(|| chunks.into_par_iter().with_max_len(1).map(&work).collect())
        }
        _ => chunks.into_iter().map(work).collect(),
    }
}
