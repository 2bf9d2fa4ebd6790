//! What a store is made from.

use hedgerow_model::{Catalog, Topology};

/// What a [`Subgraphs`](crate::Subgraphs), or another engine in memory, is made from.
#[derive(Clone, Debug, Default)]
pub struct SubgraphOptions {
    /// Whether edges have a direction, and whether the reverse is stored too.
    pub topology: Topology,
    /// The labels and what lies on their edges.
    pub catalog: Catalog,
}
