//! Partitions with a set per vertex: the vertex index of RapidStore (section 6.1), over the trees
//! or the vectors of its ablation.

mod vector;

pub(crate) use vector::VectorOrTree;

use crate::partition::Partition;
use crate::radix::{Leaf, RadixTree};
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeValue, Neighbors, VertexId};
use hedgerow_rapid::subgraphs::Tally;
use hedgerow_rapid::subgraphs::partition::{PARTITION_SIZE, slot_of, slots_of};
use std::ops::ControlFlow;

/// The neighbors of one vertex, at least one. Immutable; cheap to clone.
pub trait NeighborSet: Clone + Send + Sync + 'static {
    /// Returns the set after `changes`, which ascend by neighbor; `None` if it becomes empty.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self>;

    /// Returns the number of neighbors. O(1).
    fn len(&self) -> usize;

    /// Returns the value of a neighbor.
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue>;

    /// Returns the neighbors, if they are one contiguous run.
    fn run<W: Column>(&self) -> Option<Neighbors<'_, W>>;

    /// Visits the neighbors in runs, ascending.
    fn runs<W: Column, B>(&self, run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>) -> ControlFlow<B>;

    /// Returns the heap bytes, including bytes shared with other versions. O(1).
    fn heap_bytes(&self) -> usize;

    /// Returns the part of the heap bytes that `newer` shares.
    fn shared_bytes(&self, newer: &Self) -> usize;
}

impl<L: Leaf> NeighborSet for RadixTree<L> {
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self> {
        RadixTree::merged(old, column, changes, tally)
    }

    #[inline]
    fn len(&self) -> usize {
        RadixTree::len(self)
    }

    #[inline]
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        RadixTree::find(self, neighbor)
    }

    /// Always `None`, even if the tree is a single leaf.
    fn run<W: Column>(&self) -> Option<Neighbors<'_, W>> {
        None
    }

    #[inline]
    fn runs<W: Column, B>(&self, run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>) -> ControlFlow<B> {
        RadixTree::runs(self, run)
    }

    fn heap_bytes(&self) -> usize {
        RadixTree::heap_bytes(self)
    }

    fn shared_bytes(&self, newer: &Self) -> usize {
        RadixTree::shared_bytes(self, newer)
    }
}

/// The neighbors of one partition: a set per vertex that has any. Immutable once published.
#[derive(Clone, Debug)]
pub struct VertexIndex<S> {
    sets: [Option<S>; PARTITION_SIZE],
    entries: usize,
    bytes: usize,
}

impl<S: NeighborSet> Partition for VertexIndex<S> {
    /// Copies the array of sets, and the parts of changed sets that are not shared.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self> {
        let before = tally.changed();
        let mut sets = old.map_or([const { None }; PARTITION_SIZE], |old| old.sets.clone());
        for row in changes.groups(|owner| owner) {
            let set = &mut sets[slot_of(row.first_owner())];
            *set = S::merged(set.as_ref(), column, row, tally);
        }
        (tally.changed() > before).then(|| VertexIndex {
            entries: sets.iter().flatten().map(S::len).sum(),
            bytes: sets.iter().flatten().map(S::heap_bytes).sum(),
            sets,
        })
    }

    fn occupied(&self) -> u64 {
        let occupied = self.sets.iter().enumerate().filter(|(_, set)| set.is_some());
        occupied.fold(0, |bits, (slot, _)| bits | 1 << slot)
    }

    fn entries(&self) -> usize {
        self.entries
    }

    #[inline]
    fn degree(&self, slot: usize) -> usize {
        self.sets[slot].as_ref().map_or(0, S::len)
    }

    #[inline]
    fn find(&self, slot: usize, neighbor: VertexId) -> Option<EdgeValue> {
        self.sets[slot].as_ref()?.find(neighbor)
    }

    #[inline]
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>> {
        self.sets[slot].as_ref()?.run()
    }

    #[inline]
    fn runs<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match &self.sets[slot] {
            Some(set) => set.runs(run),
            None => ControlFlow::Continue(()),
        }
    }

    fn own_heap_bytes(&self) -> usize {
        0
    }

    fn heap_bytes(&self) -> usize {
        self.bytes
    }

    fn shared_bytes(&self, newer: &Self) -> usize {
        let shared = |slot: usize| match (&self.sets[slot], &newer.sets[slot]) {
            (Some(old), Some(new)) => old.shared_bytes(new),
            _ => 0,
        };
        slots_of(self.occupied()).map(shared).sum()
    }
}
