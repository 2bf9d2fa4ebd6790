//! Changes of edges in adjacency order: by owner and neighbor, with the last change of each edge.

use hedgerow_model::{EdgeChange, EdgeValue, VertexId};
use std::ops::Range;

/// Changes of one adjacency, [added](ChangeList::add) in log order and then
/// [ordered](ChangeList::order).
#[derive(Debug, Default)]
pub struct ChangeList {
    /// Owner and neighbor of each change, as a [position](EdgeChange::position_of).
    positions: Vec<u64>,
    /// Content of each change: the value of the edge, or `None` if it is deleted. Empty if all
    /// changes are puts without values.
    contents: Vec<Option<EdgeValue>>,
    /// Scratch memory for ordering.
    places: Vec<u32>,
    /// Largest number of changes removed at once since the last trim.
    most: usize,
}

/// The changes of one owner, ascending by neighbor, one per neighbor.
#[derive(Clone, Copy, Debug)]
pub struct RowChanges<'c> {
    /// The owner.
    pub owner: VertexId,
    positions: &'c [u64],
    /// Empty if all changes are puts without values.
    contents: &'c [Option<EdgeValue>],
}

/// Factor of the capacity that a trim keeps, relative to the largest number of changes since the
/// last trim.
const KEPT_TIMES: usize = 4;

/// Content of a put without a value.
const NO_VALUE: Option<EdgeValue> = Some(EdgeValue(0));

/// Returns the owner in a position.
#[inline]
fn owner_of(position: u64) -> u32 {
    (position >> 32) as u32
}

impl ChangeList {
    /// Adds a change. `content` is the value of the edge, 0 if it has none, or `None` if it is
    /// deleted. Amortized O(1).
    #[inline]
    pub fn add(&mut self, owner: VertexId, neighbor: VertexId, content: Option<EdgeValue>) {
        if content != NO_VALUE || !self.contents.is_empty() {
            self.contents.resize(self.positions.len(), NO_VALUE);
            self.contents.push(content);
        }
        self.positions.push(EdgeChange::position_of(owner, neighbor));
    }

    /// Appends the changes of another list. O(changes of `other`).
    pub fn append(&mut self, other: &ChangeList) {
        if !(self.contents.is_empty() && other.contents.is_empty()) {
            self.contents.resize(self.positions.len(), NO_VALUE);
            self.contents.extend_from_slice(&other.contents);
            self.contents.resize(self.positions.len() + other.positions.len(), NO_VALUE);
        }
        self.positions.extend_from_slice(&other.positions);
    }

    /// Removes all changes, and keeps the memory.
    pub fn clear(&mut self) {
        self.most = self.most.max(self.positions.len());
        self.positions.clear();
        self.contents.clear();
        self.places.clear();
    }

    /// Removes all changes. Keeps memory for a small multiple of the largest number of changes
    /// since the last call.
    pub(crate) fn clear_and_trim(&mut self) {
        self.clear();
        let most = KEPT_TIMES * std::mem::take(&mut self.most);
        self.positions.shrink_to(most);
        self.contents.shrink_to(most);
        self.places.shrink_to(most);
    }

    /// Orders the changes by owner and neighbor, and keeps the last one of each edge. O(n log n).
    ///
    /// # Panics
    /// If there are 2^32 changes or more.
    pub fn order(&mut self) {
        if self.contents.is_empty() {
            self.positions.sort_unstable();
            self.positions.dedup();
            return;
        }
        let ChangeList { positions, contents, places, .. } = self;
        let count = u32::try_from(positions.len()).expect("a list has fewer than 2^32 changes");
        places.clear();
        places.extend(0..count);
        places.sort_unstable_by_key(|place| (positions[*place as usize], *place));
        let of_one_edge = places.chunk_by(|one, next| positions[*one as usize] == positions[*next as usize]);
        let last: Vec<usize> = of_one_edge.map(|places| places[places.len() - 1] as usize).collect();
        *positions = last.iter().map(|place| positions[*place]).collect();
        *contents = last.iter().map(|place| contents[*place]).collect();
    }

    /// Returns the number of changes. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns true if there are no changes. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns the changes of each owner within a range that has any, ascending. The list must be
    /// ordered. O(log n) for the first.
    pub fn rows(&self, owners: Range<u32>) -> impl Iterator<Item = RowChanges<'_>> {
        let first = self.place_of(owners.start);
        let end = self.place_of(owners.end.max(owners.start));
        let rows = self.positions[first..end].chunk_by(|one, next| owner_of(*one) == owner_of(*next));
        rows.scan(first, |place, positions| {
            let begin = *place;
            *place += positions.len();
            Some(self.row_at(begin..*place))
        })
    }

    /// Returns the changes of one owner, if there are any. The list must be ordered. O(log n).
    #[must_use]
    pub fn row(&self, owner: VertexId) -> Option<RowChanges<'_>> {
        let places = self.place_of(owner.get())..self.place_of(owner.get() + 1);
        (!places.is_empty()).then(|| self.row_at(places))
    }

    /// Returns the changes at `places` of the ordered list, which all belong to one owner. O(1).
    ///
    /// # Panics
    /// If `places` is empty or out of bounds.
    #[inline]
    #[must_use]
    pub fn row_at(&self, places: Range<usize>) -> RowChanges<'_> {
        let positions = &self.positions[places.clone()];
        let contents = if self.contents.is_empty() { &[][..] } else { &self.contents[places] };
        RowChanges { owner: VertexId::new(owner_of(positions[0])), positions, contents }
    }

    /// Heap bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.positions.capacity() * size_of::<u64>()
            + self.contents.capacity() * size_of::<Option<EdgeValue>>()
            + self.places.capacity() * size_of::<u32>()
    }

    /// Returns the place of the first change whose owner is at least `owner`.
    fn place_of(&self, owner: u32) -> usize {
        self.positions.partition_point(|position| owner_of(*position) < owner)
    }
}

impl<'c> RowChanges<'c> {
    /// Returns the number of changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns the number of puts. O(1) if no change of the list is a deletion or has a value, else
    /// O(changes).
    #[must_use]
    pub fn puts(&self) -> usize {
        self.positions.len() - self.contents.iter().filter(|content| content.is_none()).count()
    }

    /// Returns true if there are no changes, which is never the case for a row of a list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns the neighbor and the content of each change, ascending by neighbor. The content is
    /// the value of the edge, 0 if it has none, or `None` if it is deleted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (VertexId, Option<EdgeValue>)> + use<'c> {
        let RowChanges { positions, contents, .. } = *self;
        positions.iter().enumerate().map(move |(place, position)| {
            let neighbor = VertexId::new(*position as u32);
            (neighbor, contents.get(place).copied().unwrap_or(NO_VALUE))
        })
    }

    /// Returns the content of a neighbor's change, if it changes. O(log n).
    #[must_use]
    pub fn find(&self, neighbor: VertexId) -> Option<Option<EdgeValue>> {
        let place = self.positions.binary_search(&EdgeChange::position_of(self.owner, neighbor)).ok()?;
        Some(self.contents.get(place).copied().unwrap_or(NO_VALUE))
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Changes = Vec<(u32, u32, Option<u64>)>;

    fn changes() -> impl Strategy<Value = Changes> {
        prop::collection::vec((0..6_u32, 0..6_u32, prop::option::weighted(0.8, 0..3_u64)), 0..40)
    }

    fn list_of(changes: &Changes) -> ChangeList {
        let mut list = ChangeList::default();
        for (owner, neighbor, value) in changes {
            list.add(VertexId::new(*owner), VertexId::new(*neighbor), value.map(EdgeValue));
        }
        list
    }

    fn expected(changes: &Changes) -> BTreeMap<(u32, u32), Option<u64>> {
        changes.iter().map(|(owner, neighbor, value)| ((*owner, *neighbor), *value)).collect()
    }

    fn flattened(list: &ChangeList, owners: Range<u32>) -> Changes {
        let row = |row: RowChanges<'_>| -> Changes {
            row.iter()
                .map(|(neighbor, value)| (row.owner.get(), neighbor.get(), value.map(|value| value.0)))
                .collect()
        };
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
                prop_assert_eq!(row.map_or(0, |row| row.len()), expected.range((owner, 0)..(owner + 1, 0)).count());
                for neighbor in 0..7 {
                    let found = row.and_then(|row| row.find(VertexId::new(neighbor)));
                    let found = found.map(|value| value.map(|value| value.0));
                    prop_assert_eq!(found, expected.get(&(owner, neighbor)).copied());
                }
            }
        }
    }

    #[test]
    fn puts_without_values_take_no_memory_for_contents() {
        let mut list = list_of(&vec![(3, 1, Some(0)), (2, 9, Some(0)), (3, 1, Some(0))]);
        list.append(&list_of(&vec![(1, 1, Some(0))]));
        assert!(list.contents.is_empty());
        list.order();
        assert_eq!(flattened(&list, 0..9), [(1, 1, Some(0)), (2, 9, Some(0)), (3, 1, Some(0))]);
        assert!(list.contents.is_empty());
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
