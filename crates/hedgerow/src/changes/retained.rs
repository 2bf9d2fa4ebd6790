//! Edges in memory, until each is removed.

use super::{Change, ChangeToken, ChangedEdge, Changes};
use std::collections::BTreeMap;

/// Edges whose memory is freed together.
const CHUNK: u64 = 1024;

/// Edges by number, in the order in which they were added.
///
/// A chunk is freed when all its edges are removed.
#[derive(Debug, Default)]
pub(super) struct RetainedEdges {
    chunks: BTreeMap<u64, Chunk>,
    next: u64,
}

/// Edges with consecutive numbers.
#[derive(Debug)]
struct Chunk {
    /// Their token is a position before the first.
    edges: Changes,
    /// Number of edges that are not removed.
    retained: usize,
}

impl RetainedEdges {
    /// Adds a copy of an edge, and returns its number. `empty` makes the changes of a chunk.
    pub(super) fn add(&mut self, edge: &ChangedEdge<'_>, empty: impl FnOnce() -> Changes) -> u64 {
        let number = self.next;
        let new = || Chunk { edges: empty(), retained: 0 };
        let chunk = self.chunks.entry(number / CHUNK).or_insert_with(new);
        chunk.edges.add_copy(edge);
        chunk.retained += 1;
        self.next += 1;
        number
    }

    /// Returns an edge. O(log edges).
    pub(super) fn get(&self, number: u64) -> Option<ChangedEdge<'_>> {
        match self.chunks.get(&(number / CHUNK))?.edges.get((number % CHUNK) as usize) {
            Change::PutEdge(edge) => Some(edge),
            _ => None,
        }
    }

    /// Removes an edge. The last chunk stays while edges can be added to it.
    pub(super) fn remove(&mut self, number: u64) {
        let position = number / CHUNK;
        if let Some(chunk) = self.chunks.get_mut(&position) {
            chunk.retained -= 1;
            if chunk.retained == 0 && position < self.next / CHUNK {
                self.chunks.remove(&position);
            }
        }
    }

    /// Returns a position before all edges.
    pub(super) fn begin(&self) -> Option<ChangeToken> {
        self.chunks.first_key_value().map(|(_, chunk)| chunk.edges.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, GraphOptions, LabelId, SubscribeOptions};

    #[test]
    fn a_chunk_is_freed_when_all_its_edges_are_removed() {
        let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows")).unwrap();
        let options = SubscribeOptions::new().label(LabelId::DEFAULT);
        let mut subscription = graph.subscribe(&options).unwrap();
        graph.ingest(LabelId::DEFAULT, &(0..3 * CHUNK).map(|key| (key, 0)).collect::<Vec<_>>()).unwrap();
        let changes = subscription.pull().unwrap();
        let edges = changes.iter().filter_map(|change| match change {
            Change::PutEdge(edge) => Some(edge),
            _ => None,
        });
        let mut retained = RetainedEdges::default();
        for (number, edge) in (0..).zip(edges) {
            assert_eq!(retained.add(&edge, || changes.none_at(changes.token())), number);
            let found = retained.get(number).unwrap();
            assert_eq!((found.source(), found.ids()), (edge.source(), edge.ids()));
            if number >= 10 {
                retained.remove(number - 10);
            }
            assert!(retained.chunks.len() <= 2 && retained.get(number.saturating_sub(9)).is_some());
        }
        assert_eq!(retained.next, 3 * CHUNK);
        (3 * CHUNK - 10..3 * CHUNK).for_each(|number| retained.remove(number));
        assert!(retained.chunks.is_empty() && retained.begin().is_none());
    }
}
