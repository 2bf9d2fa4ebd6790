//! The closed set of engines: one match per call, never per edge.
//!
//! An engine that is compiled on demand has its `cfg` attributes here: at its module, its variant
//! of `TypedEngine`, its arm of the macro, and where it is made.

#[cfg(feature = "erased")]
mod erased;
#[cfg(feature = "kernels")]
mod first_state;
mod graph_engine;
#[cfg(feature = "hybrid")]
mod hybrid;
#[cfg(feature = "lsm")]
mod lsm;
#[cfg(feature = "rapid")]
mod rapid;
#[cfg(feature = "tel")]
mod tel;

pub(crate) use graph_engine::{EngineSnapshot, GraphEngine};

use crate::error::{Error, Reason};
use crate::options::{EngineKind, GraphOptions};
use hedgerow_erased::ErasedEngine;
use hedgerow_log::files::{EngineFiles, FileSystem};
use hedgerow_log::{EngineFile, EngineState};
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, Engine, FilesCheck, MemoryUse, VersionInFile};
use hedgerow_pipeline::{BackgroundThread, Store};
use hedgerow_sync::Arc;
use hedgerow_sync::fork::Process;
use std::ops::Deref;

/// The store of a graph, and its engine at its own type.
pub struct TypedStore {
    pub(crate) store: Store,
    pub(crate) engine: TypedEngine,
}

/// The engine of [`TypedStore::store`] at its own type, for code that is compiled for each engine.
pub(crate) enum TypedEngine {
    #[cfg(feature = "rapid")]
    Rapid(Arc<hedgerow_rapid::Rapid>),
    #[cfg(feature = "tel")]
    Tel(Arc<hedgerow_tel::Tel>),
    #[cfg(feature = "hybrid")]
    Hybrid(Arc<hedgerow_hybrid::Hybrid>),
    #[cfg(feature = "lsm")]
    Lsm(Arc<hedgerow_lsm::LsmEngine>),
    #[cfg(feature = "erased")]
    Erased(Arc<hedgerow_erased::ErasedEngine>),
}

/// Matches on the engine to run an expression, which is compiled for each engine.
macro_rules! with_engine {
    ($typed:expr, $engine:ident => $run:expr) => {
        match &$typed.engine {
            #[cfg(feature = "rapid")]
            $crate::engines::TypedEngine::Rapid($engine) => $run,
            #[cfg(feature = "tel")]
            $crate::engines::TypedEngine::Tel($engine) => $run,
            #[cfg(feature = "hybrid")]
            $crate::engines::TypedEngine::Hybrid($engine) => $run,
            #[cfg(feature = "lsm")]
            $crate::engines::TypedEngine::Lsm($engine) => $run,
            #[cfg(feature = "erased")]
            $crate::engines::TypedEngine::Erased($engine) => $run,
        }
    };
}
pub(crate) use with_engine;

/// A handle to the store of a graph, shared by graph handles, snapshots and transactions.
#[derive(Clone)]
pub(crate) struct SharedStore(Arc<OpenStore>);

/// An open store, kept alive by its handles.
pub(crate) struct OpenStore {
    // Declared before the store, so that the threads end before it is dropped.
    _threads: [Option<BackgroundThread>; 2],
    typed: Arc<TypedStore>,
    /// The process that opened the graph.
    process: Process,
    pub(crate) engine: EngineKind,
    /// Retries of a transaction in conflict.
    pub(crate) retries: u32,
}

impl SharedStore {
    pub(crate) fn new(typed: TypedStore, engine: EngineKind, retries: u32) -> Self {
        let typed = Arc::new(typed);
        let compact = typed.store.wakeup().cloned().and_then(|wakeup| {
            let typed = Arc::clone(&typed);
            BackgroundThread::start("hedgerow-compact", wakeup, move || typed.store.reclaim_step())
        });
        let flush = typed.store.flush_wakeup().cloned().and_then(|wakeup| {
            let typed = Arc::clone(&typed);
            BackgroundThread::start("hedgerow-flush", wakeup, move || typed.store.flush_step())
        });
        let (threads, process) = ([compact, flush], Process::current());
        SharedStore(Arc::new(OpenStore { _threads: threads, typed, process, engine, retries }))
    }

    /// Returns the store, for every use that can fail.
    ///
    /// # Errors
    /// This is a child that was forked while the graph was open.
    #[inline]
    pub(crate) fn get(&self) -> Result<&TypedStore, Error> {
        match self.process.is_current() {
            true => Ok(&self.typed),
            false => Err(Reason::Forked.into()),
        }
    }

    /// Returns the store, even in a forked child: for lock-free reads of memory only, and for the
    /// rest of a call that already checked [`SharedStore::get`].
    #[inline]
    pub(crate) fn even_in_child(&self) -> &TypedStore {
        &self.typed
    }
}

impl Deref for SharedStore {
    type Target = OpenStore;

    #[inline]
    fn deref(&self) -> &OpenStore {
        &self.0
    }
}

impl Drop for SharedStore {
    /// Leaks the store in a forked child: its threads and locks are the parent's, so that
    /// dropping the store would wait for them, or write.
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(Arc::clone(&self.0));
        }
    }
}

impl TypedStore {
    /// Makes an empty graph, or opens the graph that the engine has in `_files`.
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
        let (shared, engine) = match engine {
            #[cfg(feature = "rapid")]
            EngineKind::Rapid => {
                shared(rapid::new(&options, &catalog)?, TypedEngine::Rapid, |erased, engine| {
                    erased.with_retained(engine, hedgerow_rapid::Rapid::retained)
                })
            }
            #[cfg(feature = "tel")]
            EngineKind::Tel => shared(tel::new(&options, &catalog)?, TypedEngine::Tel, |erased, engine| {
                erased.with_retained(engine, hedgerow_tel::Tel::retained)
            }),
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => {
                shared(lsm::open(&options, &catalog, _files)?, TypedEngine::Lsm, ErasedEngine::with_durable)
            }
            #[cfg(feature = "hybrid")]
            EngineKind::Hybrid => {
                shared(hybrid::new(&options, &catalog), TypedEngine::Hybrid, |erased, engine| {
                    erased.with_archiving(engine).with_retained(engine, hedgerow_hybrid::Hybrid::retained)
                })
            }
            #[cfg(feature = "erased")]
            EngineKind::Erased(engine) => {
                let engine = erased::new(engine, &options, &catalog, _files)?;
                (engine.clone(), TypedEngine::Erased(Arc::new(engine)))
            }
            #[allow(unreachable_patterns, reason = "unless an engine is not compiled")]
            missing => return Err(Reason::NotCompiled(missing.name()).into()),
        };
        Ok(TypedStore { store: Store::new(shared, &options.settings(), &catalog), engine })
    }

    /// Reads all files of the engine, passes what they hold to `visit`, and reports damage; `None`
    /// if the engine has no files of its own, or cannot check them.
    pub(crate) fn check_files(
        options: &GraphOptions,
        _files: &Arc<dyn FileSystem>,
        _visit: &mut dyn FnMut(VersionInFile<'_>),
    ) -> Result<Option<FilesCheck>, Error> {
        match options.engine_or_default() {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => lsm::check(options, &catalog_of(options)?, _files, _visit).map(Some),
            #[cfg(not(feature = "lsm"))]
            EngineKind::Lsm => Err(Reason::NotCompiled(EngineKind::Lsm.name()).into()),
            _ => Ok(None),
        }
    }

    /// Reads the newest state of the engine's own files, for a backup.
    pub(crate) fn state_to_copy(
        options: &GraphOptions,
        _files: &Arc<dyn FileSystem>,
    ) -> Result<EngineState, Error> {
        match options.engine_or_default() {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => lsm::state_to_copy(options, &catalog_of(options)?, _files),
            engine => Err(Reason::NoBackup(engine.name()).into()),
        }
    }

    /// Compares one of the engine's own files with its checksums, for a backup.
    pub(crate) fn check_checksums(
        engine: EngineKind,
        _files: &Arc<dyn FileSystem>,
        _file: &EngineFile,
    ) -> Result<(), Error> {
        match engine {
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => lsm::check_checksums(_files, _file),
            engine => Err(Reason::NoBackup(engine.name()).into()),
        }
    }

    /// Opens the engine's part of a snapshot.
    pub(crate) fn open_snapshot(&self, at: &Registered, is_private: bool) -> Result<EngineSnapshot, Error> {
        with_engine!(self, engine => opened(&**engine, at, is_private))
    }

    /// Memory that the graph uses and that its engine's allocator has reserved; see
    /// [`Graph::memory`](crate::Graph::memory).
    pub(crate) fn memory(&self) -> MemoryUse {
        let reserved_bytes = with_engine!(self, engine => engine.reserved());
        MemoryUse { reserved_bytes, ..self.store.memory() }
    }
}

/// Returns an engine for the store, behind virtual calls and with its capabilities, and at its own
/// type.
fn shared<E: Engine>(
    engine: E,
    typed: fn(Arc<E>) -> TypedEngine,
    with_capabilities: fn(ErasedEngine, &Arc<E>) -> ErasedEngine,
) -> (ErasedEngine, TypedEngine) {
    let engine = Arc::new(engine);
    (with_capabilities(ErasedEngine::shared(&engine), &engine), typed(engine))
}

/// Opens an engine's part of a snapshot.
#[inline]
fn opened<E: GraphEngine>(engine: &E, at: &Registered, is_private: bool) -> Result<EngineSnapshot, Error> {
    let part = engine.open_snapshot(at)?;
    if is_private {
        engine.prepare_reads(&part, at);
    }
    Ok(E::snapshot_with(part))
}

/// The catalog that the options declare.
#[cfg(feature = "lsm")]
fn catalog_of(options: &GraphOptions) -> Result<Catalog, Error> {
    Ok(Catalog::new(options.labels.clone(), options.vertices.clone().unwrap_or_default())?)
}
