//! An engine by its name.

use crate::ErasedEngine;
use hedgerow_model::{Catalogue, Topology};
use std::fmt;

/// An engine that a graph can be made with. Two are equal if their names are.
pub struct CustomEngine {
    /// What it is called in stores and reports.
    pub name: &'static str,
    /// Makes an empty one.
    pub make: fn(EngineOptions) -> ErasedEngine,
}

/// What an engine stores.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Whether edges are directed, and which directions are stored.
    pub topology: Topology,
    /// The labels and what lies on their edges.
    pub catalogue: Catalogue,
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
