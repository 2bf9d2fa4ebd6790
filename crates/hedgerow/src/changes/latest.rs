//! Leaving out intermediate states.

use super::Changes;
use super::batch::Kind;
use hedgerow_model::KeyRef;
use std::collections::HashSet;

/// The item that changes.
#[derive(PartialEq, Eq, Hash)]
enum Of<'k> {
    Vertex(KeyRef<'k>),
    /// All edges of a label between two vertices, or the parallel edge with a number.
    Edges(u16, [KeyRef<'k>; 2], Option<u64>),
}

impl Changes {
    /// Keeps the last change of each vertex and edge, as one commit. O(changes).
    pub(super) fn keep_latest(&mut self, is_undirected: bool) {
        if self.commits.len() < 2 {
            return;
        }
        let mut seen = HashSet::with_capacity(self.items.len());
        let mut kept: Vec<usize> = (0..self.items.len())
            .rev()
            .filter(|position| {
                let item = &self.items[*position];
                let mut ends = self.keys_of(*position);
                let number = match item.kind {
                    Kind::PutVertex | Kind::DeleteVertex => return seen.insert(Of::Vertex(ends[0])),
                    Kind::PutParallel | Kind::DeleteParallel => Some(item.number),
                    Kind::PutEdge | Kind::PutRecord | Kind::DeleteEdge => None,
                };
                if is_undirected {
                    ends.sort_unstable();
                }
                let of = |number| Of::Edges(item.label.0, ends, number);
                // A later deletion of all edges between the vertices voids one of a parallel edge.
                !(number.is_some() && seen.contains(&of(None))) && seen.insert(of(number))
            })
            .collect();
        kept.reverse();
        // The order of a commit.
        kept.sort_by_key(|position| match self.items[*position].kind {
            Kind::DeleteEdge | Kind::DeleteParallel => 0,
            Kind::DeleteVertex => 1,
            Kind::PutVertex => 2,
            Kind::PutEdge | Kind::PutRecord | Kind::PutParallel => 3,
        });
        self.keep(&kept);
    }
}
