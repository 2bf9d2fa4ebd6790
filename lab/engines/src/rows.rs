//! Parallel arrays of sorted neighbors and values, and merging changes into them.

use crate::counted::HeapBytes;
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeValue, ValueColumn, VertexId};
use hedgerow_rapid::subgraphs::Tally;
use std::ops::Range;

/// Neighbors, and a value for each.
#[derive(Clone, Debug)]
pub struct Rows {
    pub neighbors: Vec<VertexId>,
    pub values: ValueColumn,
}

impl Rows {
    pub fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        Rows { neighbors: Vec::with_capacity(capacity), values: ValueColumn::with_capacity(column, capacity) }
    }

    pub fn len(&self) -> usize {
        self.neighbors.len()
    }

    /// Returns the values; `W` is the type of the label's column, or `()`.
    #[inline]
    pub fn values<W: Column>(&self) -> &[W] {
        W::slice(&self.values, 0..self.len())
    }

    /// Returns the position of a neighbor in a sorted range.
    #[inline]
    pub fn find(&self, stretch: Range<usize>, neighbor: VertexId) -> Option<usize> {
        let found = self.neighbors[stretch.clone()].binary_search(&neighbor);
        found.ok().map(|position| stretch.start + position)
    }

    pub fn push(&mut self, neighbor: VertexId, value: EdgeValue) {
        self.neighbors.push(neighbor);
        self.values.push(value);
    }

    pub fn extend_from(&mut self, other: &Rows, stretch: Range<usize>) {
        self.neighbors.extend_from_slice(&other.neighbors[stretch.clone()]);
        self.values.extend_from(&other.values, stretch);
    }

    /// Appends a copy of a range of these rows.
    pub fn extend_from_within(&mut self, stretch: Range<usize>) {
        self.neighbors.extend_from_within(stretch.clone());
        match &mut self.values {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.extend_from_within(stretch),
            ValueColumn::Eight(values) => values.extend_from_within(stretch),
        }
    }

    /// Appends a sorted range of `old` with `changes`, which ascend by neighbor, applied.
    ///
    /// O(changes · log range) searches; runs between changes are copied whole.
    pub fn extend_merged(
        &mut self,
        old: &Rows,
        stretch: Range<usize>,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) {
        let mut next = stretch.start;
        for change in changes.iter() {
            let rest = &old.neighbors[next..stretch.end];
            let position = next + rest.partition_point(|neighbor| *neighbor < change.neighbor());
            let found = position < stretch.end && old.neighbors[position] == change.neighbor();
            self.extend_from(old, next..position);
            if let Some(value) = change.value {
                self.push(change.neighbor(), value);
            }
            tally.count(&change, found, |value| !old.has_value(position, value));
            next = position + usize::from(found);
        }
        self.extend_from(old, next..stretch.end);
    }

    /// Shortens to `length`.
    pub fn truncate(&mut self, length: usize) {
        self.neighbors.truncate(length);
        match &mut self.values {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.truncate(length),
            ValueColumn::Eight(values) => values.truncate(length),
        }
    }

    pub fn shrink_to_fit(&mut self) {
        self.neighbors.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    fn has_value(&self, position: usize, value: EdgeValue) -> bool {
        match &self.values {
            ValueColumn::Unit => true,
            ValueColumn::Four(values) => values[position] == value.0 as u32,
            ValueColumn::Eight(values) => values[position] == value.0,
        }
    }
}

impl HeapBytes for Rows {
    fn heap_bytes(&self) -> usize {
        self.neighbors.capacity() * size_of::<VertexId>() + self.values.heap_bytes()
    }
}
