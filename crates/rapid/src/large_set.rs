//! Large neighbour sets: sorted leaves that versions share.
//!
//! A change copies the leaves that it touches and the directory that lists them, nothing else.
//! This stands in the place of RapidStore's compressed adaptive radix tree (section 6.2), whose
//! leaves it has, with a flat directory instead of the radix nodes.

use crate::rows::{Rows, Tally};
use hedgerow_model::{ColumnType, EdgeChange, EdgeValue, VertexId};
use hedgerow_sync::Arc;
use std::ops::Range;

/// A neighbour set with more entries than this is made large. Small in unit tests, so that
/// random operations cross it.
pub(crate) const LARGE: usize = if cfg!(test) { 24 } else { 1024 };

/// A large set with fewer entries than this is made small again.
pub(crate) const SMALL_AGAIN: usize = LARGE / 2;

/// The most entries of a leaf (RapidStore, section 6.5, "Hyperparameters"). Small in unit tests.
pub(crate) const LEAF_CAPACITY: usize = if cfg!(test) { 8 } else { 512 };

/// A changed leaf with fewer entries than this is merged with a sibling.
pub(crate) const LEAF_MINIMUM: usize = LEAF_CAPACITY / 4;

/// The neighbours of one vertex. Never changed once published.
pub(crate) struct LargeSet {
    /// The first neighbour of each leaf.
    firsts: Vec<VertexId>,
    leaves: Vec<Arc<Rows>>,
    length: usize,
    /// Bytes of the leaves, and of everything.
    leaf_bytes: usize,
}

impl LargeSet {
    /// A set of a sorted stretch of rows.
    pub(crate) fn new(column: ColumnType, rows: &Rows, stretch: Range<usize>) -> Self {
        let mut leaves = Leaves::new(column, stretch.len() / LEAF_CAPACITY + 1);
        leaves.append_cut(rows, stretch);
        leaves.finish()
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The sorted runs of neighbours, ascending.
    #[inline]
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &Rows> {
        self.leaves.iter().map(|leaf| &**leaf)
    }

    /// The value of a neighbour. O(log length).
    pub(crate) fn find(&self, neighbour: VertexId) -> Option<EdgeValue> {
        let after = self.firsts.partition_point(|first| *first <= neighbour);
        let leaf = &self.leaves[after.checked_sub(1)?];
        leaf.find(0..leaf.len(), neighbour).map(|position| leaf.values.get(position))
    }

    /// This set, which is not empty, after `changes`, which ascend by neighbour. Leaves that don't change are shared.
    pub(crate) fn merged(&self, column: ColumnType, mut changes: &[EdgeChange], tally: &mut Tally) -> Self {
        let mut merged = Leaves::new(column, self.leaves.len() + changes.len() / LEAF_CAPACITY + 1);
        for (position, leaf) in self.leaves.iter().enumerate() {
            let ends = self
                .firsts
                .get(position + 1)
                .map_or(changes.len(), |next| changes.partition_point(|change| change.neighbour < *next));
            let (here, rest) = changes.split_at(ends);
            merged.append_merged(leaf, here, tally);
            changes = rest;
        }
        merged.finish()
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.leaf_bytes + self.directory_bytes()
    }

    /// Bytes on the heap that `newer` shares: whole leaves. O(leaves).
    pub(crate) fn shared_bytes(&self, newer: &LargeSet) -> usize {
        let mut shared = 0;
        let mut candidates = newer.firsts.iter().zip(&newer.leaves).peekable();
        for (first, leaf) in self.firsts.iter().zip(&self.leaves) {
            while candidates.next_if(|(other, _)| *other < first).is_some() {}
            if candidates.peek().is_some_and(|(_, other)| Arc::ptr_eq(leaf, other)) {
                shared += leaf_bytes(leaf);
            }
        }
        shared
    }

    fn directory_bytes(&self) -> usize {
        self.firsts.capacity() * size_of::<VertexId>() + self.leaves.capacity() * size_of::<Arc<Rows>>()
    }
}

/// The bytes of a leaf, the two counts beside it included.
fn leaf_bytes(leaf: &Rows) -> usize {
    size_of::<Rows>() + 2 * size_of::<usize>() + leaf.heap_bytes()
}

/// A set that is being put together, leaf by leaf.
struct Leaves {
    column: ColumnType,
    leaves: Vec<Arc<Rows>>,
    /// Too few entries for a leaf, from the beginning of the set; they join what follows.
    pending: Option<Rows>,
}

impl Leaves {
    fn new(column: ColumnType, capacity: usize) -> Self {
        Leaves { column, leaves: Vec::with_capacity(capacity), pending: None }
    }

    /// Appends a leaf as it is after `changes`.
    fn append_merged(&mut self, leaf: &Arc<Rows>, changes: &[EdgeChange], tally: &mut Tally) {
        let changed_before = tally.changed;
        let mut rows = self.pending.take().unwrap_or_else(|| Rows::with_capacity(self.column, 0));
        let joins = rows.len() > 0;
        if !joins && changes.is_empty() {
            self.leaves.push(Arc::clone(leaf));
            return;
        }
        rows.extend_merged(leaf, 0..leaf.len(), changes, tally);
        if joins || tally.changed > changed_before {
            self.append(rows);
        } else {
            self.leaves.push(Arc::clone(leaf));
        }
    }

    /// Appends changed rows: cut if they are too many, joined with the leaf before if too few.
    fn append(&mut self, rows: Rows) {
        let length = rows.len();
        if length >= LEAF_MINIMUM {
            self.append_cut(&rows, 0..length);
        } else if let Some(before) = self.leaves.pop() {
            let mut joined = Rows::with_capacity(self.column, before.len() + length);
            joined.extend_from(&before, 0..before.len());
            joined.extend_from(&rows, 0..length);
            self.append_cut(&joined, 0..joined.len());
        } else {
            self.pending = Some(rows);
        }
    }

    /// Appends a stretch of rows as leaves of about equal size, each at most full.
    fn append_cut(&mut self, rows: &Rows, stretch: Range<usize>) {
        let length = stretch.len();
        let pieces = length.div_ceil(LEAF_CAPACITY);
        for piece in 0..pieces {
            let from = stretch.start + length * piece / pieces;
            let to = stretch.start + length * (piece + 1) / pieces;
            let mut leaf = Rows::with_capacity(self.column, to - from);
            leaf.extend_from(rows, from..to);
            self.leaves.push(Arc::new(leaf));
        }
    }

    fn finish(mut self) -> LargeSet {
        if let Some(rows) = self.pending.take() {
            self.append_cut(&rows, 0..rows.len());
        }
        let leaves = self.leaves;
        LargeSet {
            firsts: leaves.iter().map(|leaf| leaf.neighbours[0]).collect(),
            length: leaves.iter().map(|leaf| leaf.len()).sum(),
            leaf_bytes: leaves.iter().map(|leaf| leaf_bytes(leaf)).sum(),
            leaves,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::{Direction, Topology};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const COLUMN: ColumnType = ColumnType::U64;

    type Model = BTreeMap<u32, u64>;

    fn set_of(model: &Model) -> LargeSet {
        let mut rows = Rows::with_capacity(COLUMN, model.len());
        model.iter().for_each(|(id, value)| rows.push(VertexId::new(*id), EdgeValue(*value)));
        LargeSet::new(COLUMN, &rows, 0..rows.len())
    }

    fn tally() -> Tally {
        Tally::new(Topology::Directed, Direction::Out)
    }

    fn merge(set: &LargeSet, changes: &BTreeMap<u32, Option<u64>>, tally: &mut Tally) -> LargeSet {
        let changes: Vec<EdgeChange> = changes
            .iter()
            .map(|(id, value)| EdgeChange {
                owner: VertexId::new(0),
                neighbour: VertexId::new(*id),
                value: value.map(EdgeValue),
            })
            .collect();
        set.merged(COLUMN, &changes, tally)
    }

    fn assert_same(set: &LargeSet, model: &Model) {
        let entries: Vec<(u32, u64)> = set
            .leaves()
            .flat_map(|leaf| {
                leaf.neighbours.iter().map(|id| id.get()).zip(leaf.values::<u64>().iter().copied())
            })
            .collect();
        assert!(entries.iter().copied().eq(model.iter().map(|(id, value)| (*id, *value))));
        assert_eq!(set.len(), model.len());
        assert!(set.leaves().all(|leaf| (1..=LEAF_CAPACITY).contains(&leaf.len())));
        for id in 0..130 {
            assert_eq!(set.find(VertexId::new(id)).map(|value| value.0), model.get(&id).copied(), "{id}");
        }
    }

    proptest! {
        #[test]
        fn merged_sets_are_what_a_map_would_be(
            start in prop::collection::btree_map(0..130_u32, 0..4_u64, 1..100),
            batches in prop::collection::vec(
                prop::collection::btree_map(0..130_u32, prop::option::of(0..4_u64), 0..40), 1..8),
        ) {
            let (mut model, mut set) = (start.clone(), set_of(&start));
            assert_same(&set, &model);
            for changes in &batches {
                let (before, mut tally) = (model.clone(), tally());
                let next = merge(&set, changes, &mut tally);
                for (id, value) in changes {
                    match value {
                        Some(value) => model.insert(*id, *value),
                        None => model.remove(id),
                    };
                }
                let added = model.keys().filter(|id| !before.contains_key(id)).count() as u64;
                let removed = before.keys().filter(|id| !model.contains_key(id)).count() as u64;
                prop_assert_eq!((tally.added, tally.removed), (added, removed));
                prop_assert_eq!(tally.changed == 0, model == before);
                assert_same(&next, &model);
                let shared = |leaf: &&Arc<Rows>| next.leaves.iter().any(|other| Arc::ptr_eq(leaf, other));
                let shared_bytes: usize = set.leaves.iter().filter(shared).map(|leaf| leaf_bytes(leaf)).sum();
                prop_assert_eq!(set.shared_bytes(&next), shared_bytes);
                set = next;
                if set.len() == 0 {
                    model.insert(7, 7);
                    set = set_of(&model);
                }
            }
        }
    }

    #[test]
    fn one_insertion_copies_one_leaf() {
        let set = set_of(&(0..100).map(|id| (id * 2, 0)).collect());
        let merged = merge(&set, &[(51, Some(1))].into(), &mut tally());
        let kept =
            set.leaves.iter().filter(|leaf| merged.leaves.iter().any(|other| Arc::ptr_eq(leaf, other)));
        assert_eq!(kept.count(), set.leaves.len() - 1);
    }

    #[test]
    fn leaves_that_run_empty_join_their_siblings() {
        let set = set_of(&(0..64).map(|id| (id, 0)).collect());
        let sparse =
            merge(&set, &(0..64).filter(|id| id % 8 != 0).map(|id| (id, None)).collect(), &mut tally());
        assert_eq!(sparse.len(), 8);
        assert_eq!(sparse.leaves.len(), 1);
    }
}
