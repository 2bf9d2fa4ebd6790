//! The implementation of [`Engine`].

use crate::edge::EdgePlaces;
use crate::graph::{AdjacencyTable, Tel, unit_of};
use crate::stage::TelChanges;
use crate::view::TelView;
use hedgerow_in_memory::staging::{EachOrCommit, EdgePlans, StagedEdges, StagingRoom};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, Changes, Engine, EngineError, LabelId, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse,
    ReadError, Retained, Staged, UnitLocks, VertexId,
};
use rayon::ThreadPool;

impl Engine for Tel {
    type Snapshot = ();
    type View<'s> = TelView<'s>;
    type Room = StagingRoom<EdgePlans<EdgePlaces>>;
    type Staged<'l> = EachOrCommit<StagedEdges<'l, EdgePlaces>, TelChanges<'l>>;

    #[inline]
    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        unit_of(vertex)
    }

    #[inline]
    fn exists(&self, vertex: VertexId) -> bool {
        self.exists_now(vertex)
    }

    /// Copies the blocks that have no room, and writes new entries where no reader looks yet.
    ///
    /// [`Capacity`](EngineError::Capacity) is the only kind of error: memory or, with the blocks in
    /// a file, the disk ran out. Panics if the effects name a label or a direction that is not
    /// stored: the caller resolved them against the catalog.
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
                let may_grow = !allowance.is_limited();
                Ok(self.stage_edges(locks, edges, &mut room.edges, may_grow).map(EachOrCommit::Each))
            }
            Changes::Commit { effects, .. } => {
                let room = room.effects.get_or_insert_default();
                let staged = self.stage_effects(locks, effects, room, allowance, pool)?;
                Ok(staged.map(Box::new).map(EachOrCommit::Commit))
            }
        }
    }

    #[inline]
    fn apply(&self, locks: &mut HeldLocks<'_>, stamps: Stamps, staged: Self::Staged<'_>) {
        match staged {
            EachOrCommit::Each(edges) => self.apply_edges(locks, stamps, edges),
            EachOrCommit::Commit(changes) => self.apply_changes(locks, stamps.first(), *changes),
        }
    }

    /// O(stored directions).
    fn add_label(&self, label: &LabelSchema) {
        let labels = self.tables.len() / self.indexes.len();
        self.records.add_label(label);
        // The catalog checked that its labels can be numbered.
        AdjacencyTable::of(LabelId(labels as u16), label, self.topology).for_each(|table| {
            self.tables.push(table);
        });
    }

    fn open_snapshot(&self, _: &Registered) -> Result<(), EngineError> {
        Ok(())
    }

    fn view<'s>(&'s self, (): &'s (), at: &'s Registered) -> TelView<'s> {
        TelView::registered(self, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<TelView<'l>, ReadError> {
        Ok(TelView::locked(self, locks))
    }

    #[inline]
    fn is_maintenance_due(&self) -> bool {
        self.sparse.is_worthwhile() || self.retired.is_due()
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        let before = self.memory().total_bytes();
        let mut reclaimed = hedgerow_in_memory::reclamation::reclaim(self, live, units, budget_bytes);
        self.records.reclaim_after(&mut reclaimed, live, budget_bytes);
        self.compact_sparse(units, budget_bytes, &mut reclaimed);
        self.retired.free_passed(&self.store);
        // A replaced log counts until no reader can be reading it.
        reclaimed.bytes = before.saturating_sub(self.memory().total_bytes());
        Ok(reclaimed.into())
    }

    fn memory(&self) -> MemoryUse {
        self.memory_use().plus(self.records.memory())
    }
}

impl Tel {
    /// Returns the bytes kept for each timestamp and for no newer timestamp, ascending. Leaves out
    /// units that another thread has locked.
    pub fn retained(&self, units: &UnitLocks<'_>) -> Retained {
        let mut retained = hedgerow_in_memory::reclamation::retained(self, units);
        self.records.add_retained(&mut retained);
        retained
    }
}
