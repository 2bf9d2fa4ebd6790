//! The options of a graph.

use hedgerow_model::{Catalog, Topology};

/// The options of a [`Subgraphs`](crate::Subgraphs) or another in-memory engine.
#[derive(Clone, Debug, Default)]
pub struct SubgraphOptions {
    /// Whether edges have a direction, and whether the reverse is stored too.
    pub topology: Topology,
    /// The labels, and what their edges carry.
    pub catalog: Catalog,
}
