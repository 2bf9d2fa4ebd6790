//! The place of a version in the graph.

/// Identifies the chain of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPlace {
    pub(crate) table: ChainTable,
    pub(crate) partition: u32,
}

/// A table of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainTable {
    /// The table of vertices.
    Vertices,
    /// The adjacency table at this position.
    Adjacency(u32),
}

/// A superseded version.
pub(crate) type Superseded = hedgerow_in_memory::reclamation::Superseded<ChainPlace>;
