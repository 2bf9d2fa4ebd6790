//! Rows merged with changes that are not archived, for fresh views.

use crate::adjacency::row::RowAt;
use crate::edge_log::ChangeList;
use crate::id_filter::IdFilter;
use hedgerow_model::{ChangeSlice, Column, EdgeValue, VertexId};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A copied row with the changes after its version. Keeps its memory from row to row.
#[derive(Debug, Default)]
pub struct RowCopy<W> {
    neighbors: Vec<VertexId>,
    values: Vec<W>,
    deleted: Vec<u32>,
}

impl<W: Column> RowCopy<W> {
    /// Copies a row, except the entries at the positions `replaced`, and then the edges that
    /// changes put. O(entries).
    pub fn merge(&mut self, row: RowAt<'_>, replaced: &[u32], changes: ChangeSlice<'_>) {
        self.copy_without(row, replaced);
        self.append_puts(changes);
    }

    /// Copies the edges that changes put. O(changes).
    pub fn copy_puts(&mut self, changes: ChangeSlice<'_>) {
        self.neighbors.clear();
        self.values.clear();
        self.append_puts(changes);
    }

    fn append_puts(&mut self, changes: ChangeSlice<'_>) {
        for change in changes.iter() {
            if let Some(value) = change.value {
                self.neighbors.push(change.neighbor());
                self.values.push(W::from_bits(value));
            }
        }
    }

    /// Copies a row. O(entries).
    pub fn copy(&mut self, row: RowAt<'_>) {
        self.copy_without(row, &[]);
    }

    fn copy_without(&mut self, row: RowAt<'_>, positions: &[u32]) {
        let RowCopy { neighbors, values, deleted } = self;
        neighbors.clear();
        values.clear();
        let _: ControlFlow<()> = row.neighbors_without(positions, deleted, |run, run_values| {
            neighbors.extend_from_slice(run);
            values.extend_from_slice(run_values);
            ControlFlow::Continue(())
        });
    }

    /// Returns the neighbors and their values.
    #[must_use]
    pub fn edges(&self) -> (&[VertexId], &[W]) {
        (&self.neighbors, &self.values)
    }
}

/// Positions of the entries of one row whose edges change after its version. A reader that skips
/// them copies nothing. Keeps its memory from row to row.
#[derive(Debug, Default)]
pub struct ReplacedInRow {
    filter: IdFilter,
    positions: Vec<u32>,
}

impl ReplacedInRow {
    /// Finds the positions of the entries whose edges change, ascending. O(entries).
    pub fn find(&mut self, row: RowAt<'_>, changes: ChangeSlice<'_>) -> &[u32] {
        self.positions.clear();
        add_replaced(row, changes, &mut self.filter, &mut self.positions);
        &self.positions
    }
}

/// Positions of the entries whose edges change after their version, in all rows that change.
#[derive(Debug, Default)]
pub struct ReplacedEntries {
    /// End of the positions of each row that changes.
    ends: Vec<usize>,
    /// Positions by row, ascending in each.
    positions: Vec<u32>,
}

impl ReplacedEntries {
    /// Finds the positions of the entries whose edges change. O(entries of rows that change).
    pub fn new<'a>(changes: &ChangeList, row: impl Fn(VertexId) -> Option<RowAt<'a>>) -> Self {
        let (mut replaced, mut filter) = (ReplacedEntries::default(), IdFilter::default());
        for changes in changes.rows(0..u32::MAX) {
            let ReplacedEntries { ends, positions } = &mut replaced;
            if let Some(row) = row(changes.first_owner()) {
                add_replaced(row, changes, &mut filter, positions);
            }
            ends.push(positions.len());
        }
        replaced
    }

    /// Returns the positions in a row, given its number among the rows that change. O(1).
    #[inline]
    #[must_use]
    pub fn of(&self, row: usize) -> &[u32] {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.positions[begin..self.ends[row]]
    }
}

/// Appends the positions of the entries of a row that change and are not deleted. Uses `filter` as
/// scratch space.
fn add_replaced(row: RowAt<'_>, changes: ChangeSlice<'_>, filter: &mut IdFilter, positions: &mut Vec<u32>) {
    filter.clear_for(changes.len());
    changes.iter().for_each(|change| filter.insert(change.neighbor()));
    let deleted: BTreeSet<u32> = row.deletions().collect();
    for (before, neighbors) in row.entries.neighbors() {
        for (position, neighbor) in (before..).zip(neighbors) {
            let is_replaced = filter.may_contain(*neighbor) && changes.find(*neighbor).is_some();
            if is_replaced && !deleted.contains(&position) {
                positions.push(position);
            }
        }
    }
}

/// Returns the value of the edge to a neighbor, if there is one, in a row with changes after its
/// version.
#[must_use]
pub fn find_merged(
    row: Option<RowAt<'_>>,
    changes: Option<ChangeSlice<'_>>,
    neighbor: VertexId,
) -> Option<EdgeValue> {
    match changes.and_then(|changes| changes.find(neighbor)) {
        Some(changed) => changed.value,
        None => row?.find(neighbor),
    }
}
