//! The options that every engine takes.

use crate::{Catalog, Topology};

/// Options of an engine.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Directed edges, with or without their reverse, or undirected edges.
    pub topology: Topology,
    /// The labels and the schemas of their edges.
    pub catalog: Catalog,
}
