//! The index of a buffer: the last change of each edge in it, for readers of single rows.
//!
//! A buffer is indexed once for all views; the index of a whole tail belongs to one view.

use crate::edge_log::changes::ChangeList;
use crate::edge_log::ends::Ends;
use crate::edge_log::run::Run;

/// The last change of each edge in a buffer, by adjacency.
#[derive(Debug)]
pub(crate) struct BufferIndex {
    /// Sorted by adjacency.
    lists: Vec<(u32, ChangeList)>,
}

impl BufferIndex {
    /// Indexes runs. `ends` maps a table to the adjacencies of its edges. O(n log n).
    pub(crate) fn new<'b>(runs: impl Iterator<Item = Run<'b>>, ends: &impl Fn(u16) -> Ends) -> Self {
        let mut lists: Vec<(u32, ChangeList)> = Vec::new();
        for run in runs {
            let ends = ends(run.table);
            for adjacency in ends.adjacencies() {
                let place = lists.binary_search_by_key(&adjacency, |(number, _)| *number);
                let place = place.unwrap_or_else(|place| {
                    lists.insert(place, (adjacency, ChangeList::default()));
                    place
                });
                let list = &mut lists[place].1;
                ends.for_each_change(&run, adjacency, |change| list.add(change));
            }
        }
        lists.iter_mut().for_each(|(_, list)| list.order());
        BufferIndex { lists }
    }

    /// Returns the changes of an adjacency, if there are any. O(log adjacencies).
    pub(crate) fn changes(&self, adjacency: u32) -> Option<&ChangeList> {
        let place = self.lists.binary_search_by_key(&adjacency, |(number, _)| *number).ok()?;
        Some(&self.lists[place].1)
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(|(_, list)| list.bytes()).sum();
        lists + self.lists.capacity() * size_of::<(u32, ChangeList)>()
    }
}
