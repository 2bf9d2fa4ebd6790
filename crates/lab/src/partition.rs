//! What a partition is: the neighbors of consecutive vertices, which are versioned together.

use hedgerow_model::{Column, ColumnType, EdgeChange, EdgeValue, Neighbors, VertexId};
use hedgerow_subgraphs::Tally;
use std::ops::ControlFlow;

/// The neighbors of one partition, as sorted sets by slot. Never changed: a change makes another
/// one that shares what it can with the old one.
pub trait Partition: Clone + Send + Sync + 'static {
    /// The partition after `changes`, which ascend and lie in it; `None` if they change nothing.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: &[EdgeChange],
        tally: &mut Tally,
    ) -> Option<Self>;

    /// A bit for each slot that has neighbors.
    fn occupied(&self) -> u64;

    /// How many neighbors there are in all. O(1).
    fn entries(&self) -> usize;

    /// How many neighbors a slot has. O(1).
    fn degree(&self, slot: usize) -> usize;

    /// The value of a neighbor of a slot.
    fn find(&self, slot: usize, neighbor: VertexId) -> Option<EdgeValue>;

    /// The neighbors of a slot, if they lie in one run.
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>>;

    /// Hands over the neighbors of a slot in runs that are not empty, ascending.
    fn runs<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// Bytes on the heap that belong to this alone.
    fn own_heap_bytes(&self) -> usize;

    /// All bytes on the heap, those shared with other versions included. O(1).
    fn heap_bytes(&self) -> usize;

    /// Those of the bytes on the heap that `newer` shares.
    fn shared_bytes(&self, newer: &Self) -> usize;
}

/// A neighbor set with more entries than this is a tree. Small in unit tests, so that random
/// operations cross it.
pub(crate) const LARGE: usize = if cfg!(test) { 12 } else { 256 };

/// A tree with fewer entries than this is made small again.
pub(crate) const SMALL_AGAIN: usize = LARGE / 2;

#[cfg(test)]
mod tests;
