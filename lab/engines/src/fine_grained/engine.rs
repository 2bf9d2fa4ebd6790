//! The implementation of [`Engine`].

use super::entries::Entries;
use super::graph::{FineGrained, Table, unit_of};
use super::stage::FineGrainedChanges;
use super::view::FineGrainedView;
use hedgerow_in_memory::records::StagedEffects;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, Changes, CommitTimestamp, Engine, EngineError, LabelId, LabelSchema, LockUnit,
    MaintenanceProgress, MemoryUse, ReadError, Retained, Staged, UnitLocks, VertexId,
};
use rayon::ThreadPool;

impl<E: Entries> Engine for FineGrained<E> {
    type Snapshot = ();
    type View<'s> = FineGrainedView<'s, E>;
    type Room = StagedEffects;
    type Staged<'l> = FineGrainedChanges<'l, E>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(vertex)
    }

    fn exists(&self, vertex: VertexId) -> bool {
        let newest = CommitTimestamp(u64::MAX);
        self.vertices.get(vertex).is_some_and(|cell| cell.read().record(newest).is_some())
    }

    /// Plans the changes and reserves memory for them; see the [module](super)'s contract. Stages
    /// effects only.
    ///
    /// [`CapacityError::Memory`](hedgerow_model::CapacityError::Memory) is the only error. Panics
    /// if the effects name a label or a direction that is not stored: the caller resolved them
    /// against the catalog.
    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<FineGrainedChanges<'l, E>>, EngineError> {
        match changes {
            Changes::Commit { effects, .. } => self.stage_effects(locks, effects, room, allowance, pool),
            Changes::Each(_) => Ok(Staged::none(FineGrainedChanges::none(self))),
        }
    }

    /// With arrays, O(entries after the first change of each row that changes): entries are
    /// inserted in place.
    fn apply(&self, _locks: &mut HeldLocks<'_>, stamps: Stamps, staged: FineGrainedChanges<'_, E>) {
        self.apply_changes(stamps.first(), staged);
    }

    /// O(stored directions).
    fn add_label(&self, label: &LabelSchema) {
        let labels = self.tables.len() / self.topology.directions().len();
        self.records.add_label(label);
        // The catalog checked that its labels can be numbered.
        Table::of(LabelId(labels as u16), label, self.topology).for_each(|table| {
            self.tables.push(table);
        });
    }

    fn open_snapshot(&self, _: &Registered) -> Result<(), EngineError> {
        Ok(())
    }

    fn view<'s>(&'s self, (): &'s (), at: &'s Registered) -> FineGrainedView<'s, E> {
        FineGrainedView::registered(self, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<FineGrainedView<'l, E>, ReadError> {
        Ok(FineGrainedView::locked(self, locks))
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        let mut reclaimed = hedgerow_in_memory::reclamation::reclaim(self, live, units, budget_bytes);
        self.records.reclaim_after(&mut reclaimed, live, budget_bytes);
        Ok(reclaimed.into())
    }

    fn memory(&self) -> MemoryUse {
        self.memory.used().plus(self.records.memory())
    }
}

impl<E: Entries> FineGrained<E> {
    /// Returns the bytes kept for each timestamp and for no newer timestamp, ascending. Leaves out
    /// units that another thread has locked.
    pub fn retained(&self, units: &UnitLocks<'_>) -> Retained {
        let mut retained = hedgerow_in_memory::reclamation::retained(self, units);
        self.records.add_retained(&mut retained);
        retained
    }
}
