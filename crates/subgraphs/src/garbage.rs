//! Where a version belongs.

/// Identifies the chain of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) table: Table,
    pub(crate) partition: u32,
}

/// A table of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// The table of vertices.
    Vertices,
    /// The adjacency table at this position.
    Adjacency(u32),
}

/// A superseded version.
pub(crate) type Superseded = hedgerow_reclamation::Superseded<Place>;
