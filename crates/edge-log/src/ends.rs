//! From edges in the log to entries of adjacencies.

use crate::run::{LogEntry, Run};
use hedgerow_model::{EdgeValue, VertexId};

/// The adjacencies that have the edges of a table, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The one whose owners are the sources of the edges.
    pub out: u32,
    /// The one whose owners are their destinations, if there is one. If it is the same one, it has an edge from a vertex to
    /// itself once.
    pub back: Option<u32>,
}

impl Ends {
    /// The adjacencies, each once.
    pub fn adjacencies(self) -> impl Iterator<Item = u32> {
        std::iter::once(self.out).chain(self.back.filter(|back| *back != self.out))
    }

    /// Visits the changes of an adjacency that the entries of a run are, in their order: the owner, the neighbor, and the value
    /// or, where the edge is deleted, `None`.
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
        for LogEntry { source, destination, value } in run.entries() {
            if is_out {
                visit(source, destination, value);
            }
            if is_back && !(is_out && source == destination) {
                visit(destination, source, value);
            }
        }
    }
}
