//! How a graph works, whatever its engine.

use hedgerow_model::{KeyKind, Topology};
use hedgerow_sequencer::{Clock, History};

/// How a graph works, whatever its engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether edges are directed, and which directions are stored.
    pub topology: Topology,
    /// What keys are.
    pub keys: KeyKind,
    /// Whether edges between vertices that don't exist are refused.
    pub strict: bool,
    /// Bytes that the graph may hold.
    pub memory_limit: Option<usize>,
    /// Bytes that its file may hold, if it lies in one.
    pub scratch_limit: Option<usize>,
    /// Worker threads for large commits; as many as there are cores if not set.
    pub threads: Option<usize>,
    /// Who frees what no open snapshot sees any more.
    pub compaction: Compaction,
    /// Which past states can be read.
    pub history: History,
    /// What tells the time.
    pub clock: Clock,
    /// Whether each commit of a log is applied by itself when a store is opened.
    pub keeps_commit_order: bool,
    /// No thread of the graph's own: the same calls give the same operations on files.
    pub is_simulated: bool,
}

/// Who frees what no open snapshot sees any more, and rewrites what is full of it.
///
/// `Graph::reclaim` does it at any time, and so does a commit that would exceed a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compaction {
    /// Each commit that finds enough to do does a little of it, up to a megabyte. The last snapshot that closes does what is left, if that is more than
    /// a megabyte: freeing takes about as long as a copy of that memory.
    #[default]
    ByWriters,
    /// A thread of the graph's own, which is woken by commits that find enough to do and by snapshots that close. It works in steps of up to a
    /// megabyte, and passes by what is being written to. Where no thread can be had, writers do it.
    InBackground,
    /// Nobody. The graph grows with every change, whether anybody can see what was before or not.
    Off,
}
