//! Engines that own files, as a capability.

use crate::token::Registered;
use crate::{Counts, EngineError, Timestamp};

/// An engine that keeps the graph in files of its own.
///
/// What it has made durable is neither written to a checkpoint nor replayed from the log: when a store is opened, the engine has the state of a commit
/// already, and the log follows behind that. Keys stay the business of whoever opens the store, and are in its checkpoint.
pub trait Durable {
    /// The commit up to which the files have everything, and nothing behind it. It never decreases, whatever fails. O(1).
    fn durable_through(&self) -> Timestamp;

    /// How large the graph was at the commit that the files were found to have when the engine was opened. Flushes do not change the answer: the pipeline
    /// takes it once, and counts from there.
    ///
    /// The engine persists the [vertex bound](Counts::vertex_bound) with each flush: the bound outlives the vertices, so that those that still exist do
    /// not tell it. The other numbers may be counted from the files.
    ///
    /// # Errors
    /// A file could not be read.
    fn counts(&self) -> Result<Counts, EngineError>;

    /// Makes everything up to `at` durable, and nothing behind it: the caller has made sure that the log is durable up to there, and perhaps no further.
    /// Then [`durable_through`](Durable::durable_through) says `at`.
    ///
    /// One call at a time, but beside everything else: other threads prepare and apply commits, open snapshots, and may take steps of
    /// [maintenance](crate::Engine::maintain). The engine itself keeps a flush and a step apart where both replace files.
    ///
    /// # Errors
    /// A file could not be read or written. The files then have what they had, and a later call may succeed.
    fn flush(&self, at: &Registered) -> Result<(), EngineError>;
}
