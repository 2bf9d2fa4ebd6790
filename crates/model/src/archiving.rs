//! Capability: engines that write where that is cheap, and move it later to where reading is cheap.

use crate::EngineError;
use crate::token::{LiveTimestamps, Registered};
use rayon::ThreadPool;

/// An engine whose commits first go to a log in memory, and are archived from there, many at a time (GraphOne, 5.1).
///
/// A state up to which everything is archived is the cheapest to read: the graph keeps the newest one for readers who prefer speed to
/// freshness (6.1: stale views).
pub trait Archiving {
    /// Whether so much waits that it should be archived now. O(1), called after each commit.
    fn is_due(&self) -> bool;

    /// Archives every commit up to a state, and no later one. Returns whether that is done: not if another thread has archived a later
    /// one meanwhile. If another thread archives now, waits for it if `waits`, and else does nothing.
    ///
    /// `live` were collected after the state was registered. Holds up no commit and no reader. O(changes that wait).
    ///
    /// # Errors
    /// A file of the engine could not be read or written. Nothing has changed for readers.
    fn archive(&self, at: &Registered, live: &LiveTimestamps, waits: bool) -> Result<bool, EngineError>;

    /// Archives what waits in a graph that is being restored, if that is much or `everything` is to be archived. More may follow at the
    /// timestamp of the last commit. With a pool, its threads share the work.
    ///
    /// # Errors
    /// As [`Archiving::archive`].
    fn archive_restored(&self, everything: bool, pool: Option<&ThreadPool>) -> Result<(), EngineError>;
}
