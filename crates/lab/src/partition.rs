//! The trait of partitions: the neighbors of consecutive vertices, which are versioned together.

use hedgerow_model::{Column, ColumnType, EdgeChange, EdgeValue, Neighbors, VertexId};
use hedgerow_subgraphs::Tally;
use std::ops::ControlFlow;

/// The neighbors of one partition, as one sorted set per slot. Immutable: a change makes another
/// one that shares memory with the old one where possible.
pub trait Partition: Clone + Send + Sync + 'static {
    /// The partition after `changes`, which ascend and lie in it; `None` if they change nothing.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: &[EdgeChange],
        tally: &mut Tally,
    ) -> Option<Self>;

    /// One bit per slot: whether it has neighbors.
    fn occupied(&self) -> u64;

    /// The total number of neighbors. O(1).
    fn entries(&self) -> usize;

    /// The number of neighbors of a slot. O(1).
    fn degree(&self, slot: usize) -> usize;

    /// The value of a neighbor of a slot.
    fn find(&self, slot: usize, neighbor: VertexId) -> Option<EdgeValue>;

    /// The neighbors of a slot, if they are one contiguous run.
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>>;

    /// Visits the neighbors of a slot in ascending, nonempty runs.
    fn runs<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// Heap bytes that this partition owns alone.
    fn own_heap_bytes(&self) -> usize;

    /// All heap bytes, including those shared with other versions. O(1).
    fn heap_bytes(&self) -> usize;

    /// The part of the heap bytes that `newer` shares.
    fn shared_bytes(&self, newer: &Self) -> usize;
}

/// A neighbor set with more entries becomes a tree. Low in unit tests, so that random operations
/// cross it.
pub(crate) const LARGE: usize = if cfg!(test) { 12 } else { 256 };

/// A tree with fewer entries becomes small again.
pub(crate) const SMALL_AGAIN: usize = LARGE / 2;

#[cfg(test)]
mod tests;
