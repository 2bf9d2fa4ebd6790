//! Settings of a graph that do not depend on its engine.

use hedgerow_model::{KeyKind, Topology};
use hedgerow_sequencer::{Clock, History};

/// Settings of a graph that do not depend on its engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether edges are directed, and which directions are stored.
    pub topology: Topology,
    /// The kind of keys.
    pub keys: KeyKind,
    /// Whether edges are refused whose endpoints do not exist.
    pub strict: bool,
    /// Memory limit in bytes.
    pub memory_limit: Option<usize>,
    /// Limit in bytes of the engine's file, if it has one.
    pub scratch_limit: Option<usize>,
    /// Worker threads for large commits; by default one per core.
    pub threads: Option<usize>,
    /// Which threads collect garbage.
    pub compaction: Compaction,
    /// Which past states can be read.
    pub history: History,
    /// The clock.
    pub clock: Clock,
    /// Whether opening a store applies each logged commit separately.
    pub keeps_commit_order: bool,
    /// The graph starts no threads, so that the same calls do the same file operations.
    pub is_simulated: bool,
}

/// Which threads free what no open snapshot sees, and rewrite what is mostly garbage.
///
/// `Graph::reclaim` does it at any time, and so does a commit that would exceed a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compaction {
    /// Each commit that finds enough to do does a little of it, up to a megabyte, and large commits
    /// more. So does a snapshot that closes while no other is open, if more than a megabyte is left:
    /// freeing takes about as long as copying that memory. The rest is left to later ones.
    #[default]
    ByWriters,
    /// A thread of the graph, woken by commits that find enough to do and by snapshots that close.
    /// It works in steps of up to a megabyte, and skips what is being written. If no thread can be
    /// spawned, writers do it.
    InBackground,
    /// None. The graph grows with every change, whether superseded versions are visible or not.
    Off,
}
