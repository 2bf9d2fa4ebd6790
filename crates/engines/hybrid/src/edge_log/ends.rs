//! Maps edges in the log to entries of adjacencies.

use crate::edge_log::run::Run;
use hedgerow_model::EdgeChange;

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
}
