//! The engine: commits append to the log; views read a version of the adjacencies and the log after
//! it.

use crate::adjacency::BlockSizes;
use crate::changes::HybridChanges;
use crate::edge_log::EdgeLog;
use crate::snapshot::HybridSnapshot;
use crate::tables::AdjacencyTables;
use crate::upkeep::Upkeep;
use crate::view::HybridView;
use hedgerow_in_memory::reclamation::{Garbage, Memory, Superseded};
use hedgerow_in_memory::records::{RecordHeap, StagedEffects};
use hedgerow_in_memory::vertices::VertexTable;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    AddLabels, Admission, Allowance, AppendEdges, Archiving, Catalog, CommitTimestamp, Effects, Engine,
    EngineError, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse, Prepared, Topology, UnitLocks,
    VertexId,
};
use hedgerow_sync::epoch::Domain;
use rayon::ThreadPool;
use std::convert::Infallible;

/// Bytes of the note that files a superseded version of a vertex.
pub(crate) const NOTE_BYTES: usize = size_of::<Superseded<VertexId>>();

/// Options of the engine: its content, and when it archives.
#[derive(Clone, Debug)]
pub struct HybridOptions {
    /// Directed edges, with or without their reverse, or undirected edges.
    pub topology: Topology,
    /// The labels and the schemas of their edges.
    pub catalog: Catalog,
    /// Policy for the sizes of the blocks of rows.
    pub block_sizes: BlockSizes,
    /// Number of edges in the log at which maintenance archives them (GraphOne, 5.1.2: the
    /// archiving threshold).
    pub archived_from: usize,
    /// Number of edges in the log at which commits wait for archiving. From half of it on they
    /// pause.
    pub most_waiting: usize,
}

impl HybridOptions {
    /// Usual sizes: edges are archived from 64 Ki on, and commits wait at 4 Mi.
    #[must_use]
    pub fn new(topology: Topology, catalog: Catalog) -> Self {
        let block_sizes = BlockSizes::default();
        HybridOptions { topology, catalog, block_sizes, archived_from: 1 << 16, most_waiting: 1 << 22 }
    }
}

/// A graph in memory with an edge log. See the [crate](crate).
pub struct Hybrid {
    pub(crate) topology: Topology,
    pub(crate) vertices: VertexTable<NOTE_BYTES>,
    pub(crate) tables: AdjacencyTables,
    pub(crate) log: EdgeLog,
    pub(crate) upkeep: Upkeep,
    /// Superseded versions of vertices.
    pub(crate) garbage: Garbage<VertexId>,
    /// Memory of vertices.
    pub(crate) memory: Memory,
    /// Domain of the readers of vertices.
    pub(crate) domain: Domain,
    pub(crate) records: RecordHeap,
}

/// Checks that a vertex, which is a lock unit, is locked.
#[inline]
pub(crate) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId, done: &str) {
    assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is {done} without its lock");
}

/// The lock that covers a vertex.
#[inline]
pub(crate) const fn unit_of(vertex: VertexId) -> LockUnit {
    LockUnit(vertex.get())
}

impl Hybrid {
    /// Creates an empty graph.
    #[must_use]
    pub fn new(options: HybridOptions) -> Self {
        let HybridOptions { topology, catalog, block_sizes, archived_from, most_waiting } = options;
        let upkeep = Upkeep::new(archived_from, most_waiting);
        Hybrid {
            topology,
            vertices: VertexTable::default(),
            tables: AdjacencyTables::new(topology, block_sizes, &catalog),
            log: EdgeLog::new(upkeep.buffer_words(), CommitTimestamp::ZERO),
            upkeep,
            garbage: Garbage::default(),
            memory: Memory::default(),
            domain: Domain::default(),
            records: RecordHeap::new(&catalog, topology),
        }
    }
}

impl AddLabels for Hybrid {
    /// O(stored directions).
    fn add_label(&self, label: &LabelSchema) {
        self.records.add_label(label);
        // Views find the label from here on.
        self.tables.add_label(label);
    }
}

impl Engine for Hybrid {
    type Snapshot = HybridSnapshot;
    type View<'s> = HybridView<'s>;
    type Room = StagedEffects;
    type Changes<'l> = HybridChanges<'l>;
    type LatestError = Infallible;
    type ShortWrites = Self;

    #[inline]
    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(vertex)
    }

    /// O(changes). Reads only edges of labels with records. Memory is the only error. Panics if the
    /// effects name a label that does not exist: the caller resolved them against the catalog.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Prepared<HybridChanges<'l>>, EngineError> {
        self.prepare_changes(locks, effects, room, allowance)
    }

    fn apply(&self, stamp: Stamp, changes: HybridChanges<'_>) {
        self.apply_changes(stamp, changes);
    }

    #[inline]
    fn short_writes(&self) -> Option<&Self> {
        Some(self)
    }

    fn add_labels(&self) -> Option<&dyn AddLabels> {
        Some(self)
    }

    fn append_edges(&self) -> Option<&dyn AppendEdges> {
        Some(self)
    }

    fn archiving(&self) -> Option<&dyn Archiving> {
        Some(self)
    }

    fn admit(&self, _bytes: usize) -> Admission {
        self.upkeep.admission(self.log.waiting())
    }

    fn open_snapshot(&self, at: &Registered) -> Result<HybridSnapshot, EngineError> {
        Ok(HybridSnapshot::new(self.log.tail_at(at.at())))
    }

    fn open_private(&self, at: &Registered) -> Result<HybridSnapshot, EngineError> {
        let snapshot = self.open_snapshot(at)?;
        self.view(&snapshot, at).index_tail();
        Ok(snapshot)
    }

    fn view<'s>(&'s self, snapshot: &'s HybridSnapshot, at: &'s Registered) -> HybridView<'s> {
        HybridView::registered(self, snapshot, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<HybridView<'l>, Infallible> {
        Ok(HybridView::locked(self, locks))
    }

    #[inline]
    fn is_maintenance_due(&self) -> bool {
        Archiving::is_due(self) || self.domain.is_due()
    }

    /// Frees memory that no view reads.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        Ok(self.take_step(live, units, budget_bytes))
    }

    fn retained(&self, units: &dyn UnitLocks) -> Vec<(CommitTimestamp, usize)> {
        let mut retained = hedgerow_in_memory::reclamation::retained(self, units);
        self.records.add_retained(&mut retained);
        retained
    }

    fn memory(&self) -> MemoryUse {
        self.memory_use()
    }
}
