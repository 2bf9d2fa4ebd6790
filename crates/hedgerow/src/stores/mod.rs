//! The closed set of engines: one match per call, never per edge.
//!
//! An engine that is compiled on demand has its `cfg` attributes here: at its module, its variant of
//! [`Stores`], its arm of the macro, and where it is made.

#[cfg(feature = "custom-engines")]
mod custom;
#[cfg(feature = "hybrid")]
mod hybrid;
#[cfg(feature = "rapid")]
mod rapid;
#[cfg(feature = "tel")]
mod tel;

use crate::error::{Error, Reason};
use crate::options::{EngineKind, GraphOptions};
use hedgerow_log::files::{EngineFiles, FileSystem};
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, Engine, FilesCheck, MemoryUse};
use hedgerow_pipeline::{BackgroundThread, Store};
use hedgerow_subgraphs::SubgraphOptions;
use hedgerow_sync::Arc;
use hedgerow_sync::fork::Process;
use std::ops::Deref;

/// A store, for whichever engine.
#[allow(clippy::large_enum_variant, reason = "there is one per graph")]
pub enum Stores {
    #[cfg(feature = "rapid")]
    Rapid(Store<hedgerow_rapid::Rapid>),
    #[cfg(feature = "tel")]
    Tel(Store<hedgerow_tel::Tel>),
    #[cfg(feature = "hybrid")]
    Hybrid(Store<hedgerow_hybrid::Hybrid>),
    #[cfg(feature = "custom-engines")]
    Custom(Store<hedgerow_erased::ErasedEngine>),
}

/// Coerces to `&Stores`, so that the macros below take any reference or smart pointer to the stores.
#[inline]
pub(crate) fn the(stores: &Stores) -> &Stores {
    stores
}

/// The match on the engine: runs an expression with the store, and with what the engine made of a snapshot. `rapid` and `tel` make
/// nothing.
macro_rules! with_engine {
    ($stores:expr, $hybrid:expr, $custom:expr, ($store:ident, $state:ident) => $run:expr) => {
        match $stores {
            #[cfg(feature = "rapid")]
            $crate::stores::Stores::Rapid($store) => {
                let $state = &();
                $run
            }
            #[cfg(feature = "tel")]
            $crate::stores::Stores::Tel($store) => {
                let $state = &();
                $run
            }
            #[cfg(feature = "hybrid")]
            $crate::stores::Stores::Hybrid($store) => {
                let $state = $hybrid;
                $run
            }
            #[cfg(feature = "custom-engines")]
            $crate::stores::Stores::Custom($store) => {
                let $state = $custom;
                $run
            }
        }
    };
}
pub(crate) use with_engine;

/// Runs an expression with the store of the graph's engine; with `mut`, with one that may be changed.
macro_rules! with_store {
    (mut $stores:expr, $store:ident => $run:expr) => {
        $crate::stores::with_engine!($stores, &(), &(), ($store, _state) => $run)
    };
    ($stores:expr, $store:ident => $run:expr) => {
        $crate::stores::with_engine!($crate::stores::the($stores), &(), &(), ($store, _state) => $run)
    };
}
pub(crate) use with_store;

/// Runs an expression with the store of the graph's engine and what the engine made of a snapshot.
macro_rules! with_snapshot {
    ($stores:expr, $snapshot:expr, ($store:ident, $state:ident) => $run:expr) => {{
        let _snapshot: &$crate::stores::EngineSnapshot = $snapshot;
        let _stores = $crate::stores::the($stores);
        $crate::stores::with_engine!(_stores, _snapshot.hybrid(), _snapshot.custom(), ($store, $state) => $run)
    }};
}
pub(crate) use with_snapshot;

/// What the engine of a graph made of a snapshot.
pub(crate) enum EngineSnapshot {
    /// Nothing: `rapid` and `tel` read by timestamp.
    None,
    #[cfg(feature = "hybrid")]
    Hybrid(hedgerow_hybrid::HybridSnapshot),
    #[cfg(feature = "custom-engines")]
    Custom(hedgerow_erased::ErasedSnapshot),
}

impl EngineSnapshot {
    /// That of a graph in `hybrid`.
    #[cfg(feature = "hybrid")]
    #[inline]
    pub(crate) fn hybrid(&self) -> &hedgerow_hybrid::HybridSnapshot {
        match self {
            EngineSnapshot::Hybrid(snapshot) => snapshot,
            _ => unreachable!("a snapshot is read in the graph that opened it"),
        }
    }

    /// That of a graph in an engine behind virtual calls.
    #[cfg(feature = "custom-engines")]
    #[inline]
    pub(crate) fn custom(&self) -> &hedgerow_erased::ErasedSnapshot {
        match self {
            EngineSnapshot::Custom(snapshot) => snapshot,
            _ => unreachable!("a snapshot is read in the graph that opened it"),
        }
    }
}

/// A handle to the store of a graph: of its graphs, snapshots and transactions.
#[derive(Clone)]
pub(crate) struct SharedStores(Arc<OpenStores>);

/// The store of a graph that may be used, kept by its handles.
pub(crate) struct OpenStores {
    // Before the store: the threads have ended when that is dropped.
    _threads: [Option<BackgroundThread>; 2],
    stores: Arc<Stores>,
    /// The process that opened the graph.
    process: Process,
    pub(crate) engine: EngineKind,
    /// How often a transaction in conflict is tried again.
    pub(crate) retries: u32,
}

impl SharedStores {
    pub(crate) fn new(stores: Stores, engine: EngineKind, retries: u32) -> Self {
        let stores = Arc::new(stores);
        let compact = with_store!(&stores, store => store.wakeup().cloned()).and_then(|wakeup| {
            let stores = Arc::clone(&stores);
            let step = move || with_store!(&stores, store => store.reclaim_step());
            BackgroundThread::start("hedgerow-compact", wakeup, step)
        });
        let flush = with_store!(&stores, store => store.flush_wakeup().cloned()).and_then(|wakeup| {
            let stores = Arc::clone(&stores);
            let step = move || with_store!(&stores, store => store.flush_step());
            BackgroundThread::start("hedgerow-flush", wakeup, step)
        });
        let (threads, process) = ([compact, flush], Process::current());
        SharedStores(Arc::new(OpenStores { _threads: threads, stores, process, engine, retries }))
    }

    /// The stores, for every use that can fail.
    ///
    /// # Errors
    /// This is a child that was forked while the graph was open.
    #[inline]
    pub(crate) fn get(&self) -> Result<&Stores, Error> {
        match self.process.is_current() {
            true => Ok(&self.stores),
            false => Err(Reason::Forked.into()),
        }
    }

    /// The stores, in a forked child too: for what is read from memory alone, and without a lock; and for the rest of a call that asked
    /// [`SharedStores::get`].
    #[inline]
    pub(crate) fn even_in_child(&self) -> &Stores {
        &self.stores
    }
}

impl Deref for SharedStores {
    type Target = OpenStores;

    #[inline]
    fn deref(&self) -> &OpenStores {
        &self.0
    }
}

impl Drop for SharedStores {
    /// Keeps the stores in a forked child: their threads and locks are the parent's, and to end them would wait for these, or write.
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(Arc::clone(&self.0));
        }
    }
}

/// What the allocator of an engine has reserved.
trait Reserves {
    /// See [`MemoryUse::reserved_bytes`].
    fn reserved(&self) -> usize;
}

impl Stores {
    /// An empty graph, or what the engine has of it in `files` of its own.
    pub(crate) fn new(mut options: GraphOptions, _files: Option<EngineFiles>) -> Result<Self, Error> {
        let labels = std::mem::take(&mut options.labels);
        let catalog = Catalog::new(labels, options.vertices.take().unwrap_or_default())?;
        let engine = options.engine_or_default();
        if options.memory_budget.is_some() && !engine.owns_files() {
            return Err(Reason::NoMemoryBudget(engine.name()).into());
        }
        if options.compaction_limits.is_some() && !engine.owns_files() {
            return Err(Reason::NoCompaction(engine.name()).into());
        }
        if let Some(invalid) = options.compaction_limits.filter(|limits| !limits.are_valid()) {
            return Err(Reason::InvalidCompactionLimits(invalid).into());
        }
        if options.scratch.is_some() && engine != EngineKind::Tel {
            return Err(Reason::NoScratch(engine.name()).into());
        }
        if options.archiving_threshold.is_some() && engine != EngineKind::Hybrid {
            return Err(Reason::NoEdgeLog(engine.name()).into());
        }
        match engine {
            #[cfg(feature = "rapid")]
            EngineKind::Rapid => {
                Ok(Stores::Rapid(store(rapid::new(&options, &catalog)?, &options, &catalog)))
            }
            #[cfg(feature = "tel")]
            EngineKind::Tel => Ok(Stores::Tel(store(tel::new(&options, &catalog)?, &options, &catalog))),
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => {
                let engine = custom::new(&hedgerow_lsm::LSM, &options, &catalog, _files)?;
                Ok(Stores::Custom(store(engine, &options, &catalog)))
            }
            #[cfg(feature = "hybrid")]
            EngineKind::Hybrid => {
                Ok(Stores::Hybrid(store(hybrid::new(&options, &catalog), &options, &catalog)))
            }
            #[cfg(feature = "custom-engines")]
            EngineKind::Custom(custom) => {
                let engine = custom::new(custom, &options, &catalog, _files)?;
                Ok(Stores::Custom(store(engine, &options, &catalog)))
            }
            #[allow(unreachable_patterns, reason = "unless an engine is not compiled")]
            missing => Err(Reason::NotCompiled(missing.name()).into()),
        }
    }

    /// Reads all files of the engine's own, and says what is wrong with them; `None` if the engine has none, or cannot tell.
    pub(crate) fn check_files(
        options: &GraphOptions,
        _files: &Arc<dyn FileSystem>,
    ) -> Result<Option<FilesCheck>, Error> {
        #[cfg(feature = "custom-engines")]
        {
            let catalog = Catalog::new(options.labels.clone(), options.vertices.clone().unwrap_or_default())?;
            match options.engine_or_default() {
                #[cfg(feature = "lsm")]
                EngineKind::Lsm => return custom::check(&hedgerow_lsm::LSM, options, &catalog, _files),
                EngineKind::Custom(engine) => return custom::check(engine, options, &catalog, _files),
                _ => {}
            }
        }
        match options.engine_or_default() {
            #[cfg(not(feature = "lsm"))]
            EngineKind::Lsm => Err(Reason::NotCompiled(EngineKind::Lsm.name()).into()),
            _ => Ok(None),
        }
    }

    /// What the engine makes of a snapshot.
    pub(crate) fn open_snapshot(&self, _at: &Registered, _is_private: bool) -> Result<EngineSnapshot, Error> {
        match self {
            #[cfg(feature = "hybrid")]
            Stores::Hybrid(store) => Ok(EngineSnapshot::Hybrid(opened(store, _at, _is_private)?)),
            #[cfg(feature = "custom-engines")]
            Stores::Custom(store) => Ok(EngineSnapshot::Custom(opened(store, _at, _is_private)?)),
            #[allow(unreachable_patterns, reason = "unless `rapid` or `tel` is compiled")]
            _ => Ok(EngineSnapshot::None),
        }
    }

    /// What the graph holds in memory, and what the allocator of its engine has reserved; see [`Graph::memory`](crate::Graph::memory).
    pub(crate) fn memory(&self) -> MemoryUse {
        with_store!(self, store => {
            MemoryUse { reserved_bytes: store.engine.reserved(), ..store.memory() }
        })
    }
}

/// What the engine makes of a snapshot.
#[cfg(any(feature = "hybrid", feature = "custom-engines"))]
fn opened<E: Engine>(store: &Store<E>, at: &Registered, is_private: bool) -> Result<E::Snapshot, Error> {
    Ok(if is_private { store.engine.open_private(at) } else { store.engine.open_snapshot(at) }?)
}

/// A store of an engine.
fn store<E: Engine>(engine: E, options: &GraphOptions, catalog: &Catalog) -> Store<E> {
    Store::new(engine, &options.settings(), catalog)
}

fn engine_options(options: &GraphOptions, catalog: &Catalog) -> SubgraphOptions {
    SubgraphOptions { topology: options.settings().topology, catalog: catalog.clone() }
}
