//! Maps edges in the log to entries of adjacencies.

use crate::edge_log::run::Run;
use hedgerow_model::{EdgeValue, VertexId};

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

    /// Visits the changes that a run makes to an adjacency, in order: the owner, the neighbor, and
    /// the value, or `None` if the edge is deleted.
    #[inline]
    pub fn for_each_change(
        self,
        run: &Run<'_>,
        adjacency: u32,
        mut visit: impl FnMut(VertexId, VertexId, Option<EdgeValue>),
    ) {
        let (is_out, is_back) = (self.out == adjacency, self.back == Some(adjacency));
        if !is_out && !is_back {
            return;
        }
        for edge in run.entries() {
            let (source, destination, value) = (edge.owner(), edge.neighbor(), edge.value);
            if is_out {
                visit(source, destination, value);
            }
            if is_back && !(is_out && source == destination) {
                visit(destination, source, value);
            }
        }
    }
}
