//! The implementation of [`Engine`].

use crate::subgraphs::container::Container;
use crate::subgraphs::edge::EdgePlaces;
use crate::subgraphs::graph::{AdjacencyTable, Subgraphs};
use crate::subgraphs::partition::{partition_of, unit_of};
use crate::subgraphs::stage::SubgraphChanges;
use crate::subgraphs::view::SubgraphView;
use hedgerow_in_memory::staging::{EachOrCommit, EdgePlans, StagedEdges, StagingRoom};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, Changes, Engine, EngineError, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse,
    ReadError, Retained, Staged, UnitLocks, VertexId,
};
use rayon::ThreadPool;

impl<C: Container> Engine for Subgraphs<C> {
    type Snapshot = ();
    type View<'s> = SubgraphView<'s, C>;
    type Room = StagingRoom<EdgePlans<EdgePlaces>>;
    type Staged<'l> = EachOrCommit<StagedEdges<'l, EdgePlaces>, SubgraphChanges<'l, C>>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(partition_of(vertex))
    }

    #[inline]
    fn exists(&self, vertex: VertexId) -> bool {
        self.exists_now(vertex)
    }

    /// Builds or plans the next version of each partition that changes; see the [crate]'s contract.
    ///
    /// [`CapacityError::Memory`](hedgerow_model::CapacityError::Memory) is the only error: a block
    /// cannot outgrow its offsets, because large neighbor sets lie outside of it. Panics if the
    /// effects name a label or a direction that is not stored: the caller resolved them against the
    /// catalog.
    #[inline(always)]
    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut Self::Room,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<Self::Staged<'l>>, EngineError> {
        match changes {
            Changes::Each(edges) => {
                let is_short = C::LOCATES && !allowance.is_limited();
                let edges = if is_short { edges } else { &[] };
                Ok(self.stage_edges(locks, edges, &mut room.edges).map(EachOrCommit::Each))
            }
            Changes::Commit { effects, .. } => {
                let room = room.effects.get_or_insert_default();
                let staged = self.stage_effects(locks, effects, room, allowance, pool)?;
                Ok(staged.map(Box::new).map(EachOrCommit::Commit))
            }
        }
    }

    #[inline]
    fn apply(&self, _locks: &mut HeldLocks<'_>, stamps: Stamps, staged: Self::Staged<'_>) {
        match staged {
            EachOrCommit::Each(edges) => self.apply_edges(stamps, edges),
            EachOrCommit::Commit(changes) => self.apply_changes(stamps.first(), *changes),
        }
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
