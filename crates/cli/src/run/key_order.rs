//! Groups of vertices, named by a key.

use super::value::Value;
use crate::text;
use hedgerow::{Key, Snapshot, VertexId};
use std::collections::HashMap;

/// The vertices in the order of their keys: the rank of a vertex is a label that ascends with its key.
pub struct KeyOrder {
    keys: Vec<Key>,
    /// Per vertex id; of no meaning for an id without a vertex.
    ranks: Vec<u32>,
}

impl KeyOrder {
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut vertices = Vec::with_capacity(snapshot.vertex_count() as usize);
        snapshot.for_each_vertex(|vertex, key| vertices.push((key, vertex)));
        vertices.sort_unstable();
        let mut ranks = vec![u32::MAX; snapshot.vertex_bound() as usize];
        for (rank, (_, vertex)) in (0..).zip(&vertices) {
            ranks[vertex.index()] = rank;
        }
        KeyOrder { keys: vertices.into_iter().map(|(key, _)| key).collect(), ranks }
    }

    /// Per vertex id its rank.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    pub fn rank(&self, vertex: VertexId) -> u32 {
        self.ranks[vertex.index()]
    }

    /// The key of the vertex with this rank, as the result of another.
    pub fn value(&self, rank: u32) -> Option<Value> {
        self.keys.get(rank as usize).cloned().map(Value::Key)
    }
}

/// How many vertices the largest group has, of those with a group.
pub fn largest(groups: impl Iterator<Item = u32>) -> u64 {
    let mut sizes = HashMap::<u32, u64>::new();
    groups.for_each(|group| *sizes.entry(group).or_default() += 1);
    sizes.into_values().max().unwrap_or(0)
}

/// Groups in a table.
pub fn describe(count: u64, largest: u64) -> String {
    format!("{}, the largest has {}", text::Count(count), text::counted(largest, "vertex", "vertices"))
}
