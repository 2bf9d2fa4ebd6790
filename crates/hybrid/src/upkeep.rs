//! Archiving, freeing what no view reads, and how much memory that leaves.

use crate::engine::{Hybrid, unit_of};
use hedgerow_edge_log::{Archive, Archived, Archiver, ChangeList, Ends};
use hedgerow_model::token::{HeldLocks, LiveTimestamps};
use hedgerow_model::{
    Admission, LabelId, LockUnit, MaintenanceProgress, MemoryUse, Reclaimed, UnitLocks, VertexId,
};
use hedgerow_reclamation::{Garbage, Memory, MemoryChange, Superseded, Versioned};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use hedgerow_sync::epoch;
use rayon::ThreadPool;
use std::collections::BTreeMap;
use std::time::Duration;

/// The most edges that are archived in one round, so that a step does not take seconds.
const MOST_AT_ONCE: usize = 1 << 20;

/// Words of a buffer of the log. A reader of single rows reads through the newest one.
const BUFFER_WORDS: usize = if cfg!(hedgerow_shuttle) { 9 } else { 1 << 13 };

/// The longest pause of a commit while the log fills.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// When edges are archived, and what that knows.
pub(crate) struct Upkeep {
    archived_from: usize,
    most_waiting: usize,
    /// Whether commits are admitted. They are not while a graph is restored, and there is no maintenance either.
    admits_commits: AtomicBool,
    /// Held by the thread that archives.
    archiver: Mutex<Archiver>,
    archiver_bytes: AtomicUsize,
    /// Greater than the ids of all vertices that ever were.
    vertex_bound: AtomicU32,
    /// The number of edges of each label in each version that is retained.
    edges: Mutex<BTreeMap<u32, Vec<u64>>>,
}

impl Upkeep {
    pub(crate) fn new(archived_from: usize, most_waiting: usize) -> Self {
        let (archiver, archiver_bytes, vertex_bound, edges) = Default::default();
        let archived_from = archived_from.max(1);
        let most_waiting = most_waiting.max(2 * archived_from);
        let admits_commits = AtomicBool::new(false);
        Upkeep { archived_from, most_waiting, admits_commits, archiver, archiver_bytes, vertex_bound, edges }
    }

    /// Words of a buffer of the log: buffers are archived as a whole, so that there should be several at the threshold.
    pub(crate) fn buffer_words(&self) -> usize {
        BUFFER_WORDS.min(self.archived_from.next_power_of_two().max(8))
    }

    #[inline]
    pub(crate) fn is_archiving_due(&self, waiting: usize) -> bool {
        waiting >= self.archived_from
    }

    /// Commits pause when the log is half full, ever longer, and wait when it is full.
    #[inline]
    pub(crate) fn admission(&self, waiting: usize) -> Admission {
        if !self.admits_commits.load(Ordering::Relaxed) {
            self.admits_commits.store(true, Ordering::Relaxed);
        }
        let half = self.most_waiting / 2;
        match waiting.saturating_sub(half) {
            0 => Admission::Granted,
            beyond if beyond >= half => Admission::AfterMaintenance,
            beyond => {
                let part = beyond as f64 / half as f64;
                Admission::AfterPause(LONGEST_PAUSE.mul_f64(part * part))
            }
        }
    }

    /// Notes that a vertex may get edges.
    pub(crate) fn note_vertex(&self, vertex: VertexId) {
        if self.vertex_bound.load(Ordering::Relaxed) <= vertex.get() {
            self.vertex_bound.fetch_max(vertex.get() + 1, Ordering::Relaxed);
        }
    }

    /// The number of edges of a label in a version that is retained.
    pub(crate) fn edges_in(&self, round: u32, label: LabelId) -> u64 {
        let edges = self.edges.lock();
        edges.get(&round).and_then(|edges| edges.get(label.index()).copied()).unwrap_or(0)
    }
}

/// A round of archiving.
struct Round<'e> {
    engine: &'e Hybrid,
    /// The versions that are retained, ascending.
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
    /// Takes a step of maintenance: archives, if many edges wait or the budget has no limit, and frees what no view reads.
    pub(crate) fn take_step(
        &self,
        live: &LiveTimestamps,
        units: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> MaintenanceProgress {
        let before = self.memory_use().total_bytes();
        let archived = self.archive(live, budget_bytes == usize::MAX);
        let freed = before.saturating_sub(self.memory_use().total_bytes());
        let mut reclaimed = hedgerow_reclamation::reclaim(self, live, units, budget_bytes);
        self.records.reclaim_after(&mut reclaimed, live, budget_bytes);
        let waits = self.upkeep.is_archiving_due(self.log.waiting());
        let bytes = reclaimed.bytes + freed;
        let reclaimed = Reclaimed { bytes, more: reclaimed.more || waits, ..reclaimed };
        MaintenanceProgress { reclaimed, advanced: archived || bytes > 0 }
    }

    /// Archives buffers of the log, and frees blocks. Returns whether there were any to archive. If another thread does that, waits for it
    /// to archive everything, and else does nothing.
    fn archive(&self, live: &LiveTimestamps, everything: bool) -> bool {
        let archiver = &self.upkeep.archiver;
        let Some(mut archiver) = everything.then(|| archiver.lock()).or_else(|| archiver.try_lock()) else {
            return false;
        };
        let is_due = everything || self.upkeep.is_archiving_due(self.log.waiting());
        if is_due {
            // A large commit lies in the newest buffer, perhaps with no other after it.
            self.log.seal();
        }
        let retained = rounds(&self.log.forget(live));
        let archived = is_due && self.archive_round((&mut archiver, None), retained, everything);
        let retained = rounds(&self.log.forget(live));
        self.tables.iter().for_each(|table| {
            table.rows.free_former(&retained);
        });
        self.upkeep.edges.lock().retain(|round, _| retained.binary_search(round).is_ok());
        archived
    }

    /// Archives what waits in the log of a graph that is being restored, if that is much.
    pub(crate) fn archive_restored(&self, pool: Option<&ThreadPool>) {
        let is_restoring = !self.upkeep.admits_commits.load(Ordering::Relaxed);
        if is_restoring && self.log.waiting() >= MOST_AT_ONCE {
            let mut archiver = self.upkeep.archiver.lock();
            let retained = rounds(&self.log.versions());
            self.archive_round((&mut archiver, pool), retained, true);
        }
    }

    fn archive_round(
        &self,
        (archiver, pool): (&mut Archiver, Option<&ThreadPool>),
        retained: Vec<u32>,
        everything: bool,
    ) -> bool {
        let round = Round { engine: self, retained };
        let most = if everything { usize::MAX } else { MOST_AT_ONCE };
        let archived = archiver.archive_with(&self.log, &round, most, pool, |archived| {
            // Before readers find the version.
            self.upkeep.edges.lock().insert(archived.round, self.tables.edge_counts());
        });
        if everything {
            // Many edges need much memory, and these may be the last.
            *archiver = Archiver::default();
            self.log.free_unused();
        }
        self.upkeep.archiver_bytes.store(archiver.bytes(), Ordering::Relaxed);
        archived.is_some()
    }

    /// Bytes in memory. O(labels).
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let mut used = self.memory.used().plus(self.records.memory());
        used = self.tables.iter().fold(used, |used, table| used.plus(table.rows.memory()));
        used = used.plus(self.log.memory());
        used.reserved_bytes += self.upkeep.archiver_bytes.load(Ordering::Relaxed);
        used
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
        let guard = epoch::pin();
        let mut change = MemoryChange::default();
        for version in versions {
            let vertex = self.vertices.get(version.place.get()).expect("a filed version has a vertex");
            // SAFETY: the unit of the vertex is locked.
            change += unsafe { vertex.remove_version(version.born, &guard, &guard) };
        }
        change
    }

    fn retained_by(&self, version: &Superseded<VertexId>, _units: &dyn UnitLocks) -> usize {
        let vertex = self.vertices.get(version.place.get());
        vertex.map_or(0, |vertex| vertex.retained_bytes(version.born, &epoch::pin()))
    }
}
