//! A graph on one engine: engine, dictionary, sequencer, locks, and their settings.

use crate::conflicts::ConflictTable;
use crate::dictionary::Dictionary;
use crate::error::Error;
use crate::journal::Journal;
use crate::maintenance::Maintenance;
use crate::settings::Settings;
use hedgerow_erased::{ErasedEngine, ErasedView};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Allowance, CapacityError, Catalog, CommitTimestamp, Engine as _, GrowingCatalog, LabelId, MemoryUse,
    Topology,
};
use hedgerow_sequencer::{LockTable, Sequencer, Wakeup};
use hedgerow_sync::{Arc, Mutex, OnceLock};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;

/// Number of lock stripes. If there are more units, some share a lock.
const UNIT_STRIPES: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1 << 14 };

/// Commits with more changes are sorted and prepared on several threads.
const PARALLEL_CHANGES: usize = 1 << 13;

/// A graph without its public interface.
///
/// Code that runs once per commit or less is compiled once, and calls the engine through virtual
/// functions. Code that runs per edge is compiled for each engine, and takes the store [with
/// it](OnEngine).
pub struct Store {
    /// The engine, which stores vertices and edges.
    pub engine: ErasedEngine,
    /// The keys.
    pub dictionary: Dictionary,
    /// The order of commits and snapshots.
    pub sequencer: Arc<Sequencer>,
    /// The log of commits, if there is one. Does not change while the graph is shared.
    pub(crate) journal: Option<Journal>,
    pub(crate) units: LockTable,
    /// True if commits that change only edges without records append.
    pub(crate) appends: bool,
    /// Held while a commit that appends is stamped and applied.
    pub(crate) append_order: Mutex<()>,
    pub(crate) conflicts: ConflictTable,
    /// The labels and properties. Labels are added while the graph is shared.
    pub catalog: Arc<GrowingCatalog>,
    /// Held while labels are added.
    pub(crate) adding_labels: Mutex<()>,
    /// The topology: directed or not, and the stored directions.
    pub topology: Topology,
    pub(crate) strict: bool,
    pool: OnceLock<ThreadPool>,
    threads: usize,
    /// Memory limit in bytes.
    memory_limit: Option<usize>,
    /// State of deferred work.
    pub(crate) maintenance: Maintenance,
}

/// A store, with its engine at the engine's own type.
pub struct OnEngine<'s, E> {
    /// The store.
    pub store: &'s Store,
    /// The store's engine.
    pub engine: &'s E,
}

impl<E> Clone for OnEngine<'_, E> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for OnEngine<'_, E> {}

impl Store {
    /// A store around an empty engine.
    pub fn new(engine: ErasedEngine, options: &Settings, catalog: &Catalog) -> Self {
        let maintenance = Maintenance::new(options, engine.durable().is_some());
        // Appending takes memory without a check of the limit.
        let appends = engine.appends() && options.memory_limit.is_none();
        let units = if appends { LockTable::with_appenders } else { LockTable::new };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Store {
            engine,
            dictionary: Dictionary::new(options.keys),
            sequencer: Arc::new(Sequencer::new(
                catalog.labels().len(),
                options.history,
                options.clock.clone(),
                maintenance.wakeup.clone(),
            )),
            journal: None,
            units: units(UNIT_STRIPES),
            appends,
            append_order: Mutex::default(),
            conflicts: ConflictTable::new(),
            catalog: Arc::new(catalog.into()),
            adding_labels: Mutex::default(),
            topology: options.topology,
            strict: options.strict,
            pool: OnceLock::new(),
            threads: options.threads.unwrap_or_else(cores).max(1),
            memory_limit: options.memory_limit,
            maintenance,
        }
    }

    /// The log of commits, if there is one.
    #[inline]
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// The wakeup of the garbage collection thread, if the graph has one.
    pub fn wakeup(&self) -> Option<&Arc<Wakeup>> {
        self.maintenance.wakeup.as_ref()
    }

    /// The wakeup of the flush thread, if the graph has one.
    pub fn flush_wakeup(&self) -> Option<&Arc<Wakeup>> {
        self.maintenance.flush_wakeup.as_ref()
    }

    /// The labels that the graph has at the time of the call.
    pub fn labels(&self) -> impl Iterator<Item = LabelId> + use<> {
        // The catalog checked that its labels fit in 16 bits.
        (0..self.catalog.label_count() as u16).map(LabelId)
    }

    /// The worker threads, if a commit of `changes` changes is worth waking them.
    ///
    /// Only work that takes no lock of the graph runs on them. A commit on a thread of another pool
    /// gets none: while it waited here with its locks held, that thread would run other work of its
    /// own pool, which may wait for the same locks.
    pub(crate) fn pool_for(&self, changes: usize) -> Option<&ThreadPool> {
        let on_another_pool = rayon::current_thread_index().is_some();
        if self.threads == 1 || changes < PARALLEL_CHANGES || on_another_pool || cfg!(hedgerow_shuttle) {
            return None;
        }
        if let Some(pool) = self.pool.get() {
            return Some(pool);
        }
        let named = |index| format!("hedgerow-{index}");
        // Without threads the commit still works, only slower.
        let pool = ThreadPoolBuilder::new().num_threads(self.threads).thread_name(named).build().ok()?;
        Some(self.pool.get_or_init(|| pool))
    }

    /// The newest state of the units that `held` locks.
    #[inline]
    pub fn latest<'l>(&'l self, held: &'l HeldLocks<'_>) -> Result<ErasedView<'l>, Error> {
        Ok(self.engine.latest(held)?)
    }

    /// The store with its engine at the engine's own type. `engine` is the engine that the store
    /// was made with.
    #[inline]
    pub fn on<'s, E>(&'s self, engine: &'s E) -> OnEngine<'s, E> {
        OnEngine { store: self, engine }
    }

    /// Bytes that each timestamp keeps; see [`ErasedEngine::retained`].
    pub fn retained(&self) -> BTreeMap<CommitTimestamp, usize> {
        let retained = self.engine.retained(&|unit, work| self.units.try_with(unit, &self.sequencer, work));
        retained.into_iter().collect()
    }

    /// The memory that the graph uses. O(1).
    pub fn memory(&self) -> MemoryUse {
        let mut memory = self.engine.memory();
        self.add_memory_beside(&mut memory);
        memory
    }

    /// Adds the memory outside the engine.
    fn add_memory_beside(&self, memory: &mut MemoryUse) {
        memory.index_bytes +=
            self.dictionary.bytes() + self.conflicts.bytes() + self.sequencer.history_bytes();
    }

    /// Returns true if the graph has no memory limit.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.memory_limit.is_none()
    }

    /// The memory that a commit may take.
    pub(crate) fn allowance(&self) -> Allowance {
        self.memory_limit.map_or(Allowance::UNLIMITED, |limit| {
            let mut beside = MemoryUse::default();
            self.add_memory_beside(&mut beside);
            Allowance::up_to(limit, beside.total_bytes(), 0)
        })
    }

    /// Fails if new keys of `needed` bytes exceed the limit in a graph that used `held` bytes
    /// before them.
    pub(crate) fn check_keys(&self, held: usize, needed: usize) -> Result<(), CapacityError> {
        match self.memory_limit {
            Some(limit) if held.saturating_add(needed) > limit => {
                Err(CapacityError::Memory { needed, held, limit })
            }
            _ => Ok(()),
        }
    }
}
