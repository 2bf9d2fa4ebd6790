//! The options of a graph.

use hedgerow_model::{Catalog, Topology};

/// The options of a [`Subgraphs`](crate::Subgraphs) or another in-memory engine.
#[derive(Clone, Debug, Default)]
pub struct SubgraphOptions {
    /// Directed edges, with or without their reverse, or undirected edges.
    pub topology: Topology,
    /// The labels and the schemas of their edges.
    pub catalog: Catalog,
}
