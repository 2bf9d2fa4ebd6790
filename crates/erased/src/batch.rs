//! Rows that one virtual call hands over.

use hedgerow_model::{Column, ColumnType, VertexId, unit_slice};

/// A batch is full when it has this many rows.
const ROWS: usize = 256;

/// A batch is full when it has this many neighbours: they stay in the first cache while they are read.
const NEIGHBOURS: usize = 4096;

/// The values of a column as bytes: none of units, else as many as the values take.
pub(crate) fn as_bytes<W: Column>(values: &[W]) -> &[u8] {
    if W::TYPE == ColumnType::Unit { &[] } else { bytemuck::cast_slice(values) }
}

/// The `length` values that [`as_bytes`] made bytes of.
pub(crate) fn from_bytes<W: Column>(bytes: &[u8], length: usize) -> &[W] {
    if W::TYPE == ColumnType::Unit {
        bytemuck::cast_slice(unit_slice(length))
    } else {
        bytemuck::cast_slice(bytes)
    }
}

/// The rows of several vertices, one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'b> {
    pub(crate) owners: &'b [VertexId],
    /// Where each row ends among the neighbours.
    pub(crate) ends: &'b [u32],
    pub(crate) neighbours: &'b [VertexId],
    pub(crate) values: &'b [u8],
}

/// Copies of rows that wait to be handed over.
pub(crate) struct Batch<W> {
    owners: Vec<VertexId>,
    ends: Vec<u32>,
    neighbours: Vec<VertexId>,
    values: Vec<W>,
    /// What a row is sorted in.
    row: Vec<(VertexId, W)>,
}

impl<W: Column> Batch<W> {
    /// An empty batch, which allocates when it is first filled.
    pub(crate) fn new() -> Self {
        Batch {
            owners: Vec::new(),
            ends: Vec::new(),
            neighbours: Vec::new(),
            values: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Whether it should be handed over before another row begins.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.owners.len() >= ROWS || self.neighbours.len() >= NEIGHBOURS
    }

    /// The vertex whose row is last.
    #[inline]
    pub(crate) fn last_owner(&self) -> Option<VertexId> {
        self.owners.last().copied()
    }

    /// Appends a run, to the last row if that is its owner's.
    #[inline]
    pub(crate) fn push(&mut self, owner: VertexId, neighbours: &[VertexId], values: &[W]) {
        self.neighbours.extend_from_slice(neighbours);
        self.values.extend_from_slice(values);
        // A row has fewer neighbours than there are ids, and a batch is handed over soon after it is full.
        let end = self.neighbours.len() as u32;
        if self.last_owner() == Some(owner) {
            self.ends.pop();
        } else {
            self.owners.push(owner);
        }
        self.ends.push(end);
    }

    /// Sorts each row by its neighbours.
    pub(crate) fn sort_rows(&mut self) {
        let mut start = 0;
        for end in &self.ends {
            let range = start..*end as usize;
            start = range.end;
            let (neighbours, values) = (&mut self.neighbours[range.clone()], &mut self.values[range]);
            self.row.clear();
            self.row.extend(neighbours.iter().copied().zip(values.iter().copied()));
            self.row.sort_by_key(|(neighbour, _)| *neighbour);
            for (position, (neighbour, value)) in self.row.iter().enumerate() {
                (neighbours[position], values[position]) = (*neighbour, *value);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.owners.clear();
        self.ends.clear();
        self.neighbours.clear();
        self.values.clear();
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows {
            owners: &self.owners,
            ends: &self.ends,
            neighbours: &self.neighbours,
            values: as_bytes(&self.values),
        }
    }
}
