//! Engines with a name and a constructor.

use crate::ErasedEngine;
use hedgerow_log::files::FileSystem;
use hedgerow_model::{EngineError, EngineOptions};
use hedgerow_sync::Arc;
use std::fmt;

/// An engine for graphs. Engines with equal names are equal.
pub struct NamedEngine {
    /// Its name in stores and reports.
    pub name: &'static str,
    /// Its constructor.
    pub make: Make,
}

/// The constructor of an engine.
#[derive(Clone, Copy)]
pub enum Make {
    /// Makes an empty engine in memory: a stored graph is restored from its checkpoint and its log.
    InMemory(fn(EngineOptions) -> ErasedEngine),
    /// Opens the engine from its own files in the directory of a store, or makes it empty if there
    /// are none. The engine owns [files](ErasedEngine::durable), so a graph with it needs
    /// a store.
    InFiles(fn(Arc<dyn FileSystem>, EngineOptions) -> Result<ErasedEngine, EngineError>),
}

impl Make {
    /// Returns true if the engine keeps the graph in files of its own.
    #[must_use]
    pub fn owns_files(&self) -> bool {
        !matches!(self, Make::InMemory(_))
    }
}

impl PartialEq for NamedEngine {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for NamedEngine {}

impl fmt::Debug for NamedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
