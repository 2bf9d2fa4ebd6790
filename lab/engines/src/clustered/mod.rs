//! Partitions with a clustered index: small neighbor sets next to each other in the leaves of one
//! B+ tree, large sets in separate trees (RapidStore, section 6.3).
//!
//! The keys of the B+ tree are pairs of a slot and a neighbor. Its leaves are split only between
//! slots, which is possible because a small set fits into a leaf. So each set is one run, and the
//! vertex index contains its leaf and position, without a search. A partition of small sets never
//! has more leaves than slots, so two levels are enough, and the root is an array of leaves.

mod builder;
#[cfg(test)]
mod tests;

use crate::counted::Counted;
use crate::partition::{LARGE, Partition};
use crate::radix::CompressedArt;
use crate::rows::Rows;
use builder::Builder;
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeValue, Neighbors, VertexId};
use hedgerow_rapid::subgraphs::Tally;
use hedgerow_rapid::subgraphs::partition::{PARTITION_SIZE, slot_of, slots_of};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Range};

/// The most entries of a leaf (section 6.5, "Hyperparameters"). Small in unit tests, so that random
/// operations cross it.
const LEAF_CAPACITY: usize = if cfg!(test) { 16 } else { 512 };

// A set that is not large fits into a leaf, and places have 16 bits.
const _: () = assert!(LARGE <= LEAF_CAPACITY && LEAF_CAPACITY <= u16::MAX as usize);

/// The neighbors of one partition. Immutable once published.
#[derive(Clone, Debug)]
pub struct Clustered {
    /// The vertex index of the small sets.
    places: [RowPlace; PARTITION_SIZE],
    /// The leaves of the B+ tree, ascending.
    leaves: Vec<Arc<Counted<Rows>>>,
    /// One bit per slot, set if the slot has neighbors.
    occupied: u64,
    /// One bit per slot, set if its neighbors are a tree.
    large_slots: u64,
    /// The trees, ascending by slot.
    large: Vec<CompressedArt>,
    entries: usize,
    /// The bytes of the leaves and trees.
    shared_bytes: usize,
}

/// The position of a small set.
#[derive(Clone, Copy, Debug, Default)]
struct RowPlace {
    leaf: u16,
    start: u16,
    length: u16,
}

impl RowPlace {
    #[inline]
    fn stretch(self) -> Range<usize> {
        usize::from(self.start)..usize::from(self.start) + usize::from(self.length)
    }
}

/// The neighbors of a slot; not empty.
enum Set<'c> {
    Small(&'c Rows, Range<usize>),
    Large(&'c CompressedArt),
}

impl Clustered {
    fn empty() -> Self {
        Clustered {
            places: [RowPlace::default(); PARTITION_SIZE],
            leaves: Vec::new(),
            occupied: 0,
            large_slots: 0,
            large: Vec::new(),
            entries: 0,
            shared_bytes: 0,
        }
    }

    #[inline]
    fn set(&self, slot: usize) -> Option<Set<'_>> {
        if self.occupied >> slot & 1 == 0 {
            return None;
        }
        if self.large_slots >> slot & 1 == 1 {
            return Some(Set::Large(self.large_at(slot)));
        }
        let place = self.places[slot];
        Some(Set::Small(&self.leaves[usize::from(place.leaf)], place.stretch()))
    }

    #[inline]
    fn large_at(&self, slot: usize) -> &CompressedArt {
        let before = self.large_slots & ((1 << slot) - 1);
        &self.large[before.count_ones() as usize]
    }

    /// Counts the bytes that can be shared with other versions.
    fn count_shared_bytes(&self) -> usize {
        let leaves: usize = self.leaves.iter().map(|leaf| leaf.bytes()).sum();
        leaves + self.large.iter().map(CompressedArt::heap_bytes).sum::<usize>()
    }
}

impl Partition for Clustered {
    /// Copies the vertex index, the root, and the leaves and paths that change.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self> {
        let before = tally.changed();
        let nothing;
        let old = match old {
            Some(old) => old,
            None => {
                nothing = Clustered::empty();
                &nothing
            }
        };
        let mut builder = Builder::new(old, column, changes.len());
        for row in changes.groups(|owner| owner) {
            builder.change(slot_of(row.first_owner()), row, tally);
        }
        (tally.changed() > before).then(|| builder.finish())
    }

    #[inline]
    fn occupied(&self) -> u64 {
        self.occupied
    }

    fn entries(&self) -> usize {
        self.entries
    }

    #[inline]
    fn degree(&self, slot: usize) -> usize {
        match self.set(slot) {
            None => 0,
            Some(Set::Small(_, stretch)) => stretch.len(),
            Some(Set::Large(tree)) => tree.len(),
        }
    }

    #[inline]
    fn find(&self, slot: usize, neighbor: VertexId) -> Option<EdgeValue> {
        match self.set(slot)? {
            Set::Small(rows, stretch) => {
                rows.find(stretch, neighbor).map(|position| rows.values.get(position))
            }
            Set::Large(tree) => tree.find(neighbor),
        }
    }

    #[inline]
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>> {
        match self.set(slot) {
            None => Some((&[], &[])),
            Some(Set::Small(rows, stretch)) => {
                Some((&rows.neighbors[stretch.clone()], W::slice(&rows.values, stretch)))
            }
            Some(Set::Large(_)) => None,
        }
    }

    #[inline]
    fn runs<W: Column, B>(
        &self,
        slot: usize,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.set(slot) {
            None => ControlFlow::Continue(()),
            Some(Set::Small(rows, stretch)) => {
                run(&rows.neighbors[stretch.clone()], W::slice(&rows.values, stretch))
            }
            Some(Set::Large(tree)) => tree.runs(run),
        }
    }

    fn own_heap_bytes(&self) -> usize {
        let root = self.leaves.capacity() * size_of::<Arc<Counted<Rows>>>();
        root + self.large.capacity() * size_of::<CompressedArt>()
    }

    fn heap_bytes(&self) -> usize {
        self.own_heap_bytes() + self.shared_bytes
    }

    fn shared_bytes(&self, newer: &Self) -> usize {
        let is_shared =
            |leaf: &&Arc<Counted<Rows>>| newer.leaves.iter().any(|other| Arc::ptr_eq(leaf, other));
        let leaves: usize = self.leaves.iter().filter(is_shared).map(|leaf| leaf.bytes()).sum();
        let trees = slots_of(self.large_slots & newer.large_slots);
        leaves + trees.map(|slot| self.large_at(slot).shared_bytes(newer.large_at(slot))).sum::<usize>()
    }
}
