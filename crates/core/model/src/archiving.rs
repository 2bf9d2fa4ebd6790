//! Capability: engines that write to a log first, and later move the changes to a structure that is
//! cheap to read.

use crate::token::{LiveTimestamps, Registered};
use crate::{Admission, EngineError};
use rayon::ThreadPool;

/// An engine whose commits first go to a log in memory, from which they are archived in batches
/// (GraphOne, 5.1).
///
/// A fully archived state is the cheapest to read: the graph keeps the newest one for readers that
/// prefer speed to freshness (GraphOne, 6.1: stale views).
pub trait Archiving: Send + Sync {
    /// Returns true if enough changes wait to be archived now. O(1), called after each commit.
    fn is_due(&self) -> bool;

    /// Decides if a commit may begin, as [`Durable::admit`](crate::Durable::admit) does.
    fn admit(&self) -> Admission;

    /// Archives every commit up to `at`, and no later commit. Returns false if another thread has
    /// already archived a later commit. If another thread is archiving, waits for it if `waits` is
    /// true, else does nothing and returns false.
    ///
    /// `live` were collected after `at` was registered. Blocks no commit and no reader. O(changes
    /// that wait).
    ///
    /// # Errors
    /// A file of the engine could not be read or written. Nothing has changed for readers.
    fn archive(&self, at: &Registered, live: &LiveTimestamps, waits: bool) -> Result<bool, EngineError>;

    /// Archives the waiting changes of a graph that is being restored, if there are many or
    /// `everything` is true. More changes may follow at the timestamp of the last commit. With a
    /// pool, its threads share the work.
    ///
    /// # Errors
    /// The errors of [`Archiving::archive`].
    fn archive_restored(&self, everything: bool, pool: Option<&ThreadPool>) -> Result<(), EngineError>;
}
