//! Storage of the neighbors of one partition.

use crate::subgraphs::owned::{Content, Owned};
use crate::subgraphs::partition::slots_of;
use hedgerow_model::search::Spread;
use hedgerow_model::{
    ChangeSlice, Column, ColumnType, Direction, EdgeChange, EdgeValue, Neighbors, Topology, VertexId,
};
use hedgerow_sync::prefetch;
use std::ops::ControlFlow;

/// The neighbors of the vertices of one partition, for one label and direction: one sorted set per
/// slot.
///
/// A slot is the place of a vertex in its partition.
pub trait Container: for<'c> Content<Changes<'c> = ChangeSlice<'c>> {
    /// Bytes prefetched from the container's start before a scan.
    const FETCHED_AHEAD: usize = size_of::<Self>();

    /// True if [`Container::locate`] finds the places of changes.
    const LOCATES: bool = false;

    /// Plans changes of `old`, which ascend and lie in one partition, and counts their effects in
    /// `tally`.
    ///
    /// The values next to the neighbors have type `column`, which is the same for all versions of a
    /// container.
    fn plan(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> ChangePlan<Self>;

    /// Counts the effect of one change, and returns its place, a number that only the container
    /// interprets. Returns `None` if [`Content::edit`] cannot make the change.
    #[inline]
    fn locate(&self, _change: &EdgeChange, _tally: &mut Tally) -> Option<u64> {
        None
    }

    /// Makes a change at the place that [`Container::locate`] returned, if that neither allocates
    /// nor frees memory and does not empty the container; otherwise changes nothing. Returns true
    /// if the change was made.
    #[inline]
    fn edit_at(&mut self, _place: u64, _change: &EdgeChange) -> bool {
        false
    }

    /// Returns an upper bound on the bytes by which [`Content::edit`] would grow the container.
    fn growth(&self, changes: ChangeSlice<'_>) -> usize;

    /// The total number of neighbors. O(1).
    fn entries(&self) -> usize;

    /// The number of neighbors of a slot.
    fn degree(&self, slot: usize) -> usize;

    /// The value next to a neighbor of a slot, or `None` if it is not a neighbor. `W` is the
    /// column's type or `()`; `spread` bounds the ids of the neighbors.
    fn find<W: Column>(&self, slot: usize, spread: Spread, neighbor: VertexId) -> Option<W>;

    /// The neighbors of a slot, if they are one contiguous run. `W` is the column's type or `()`.
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>>;

    /// Visits the neighbors of a slot in ascending, nonempty runs.
    fn visit<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// Visits the neighbors of each slot whose bit is set, in ascending order, as
    /// [`Container::visit`] does.
    #[inline]
    fn scan<W: Column, B>(
        &self,
        slots: u64,
        mut run: impl FnMut(usize, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        slots_of(slots)
            .try_for_each(|slot| self.visit(slot, |neighbors, values| run(slot, neighbors, values)))
    }

    /// Prefetches the location of a slot's neighbors. Only a hint: the pointer may dangle.
    #[inline]
    fn prefetch_place(container: *const Self, _slot: usize) {
        prefetch(container, size_of::<Self>());
    }

    /// Prefetches the first neighbors of a slot and their values. Only a hint.
    #[inline]
    fn prefetch_row<W: Column>(&self, slot: usize) {
        if let Some((neighbors, values)) = self.run::<W>(slot) {
            prefetch(neighbors.as_ptr(), 1);
            prefetch(values.as_ptr(), size_of::<W>());
        }
    }

    /// Prefetches the memory that a change of this neighbor of a slot touches. Only a hint.
    #[inline]
    fn prefetch_change(&self, _slot: usize, _neighbor: VertexId) {}
}

/// Plan for changes of a container.
pub enum ChangePlan<T: Content> {
    /// Nothing changes.
    Nothing,
    /// A new container supersedes the old one; `None` if the new one would be empty.
    Replace(Option<Owned<T>>),
    /// [`Content::edit`] makes the changes, in place if the version is invisible.
    Edit,
}

/// Counted effects of changes.
#[derive(Clone, Debug)]
pub struct Tally {
    topology: Topology,
    stored: Direction,
    /// Entries that changed.
    pub(crate) changed: u64,
    /// Edges that were added.
    pub(crate) added: u64,
    /// Edges that were removed.
    pub(crate) removed: u64,
}

impl Tally {
    /// An empty tally, for adjacencies of a direction.
    #[must_use]
    pub fn new(topology: Topology, stored: Direction) -> Self {
        Tally { topology, stored, changed: 0, added: 0, removed: 0 }
    }

    /// Counts a change of an entry that was `found` or not. Returns true if the entry changes.
    ///
    /// Writing a value to an existing entry changes it if the value is `different`.
    #[inline]
    pub fn count(
        &mut self,
        change: &EdgeChange,
        found: bool,
        different: impl FnOnce(EdgeValue) -> bool,
    ) -> bool {
        let stands_for_edge =
            || u64::from(self.topology.is_canonical_entry(self.stored, change.owner(), change.neighbor()));
        let changes = match (found, change.value) {
            (true, Some(value)) => different(value),
            (true, None) => {
                self.removed += stands_for_edge();
                true
            }
            (false, Some(_)) => {
                self.added += stands_for_edge();
                true
            }
            (false, None) => false,
        };
        self.changed += u64::from(changes);
        changes
    }

    /// Counts puts of entries that do not exist yet.
    pub(crate) fn count_new(&mut self, puts: ChangeSlice<'_>) {
        self.changed += puts.len() as u64;
        self.added += self.topology.count_edges(self.stored, puts);
    }

    /// Entries that changed.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Returns the numbers of edges added and removed. An edge counts only at its canonical entry.
    #[must_use]
    pub fn edges(&self) -> (u64, u64) {
        (self.added, self.removed)
    }
}
