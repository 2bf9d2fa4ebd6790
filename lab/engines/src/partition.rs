//! The trait of partitions: the neighbors of consecutive vertices, which are versioned together.

use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeValue, Neighbors, VertexId};
use hedgerow_rapid::subgraphs::Tally;
use std::ops::ControlFlow;

/// The neighbors of one partition, as one sorted set per slot. Immutable: a change makes a new
/// partition that shares memory with the old one where possible.
pub trait Partition: Clone + Send + Sync + 'static {
    /// Returns the partition after `changes`, which ascend and lie in it; `None` if they change
    /// nothing.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self>;

    /// Returns one bit per slot, set if the slot has neighbors.
    fn occupied(&self) -> u64;

    /// Returns the total number of neighbors. O(1).
    fn entries(&self) -> usize;

    /// Returns the number of neighbors of a slot. O(1).
    fn degree(&self, slot: usize) -> usize;

    /// Returns the value of a neighbor of a slot.
    fn find(&self, slot: usize, neighbor: VertexId) -> Option<EdgeValue>;

    /// Returns the neighbors of a slot, if they are one contiguous run.
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>>;

    /// Visits the neighbors of a slot in ascending, nonempty runs.
    fn runs<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// Returns the heap bytes that this partition owns alone.
    fn own_heap_bytes(&self) -> usize;

    /// Returns the heap bytes, including bytes shared with other versions. O(1).
    fn heap_bytes(&self) -> usize;

    /// Returns the part of the heap bytes that `newer` shares.
    fn shared_bytes(&self, newer: &Self) -> usize;
}

/// The most entries of a small neighbor set; larger ones become trees. Low in unit tests, so that
/// random operations cross it.
pub(crate) const LARGE: usize = if cfg!(test) { 12 } else { 256 };

/// A tree with fewer entries becomes small again.
pub(crate) const SMALL_AGAIN: usize = LARGE / 2;

#[cfg(test)]
mod tests;
