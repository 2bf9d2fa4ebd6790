//! Capability: engines with their own files.

use crate::token::{LiveTimestamps, Registered};
use crate::{
    Admission, CommitTimestamp, CompactProgress, Counts, EngineError, EngineReport, KeyRef, VertexId,
};
use std::ops::ControlFlow;

/// An engine that stores the graph in its own files.
///
/// Durable commits are neither written to a checkpoint nor replayed from the log: when a store is
/// opened, the engine already has the state of a commit, and the log continues from there. So a
/// flush replaces the checkpoints of other engines: the log before it may be removed. For the
/// store, the engine also keeps the [keys](crate::Effects::keys) of vertices, and a
/// [note](Durable::note).
pub trait Durable: Send + Sync {
    /// The commit up to which the files are complete. They contain no later commit. Never
    /// decreases, even after failures. O(1).
    fn durable_through(&self) -> CommitTimestamp;

    /// The size of the graph as stored in the files when the engine was opened. Flushes do not
    /// change it: the pipeline reads it once, and counts from there.
    ///
    /// The engine persists the [vertex bound](Counts::vertex_bound) with each flush: the bound
    /// outlives the vertices, so it cannot be computed from the existing vertices. The other
    /// numbers may be counted from the files.
    ///
    /// # Errors
    /// A file could not be read.
    fn counts(&self) -> Result<Counts, EngineError>;

    /// Returns the note of the last flush; empty before the first flush. O(bytes).
    fn note(&self) -> Vec<u8>;

    /// Passes the vertices in the files, ascending, with their keys, to `visit`. Skips vertices
    /// that were put without a key. Called once, after the engine was opened and before anything
    /// changes. O(vertices).
    ///
    /// # Errors
    /// A file could not be read.
    fn each_key(&self, visit: &mut dyn FnMut(VertexId, KeyRef<'_>)) -> Result<(), EngineError>;

    /// Decides if a commit of about `bytes` bytes may begin. Called before the commit takes locks.
    /// An engine that has deferred too much work delays commits here, where they block no other
    /// commit. By default admits every commit. O(1).
    ///
    /// An engine without deferred work must admit a commit of any size: a flush could never make
    /// room for a commit larger than the limit, so the commit would wait forever.
    fn admit(&self, bytes: usize) -> Admission {
        let _ = bytes;
        Admission::Granted
    }

    /// Returns true if a [flush](Durable::flush) should begin, before commits have to wait for one.
    /// Then [`Engine::is_maintenance_due`](crate::Engine::is_maintenance_due) returns true, too.
    /// O(1).
    fn is_flush_due(&self) -> bool {
        false
    }

    /// Announces a [flush](Durable::flush) at `at`, which follows once the log is durable up to
    /// `at`: the engine stores later commits separately, so that the flush need not search for
    /// them. Nothing else changes, even if no flush follows. By default does nothing.
    fn begin_flush(&self, at: &Registered) {
        let _ = at;
    }

    /// Makes everything up to `at` durable, and nothing later: the caller has ensured that the log
    /// is durable up to `at`, perhaps no further. Afterwards
    /// [`durable_through`](Durable::durable_through) returns `at`, and [`note`](Durable::note)
    /// returns `note`: both change atomically. Versions that no timestamp in `live` sees need not
    /// be written.
    ///
    /// Calls of this method and of [`begin_flush`](Durable::begin_flush) never run concurrently.
    /// Other threads may concurrently stage and apply commits, open snapshots, and take steps of
    /// [maintenance](crate::Engine::maintain). The engine itself synchronizes a flush and a step if
    /// both replace files.
    ///
    /// # Errors
    /// A file could not be read or written. Then the files are unchanged, and a later call may
    /// succeed.
    fn flush(&self, at: &Registered, live: &LiveTimestamps, note: &[u8]) -> Result<(), EngineError>;

    /// Reports on the files and on memory; `None`, the default, if the engine has nothing to
    /// report. O(files); lists the directory.
    ///
    /// # Errors
    /// The directory could not be read.
    fn report(&self) -> Result<Option<EngineReport>, EngineError> {
        Ok(None)
    }

    /// Rewrites the present files until they contain only versions that some timestamp in `live`
    /// sees, in the engine's minimum number of sorted runs. Takes memory for a few blocks, and disk
    /// space for the output of its largest step. By default does nothing.
    ///
    /// Calls `observe` after each piece of work, and ends early if `observe` breaks; completed work
    /// stays. Other threads may read, commit and flush concurrently; the files that they add may
    /// stay as they are. O(bytes of the files).
    ///
    /// # Errors
    /// A file could not be read or written. The graph is as before, and a later call continues.
    fn compact_all(
        &self,
        live: &LiveTimestamps,
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let _ = (live, observe);
        Ok(ControlFlow::Continue(()))
    }
}
