//! The closed set of engines: one match per call, never per edge.

use crate::error::{Error, NoScratchFile, Reason};
use crate::options::{EngineKind, GraphOptions};
#[cfg(feature = "custom-engines")]
use hedgerow_erased::{CustomEngine, EngineOptions, ErasedEngine, ErasedSnapshot, Make};
use hedgerow_log::files::EngineFiles;
#[cfg(feature = "custom-engines")]
use hedgerow_model::Engine;
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, MemoryUse};
use hedgerow_pipeline::{Compactor, Store};
use hedgerow_rapid::Rapid;
use hedgerow_subgraphs::{Container, SubgraphOptions, Subgraphs};
use hedgerow_sync::Arc;
use hedgerow_tel::Tel;
use std::ops::Deref;

/// A store, for whichever engine.
pub enum Stores {
    Rapid(Store<Rapid>),
    Tel(Store<Tel>),
    #[cfg(feature = "custom-engines")]
    Custom(&'static CustomEngine, Store<ErasedEngine>),
}

/// Coerces to `&Stores`, so that the macro below takes any reference or smart pointer to the stores.
#[inline]
pub(crate) fn the(stores: &Stores) -> &Stores {
    stores
}

/// Runs an expression with the store of the graph's engine; with `mut`, with one that may be changed.
macro_rules! with_store {
    (mut $stores:expr, $store:ident => $run:expr) => {
        $crate::stores::with_store!(@match $stores, $store => $run)
    };
    ($stores:expr, $store:ident => $run:expr) => {
        $crate::stores::with_store!(@match $crate::stores::the($stores), $store => $run)
    };
    (@match $stores:expr, $store:ident => $run:expr) => {
        match $stores {
            $crate::stores::Stores::Rapid($store) => $run,
            $crate::stores::Stores::Tel($store) => $run,
            #[cfg(feature = "custom-engines")]
            $crate::stores::Stores::Custom(_, $store) => $run,
        }
    };
}
pub(crate) use with_store;

/// What the engine of a graph made of a snapshot. Those that are compiled into the library are in memory, and make nothing.
pub(crate) struct EngineSnapshot {
    #[cfg(feature = "custom-engines")]
    pub(crate) custom: ErasedSnapshot,
}

/// Runs an expression with the store of the graph's engine and what the engine made of a snapshot.
macro_rules! with_snapshot {
    ($stores:expr, $snapshot:expr, ($store:ident, $state:ident) => $run:expr) => {{
        let _snapshot: &$crate::stores::EngineSnapshot = $snapshot;
        match $crate::stores::the($stores) {
            $crate::stores::Stores::Rapid($store) => {
                let $state = &();
                $run
            }
            $crate::stores::Stores::Tel($store) => {
                let $state = &();
                $run
            }
            #[cfg(feature = "custom-engines")]
            $crate::stores::Stores::Custom(_, $store) => {
                let $state = &_snapshot.custom;
                $run
            }
        }
    }};
}
pub(crate) use with_snapshot;

/// The store of a graph that may be used, kept by the graph's handles and snapshots.
pub(crate) struct OpenStores {
    // Before the store: the thread has ended when that is dropped.
    _compactor: Option<Compactor>,
    stores: Arc<Stores>,
    /// How often a transaction in conflict is tried again.
    pub(crate) retries: u32,
}

impl OpenStores {
    pub(crate) fn new(stores: Stores, retries: u32) -> Arc<Self> {
        let stores = Arc::new(stores);
        let compactor = with_store!(&stores, store => store.wakeup().cloned()).and_then(|wakeup| {
            let stores = Arc::clone(&stores);
            Compactor::start(wakeup, move || with_store!(&stores, store => store.reclaim_step()))
        });
        Arc::new(OpenStores { _compactor: compactor, stores, retries })
    }
}

impl Deref for OpenStores {
    type Target = Stores;

    #[inline]
    fn deref(&self) -> &Stores {
        &self.stores
    }
}

impl Stores {
    /// An empty graph, or what the engine has of it in `files` of its own.
    pub(crate) fn new(mut options: GraphOptions, _files: Option<EngineFiles>) -> Result<Self, Error> {
        let labels = std::mem::take(&mut options.labels);
        let catalog = Catalog::new(labels, std::mem::take(&mut options.vertices))?;
        if options.scratch.is_some() && options.engine != EngineKind::Tel {
            return Err(Reason::NoScratch(options.engine.name()).into());
        }
        match options.engine {
            EngineKind::Rapid => Ok(Stores::Rapid(subgraphs(&options, catalog)?)),
            EngineKind::Tel => {
                let engine = tel(&options, &catalog)?;
                Ok(Stores::Tel(Store::new(engine, &options.settings(), Arc::new(catalog))))
            }
            #[cfg(feature = "custom-engines")]
            EngineKind::Custom(custom) => {
                let engine_options = EngineOptions { topology: options.topology, catalog: catalog.clone() };
                let engine = match (custom.make, _files) {
                    (Make::InMemory(make), _) => make(engine_options),
                    (Make::InFiles(open), Some(files)) => open(Arc::new(files), engine_options)?,
                    (Make::InFiles(_), None) => return Err(Reason::NeedsStore(custom.name).into()),
                };
                Ok(Stores::Custom(custom, Store::new(engine, &options.settings(), Arc::new(catalog))))
            }
        }
    }

    /// What the engine makes of a snapshot.
    pub(crate) fn open_snapshot(&self, _at: &Registered) -> Result<EngineSnapshot, Error> {
        Ok(match self {
            Stores::Rapid(_) | Stores::Tel(_) => EngineSnapshot {
                #[cfg(feature = "custom-engines")]
                custom: ErasedSnapshot::none(),
            },
            #[cfg(feature = "custom-engines")]
            Stores::Custom(_, store) => EngineSnapshot { custom: store.engine.open_snapshot(_at)? },
        })
    }

    /// What the graph holds in memory, and what the allocator of its engine has reserved; see [`Graph::memory`](crate::Graph::memory).
    pub(crate) fn memory(&self) -> MemoryUse {
        let reserved_bytes = match self {
            Stores::Rapid(_) => hedgerow_rapid::pool_use().free_bytes(),
            Stores::Tel(store) => store.engine.reserved_bytes(),
            #[cfg(feature = "custom-engines")]
            Stores::Custom(..) => 0,
        };
        MemoryUse { reserved_bytes, ..with_store!(self, store => store.memory()) }
    }

    /// Which engine holds the graph.
    pub(crate) fn engine(&self) -> EngineKind {
        match self {
            Stores::Rapid(_) => EngineKind::Rapid,
            Stores::Tel(_) => EngineKind::Tel,
            #[cfg(feature = "custom-engines")]
            Stores::Custom(custom, _) => EngineKind::Custom(custom),
        }
    }
}

/// An empty store of logs of edges, in memory or in a file.
fn tel(options: &GraphOptions, catalog: &Catalog) -> Result<Tel, Error> {
    let engine_options = engine_options(options, catalog);
    Ok(match &options.scratch {
        None => Tel::new(engine_options),
        Some(directory) => {
            let engine = Tel::with_scratch(engine_options, directory, options.scratch_limit);
            engine.map_err(|source| {
                let directory = directory.clone();
                Reason::NoScratchFile(Box::new(NoScratchFile { directory, source }))
            })?
        }
    })
}

/// An empty store of versioned subgraphs.
fn subgraphs<C: Container>(options: &GraphOptions, catalog: Catalog) -> Result<Store<Subgraphs<C>>, Error> {
    let engine = Subgraphs::new(engine_options(options, &catalog));
    Ok(Store::new(engine, &options.settings(), Arc::new(catalog)))
}

fn engine_options(options: &GraphOptions, catalog: &Catalog) -> SubgraphOptions {
    SubgraphOptions { topology: options.topology, catalog: catalog.clone() }
}
