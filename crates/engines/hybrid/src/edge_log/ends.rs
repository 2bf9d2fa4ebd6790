//! Maps edges in the log to entries of adjacencies.

use crate::edge_log::run::Run;
use hedgerow_model::{EdgeChange, VertexId};

/// The adjacencies, by number, that store the edges of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The adjacency that stores the edges by source.
    pub out: u32,
    /// The adjacency that stores the edges by destination, if any. If it equals `out`, an edge from
    /// a vertex to itself is stored once.
    pub back: Option<u32>,
}

impl Ends {
    /// Returns the adjacencies, each once.
    pub fn adjacencies(self) -> impl Iterator<Item = u32> {
        std::iter::once(self.out).chain(self.back.filter(|back| *back != self.out))
    }

    /// Visits the changes that a run makes to an adjacency, in order.
    #[inline]
    pub fn for_each_change(self, run: &Run<'_>, adjacency: u32, mut visit: impl FnMut(EdgeChange)) {
        let (is_out, is_back) = (self.out == adjacency, self.back == Some(adjacency));
        if !is_out && !is_back {
            return;
        }
        for edge in run.entries() {
            if is_out {
                visit(edge);
            }
            if is_back && !(is_out && edge.owner() == edge.neighbor()) {
                visit(EdgeChange::new(edge.neighbor(), edge.owner(), edge.value));
            }
        }
    }

    /// Like [`Ends::for_each_change`], for the row of one owner.
    #[inline]
    pub(crate) fn for_each_change_of(
        self,
        run: &Run<'_>,
        (adjacency, owner): (u32, VertexId),
        mut visit: impl FnMut(EdgeChange),
    ) {
        let (is_out, is_back) = (self.out == adjacency, self.back == Some(adjacency));
        if !is_out && !is_back {
            return;
        }
        for (place, edge) in run.edges().enumerate() {
            let edge = EdgeChange::at(edge, None);
            let is_first = is_out && edge.owner() == owner;
            if is_first || is_back && edge.neighbor() == owner {
                let neighbor = if is_first { edge.neighbor() } else { edge.owner() };
                visit(EdgeChange::new(owner, neighbor, run.value(place)));
            }
        }
    }
}
