//! Changes of edges in adjacency order: by owner and neighbor, with the last change of each edge.

use hedgerow_model::{ChangeSlice, EdgeChange, EdgeChanges, VertexId};
use std::ops::Range;

/// Changes of one adjacency, [added](ChangeList::add) in log order and then
/// [ordered](ChangeList::order).
#[derive(Debug, Default)]
pub struct ChangeList {
    changes: EdgeChanges,
    /// Largest number of changes removed at once since the last trim.
    most: usize,
}

/// Factor of the capacity that a trim keeps, relative to the largest number of changes since the
/// last trim.
const KEPT_TIMES: usize = 4;

impl ChangeList {
    /// Adds a change. Amortized O(1).
    #[inline]
    pub fn add(&mut self, change: EdgeChange) {
        self.changes.push(change);
    }

    /// Appends the changes of another list. O(changes of `other`).
    pub fn append(&mut self, other: &ChangeList) {
        self.changes.append(other.changes.as_slice());
    }

    /// Removes all changes, and keeps the memory.
    pub fn clear(&mut self) {
        self.most = self.most.max(self.changes.len());
        self.changes.clear();
    }

    /// Removes all changes. Keeps memory for a small multiple of the largest number of changes
    /// since the last call.
    pub(crate) fn clear_and_trim(&mut self) {
        self.clear();
        self.changes.clear_to(KEPT_TIMES * std::mem::take(&mut self.most));
    }

    /// Orders the changes by owner and neighbor, and keeps the last one of each edge. O(n log n).
    pub fn order(&mut self) {
        self.changes.sort_keeping_last();
    }

    /// Returns the number of changes. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns true if there are no changes. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the changes of each owner within a range that has any, ascending. The list must be
    /// ordered. O(log n) for the first.
    pub fn rows(&self, owners: Range<u32>) -> impl Iterator<Item = ChangeSlice<'_>> {
        let places = self.place_of(owners.start)..self.place_of(owners.end.max(owners.start));
        self.changes.as_slice().slice(places).groups(|owner| owner)
    }

    /// Returns the changes of one owner, if there are any. The list must be ordered. O(log n).
    #[must_use]
    pub fn row(&self, owner: VertexId) -> Option<ChangeSlice<'_>> {
        let places = self.place_of(owner.get())..self.place_of(owner.get() + 1);
        (!places.is_empty()).then(|| self.row_at(places))
    }

    /// Returns the changes at `places` of the ordered list. O(1).
    ///
    /// # Panics
    /// If `places` is out of bounds.
    #[inline]
    #[must_use]
    pub fn row_at(&self, places: Range<usize>) -> ChangeSlice<'_> {
        self.changes.as_slice().slice(places)
    }

    /// Heap bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.changes.heap_bytes()
    }

    /// Returns the place of the first change whose owner is at least `owner`.
    fn place_of(&self, owner: u32) -> usize {
        let positions = self.changes.as_slice().positions();
        positions.partition_point(|position| EdgeChange::owner_of(*position).get() < owner)
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::EdgeValue;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Changes = Vec<(u32, u32, Option<u64>)>;

    fn changes() -> impl Strategy<Value = Changes> {
        prop::collection::vec((0..6_u32, 0..6_u32, prop::option::weighted(0.8, 0..3_u64)), 0..40)
    }

    fn list_of(changes: &Changes) -> ChangeList {
        let mut list = ChangeList::default();
        for (owner, neighbor, value) in changes {
            list.add(EdgeChange::new(VertexId::new(*owner), VertexId::new(*neighbor), value.map(EdgeValue)));
        }
        list
    }

    fn expected(changes: &Changes) -> BTreeMap<(u32, u32), Option<u64>> {
        changes.iter().map(|(owner, neighbor, value)| ((*owner, *neighbor), *value)).collect()
    }

    fn flattened(list: &ChangeList, owners: Range<u32>) -> Changes {
        let change = |change: EdgeChange| {
            (change.owner().get(), change.neighbor().get(), change.value.map(|value| value.0))
        };
        let row = |row: ChangeSlice<'_>| row.iter().map(change).collect::<Changes>();
        list.rows(owners).flat_map(row).collect()
    }

    proptest! {
        #[test]
        fn the_last_change_of_each_edge_is_found_in_order(
            first in changes(), second in changes(), owners in (0..7_u32, 0..8_u32),
        ) {
            let mut list = list_of(&first);
            list.append(&list_of(&second));
            list.order();
            let expected = expected(&[first, second].concat());
            let owners = owners.0..owners.1;
            let in_range = expected.iter().filter(|((owner, _), _)| owners.contains(owner));
            let in_range: Changes = in_range.map(|((owner, neighbor), value)| (*owner, *neighbor, *value)).collect();
            prop_assert_eq!(flattened(&list, owners), in_range);
            for owner in 0..7 {
                let row = list.row(VertexId::new(owner));
                prop_assert_eq!(row.map_or(0, ChangeSlice::len), expected.range((owner, 0)..(owner + 1, 0)).count());
                for neighbor in 0..7 {
                    let found = row.and_then(|row| row.find(VertexId::new(neighbor)));
                    let found = found.map(|change| change.value.map(|value| value.0));
                    prop_assert_eq!(found, expected.get(&(owner, neighbor)).copied());
                }
            }
        }
    }

    #[test]
    fn a_list_that_had_many_changes_once_gives_their_memory_back() {
        let many: Changes = (0..1_000).map(|neighbor| (1, neighbor, None)).collect();
        let mut list = list_of(&many);
        list.order();
        list.clear();
        list.append(&list_of(&many[..10].to_vec()));
        list.clear_and_trim();
        let once = list.bytes();
        list.append(&list_of(&many[..10].to_vec()));
        list.clear_and_trim();
        assert!(once > 10_000 && list.bytes() < 2_000, "{once}, then {} bytes", list.bytes());
    }
}
