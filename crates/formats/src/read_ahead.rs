//! Contents of files, read while those before them are visited.

use rayon::ThreadPool;
use std::any::Any;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// Items that wait to be visited.
const ITEMS_AHEAD: usize = 1;

/// Fills items and visits them in their order, until `fill` returns false for the last one or
/// fails, or `visit` fails; returns both ends. An item is visited even if `fill` failed. With a
/// pool, a few items are filled ahead by a thread that is not of the pool, and both may use the
/// pool; the calling thread visits. Items are filled again after they were visited.
///
/// # Panics
/// If `fill` or `visit` panics.
pub fn read_ahead<T: Default + Send + 'static, E: Send, F>(
    pool: Option<&ThreadPool>,
    mut fill: impl FnMut(&mut T) -> Result<bool, E> + Send,
    mut visit: impl FnMut(&mut T) -> Result<(), F>,
) -> (Result<(), E>, Result<(), F>) {
    if pool.is_none() {
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
