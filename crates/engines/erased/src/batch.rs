//! Batches of rows that one virtual call passes.

use hedgerow_model::{Column, ColumnType, VertexId, unit_slice};

/// A batch with this many rows is full.
const ROWS: usize = 256;

/// A batch with this many neighbors is full: they stay in the L1 cache while they are read.
const NEIGHBORS: usize = 4096;

/// The values of a column as bytes; empty for unit values.
pub(crate) fn as_bytes<W: Column>(values: &[W]) -> &[u8] {
    if W::TYPE == ColumnType::Unit { &[] } else { bytemuck::cast_slice(values) }
}

/// The `length` values that [`as_bytes`] turned into bytes.
pub(crate) fn from_bytes<W: Column>(bytes: &[u8], length: usize) -> &[W] {
    if W::TYPE == ColumnType::Unit {
        bytemuck::cast_slice(unit_slice(length))
    } else {
        bytemuck::cast_slice(bytes)
    }
}

/// The rows of several vertices, concatenated.
#[derive(Clone, Copy)]
pub(crate) struct BatchRows<'b> {
    pub(crate) owners: &'b [VertexId],
    /// The end of each row in `neighbors`.
    pub(crate) ends: &'b [u32],
    pub(crate) neighbors: &'b [VertexId],
    pub(crate) values: &'b [u8],
}

/// Buffers copies of rows until they are passed on.
pub(crate) struct RowBatch<W> {
    owners: Vec<VertexId>,
    ends: Vec<u32>,
    neighbors: Vec<VertexId>,
    values: Vec<W>,
    /// Scratch space for sorting a row.
    row: Vec<(VertexId, W)>,
}

impl<W> Default for RowBatch<W> {
    /// An empty batch, which allocates when it is first filled.
    fn default() -> Self {
        RowBatch {
            owners: Vec::new(),
            ends: Vec::new(),
            neighbors: Vec::new(),
            values: Vec::new(),
            row: Vec::new(),
        }
    }
}

impl<W: Column> RowBatch<W> {
    /// Returns true if the batch should be passed on before another row begins.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.owners.len() >= ROWS || self.neighbors.len() >= NEIGHBORS
    }

    /// The owner of the last row.
    #[inline]
    pub(crate) fn last_owner(&self) -> Option<VertexId> {
        self.owners.last().copied()
    }

    /// Appends a run, extending the last row if it has the same owner.
    #[inline]
    pub(crate) fn push(&mut self, owner: VertexId, neighbors: &[VertexId], values: &[W]) {
        self.neighbors.extend_from_slice(neighbors);
        self.values.extend_from_slice(values);
        // A row has fewer neighbors than there are ids, and a full batch is soon passed on.
        let end = self.neighbors.len() as u32;
        if self.last_owner() == Some(owner) {
            self.ends.pop();
        } else {
            self.owners.push(owner);
        }
        self.ends.push(end);
    }

    /// Sorts each row by its neighbors.
    pub(crate) fn sort_rows(&mut self) {
        let mut start = 0;
        for end in &self.ends {
            let range = start..*end as usize;
            start = range.end;
            let (neighbors, values) = (&mut self.neighbors[range.clone()], &mut self.values[range]);
            self.row.clear();
            self.row.extend(neighbors.iter().copied().zip(values.iter().copied()));
            self.row.sort_by_key(|(neighbor, _)| *neighbor);
            for (position, (neighbor, value)) in self.row.iter().enumerate() {
                (neighbors[position], values[position]) = (*neighbor, *value);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.owners.clear();
        self.ends.clear();
        self.neighbors.clear();
        self.values.clear();
    }

    pub(crate) fn rows(&self) -> BatchRows<'_> {
        BatchRows {
            owners: &self.owners,
            ends: &self.ends,
            neighbors: &self.neighbors,
            values: as_bytes(&self.values),
        }
    }
}
