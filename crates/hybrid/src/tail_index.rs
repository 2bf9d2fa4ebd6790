//! The index of a tail of the log: what a snapshot makes of it for computations over many rows.

use crate::adjacency::{ReplacedEntries, ReplacedInRow, RowAt};
use crate::id_filter::IdFilter;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hedgerow_edge_log::{ChangeList, RowChanges};
use hedgerow_model::VertexId;
use hedgerow_sync::OnceLock;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::ops::Range;

/// As many rows as one in this many changes are looked through for entries to pass over, before that is done for all rows.
const CHANGES_PER_ROW: usize = 16;

/// The changes of an adjacency in a tail.
#[derive(Debug)]
pub(crate) struct TailIndex {
    /// The last change of each edge.
    changes: ChangeList,
    rows: ChangedRows,
    /// How many times a row was looked through.
    rows_searched: AtomicUsize,
    /// The entries that the changes replace.
    replaced: OnceLock<ReplacedEntries>,
}

/// The changes of a row after a version.
#[derive(Clone, Copy)]
pub(crate) struct ChangedRow<'r> {
    pub(crate) changes: RowChanges<'r>,
    /// The positions of the entries that they replace, if these were found for all rows.
    pub(crate) replaced: Option<&'r [u32]>,
}

impl<'r> ChangedRow<'r> {
    /// The positions of the entries of the row that the changes replace. Uses `room` as scratch space. O(1) if they are known, else O(entries).
    #[inline]
    pub(crate) fn replaced<'s>(&self, row: RowAt<'_>, room: &'s mut ReplacedInRow) -> &'s [u32]
    where
        'r: 's,
    {
        self.replaced.unwrap_or_else(|| room.find(row, self.changes))
    }
}

impl TailIndex {
    /// The index of changes that are ordered. O(changes).
    pub(crate) fn new(changes: ChangeList) -> Self {
        let rows = ChangedRows::new(&changes);
        TailIndex { changes, rows, rows_searched: AtomicUsize::new(0), replaced: OnceLock::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes of a row, if there are any. O(1).
    #[inline]
    pub(crate) fn row(&self, owner: VertexId) -> Option<ChangedRow<'_>> {
        Some(self.changed(self.rows.number_of(owner)?))
    }

    /// The rows with changes of a range of vertices, ascending. O(log rows) for the first.
    pub(crate) fn rows(&self, vertices: Range<u32>) -> impl Iterator<Item = ChangedRow<'_>> {
        self.rows.numbers_in(vertices).map(|number| self.changed(number))
    }

    #[inline]
    fn changed(&self, number: usize) -> ChangedRow<'_> {
        let changes = self.changes.row_at(self.rows.places_of(number));
        ChangedRow { changes, replaced: self.replaced.get().map(|replaced| replaced.of(number)) }
    }

    /// Finds the entries of all rows that the changes replace, unless that was done. O(entries of rows with changes).
    pub(crate) fn resolve<'a>(&self, row: impl Fn(VertexId) -> Option<RowAt<'a>>) {
        self.replaced.get_or_init(|| ReplacedEntries::new(&self.changes, row));
    }

    /// Counts a row that is looked through. Returns whether the index should be resolved by now.
    pub(crate) fn count_searched(&self) -> bool {
        let searched = self.rows_searched.fetch_add(1, Ordering::Relaxed) + 1;
        searched * CHANGES_PER_ROW >= self.changes.len()
    }
}

/// The rows that have changes, numbered by their owners. Most rows of a large graph have none, and are told so without a look into the table.
#[derive(Debug)]
struct ChangedRows {
    filter: IdFilter,
    numbers: HashMap<VertexId, u32, FixedState>,
    /// Ascending.
    owners: Box<[VertexId]>,
    /// Where the changes of each row begin, and where those of the last end.
    begins: Box<[usize]>,
}

impl ChangedRows {
    /// O(changes).
    fn new(changes: &ChangeList) -> Self {
        let (mut owners, mut begins, mut end) = (Vec::new(), vec![0], 0);
        for row in changes.rows(0..u32::MAX) {
            owners.push(row.owner);
            end += row.len();
            begins.push(end);
        }
        let mut filter = IdFilter::default();
        filter.clear_for(owners.len());
        owners.iter().for_each(|owner| filter.insert(*owner));
        let numbers = owners.iter().copied().zip(0..).collect();
        ChangedRows { filter, numbers, owners: owners.into(), begins: begins.into() }
    }

    #[inline]
    fn number_of(&self, owner: VertexId) -> Option<usize> {
        let number = self.filter.may_contain(owner).then(|| self.numbers.get(&owner)).flatten();
        number.map(|number| *number as usize)
    }

    fn numbers_in(&self, vertices: Range<u32>) -> Range<usize> {
        let first_from = |id: u32| self.owners.partition_point(|owner| owner.get() < id);
        first_from(vertices.start)..first_from(vertices.end.max(vertices.start))
    }

    #[inline]
    fn places_of(&self, number: usize) -> Range<usize> {
        self.begins[number]..self.begins[number + 1]
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_found_as_by_a_search(edges in prop::collection::vec((prop_oneof![0..700_u32, u32::MAX - 2..u32::MAX], 0..9_u32), 0..200)) {
            let mut changes = ChangeList::default();
            for (owner, neighbor) in &edges {
                changes.add(VertexId::new(*owner), VertexId::new(*neighbor), None);
            }
            changes.order();
            let index = TailIndex::new(changes);
            for owner in (0..800).chain(u32::MAX - 5..u32::MAX).map(VertexId::new) {
                let found = index.row(owner).map(|row| row.changes.iter().collect::<Vec<_>>());
                let searched = index.changes.row(owner).map(|row| row.iter().collect::<Vec<_>>());
                prop_assert_eq!(found, searched);
            }
            for range in [0..u32::MAX, 0..0, 5..9, 600..u32::MAX] {
                let owners = |row: RowChanges<'_>| row.owner;
                let found: Vec<_> = index.rows(range.clone()).map(|row| owners(row.changes)).collect();
                prop_assert_eq!(found, index.changes.rows(range).map(owners).collect::<Vec<_>>());
            }
        }
    }
}
