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
    /// The rows with these neighbors, ascending in each row.
    pub(super) fn new(offsets: Vec<u64>, neighbors: Vec<VertexId>, values: ValueColumn) -> Self {
        Rows { offsets, neighbors, values }
    }

    /// No rows, with room for those of `vertex_bound` vertices with this many entries in all.
    pub(super) fn with_capacity(vertex_bound: u32, column: ColumnType, entries: usize) -> Self {
        let mut offsets = Vec::with_capacity(vertex_bound as usize + 1);
        offsets.push(0);
        let (neighbors, values) = (Vec::with_capacity(entries), ValueColumn::with_capacity(column, entries));
        Rows { offsets, neighbors, values }
    }

    /// Appends the rows of later vertices. Those between have no neighbors.
    pub(super) fn append(&mut self, block: &RowBlock) {
        let mut end = self.neighbors.len() as u64;
        self.offsets.resize(block.first as usize + 1, end);
        self.offsets.extend(block.degrees.iter().map(|degree| {
            end += degree;
            end
        }));
        self.neighbors.extend_from_slice(&block.neighbors);
        self.values.extend_from(&block.values, 0..block.neighbors.len());
        debug_assert_eq!(end, self.neighbors.len() as u64, "the rows of each block are its neighbors");
    }

    /// Ends with the vertices below the bound, of which the last may have no neighbors.
    pub(super) fn up_to(mut self, vertex_bound: u32) -> Self {
        let length = self.offsets.len().max(vertex_bound as usize + 1);
        self.offsets.resize(length, self.neighbors.len() as u64);
        self
    }

    /// Assembles blocks that ascend and don't overlap. Vertices in no block have no neighbors.
    pub(super) fn concatenate(vertex_bound: u32, column: ColumnType, blocks: Vec<RowBlock>) -> Self {
        let entries = blocks.iter().map(|block| block.neighbors.len()).sum();
        let mut rows = Rows::with_capacity(vertex_bound, column, entries);
        blocks.into_iter().for_each(|block| rows.append(&block));
        rows.up_to(vertex_bound)
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

    /// Takes the values, of eight bytes, as the bits of values of type `column`.
    pub(super) fn narrow(&mut self, column: ColumnType) {
        self.values = match (std::mem::replace(&mut self.values, ValueColumn::Unit), column.width()) {
            (ValueColumn::Eight(bits), 4) => {
                ValueColumn::Four(bits.into_iter().map(|bits| bits as u32).collect())
            }
            (values @ ValueColumn::Eight(_), 8) => values,
            _ => panic!("values of type {column:?}"),
        };
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
        let loops_of = |vertex: VertexId| {
            let row = &self.neighbors[self.range(vertex)];
            row.partition_point(|other| *other <= vertex) - row.partition_point(|other| *other < vertex)
        };
        vertices.map(|vertex| loops_of(vertex) as u64).sum()
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
