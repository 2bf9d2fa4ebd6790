//! Settings of a graph that do not depend on its engine.

use hedgerow_model::{KeyKind, Topology};
use hedgerow_sequencer::{Clock, History};

/// Settings of a graph that do not depend on its engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The topology: directed or not, and the stored directions.
    pub topology: Topology,
    /// The kind of keys.
    pub keys: KeyKind,
    /// True to refuse edges whose endpoints do not exist.
    pub strict: bool,
    /// Memory limit in bytes.
    pub memory_limit: Option<usize>,
    /// Limit in bytes of the engine's file, if it has one.
    pub scratch_limit: Option<usize>,
    /// Worker threads for large commits; by default one per core.
    pub threads: Option<usize>,
    /// The threads that collect garbage.
    pub compaction: Compaction,
    /// The past states that can be read.
    pub history: History,
    /// The clock.
    pub clock: Clock,
    /// True to apply each logged commit separately when a store is opened.
    pub keeps_commit_order: bool,
    /// True if the graph starts no threads, so that equal calls do equal file operations.
    pub is_simulated: bool,
}

/// The threads that free versions no open snapshot sees, and rewrite data that is mostly garbage.
///
/// `Graph::reclaim` does it at any time, and so does a commit that would exceed a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compaction {
    /// Each commit that finds enough garbage frees a little of it, up to a megabyte, and large
    /// commits more. So does a snapshot that closes while no other is open, if more than a megabyte
    /// is left: freeing takes about as long as copying that memory. Later commits and snapshots
    /// free the rest.
    #[default]
    ByWriters,
    /// A thread of the graph, woken by commits that find enough garbage and by snapshots that
    /// close. It works in steps of up to a megabyte, and skips units that are being written. If no
    /// thread can be spawned, writers collect garbage.
    InBackground,
    /// No thread. The graph grows with every change, whether superseded versions are visible or
    /// not.
    Off,
}
