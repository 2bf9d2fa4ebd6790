//! The trait of the engine: commits append to the log; views read a version of the adjacencies and
//! the log after it.

use crate::changes::HybridChanges;
use crate::graph::{Hybrid, unit_of};
use crate::snapshot::HybridSnapshot;
use crate::view::HybridView;
use hedgerow_in_memory::records::StagedEffects;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Allowance, AppendEdges, Archiving, Effects, Engine, EngineError, LabelSchema, LockUnit,
    MaintenanceProgress, MemoryUse, Prepared, ReadError, Retained, UnitLocks, VertexId,
};
use rayon::ThreadPool;

impl Engine for Hybrid {
    type Snapshot = HybridSnapshot;
    type View<'s> = HybridView<'s>;
    type Room = StagedEffects;
    type Changes<'l> = HybridChanges<'l>;
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

    /// O(stored directions).
    fn add_label(&self, label: &LabelSchema) {
        self.records.add_label(label);
        // Views find the label from here on.
        self.tables.add_label(label);
    }

    fn append_edges(&self) -> Option<&dyn AppendEdges> {
        Some(self)
    }

    fn open_snapshot(&self, at: &Registered) -> Result<HybridSnapshot, EngineError> {
        Ok(HybridSnapshot::new(self.log.tail_at(at.at())))
    }

    fn view<'s>(&'s self, snapshot: &'s HybridSnapshot, at: &'s Registered) -> HybridView<'s> {
        HybridView::registered(self, snapshot, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<HybridView<'l>, ReadError> {
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
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        Ok(self.take_step(live, units, budget_bytes))
    }

    fn memory(&self) -> MemoryUse {
        self.memory_use()
    }
}

impl Hybrid {
    /// Returns the bytes kept for each timestamp and for no newer timestamp, ascending. Leaves out
    /// units that another thread has locked.
    pub fn retained(&self, units: &UnitLocks<'_>) -> Retained {
        let mut retained = hedgerow_in_memory::reclamation::retained(self, units);
        self.records.add_retained(&mut retained);
        retained
    }
}
