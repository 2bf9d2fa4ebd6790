//! Where the versions of a store belong.

/// The block that a chain holds the versions of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) table: Table,
    pub(crate) partition: u32,
}

/// A table of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// The vertices.
    Vertices,
    /// The adjacency at this position.
    Adjacency(u32),
}

/// A version that was followed by another one.
pub(crate) type Superseded = hedgerow_reclamation::Superseded<Place>;
