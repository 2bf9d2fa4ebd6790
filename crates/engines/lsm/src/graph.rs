//! The state of the engine: the sources that commits change and views read, and the parts that
//! maintain them.

use crate::kept_rows::KeptBytes;
use crate::levels::LevelTree;
use crate::mem_graph::{FlushedMemGraphs, MemGraph};
use crate::pace::{Pace, Running};
use crate::sources::RowSources;
use hedgerow_in_memory::vertices::VertexSet;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{ColumnType, CommitTimestamp, Counts, GrowingCatalog, LockUnit, Topology, VertexId};
use hedgerow_sync::{Arc, GrowingList, Mutex, RwLock};
use std::time::Instant;

/// A graph larger than memory. See the [crate](crate).
#[derive(Debug)]
pub struct LsmEngine {
    pub(crate) topology: Topology,
    pub(crate) catalog: GrowingCatalog,
    pub(crate) limits: MemoryLimits,
    /// The types of the values of the adjacencies, shared with the tree.
    pub(crate) columns: Arc<GrowingList<ColumnType>>,
    pub(crate) tree: LevelTree,
    /// Locked for reading while a commit is applied, so that a flush, which replaces the sources,
    /// waits until no commit goes into the old ones.
    pub(crate) sources: RwLock<Arc<RowSources>>,
    /// The vertices of the newest state, so that a commit that puts edges reads no file.
    pub(crate) vertices: VertexSet,
    /// Counts as of opening.
    pub(crate) counts: Counts,
    pub(crate) flushed: FlushedMemGraphs,
    /// Memory of the rows that snapshots keep.
    pub(crate) kept: Arc<KeptBytes>,
    /// Held while the memory is divided among its users.
    pub(crate) sharing: Mutex<()>,
    /// The announced flush. Held by a running flush, so that flushes take turns.
    pub(crate) flushing: Mutex<Option<BegunFlush>>,
    pub(crate) pace: Pace,
}

/// Limits on the memory of the parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimits {
    /// Bytes of changes at which commits wait for a flush.
    pub(crate) mem_graph_bytes: usize,
    /// Bytes for blocks of files, their indexes, the set of vertices and kept rows.
    pub(crate) cache_bytes: usize,
}

impl MemoryLimits {
    /// Creates an empty MemGraph for half of the changes, in commits after `begin`. Its blocks are
    /// small parts of that, and most rows need at most 64 bytes.
    pub(crate) fn new_mem_graph(self, columns: &GrowingList<ColumnType>, begin: CommitTimestamp) -> MemGraph {
        let columns: Vec<_> = columns.iter().copied().collect();
        let bytes = self.mem_graph_bytes / 2;
        let block_words = (bytes / 32 / size_of::<u64>()).next_power_of_two().clamp(1024, 8192);
        MemGraph::new(&columns, begin, block_words, bytes / 64)
    }
}

/// A flush that has begun: later commits go into another MemGraph.
#[derive(Debug)]
pub(crate) struct BegunFlush {
    pub(crate) at: CommitTimestamp,
    pub(crate) since: Instant,
    pub(crate) running: Running,
}

impl LsmEngine {
    pub(crate) fn sources(&self) -> Arc<RowSources> {
        Arc::clone(&self.sources.read())
    }

    /// Runs `apply` on the active MemGraph, or on a new one if the active one does not take the
    /// commit.
    #[inline]
    pub(crate) fn with_active(&self, at: CommitTimestamp, apply: impl FnOnce(&MemGraph)) {
        let sources = self.sources.read();
        if sources.active().takes(at) {
            return apply(sources.active());
        }
        drop(sources);
        self.apply_beyond(at, apply);
    }

    /// Like [`LsmEngine::with_active`], for a commit whose timestamp the active MemGraph does not
    /// take, which may happen before a flush is due.
    #[cold]
    fn apply_beyond(&self, at: CommitTimestamp, apply: impl FnOnce(&MemGraph)) {
        let mut sources = self.sources.write();
        if !sources.active().takes(at) {
            // Commits before this one may be applied after it.
            let begin = CommitTimestamp(at.0.saturating_sub(MemGraph::MOST_COMMITS / 2));
            *sources = Arc::new(self.with_new_mem_graph(&sources, begin));
        }
        apply(sources.active());
    }

    /// Returns these sources with an empty active MemGraph for commits after `begin`.
    pub(crate) fn with_new_mem_graph(&self, sources: &RowSources, begin: CommitTimestamp) -> RowSources {
        let active = Arc::new(self.limits.new_mem_graph(&self.columns, begin));
        let mem_graphs = std::iter::once(active).chain(sources.mem_graphs.iter().cloned()).collect();
        RowSources { mem_graphs, levels: Arc::clone(&sources.levels) }
    }

    /// The number of adjacencies.
    pub(crate) fn adjacencies(&self) -> u32 {
        self.columns.len() as u32
    }
}

/// Checks that a vertex, which is a lock unit, is locked.
pub(crate) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId, done: &str) {
    assert!(locks.covers(LockUnit(vertex.get())), "vertex {vertex} is {done} without its lock");
}
