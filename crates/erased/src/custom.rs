//! An engine by its name.

use crate::ErasedEngine;
use hedgerow_log::files::FileSystem;
use hedgerow_model::{Catalog, EngineError, Topology};
use hedgerow_sync::Arc;
use std::fmt;

/// An engine that a graph can be made with. Two are equal if their names are.
pub struct CustomEngine {
    /// What it is called in stores and reports.
    pub name: &'static str,
    /// How one is made.
    pub make: Make,
}

/// How a custom engine is made.
#[derive(Clone, Copy)]
pub enum Make {
    /// Empty, in memory: a graph in a store comes back from its checkpoint and its log.
    InMemory(fn(EngineOptions) -> ErasedEngine),
    /// From the files of its own that are in the directory of a store, or empty where there are none. It owns [files](hedgerow_model::Engine::durable), so that there
    /// is no such graph without a store.
    InFiles(fn(Arc<dyn FileSystem>, EngineOptions) -> Result<ErasedEngine, EngineError>),
}

/// What an engine stores.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Whether edges are directed, and which directions are stored.
    pub topology: Topology,
    /// The labels and what lies on their edges.
    pub catalog: Catalog,
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
