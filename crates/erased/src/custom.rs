//! An engine identified by its name.

use crate::ErasedEngine;
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, CompactionLimits, EngineError, FilesCheck, Topology};
use hedgerow_sync::Arc;
use std::fmt;

/// An engine that a graph can use. Two are equal if their names are.
pub struct CustomEngine {
    /// Its name in stores and reports.
    pub name: &'static str,
    /// Its constructor.
    pub make: Make,
}

/// The constructor of a custom engine.
#[derive(Clone, Copy)]
pub enum Make {
    /// Makes an empty engine in memory: a stored graph is restored from its checkpoint and its log.
    InMemory(fn(EngineOptions) -> ErasedEngine),
    /// Opens the engine from its own files in the directory of a store, or makes it empty if there
    /// are none. The engine owns [files](hedgerow_model::Engine::durable), so a graph with it needs
    /// a store.
    InFiles(fn(Arc<dyn FileSystem>, EngineOptions) -> Result<ErasedEngine, EngineError>),
    /// Like `InFiles`, of an engine that can say what is wrong with its files without opening them.
    InCheckedFiles {
        /// Opens the engine, or makes it empty.
        open: fn(Arc<dyn FileSystem>, EngineOptions) -> Result<ErasedEngine, EngineError>,
        /// Reads all of the engine's files, and finds damage, and files that belong to nothing. Changes
        /// nothing. Damage is a problem in the result; errors are the file system's.
        check: fn(&Arc<dyn FileSystem>, EngineOptions) -> Result<FilesCheck, EngineError>,
    },
}

impl Make {
    /// Whether the engine keeps the graph in files of its own.
    #[must_use]
    pub fn owns_files(&self) -> bool {
        !matches!(self, Make::InMemory(_))
    }
}

/// Options of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Whether edges are directed, and which directions are stored.
    pub topology: Topology,
    /// The labels, and what their edges carry.
    pub catalog: Catalog,
    /// Bytes of memory that an engine with files of its own may take; `None` if it decides that.
    pub memory_budget: Option<usize>,
    /// What it may take of the machine to merge its files in the background.
    pub compaction_limits: CompactionLimits,
}

impl PartialEq for CustomEngine {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CustomEngine {}

impl fmt::Debug for CustomEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
