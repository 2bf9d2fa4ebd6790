//! The index of a tail of the log: what a snapshot makes of it for computations over many rows.

use crate::adjacency::{ReplacedEntries, RowAt};
use crate::id_filter::IdFilter;
use hedgerow_edge_log::{ChangeList, RowChanges};
use hedgerow_model::VertexId;
use hedgerow_sync::OnceLock;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::ops::Range;

/// One in this many changes is read by copying its row before the entries to pass over are found in all rows.
const CHANGES_PER_COPIED: usize = 4;

/// The changes of an adjacency in a tail.
#[derive(Debug)]
pub(crate) struct TailIndex {
    /// The last change of each edge.
    changes: ChangeList,
    places: RowPlaces,
    /// How many rows that have changes were copied.
    rows_copied: AtomicUsize,
    /// The entries that the changes replace.
    replaced: OnceLock<ReplacedEntries>,
}

/// The changes of a row after a version.
#[derive(Clone, Copy)]
pub(crate) struct ChangedRow<'r> {
    pub(crate) changes: RowChanges<'r>,
    /// The positions of the entries that they replace, if these are known.
    pub(crate) replaced: Option<&'r [u32]>,
}

impl TailIndex {
    /// The index of changes that are ordered. O(changes).
    pub(crate) fn new(changes: ChangeList) -> Self {
        let places = RowPlaces::new(&changes);
        TailIndex { changes, places, rows_copied: AtomicUsize::new(0), replaced: OnceLock::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes of a row, if there are any. O(log rows), and mostly O(1) if there are none.
    #[inline]
    pub(crate) fn row(&self, owner: VertexId) -> Option<ChangedRow<'_>> {
        let changes = self.changes.row_at(self.places.of(owner)?);
        Some(self.changed(changes))
    }

    /// The rows with changes of a range of vertices, ascending.
    pub(crate) fn rows(&self, vertices: Range<u32>) -> impl Iterator<Item = ChangedRow<'_>> {
        self.changes.rows(vertices).map(|changes| self.changed(changes))
    }

    fn changed<'i>(&'i self, changes: RowChanges<'i>) -> ChangedRow<'i> {
        ChangedRow { changes, replaced: self.replaced.get().map(|replaced| replaced.of(changes.owner)) }
    }

    /// Finds the entries of all rows that the changes replace, unless that was done. O(entries of rows with changes).
    pub(crate) fn resolve<'a>(&self, row: impl Fn(VertexId) -> Option<RowAt<'a>>) {
        self.replaced.get_or_init(|| ReplacedEntries::new(&self.changes, row));
    }

    /// Counts a row that is copied. Returns whether the index should be resolved by now.
    pub(crate) fn count_copied(&self) -> bool {
        let copied = self.rows_copied.fetch_add(1, Ordering::Relaxed) + 1;
        copied * CHANGES_PER_COPIED >= self.changes.len()
    }
}

/// Where the changes of each owner are. Most rows of a large graph have none, and are told so without a search.
#[derive(Debug)]
struct RowPlaces {
    filter: IdFilter,
    owners: Box<[VertexId]>,
    /// Where the changes of each owner begin, and where those of the last end.
    begins: Box<[usize]>,
}

impl RowPlaces {
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
        RowPlaces { filter, owners: owners.into(), begins: begins.into() }
    }

    /// The places of the changes of an owner, if there are any. O(1) if the filter knows that there are none, else O(log owners).
    #[inline]
    fn of(&self, owner: VertexId) -> Option<Range<usize>> {
        if !self.filter.may_contain(owner) {
            return None;
        }
        let row = self.owners.binary_search(&owner).ok()?;
        Some(self.begins[row]..self.begins[row + 1])
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
        }
    }
}
