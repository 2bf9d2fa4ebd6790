//! A graph for one engine: engine, dictionary, sequencer, locks, and what belongs to them.

use crate::commit::conflicts::ConflictTable;
use crate::compactor::Step;
use crate::durable::Journal;
use crate::error::{Reason, read_failed};
use crate::options::{Compaction, GraphOptions};
use hedgerow_dictionary::Dictionary;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Allowance, CapacityError, Catalogue, Engine, LabelId, MemoryUse, Progress, Reclaimed, Timestamp,
    Topology, UnitLocks,
};
use hedgerow_sequencer::{Bell, LockTable, PendingReclaim, ReclaimLocks, Sequencer};
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex, OnceLock, epoch};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;

/// Locks over units. More units than this share a lock with others.
const UNIT_STRIPES: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1 << 14 };

/// Commits that change more than this are sorted and prepared on several threads.
const PARALLEL_CHANGES: usize = 1 << 13;

/// What a writer reclaims after its commit, and a thread in a step, at most.
const STEP_BUDGET_BYTES: usize = 1 << 20;

/// If less than this is old it is left for the time being: each look at what may be freed takes a turn at what all commits and snapshots
/// share.
const LEFT_BYTES: usize = 1 << 16;

/// Writers reclaim at the same time, one and another for each of so many bytes that are old: one that lost its core while it does must not keep
/// all others from it, where threads are many and cores are few.
const BYTES_PER_RECLAIMER: usize = 16 << 20;

/// Deferred pieces of memory that are freed when the last snapshot has closed.
const FLUSHED: usize = 1 << 13;

/// Everything of a graph but its public face.
pub(crate) struct Store<E: Engine> {
    pub(crate) engine: E,
    pub(crate) dictionary: Dictionary,
    pub(crate) sequencer: Arc<Sequencer>,
    /// Where commits are logged; `None`: nowhere. The same as long as anybody else sees the graph.
    pub(crate) journal: Option<Journal>,
    pub(crate) units: LockTable,
    pub(crate) conflicts: ConflictTable,
    /// The labels whose edges have records, ascending.
    pub(crate) record_labels: Box<[LabelId]>,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) topology: Topology,
    pub(crate) strict: bool,
    /// How often a transaction in conflict is tried again.
    pub(crate) retries: u32,
    pool: OnceLock<ThreadPool>,
    threads: usize,
    /// Bytes that the graph may hold.
    memory_limit: Option<usize>,
    /// The sequencer's count of releases up to which everything is reclaimed.
    reclaimed_releases: AtomicU64,
    /// Writers that reclaim at the moment.
    pub(crate) reclaimers: AtomicUsize,
    compaction: Compaction,
    /// The first failed step of maintenance that no caller was told of yet.
    failed_maintenance: Mutex<Option<Reason>>,
    /// Whoever writes the engine's own files has it.
    pub(crate) flushing: Mutex<()>,
    /// Whoever waits until the engine admits a commit has it.
    pub(crate) admitting: Mutex<()>,
    /// Of the thread that reclaims, if one is to.
    pub(crate) bell: Option<Arc<Bell>>,
}

impl<E: Engine> Store<E> {
    /// A store around an empty engine.
    pub(crate) fn new(engine: E, options: &GraphOptions, catalogue: Arc<Catalogue>) -> Self {
        let has_thread = options.compaction == Compaction::InBackground
            && !options.is_simulated
            && !cfg!(hedgerow_shuttle);
        let bell = has_thread.then(Arc::<Bell>::default);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Store {
            engine,
            dictionary: Dictionary::new(options.keys),
            sequencer: Arc::new(Sequencer::new(
                catalogue.labels().len(),
                options.history,
                options.clock.clone(),
                bell.clone(),
            )),
            journal: None,
            units: LockTable::new(UNIT_STRIPES),
            conflicts: ConflictTable::new(),
            record_labels: catalogue.record_labels().collect(),
            catalogue,
            topology: options.topology,
            strict: options.strict,
            retries: options.retries_or_default(),
            pool: OnceLock::new(),
            threads: options.threads.unwrap_or_else(cores).max(1),
            memory_limit: options.memory_limit,
            reclaimed_releases: AtomicU64::new(0),
            reclaimers: AtomicUsize::new(0),
            compaction: options.compaction,
            failed_maintenance: Mutex::default(),
            flushing: Mutex::default(),
            admitting: Mutex::default(),
            bell,
        }
    }

    /// The labels of the graph.
    pub(crate) fn labels(&self) -> impl Iterator<Item = LabelId> + use<E> {
        // The catalogue checked that its labels can be numbered.
        (0..self.catalogue.labels().len() as u16).map(LabelId)
    }

    /// The worker threads, if a commit of so many changes is worth waking them.
    ///
    /// Only work that takes no lock of the graph runs on them. A commit on a thread of another
    /// pool does without: while it waited here with its locks held, that thread would run other work of
    /// its own pool, which may wait for the same locks.
    pub(crate) fn pool_for(&self, changes: usize) -> Option<&ThreadPool> {
        let on_another_pool = rayon::current_thread_index().is_some();
        if self.threads == 1 || changes < PARALLEL_CHANGES || on_another_pool || cfg!(hedgerow_shuttle) {
            return None;
        }
        if let Some(pool) = self.pool.get() {
            return Some(pool);
        }
        let named = |index| format!("hedgerow-{index}");
        // Without threads the commit goes on, only slower.
        let pool = ThreadPoolBuilder::new().num_threads(self.threads).thread_name(named).build().ok()?;
        Some(self.pool.get_or_init(|| pool))
    }

    /// The newest state of what is locked.
    #[inline]
    pub(crate) fn latest<'l>(&'l self, held: &'l HeldLocks<'_>) -> Result<E::View<'l>, Reason> {
        self.engine.latest(held).map_err(read_failed)
    }

    /// Frees everything that no open snapshot sees any more, for a caller who asks for it; or tells which step failed since the
    /// last call, and does nothing.
    pub(crate) fn reclaim(&self) -> Result<Reclaimed, Reason> {
        self.report_failed_maintenance()?;
        Ok(self.maintain(usize::MAX)?.reclaimed)
    }

    /// Fails with the first failed step of maintenance that no caller was told of yet.
    pub(crate) fn report_failed_maintenance(&self) -> Result<(), Reason> {
        self.failed_maintenance.lock().take().map_or(Ok(()), Err)
    }

    /// Takes a step of maintenance: frees what no open snapshot sees any more, up to about `budget_bytes`.
    pub(crate) fn maintain(&self, budget_bytes: usize) -> Result<Progress, Reason> {
        let locks = ReclaimLocks { table: &self.units, sequencer: &self.sequencer };
        self.maintain_under(&locks, budget_bytes)
    }

    /// As [`Store::maintain`], under the given locks.
    pub(crate) fn maintain_under(
        &self,
        locks: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> Result<Progress, Reason> {
        let (live, releases) = self.sequencer.live();
        let Progress { mut reclaimed, advanced } = self.engine.maintain(&live, locks, budget_bytes)?;
        reclaimed.bytes += self.dictionary.reclaim(&live, releases);
        if !reclaimed.more {
            self.reclaimed_releases.fetch_max(releases, Ordering::AcqRel);
        }
        Ok(Progress { reclaimed, advanced: advanced || reclaimed.bytes > 0 })
    }

    /// What each timestamp keeps; see [`Engine::retained`].
    pub(crate) fn retained(&self) -> BTreeMap<Timestamp, usize> {
        let locks = ReclaimLocks { table: &self.units, sequencer: &self.sequencer };
        self.engine.retained(&locks).into_iter().collect()
    }

    /// What the graph holds in memory. O(1).
    pub(crate) fn memory(&self) -> MemoryUse {
        let mut memory = self.engine.memory();
        self.add_memory_beside(&mut memory);
        memory
    }

    /// Adds what lies outside the engine.
    fn add_memory_beside(&self, memory: &mut MemoryUse) {
        memory.index_bytes +=
            self.dictionary.bytes() + self.conflicts.bytes() + self.sequencer.history_bytes();
    }

    /// Whether the memory of the graph has no limit.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.memory_limit.is_none()
    }

    /// What a commit may take.
    pub(crate) fn allowance(&self) -> Allowance {
        self.memory_limit.map_or(Allowance::UNLIMITED, |limit| {
            let mut beside = MemoryUse::default();
            self.add_memory_beside(&mut beside);
            Allowance::up_to(limit, beside.total_bytes(), 0)
        })
    }

    /// Fails if new keys of `needed` bytes exceed the limit in a graph that held `held` bytes before them.
    pub(crate) fn check_keys(&self, held: usize, needed: usize) -> Result<(), CapacityError> {
        match self.memory_limit {
            Some(limit) if held.saturating_add(needed) > limit => {
                Err(CapacityError::Memory { needed, held, limit })
            }
            _ => Ok(()),
        }
    }

    /// Reclaims a little, as part of a commit, if enough snapshots were closed since the last time
    /// (RapidStore, section 5.3: reclamation by writers), or if the engine asks for it; or wakes the thread that does.
    pub(crate) fn reclaim_after_commit(&self, pending: PendingReclaim) {
        if self.compaction == Compaction::Off || !self.is_reclaiming_worthwhile(pending) {
            return;
        }
        if self.bell.as_ref().is_some_and(|bell| bell.ring()) {
            return;
        }
        let others = self.reclaimers.fetch_add(1, Ordering::AcqRel);
        if others <= self.retained_bytes() / BYTES_PER_RECLAIMER {
            match pending.filed_late {
                true => self.reclaim_unread(),
                false => drop(self.reclaim_step()),
            }
        }
        self.reclaimers.fetch_sub(1, Ordering::AcqRel);
    }

    /// Frees what closed snapshots kept, once the last one is closed: no commit may ever follow that would do it. Up to a step is left to
    /// commits, so that readers seldom work for them.
    #[inline]
    pub(crate) fn reclaim_after_close(&self) {
        let releases = self.sequencer.pending_reclaim().releases;
        if releases > self.reclaimed_releases.load(Ordering::Relaxed) {
            self.reclaim_if_last();
        }
    }

    #[cold]
    fn reclaim_if_last(&self) {
        let is_left = self.retained_bytes() < STEP_BUDGET_BYTES || !self.sequencer.is_unread();
        if self.compaction == Compaction::Off || is_left || self.bell.as_ref().is_some_and(|bell| bell.ring())
        {
            return;
        }
        self.reclaim_unread();
        self.conflicts.forget_up_to(self.sequencer.oldest_interactive());
        epoch::free_deferred(FLUSHED);
    }

    /// Takes a step; and further ones while no snapshot is open, since nothing else may ever reclaim then.
    fn reclaim_unread(&self) {
        while self.reclaim_step() == Step::More && self.sequencer.is_unread() {}
    }

    /// Takes a step of maintenance, if there is enough to do. What fails is kept for the next caller who may be told.
    pub(crate) fn reclaim_step(&self) -> Step {
        let is_worthwhile = self.is_reclaiming_worthwhile(self.sequencer.pending_reclaim());
        if !is_worthwhile || self.sequencer.is_poisoned() {
            return Step::Done;
        }
        match self.maintain(STEP_BUDGET_BYTES) {
            Ok(Progress { reclaimed: Reclaimed { more: false, .. }, .. }) => Step::Done,
            Ok(Progress { advanced: false, .. }) => Step::Held,
            Ok(_) => Step::More,
            Err(failed) => {
                self.failed_maintenance.lock().get_or_insert(failed);
                Step::Done
            }
        }
    }

    fn is_reclaiming_worthwhile(&self, pending: PendingReclaim) -> bool {
        let new_releases = pending.releases.saturating_sub(self.reclaimed_releases.load(Ordering::Acquire));
        let may_free = new_releases > pending.open_timestamps as u64 / 16;
        (may_free && self.retained_bytes() >= LEFT_BYTES) || self.engine.is_maintenance_due()
    }

    /// Bytes of what is old, whether anybody can see it or not.
    fn retained_bytes(&self) -> usize {
        self.engine.memory().retained_bytes
    }
}
