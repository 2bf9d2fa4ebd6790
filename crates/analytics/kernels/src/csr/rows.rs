//! Compressed sparse rows, and the blocks from which they are assembled.

use hedgerow_model::{Column, ColumnType, Topology, ValueColumn, VertexId};
use std::ops::Range;

/// The neighbors of all vertices, ascending within each row.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// One offset per id, and one more; ascending; the last is the number of entries.
    offsets: Vec<u64>,
    neighbors: Vec<VertexId>,
    values: ValueColumn,
}

/// The rows of the consecutive vertices from `first` on.
pub(super) struct RowBlock {
    first: u32,
    degrees: Vec<u64>,
    neighbors: Vec<VertexId>,
    values: ValueColumn,
}

impl Rows {
    /// Assembles blocks that ascend and don't overlap. Vertices in no block have no neighbors.
    pub(super) fn concatenate(vertex_bound: u32, column: ColumnType, blocks: Vec<RowBlock>) -> Self {
        let entries = blocks.iter().map(|block| block.neighbors.len()).sum();
        let mut offsets = Vec::with_capacity(vertex_bound as usize + 1);
        let mut neighbors = Vec::with_capacity(entries);
        let mut values = ValueColumn::with_capacity(column, entries);
        offsets.push(0);
        let mut end = 0;
        for block in blocks {
            offsets.resize(block.first as usize + 1, end);
            offsets.extend(block.degrees.iter().map(|degree| {
                end += degree;
                end
            }));
            neighbors.extend_from_slice(&block.neighbors);
            values.extend_from(&block.values, 0..block.neighbors.len());
        }
        offsets.resize(vertex_bound as usize + 1, end);
        debug_assert_eq!(end, neighbors.len() as u64, "the rows of each block are its neighbors");
        Rows { offsets, neighbors, values }
    }

    pub(super) fn vertex_bound(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    pub(super) fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    pub(super) fn neighbors(&self) -> &[VertexId] {
        &self.neighbors
    }

    pub(super) fn values(&self) -> &ValueColumn {
        &self.values
    }

    /// The range of the row of `vertex`, which is below the bound.
    pub(super) fn range(&self, vertex: VertexId) -> Range<usize> {
        self.offsets[vertex.index()] as usize..self.offsets[vertex.index() + 1] as usize
    }

    /// The number of edges of a graph with these out-neighbors. O(1), or O(vertices · log degree)
    /// for an undirected graph.
    pub(super) fn edge_count(&self, topology: Topology) -> u64 {
        let entries = self.neighbors.len() as u64;
        if topology.is_undirected() { (entries + self.self_loops()) / 2 } else { entries }
    }

    fn self_loops(&self) -> u64 {
        let vertices = (0..self.vertex_bound()).map(VertexId::new);
        let has_loop = |vertex: &VertexId| self.neighbors[self.range(*vertex)].binary_search(vertex).is_ok();
        vertices.filter(has_loop).count() as u64
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u64>()
            + self.neighbors.capacity() * size_of::<VertexId>()
            + self.values.heap_bytes()
    }
}

impl RowBlock {
    /// The empty rows of the vertices in `range`.
    pub(super) fn new(range: Range<u32>, column: ColumnType, capacity: usize) -> Self {
        RowBlock {
            first: range.start,
            degrees: vec![0; range.len()],
            neighbors: Vec::with_capacity(capacity),
            values: ValueColumn::with_capacity(column, capacity),
        }
    }

    /// Appends neighbors to the row of `owner`. Owners come in ascending order.
    #[inline]
    pub(super) fn extend<W: Column>(&mut self, owner: VertexId, neighbors: &[VertexId], values: &[W]) {
        self.degrees[(owner.get() - self.first) as usize] += neighbors.len() as u64;
        self.neighbors.extend_from_slice(neighbors);
        if W::TYPE != ColumnType::Unit {
            values.iter().for_each(|value| self.values.push(value.to_bits()));
        }
    }

    /// Appends one neighbor to the row of `owner`. Owners come in ascending order.
    #[inline]
    pub(super) fn push<W: Column>(&mut self, owner: VertexId, neighbor: VertexId, value: W) {
        self.degrees[(owner.get() - self.first) as usize] += 1;
        self.neighbors.push(neighbor);
        self.values.push(value.to_bits());
    }
}
