//! The index of a tail of the log, built by a snapshot for computations over many rows.

use crate::adjacency::{ReplacedEntries, ReplacedInRow, RowAt};
use crate::edge_log::ChangeList;
use crate::id_filter::IdFilter;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hedgerow_model::{ChangeSlice, VertexId};
use hedgerow_sync::OnceLock;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::ops::Range;

/// Changes per search of a single row for replaced entries: after one search per this many changes,
/// those of all rows are found.
const CHANGES_PER_ROW: usize = 16;

/// The changes of an adjacency in a tail.
#[derive(Debug)]
pub(crate) struct TailIndex {
    /// The last change of each edge.
    changes: ChangeList,
    rows: ChangedRows,
    /// Number of searches of rows for replaced entries.
    rows_searched: AtomicUsize,
    /// Entries that the changes replace in all rows, once found.
    replaced: OnceLock<ReplacedEntries>,
}

/// The changes of a row after a version.
#[derive(Clone, Copy)]
pub(crate) struct ChangedRow<'r> {
    pub(crate) changes: ChangeSlice<'r>,
    /// Positions of the entries that the changes replace, if they were found for all rows.
    pub(crate) replaced: Option<&'r [u32]>,
}

impl<'r> ChangedRow<'r> {
    /// Returns the positions of the row's entries that the changes replace. Uses `room` as scratch
    /// space. O(1) if they are known, else O(entries).
    #[inline]
    pub(crate) fn replaced<'s>(&self, row: RowAt<'_>, room: &'s mut ReplacedInRow) -> &'s [u32]
    where
        'r: 's,
    {
        self.replaced.unwrap_or_else(|| room.find(row, self.changes))
    }
}

impl TailIndex {
    /// Indexes changes, which are ordered. O(changes).
    pub(crate) fn new(changes: ChangeList) -> Self {
        let rows = ChangedRows::new(&changes);
        TailIndex { changes, rows, rows_searched: AtomicUsize::new(0), replaced: OnceLock::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the changes of a row, if there are any. O(1).
    #[inline]
    pub(crate) fn row(&self, owner: VertexId) -> Option<ChangedRow<'_>> {
        Some(self.changed(self.rows.number_of(owner)?))
    }

    /// Returns the rows with changes in a range of vertices, ascending. O(log rows) for the first.
    pub(crate) fn rows(&self, vertices: Range<u32>) -> impl Iterator<Item = ChangedRow<'_>> {
        self.rows.numbers_in(vertices).map(|number| self.changed(number))
    }

    #[inline]
    fn changed(&self, number: usize) -> ChangedRow<'_> {
        let changes = self.changes.row_at(self.rows.places_of(number));
        ChangedRow { changes, replaced: self.replaced.get().map(|replaced| replaced.of(number)) }
    }

    /// Finds the entries that the changes replace in all rows, unless that was done.
    /// O(entries of rows with changes).
    pub(crate) fn resolve<'a>(&self, row: impl Fn(VertexId) -> Option<RowAt<'a>>) {
        self.replaced.get_or_init(|| ReplacedEntries::new(&self.changes, row));
    }

    /// Counts a search of a row. Returns true if the index should be resolved by now.
    pub(crate) fn count_searched(&self) -> bool {
        let searched = self.rows_searched.fetch_add(1, Ordering::Relaxed) + 1;
        searched * CHANGES_PER_ROW >= self.changes.len()
    }
}

/// The rows with changes, numbered in the order of their owners. A filter rules out most rows
/// without changes before the lookup in the table.
#[derive(Debug)]
struct ChangedRows {
    filter: IdFilter,
    numbers: HashMap<VertexId, u32, FixedState>,
    /// Owners of the rows, ascending.
    owners: Box<[VertexId]>,
    /// Begin of the changes of each row, and end of the changes of the last.
    begins: Box<[usize]>,
}

impl ChangedRows {
    /// O(changes).
    fn new(changes: &ChangeList) -> Self {
        let (mut owners, mut begins, mut end) = (Vec::new(), vec![0], 0);
        for row in changes.rows(0..u32::MAX) {
            owners.push(row.first_owner());
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
    use hedgerow_model::EdgeChange;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_found_as_by_a_search(edges in prop::collection::vec((prop_oneof![0..700_u32, u32::MAX - 2..u32::MAX], 0..9_u32), 0..200)) {
            let mut changes = ChangeList::default();
            for (owner, neighbor) in &edges {
                changes.add(EdgeChange::new(VertexId::new(*owner), VertexId::new(*neighbor), None));
            }
            changes.order();
            let index = TailIndex::new(changes);
            for owner in (0..800).chain(u32::MAX - 5..u32::MAX).map(VertexId::new) {
                let found = index.row(owner).map(|row| row.changes.iter().collect::<Vec<_>>());
                let searched = index.changes.row(owner).map(|row| row.iter().collect::<Vec<_>>());
                prop_assert_eq!(found, searched);
            }
            for range in [0..u32::MAX, 0..0, 5..9, 600..u32::MAX] {
                let owners = |row: ChangeSlice<'_>| row.first_owner();
                let found: Vec<_> = index.rows(range.clone()).map(|row| owners(row.changes)).collect();
                prop_assert_eq!(found, index.changes.rows(range).map(owners).collect::<Vec<_>>());
            }
        }
    }
}
