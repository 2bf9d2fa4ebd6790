//! The trait of the engine: commits append to the log; views read a version of the adjacencies and
//! the log after it.

use crate::changes::HybridChanges;
use crate::edge::EdgeRoom;
use crate::edge_log::NewRun;
use crate::graph::{Hybrid, unit_of};
use crate::snapshot::HybridSnapshot;
use crate::view::HybridView;
use hedgerow_in_memory::staging::{EachOrCommit, StagingRoom};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, Archiving, Changes, Engine, EngineError, LabelSchema, LockUnit, MaintenanceProgress,
    MemoryUse, ReadError, Retained, Staged, UnitLocks, VertexId,
};
use rayon::ThreadPool;

impl Engine for Hybrid {
    type Snapshot = HybridSnapshot;
    type View<'s> = HybridView<'s>;
    type Room = StagingRoom<EdgeRoom>;
    type Staged<'l> = EachOrCommit<Option<NewRun<'l>>, HybridChanges<'l>>;

    const APPENDS: bool = true;

    #[inline]
    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(vertex)
    }

    #[inline]
    fn exists(&self, vertex: VertexId) -> bool {
        self.exists_now(vertex)
    }

    /// O(changes). Reads only edges of labels with records. Memory is the only error. Panics if the
    /// effects name a label that does not exist: the caller resolved them against the catalog.
    #[inline(always)]
    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut Self::Room,
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Staged<Self::Staged<'l>>, EngineError> {
        match changes {
            Changes::Each(edges) => {
                let edges = if allowance.is_limited() { &[] } else { edges };
                Ok(self.stage_edges(edges, &mut room.edges).map(EachOrCommit::Each))
            }
            Changes::Commit { effects, appended } => {
                let room = room.effects.get_or_insert_default();
                let staged = self.stage_effects(locks, (effects, appended), room, allowance)?;
                Ok(staged.map(Box::new).map(EachOrCommit::Commit))
            }
        }
    }

    #[inline]
    fn apply(&self, _locks: &mut HeldLocks<'_>, stamps: Stamps, staged: Self::Staged<'_>) {
        match staged {
            EachOrCommit::Each(run) => self.apply_edges(stamps, run),
            EachOrCommit::Commit(changes) => self.apply_changes(stamps.first(), *changes),
        }
    }

    /// O(stored directions).
    fn add_label(&self, label: &LabelSchema) {
        self.records.add_label(label);
        // Views find the label from here on.
        self.tables.add_label(label);
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
