//! Where versions belong.

use hedgerow_model::{Direction, LabelId, VertexId};

/// Where a version belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(super) owner: VertexId,
    pub(super) part: Part,
}

/// What of a vertex has the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Its existence and its record.
    Vertex,
    /// An entry among its neighbors, for a label in a stored direction.
    Neighbor { label: LabelId, direction: Direction, neighbor: VertexId },
}

impl Part {
    /// The label and stored direction of the row, if it is in one.
    pub(super) fn table(self) -> Option<(LabelId, Direction)> {
        match self {
            Part::Vertex => None,
            Part::Neighbor { label, direction, .. } => Some((label, direction)),
        }
    }
}

/// A version that was followed by another one.
pub(super) type Superseded = hedgerow_reclamation::Superseded<Place>;
