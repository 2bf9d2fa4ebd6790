//! Groups of vertices, named by a key.

use super::value::Value;
use crate::error::CliError;
use crate::state::GraphState;
use crate::text;
use hedgerow::kernels::{KernelError, MemoryBudget};
use hedgerow::{Error, Key, VertexId};
use std::collections::HashMap;

/// The vertices in the order of their keys: the rank of a vertex is a label that ascends with its
/// key.
pub struct KeyOrder {
    keys: Vec<Key>,
    /// Indexed by vertex id; meaningless for an id without a vertex.
    ranks: Vec<u32>,
}

impl KeyOrder {
    /// Ranks all vertices. Fails if the ranks of all ids take too much memory.
    pub fn of(state: &GraphState) -> Result<Self, CliError> {
        let (bound, count) = (state.vertex_bound(), state.vertex_count());
        let bytes = u64::from(bound) * size_of::<u32>() as u64;
        let checked = MemoryBudget::detect().check(bytes, bound, count);
        checked.map_err(|error| Error::from(KernelError::from(error)))?;
        let mut vertices = Vec::with_capacity(count as usize);
        state.for_each_vertex(|vertex, key| vertices.push((key, vertex)))?;
        vertices.sort_unstable();
        let mut ranks = vec![u32::MAX; bound as usize];
        for (rank, (_, vertex)) in (0..).zip(&vertices) {
            ranks[vertex.index()] = rank;
        }
        Ok(KeyOrder { keys: vertices.into_iter().map(|(key, _)| key).collect(), ranks })
    }

    /// The ranks, indexed by vertex id.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    pub fn rank(&self, vertex: VertexId) -> u32 {
        self.ranks[vertex.index()]
    }

    /// The key of the vertex with this rank, as the result of another vertex.
    pub fn value(&self, rank: u32) -> Option<Value> {
        self.keys.get(rank as usize).cloned().map(Value::Key)
    }
}

/// The size of the largest group, over all vertices with a group.
pub fn largest(groups: impl Iterator<Item = u32>) -> u64 {
    let mut sizes = HashMap::<u32, u64>::new();
    groups.for_each(|group| *sizes.entry(group).or_default() += 1);
    sizes.into_values().max().unwrap_or(0)
}

/// Describes groups in a table.
pub fn describe(count: u64, largest: u64) -> String {
    format!("{}, the largest has {}", text::Count(count), text::counted(largest, "vertex", "vertices"))
}
