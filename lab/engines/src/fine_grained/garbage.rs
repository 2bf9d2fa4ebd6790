//! The owners of versions.

use hedgerow_model::{Direction, LabelId, VertexId};

/// The vertex and the part of it to which a version belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(super) owner: VertexId,
    pub(super) part: Part,
}

/// A part of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The existence and the record of the vertex.
    Vertex,
    /// An entry among its neighbors, for a label in a stored direction.
    Neighbor { label: LabelId, direction: Direction, neighbor: VertexId },
}

impl Part {
    /// Returns the label and stored direction of the row, if the version belongs to one.
    pub(super) fn table(self) -> Option<(LabelId, Direction)> {
        match self {
            Part::Vertex => None,
            Part::Neighbor { label, direction, .. } => Some((label, direction)),
        }
    }
}

/// A superseded version.
pub(super) type Superseded = hedgerow_in_memory::reclamation::Superseded<Place>;
