//! Where what was superseded lies.

use hedgerow_model::VertexId;

/// Where an old version lies: a vertex's own, or an entry of one of its logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(crate) owner: VertexId,
    /// The number of the table of the log, or [`Place::VERTEX`].
    pub(crate) table: u32,
    pub(crate) neighbor: VertexId,
    /// Where the entry was when it was filed: it is there still, or before.
    pub(crate) position: u32,
}

impl Place {
    /// In the place of the number of a table.
    const VERTEX: u32 = u32::MAX;

    /// Of the vertex itself.
    pub(crate) fn of_vertex(owner: VertexId) -> Self {
        Place { owner, table: Self::VERTEX, neighbor: owner, position: 0 }
    }

    /// The number of the table, if it is an entry.
    pub(crate) fn table(&self) -> Option<usize> {
        (self.table != Self::VERTEX).then_some(self.table as usize)
    }
}

/// A version that was followed by another one, or by none.
pub(crate) type Superseded = hedgerow_reclamation::Superseded<Place>;

/// What an old version takes beside the memory that it lies in: the note that files it.
///
/// An old entry takes no other memory that is counted: it lies in a block, which is counted whole.
pub(crate) const NOTE_BYTES: usize = size_of::<Superseded>();
