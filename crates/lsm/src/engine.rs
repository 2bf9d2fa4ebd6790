//! The engine: commits go into the active MemGraph, a flush moves them to level 0, maintenance
//! compacts levels.

use crate::LsmOptions;
use crate::adjacency::{VERTICES, columns};
use crate::changes::{LsmChanges, NewContent, NewVersion};
use crate::mem_graph::{MemContent, MemGraph};
use crate::presence::Presence;
use crate::sources::{RowReader, Sources};
use crate::view::LsmView;
use hedgerow_levels::{LevelOptions, LevelTree};
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Admission, Allowance, ColumnType, CommitTimestamp, Counts, Durable, Effects, Engine, EngineError,
    LockUnit, MaintenanceProgress, MemoryUse, NoShortWrites, Prepared, Reclaimed, UnitLocks, VertexId,
    ViewState,
};
use hedgerow_sync::{Arc, Mutex, RwLock};
use rayon::ThreadPool;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// A graph larger than memory. See the [crate](crate).
#[derive(Debug)]
pub struct LsmEngine {
    pub(crate) options: LsmOptions,
    /// The types of the values of the adjacencies.
    columns: Vec<ColumnType>,
    pub(crate) tree: LevelTree,
    /// Shared while a commit is applied, so that a flush, which replaces the sources, waits until no
    /// commit goes into the old ones.
    pub(crate) sources: RwLock<Arc<Sources>>,
    /// The vertices of the newest state.
    pub(crate) presence: Presence,
    /// As of opening.
    pub(crate) counts: Counts,
    /// Flushes take turns.
    pub(crate) flushing: Mutex<()>,
}

/// The MemGraphs and the files that a snapshot reads.
#[derive(Debug)]
pub struct LsmSnapshot(Arc<Sources>);

/// Checks that a vertex, which is a lock unit, is locked.
pub(crate) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId, done: &str) {
    assert!(locks.covers(LockUnit(vertex.get())), "vertex {vertex} is {done} without its lock");
}

impl LsmEngine {
    /// Opens the engine's files, or starts empty if there are none. Reads the indexes of the files and
    /// the vertices, not the edges.
    ///
    /// # Errors
    /// A file could not be read or is damaged, or one that an earlier process left unfinished could
    /// not be removed.
    pub fn open(files: Arc<dyn FileSystem>, options: LsmOptions) -> Result<Self, EngineError> {
        let columns = columns(&options.catalog);
        let level_options = LevelOptions {
            level_0_files: options.level_0_files,
            level_1_bytes: options.level_1_bytes,
            fan_out: options.fan_out,
            segment_bytes: options.segment_bytes,
            cache_bytes: options.cache_bytes,
            ..LevelOptions::new(columns.clone())
        };
        let tree = LevelTree::open(files, level_options)?;
        let levels = tree.current();
        let counts = levels.counts().clone();
        let active = Arc::new(MemGraph::new(&columns, options.mem_graph_block_words()));
        let sources = Arc::new(Sources { mem_graphs: vec![active], levels });
        let presence = Presence::default();
        let newest = CommitTimestamp(u64::MAX);
        let _: ControlFlow<()> =
            RowReader::new(&sources, VERTICES, newest, false).scan(0..u32::MAX, |vertex, row| {
                presence.set(vertex, row.edges().next().is_some());
                Ok(ControlFlow::Continue(()))
            })?;
        let (sources, flushing) = (RwLock::new(sources), Mutex::default());
        Ok(LsmEngine { options, columns, tree, sources, presence, counts, flushing })
    }

    pub(crate) fn sources(&self) -> Arc<Sources> {
        Arc::clone(&self.sources.read())
    }

    /// An empty MemGraph.
    pub(crate) fn new_mem_graph(&self) -> Arc<MemGraph> {
        Arc::new(MemGraph::new(&self.columns, self.options.mem_graph_block_words()))
    }

    /// The number of adjacencies.
    pub(crate) fn adjacencies(&self) -> u32 {
        self.columns.len() as u32
    }

    fn view_of<'s>(&'s self, sources: Arc<Sources>, state: ViewState<'s>) -> LsmView<'s> {
        LsmView { options: &self.options, presence: &self.presence, sources, state }
    }

    /// Lets later views read the levels that the tree has by now.
    pub(crate) fn renew_levels(&self) {
        let mut sources = self.sources.write();
        let mem_graphs = sources.mem_graphs.clone();
        *sources = Arc::new(Sources { mem_graphs, levels: self.tree.current() });
    }
}

impl Engine for LsmEngine {
    type Snapshot = LsmSnapshot;
    type View<'s> = LsmView<'s>;
    type Room = ();
    type Changes<'l> = LsmChanges;
    type LatestError = Infallible;
    type ShortWrites = NoShortWrites;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        LockUnit(vertex.get())
    }

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        (): &'l mut (),
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Prepared<LsmChanges>, EngineError> {
        let Ok(newest) = self.latest(locks);
        let (changes, outcome) = LsmChanges::of(effects, &self.options, locks, &newest)?;
        allowance.check(self.memory().total_bytes(), changes.bytes() as isize)?;
        // Comparing with the existing state would require reading it.
        let changed = !changes.versions.is_empty();
        Ok(Prepared { changes, outcome, changed })
    }

    fn apply(&self, stamp: Stamp, LsmChanges { versions, records }: LsmChanges) {
        let sources = self.sources.read();
        let active = sources.active();
        for NewVersion { adjacency, owner, neighbor, content } in versions {
            if adjacency == VERTICES {
                self.presence.set(owner, !matches!(content, NewContent::Deleted));
            }
            let content = match content {
                NewContent::Deleted => None,
                NewContent::Value(value) => Some(MemContent::Value(value)),
                NewContent::Record(place) => Some(MemContent::Record(&records[place])),
            };
            active.push(adjacency, owner, neighbor, stamp.at(), stamp.editable_from(), content);
        }
    }

    fn durable(&self) -> Option<&dyn Durable> {
        Some(self)
    }

    fn admit(&self, bytes: usize) -> Admission {
        let (held, limit) = (self.sources.read().used_bytes(), self.options.mem_graph_bytes);
        // A commit larger than the limit goes beyond it in any case.
        if held.saturating_add(bytes.min(limit / 2)) > limit {
            return Admission::AfterFlush;
        }
        match self.tree.is_overfull() {
            true => Admission::AfterMaintenance,
            false => Admission::Granted,
        }
    }

    fn open_snapshot(&self, _: &Registered) -> Result<LsmSnapshot, EngineError> {
        Ok(LsmSnapshot(self.sources()))
    }

    fn view<'s>(&'s self, snapshot: &'s LsmSnapshot, at: &'s Registered) -> LsmView<'s> {
        let sources = Arc::clone(&snapshot.0);
        self.view_of(sources, ViewState::Registered(at))
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<LsmView<'l>, Infallible> {
        Ok(self.view_of(self.sources(), ViewState::Locked(locks)))
    }

    fn is_maintenance_due(&self) -> bool {
        self.tree.needs_compaction() || self.is_flush_due()
    }

    /// Compacts one level, whatever the budget, and removes files that no view reads any more.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        _units: &dyn UnitLocks,
        _budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        let compacted = self.tree.compact(live)?;
        if compacted {
            self.renew_levels();
        }
        let removed = self.tree.remove_unread()?;
        let reclaimed = Reclaimed { more: self.tree.needs_compaction(), ..Reclaimed::default() };
        Ok(MaintenanceProgress { reclaimed, advanced: compacted || removed > 0 })
    }

    fn memory(&self) -> MemoryUse {
        let sources = self.sources.read();
        let live_bytes = sources.mem_graph_bytes();
        MemoryUse {
            live_bytes,
            index_bytes: sources.levels.index_bytes() + self.presence.bytes() + self.tree.cache_bytes(),
            ..MemoryUse::default()
        }
    }
}
