//! Archiving, freeing memory that no view reads, and counting the memory in use.

use crate::edge_log::{Archive, Archived, Archiver, ChangeList, Cut, Ends};
use crate::graph::{Hybrid, unit_of};
use hedgerow_in_memory::reclamation::{Garbage, Memory, MemoryChange, Superseded, Versioned};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered};
use hedgerow_model::{
    Admission, Archiving, EngineError, LockUnit, MaintenanceProgress, MemoryUse, Reclaimed, UnitLocks,
    VertexId,
};
use hedgerow_sync::MutexGuard;
use hedgerow_sync::atomic::Ordering;
use rayon::ThreadPool;

/// Factor of the archiving threshold while a graph is restored: large rounds take less time, and no
/// reader waits.
const RESTORED_TOGETHER: usize = 16;

/// A round of archiving.
struct Round<'e> {
    engine: &'e Hybrid,
    /// Rounds of the retained versions, ascending.
    retained: Vec<u32>,
}

impl Archive for Round<'_> {
    fn ends(&self, table: u16) -> Ends {
        self.engine.tables.ends_of(table)
    }

    fn vertex_bound(&self) -> u32 {
        self.engine.upkeep.vertex_bound.load(Ordering::Relaxed)
    }

    fn add(&self, round: u32, adjacency: u32, changes: &ChangeList) {
        let table = self.engine.tables.at(adjacency);
        table.count(table.rows.add(round, &self.retained, changes));
    }
}

fn rounds(retained: &[Archived]) -> Vec<u32> {
    retained.iter().map(|archived| archived.round).collect()
}

impl Hybrid {
    /// Frees memory that no view reads.
    pub(crate) fn take_step(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> MaintenanceProgress {
        let before = self.memory_use().total_bytes();
        if let Some(_archiver) = self.archiver(budget_bytes == usize::MAX) {
            self.free_former(live);
        }
        self.domain.free_passed();
        let freed = before.saturating_sub(self.memory_use().total_bytes());
        let mut reclaimed = hedgerow_in_memory::reclamation::reclaim(self, live, units, budget_bytes);
        self.records.reclaim_after(&mut reclaimed, live, budget_bytes);
        let waits = Archiving::is_due(self);
        let bytes = reclaimed.bytes + freed;
        let reclaimed = Reclaimed { bytes, more: reclaimed.more || waits, ..reclaimed };
        MaintenanceProgress { reclaimed, advanced: bytes > 0 }
    }

    /// Locks the archiver. If another thread has it, waits for that thread if `waits`, else returns
    /// `None`.
    fn archiver(&self, waits: bool) -> Option<MutexGuard<'_, Archiver>> {
        match waits {
            true => Some(self.upkeep.archiver.lock()),
            false => self.upkeep.archiver.try_lock(),
        }
    }

    /// Frees the memory of versions that are no longer read. The caller has the archiver: no
    /// version is being made.
    fn free_former(&self, live: &LiveTimestamps) {
        let retained = rounds(&self.log.forget(live));
        self.tables.iter().for_each(|table| {
            table.rows.free_former(&retained);
        });
        self.upkeep.edges.lock().retain(|round, _| retained.binary_search(round).is_ok());
    }

    fn archive_round(
        &self,
        (archiver, pool): (&mut Archiver, Option<&ThreadPool>),
        retained: Vec<u32>,
        cut: Cut,
    ) {
        let round = Round { engine: self, retained };
        archiver.archive_with(&self.log, &round, cut, pool, |archived| {
            // Before readers find the version.
            self.upkeep.edges.lock().insert(archived.round, self.tables.edge_counts());
        });
        self.upkeep.archiver_bytes.store(archiver.bytes(), Ordering::Relaxed);
    }

    /// Frees the memory kept for later rounds: a large round needs much of it, and may be the last.
    fn give_up_memory(&self, archiver: &mut Archiver) {
        *archiver = Archiver::default();
        self.log.free_unused();
        self.upkeep.archiver_bytes.store(0, Ordering::Relaxed);
    }

    /// Returns the bytes in memory. O(labels).
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let mut used = self.memory.used().plus(self.records.memory());
        used = self.tables.iter().fold(used, |used, table| used.plus(table.rows.memory()));
        used = used.plus(self.log.memory());
        used.reserved_bytes += self.upkeep.archiver_bytes.load(Ordering::Relaxed);
        used
    }
}

impl Archiving for Hybrid {
    fn is_due(&self) -> bool {
        self.upkeep.is_archiving_due(self.log.waiting())
    }

    fn admit(&self) -> Admission {
        self.upkeep.admission(self.log.waiting())
    }

    fn archive(&self, at: &Registered, live: &LiveTimestamps, waits: bool) -> Result<bool, EngineError> {
        let Some(mut archiver) = self.archiver(waits) else { return Ok(false) };
        if self.log.newest().archived().through > at.at() {
            return Ok(false);
        }
        let superseded = self.upkeep.superseded.load(Ordering::Relaxed);
        let retained = rounds(&self.log.forget(live));
        self.archive_round((&mut archiver, None), retained, Cut::At(at.at()));
        self.upkeep.superseded.fetch_sub(superseded, Ordering::Relaxed);
        if waits {
            self.give_up_memory(&mut archiver);
        }
        Ok(true)
    }

    fn archive_restored(&self, everything: bool, pool: Option<&ThreadPool>) -> Result<(), EngineError> {
        if !everything && self.log.waiting() < RESTORED_TOGETHER * self.upkeep.archived_from {
            return Ok(());
        }
        let mut archiver = self.upkeep.archiver.lock();
        let retained = rounds(&self.log.versions());
        self.archive_round((&mut archiver, pool), retained, Cut::Within(self.log.latest()));
        self.give_up_memory(&mut archiver);
        Ok(())
    }
}

impl Versioned for Hybrid {
    type Place = VertexId;

    fn garbage(&self) -> &Garbage<VertexId> {
        &self.garbage
    }

    fn counters(&self) -> &Memory {
        &self.memory
    }

    fn unit_of(vertex: &VertexId) -> LockUnit {
        unit_of(*vertex)
    }

    fn free(
        &self,
        _locks: &HeldLocks<'_>,
        _unit: LockUnit,
        versions: &mut [Superseded<VertexId>],
    ) -> MemoryChange {
        // A unit is a vertex.
        let vertex = self.vertices.get(versions[0].place.get()).expect("a filed version has a vertex");
        let guard = self.domain.pin();
        // SAFETY: the unit of the vertex is locked.
        unsafe { vertex.remove_versions(versions.iter().map(|version| version.born), &guard, &guard) }
    }

    fn retained_by(&self, version: &Superseded<VertexId>, _units: &UnitLocks<'_>) -> usize {
        let vertex = self.vertices.get(version.place.get());
        vertex.map_or(0, |vertex| vertex.retained_bytes(version.born, &self.domain.pin()))
    }
}
