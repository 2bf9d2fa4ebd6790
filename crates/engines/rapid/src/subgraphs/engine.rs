//! The implementation of [`Engine`].

use crate::subgraphs::container::Container;
use crate::subgraphs::graph::{AdjacencyTable, Subgraphs};
use crate::subgraphs::partition::{partition_of, unit_of};
use crate::subgraphs::prepare::SubgraphChanges;
use crate::subgraphs::view::SubgraphView;
use hedgerow_in_memory::records::StagedEffects;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Allowance, Effects, Engine, EngineError, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse, Prepared,
    ReadError, Retained, UnitLocks, VertexId,
};
use rayon::ThreadPool;

impl<C: Container> Engine for Subgraphs<C> {
    type Snapshot = ();
    type View<'s> = SubgraphView<'s, C>;
    type Room = StagedEffects;
    type Changes<'l> = SubgraphChanges<'l, C>;
    type ShortWrites = Self;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(partition_of(vertex))
    }

    /// Builds or plans the next version of each partition that changes; see the [crate]'s contract.
    ///
    /// [`CapacityError::Memory`](hedgerow_model::CapacityError::Memory) is the only error: a block
    /// cannot outgrow its offsets, because large neighbor sets lie outside of it. Panics if the
    /// effects name a label or a direction that is not stored: the caller resolved them against the
    /// catalog.
    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut StagedEffects,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<SubgraphChanges<'l, C>>, EngineError> {
        self.prepare_changes(locks, effects, room, allowance, pool)
    }

    fn apply(&self, stamp: Stamp, changes: SubgraphChanges<'_, C>) {
        self.apply_changes(stamp, changes);
    }

    /// Returns `None` if containers cannot locate changes.
    #[inline]
    fn short_writes(&self) -> Option<&Self> {
        C::LOCATES.then_some(self)
    }

    /// O(stored directions): about 2 KiB each.
    fn add_label(&self, label: &LabelSchema) {
        self.records.add_label(label);
        AdjacencyTable::of(label, self.topology).for_each(|table| {
            self.adjacencies.push(table);
        });
    }

    fn open_snapshot(&self, _: &Registered) -> Result<(), EngineError> {
        Ok(())
    }

    fn view<'s>(&'s self, (): &'s (), at: &'s Registered) -> SubgraphView<'s, C> {
        SubgraphView::registered(self, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<SubgraphView<'l, C>, ReadError> {
        Ok(SubgraphView::locked(self, locks))
    }

    #[inline]
    fn is_maintenance_due(&self) -> bool {
        self.domain.is_due()
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        let mut reclaimed = hedgerow_in_memory::reclamation::reclaim(self, live, units, budget_bytes);
        self.records.reclaim_after(&mut reclaimed, live, budget_bytes);
        self.domain.free_passed();
        Ok(reclaimed.into())
    }

    fn memory(&self) -> MemoryUse {
        self.memory.used().plus(self.records.memory())
    }
}

impl<C: Container> Subgraphs<C> {
    /// Returns the bytes kept for each timestamp and for no newer timestamp, ascending. Leaves out
    /// units that another thread has locked.
    pub fn retained(&self, units: &UnitLocks<'_>) -> Retained {
        let mut retained = hedgerow_in_memory::reclamation::retained(self, units);
        self.records.add_retained(&mut retained);
        retained
    }
}
