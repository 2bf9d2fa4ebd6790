//! A row with changes that are not archived: what a fresh view reads.

use crate::adjacency::row::RowAt;
use hedgerow_edge_log::RowChanges;
use hedgerow_model::{Column, EdgeValue, VertexId};
use std::ops::ControlFlow;

/// A row that was copied, with the changes after its version. Keeps its memory from row to row.
#[derive(Debug, Default)]
pub struct MergedRow<W> {
    neighbors: Vec<VertexId>,
    values: Vec<W>,
    deleted: Vec<u32>,
}

impl<W: Column> MergedRow<W> {
    /// Copies a row, without the edges that change, and then those that are put. O(entries · log changes).
    pub fn merge(&mut self, row: Option<RowAt<'_>>, changes: RowChanges<'_>) {
        let MergedRow { neighbors, values, deleted } = self;
        neighbors.clear();
        values.clear();
        let _: Option<ControlFlow<()>> = row.map(|row| {
            row.neighbors(deleted, |run, run_values: &[W]| {
                for (neighbor, value) in run.iter().zip(run_values) {
                    if changes.find(*neighbor).is_none() {
                        neighbors.push(*neighbor);
                        values.push(*value);
                    }
                }
                ControlFlow::Continue(())
            })
        });
        for (neighbor, value) in changes.iter() {
            if let Some(value) = value {
                neighbors.push(neighbor);
                values.push(W::from_bits(value));
            }
        }
    }

    /// Copies a row. O(entries).
    pub fn copy(&mut self, row: RowAt<'_>) {
        let MergedRow { neighbors, values, deleted } = self;
        neighbors.clear();
        values.clear();
        let _: ControlFlow<()> = row.neighbors(deleted, |run, run_values| {
            neighbors.extend_from_slice(run);
            values.extend_from_slice(run_values);
            ControlFlow::Continue(())
        });
    }

    /// The neighbors and their values.
    #[must_use]
    pub fn edges(&self) -> (&[VertexId], &[W]) {
        (&self.neighbors, &self.values)
    }
}

/// The value of the edge to a neighbor, if there is one: as it is in a row, with changes after its version.
#[must_use]
pub fn find_merged(
    row: Option<RowAt<'_>>,
    changes: Option<RowChanges<'_>>,
    neighbor: VertexId,
) -> Option<EdgeValue> {
    match changes.and_then(|changes| changes.find(neighbor)) {
        Some(changed) => changed,
        None => row?.find(neighbor),
    }
}
