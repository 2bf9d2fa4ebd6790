//! Builds a partition from an old one and its changes.

use super::{Clustered, LEAF_CAPACITY, RowPlace, Set};
use crate::counted::Counted;
use crate::partition::{LARGE, Partition, SMALL_AGAIN};
use crate::radix::CompressedArt;
use crate::rows::Rows;
use hedgerow_model::{ChangeSlice, ColumnType};
use hedgerow_rapid::subgraphs::Tally;
use hedgerow_rapid::subgraphs::partition::{PARTITION_SIZE, slots_of};
use hedgerow_sync::Arc;
use std::ops::Range;

/// A changed leaf with fewer entries merges with a sibling.
const SPARSE: usize = LEAF_CAPACITY / 4;

/// Siblings merge if together they have at most this many entries, so they are not split again
/// soon.
const MERGED: usize = LEAF_CAPACITY * 3 / 4;

/// A partition under construction.
pub(super) struct Builder<'o> {
    old: &'o Clustered,
    column: ColumnType,
    /// The new contents of changed slots, ascending by slot.
    changed: Vec<(usize, Changed)>,
    /// The rows of changed small sets.
    rows: Rows,
}

/// The new contents of a slot.
enum Changed {
    /// A range of the builder's rows: a small set, or none.
    Small(Range<usize>),
    Large(CompressedArt),
}

impl<'o> Builder<'o> {
    pub(super) fn new(old: &'o Clustered, column: ColumnType, changes: usize) -> Self {
        Builder { old, column, changed: Vec::new(), rows: Rows::with_capacity(column, changes) }
    }

    /// Merges changes into a slot; slots ascend.
    pub(super) fn change(&mut self, slot: usize, changes: ChangeSlice<'_>, tally: &mut Tally) {
        let before = tally.changed();
        let start = self.rows.len();
        let changed = match self.old.set(slot) {
            Some(Set::Large(tree)) => match CompressedArt::merged(Some(tree), self.column, changes, tally) {
                Some(tree) if tree.len() >= SMALL_AGAIN => Changed::Large(tree),
                tree => {
                    tree.inspect(|tree| tree.append_to(&mut self.rows));
                    Changed::Small(start..self.rows.len())
                }
            },
            Some(Set::Small(rows, stretch)) => self.merge(rows, stretch, changes, tally),
            None => self.merge(&Rows::with_capacity(self.column, 0), 0..0, changes, tally),
        };
        if tally.changed() > before {
            self.changed.push((slot, changed));
        } else {
            self.rows.truncate(start);
        }
    }

    fn merge(
        &mut self,
        old: &Rows,
        stretch: Range<usize>,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Changed {
        let start = self.rows.len();
        self.rows.extend_merged(old, stretch, changes, tally);
        let merged = start..self.rows.len();
        if merged.len() <= LARGE {
            return Changed::Small(merged);
        }
        let tree = CompressedArt::new(&self.rows, merged);
        self.rows.truncate(start);
        Changed::Large(tree)
    }

    /// Returns a bit mask of the old leaves that cannot be shared. A new set joins the leaf of the
    /// set before it, or else the leaf of the set after it.
    fn changed_leaves(&self) -> u64 {
        let small = self.old.occupied & !self.old.large_slots;
        let mut leaves = 0;
        for (slot, _) in &self.changed {
            let up_to = small & (u64::MAX >> (PARTITION_SIZE - 1 - slot));
            let neighbor = if up_to > 0 { 63 - up_to.leading_zeros() } else { small.trailing_zeros() };
            if let Some(place) = self.old.places.get(neighbor as usize) {
                leaves |= 1 << place.leaf;
            }
        }
        leaves
    }

    pub(super) fn finish(self) -> Clustered {
        let changed_leaves = self.changed_leaves();
        let mut new = Clustered::empty();
        let mut leaves = Leaves::new(self.column, self.old.leaves.len() + 1);
        let mut changed = self.changed.into_iter().peekable();
        for slot in 0..PARTITION_SIZE {
            match changed.next_if(|(position, _)| *position == slot) {
                Some((_, Changed::Large(tree))) => new.push_large(slot, tree),
                Some((_, Changed::Small(stretch))) => leaves.append(slot, &self.rows, stretch),
                None => match self.old.set(slot) {
                    None => {}
                    Some(Set::Large(tree)) => new.push_large(slot, tree.clone()),
                    Some(Set::Small(rows, stretch)) => {
                        let leaf = self.old.places[slot].leaf;
                        if changed_leaves >> leaf & 1 == 1 {
                            leaves.append(slot, rows, stretch);
                        } else {
                            leaves.share(slot, &self.old.leaves[usize::from(leaf)], stretch);
                        }
                    }
                },
            }
        }
        (new.leaves, new.places) = leaves.finish();
        new.occupied = (0..PARTITION_SIZE)
            .filter(|slot| new.places[*slot].length > 0)
            .fold(new.large_slots, |bits, slot| bits | 1 << slot);
        new.large.shrink_to_fit();
        new.entries = slots_of(new.occupied).map(|slot| new.degree(slot)).sum();
        new.shared_bytes = new.count_shared_bytes();
        new
    }
}

impl Clustered {
    fn push_large(&mut self, slot: usize, tree: CompressedArt) {
        self.large_slots |= 1 << slot;
        self.large.push(tree);
    }
}

/// The leaves of a B+ tree under construction, and the place of each set.
struct Leaves {
    column: ColumnType,
    places: [RowPlace; PARTITION_SIZE],
    leaves: Vec<Arc<Counted<Rows>>>,
    /// The sets for the next leaves, and their slots.
    open: Rows,
    open_slots: Vec<(usize, Range<usize>)>,
    /// An old leaf that does not change, but whose sets join the open ones.
    drawn_in: Option<Arc<Counted<Rows>>>,
}

impl Leaves {
    fn new(column: ColumnType, leaves: usize) -> Self {
        Leaves {
            column,
            places: [RowPlace::default(); PARTITION_SIZE],
            leaves: Vec::with_capacity(leaves),
            open: Rows::with_capacity(column, LEAF_CAPACITY),
            open_slots: Vec::new(),
            drawn_in: None,
        }
    }

    /// Appends a set to the open ones, unless it is empty.
    fn append(&mut self, slot: usize, rows: &Rows, stretch: Range<usize>) {
        if stretch.is_empty() {
            return;
        }
        let start = self.open.len();
        self.open.extend_from(rows, stretch);
        self.open_slots.push((slot, start..self.open.len()));
    }

    /// Appends a set of an unchanged leaf.
    ///
    /// Sparse open sets before it draw that leaf in.
    fn share(&mut self, slot: usize, leaf: &Arc<Counted<Rows>>, stretch: Range<usize>) {
        let is_leaf = |other: &Arc<Counted<Rows>>| Arc::ptr_eq(other, leaf);
        if self.leaves.last().is_some_and(is_leaf) {
            return self.place(slot, stretch);
        }
        let draws_in = self.is_sparse() && self.open.len() + leaf.len() <= MERGED;
        if draws_in || self.drawn_in.as_ref().is_some_and(is_leaf) {
            self.drawn_in = Some(Arc::clone(leaf));
            return self.append(slot, leaf, stretch);
        }
        self.close();
        self.leaves.push(Arc::clone(leaf));
        self.place(slot, stretch);
    }

    /// Returns true if the open sets are too few for a leaf.
    fn is_sparse(&self) -> bool {
        (1..SPARSE).contains(&self.open.len())
    }

    /// Records the position of a set in the last leaf.
    fn place(&mut self, slot: usize, stretch: Range<usize>) {
        self.places[slot] = RowPlace {
            leaf: (self.leaves.len() - 1) as u16,
            start: stretch.start as u16,
            length: stretch.len() as u16,
        };
    }

    /// Turns the open sets into leaves of about equal size, split between sets.
    fn close(&mut self) {
        if self.is_sparse() {
            self.reopen_last();
        }
        let length = self.open.len();
        let share = length.div_ceil(length.div_ceil(LEAF_CAPACITY).max(1));
        let slots = std::mem::take(&mut self.open_slots);
        let mut from = 0;
        while from < slots.len() {
            let start = slots[from].1.start;
            let fits = |(_, stretch): &&(usize, Range<usize>)| {
                stretch.end - start <= LEAF_CAPACITY && stretch.start - start < share
            };
            let count = slots[from..].iter().take_while(fits).count();
            self.push_leaf(&slots[from..from + count]);
            from += count;
        }
        self.open.truncate(0);
    }

    /// Reopens the sets of the last leaf if they fit with the open ones.
    fn reopen_last(&mut self) {
        let beside = self.open.len();
        let Some(last) = self.leaves.pop_if(|last| last.len() + beside <= MERGED) else { return };
        let number = self.leaves.len() as u16;
        let slots = (0..PARTITION_SIZE).map(|slot| (slot, self.places[slot]));
        let in_last = slots.filter(|(_, place)| place.length > 0 && place.leaf == number);
        let mut reopened: Vec<_> = in_last.map(|(slot, place)| (slot, place.stretch())).collect();
        let shifted = |stretch: Range<usize>| stretch.start + last.len()..stretch.end + last.len();
        reopened.extend(self.open_slots.drain(..).map(|(slot, stretch)| (slot, shifted(stretch))));
        let mut rows = Rows::with_capacity(self.column, last.len() + beside);
        rows.extend_from(&last, 0..last.len());
        rows.extend_from(&self.open, 0..beside);
        (self.open, self.open_slots) = (rows, reopened);
    }

    fn push_leaf(&mut self, slots: &[(usize, Range<usize>)]) {
        let stretch = slots[0].1.start..slots[slots.len() - 1].1.end;
        let mut leaf = Rows::with_capacity(self.column, stretch.len());
        leaf.extend_from(&self.open, stretch.clone());
        self.leaves.push(Counted::new(leaf));
        for (slot, set) in slots {
            self.place(*slot, set.start - stretch.start..set.end - stretch.start);
        }
    }

    fn finish(mut self) -> (Vec<Arc<Counted<Rows>>>, [RowPlace; PARTITION_SIZE]) {
        self.close();
        self.leaves.shrink_to_fit();
        (self.leaves, self.places)
    }
}
