//! How the neighbors of one partition are kept.

use crate::owned::{Content, Owned};
use crate::partition::slots_of;
use hedgerow_model::search::Spread;
use hedgerow_model::{Column, ColumnType, Direction, EdgeChange, EdgeValue, Neighbors, Topology, VertexId};
use hedgerow_sync::prefetch;
use std::ops::ControlFlow;

/// The neighbors of the vertices of one partition, for one label and direction: sorted sets by slot.
///
/// A slot is the place of a vertex in its partition.
pub trait Container: Content<Change = EdgeChange> {
    /// How many bytes from its beginning a scan reads first; they are fetched ahead.
    const FETCHED_AHEAD: usize = size_of::<Self>();

    /// Whether [`Container::locate`] finds the place of a change.
    const LOCATES: bool = false;

    /// What `changes`, which ascend and lie in one partition, mean for `old`, and what they did, in `tally`.
    ///
    /// Values beside the neighbors are of type `column`, the same for all versions of a container.
    fn plan(old: Option<&Self>, column: ColumnType, changes: &[EdgeChange], tally: &mut Tally) -> Plan<Self>;

    /// Counts what one change would do, and says where it was found to belong, by numbers of its own; `None` if
    /// [`Content::edit`] is not the way to make it.
    #[inline]
    fn locate(&self, _change: &EdgeChange, _tally: &mut Tally) -> Option<u64> {
        None
    }

    /// Makes a change at the place where [`Container::locate`] found that it belongs, if that takes and frees no memory
    /// and leaves neighbors; else changes nothing. Whether it was made.
    #[inline]
    fn edit_at(&mut self, _place: u64, _change: &EdgeChange) -> bool {
        false
    }

    /// At most by how many bytes [`Content::edit`] would make this larger.
    fn growth(&self, changes: &[EdgeChange]) -> usize;

    /// How many neighbors there are in all. O(1).
    fn entries(&self) -> usize;

    /// How many neighbors a slot has.
    fn degree(&self, slot: usize) -> usize;

    /// The value of a neighbor of a slot, if it is one. `W` is the type of the column, or `()`; `spread` is where
    /// neighbors may lie.
    fn find<W: Column>(&self, slot: usize, spread: Spread, neighbor: VertexId) -> Option<W>;

    /// The neighbors of a slot, if they lie in one run. `W` is the type of the column, or `()`.
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>>;

    /// Hands over the neighbors of a slot in ascending runs that are not empty.
    fn visit<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B>;

    /// Hands over the neighbors of the slots whose bits are set, ascending, each as [`Container::visit`] does.
    #[inline]
    fn scan<W: Column, B>(
        &self,
        slots: u64,
        mut run: impl FnMut(usize, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        slots_of(slots)
            .try_for_each(|slot| self.visit(slot, |neighbors, values| run(slot, neighbors, values)))
    }

    /// Prefetches what says where the neighbors of a slot are. Only a hint: the pointer may lead anywhere.
    #[inline]
    fn prefetch_place(container: *const Self, _slot: usize) {
        prefetch(container, size_of::<Self>());
    }

    /// Prefetches the first neighbors of a slot and the values beside them. Only a hint.
    #[inline]
    fn prefetch_row<W: Column>(&self, slot: usize) {
        if let Some((neighbors, values)) = self.run::<W>(slot) {
            prefetch(neighbors.as_ptr(), 1);
            prefetch(values.as_ptr(), size_of::<W>());
        }
    }

    /// Prefetches what changing this neighbor of a slot touches. Only a hint.
    #[inline]
    fn prefetch_change(&self, _slot: usize, _neighbor: VertexId) {}
}

/// What changes mean for a container.
pub enum Plan<T: Content> {
    /// They change nothing.
    Nothing,
    /// It is followed by another one; `None` if that would be empty.
    Replace(Option<Owned<T>>),
    /// [`Content::edit`] makes them, in the container itself if nobody can see it.
    Edit,
}

/// What changes did.
#[derive(Clone, Debug)]
pub struct Tally {
    topology: Topology,
    stored: Direction,
    /// Entries that are different now.
    pub(crate) changed: u64,
    /// Edges that did not exist before.
    pub(crate) added: u64,
    /// Edges that existed before.
    pub(crate) removed: u64,
}

impl Tally {
    /// Nothing done yet, in the adjacency of a direction.
    #[must_use]
    pub fn new(topology: Topology, stored: Direction) -> Self {
        Tally { topology, stored, changed: 0, added: 0, removed: 0 }
    }

    /// Counts a change of an entry that was `found` or not; whether it makes a difference.
    ///
    /// An entry that is found and gets a value is changed if the value is `different`.
    #[inline]
    pub fn count(
        &mut self,
        change: &EdgeChange,
        found: bool,
        different: impl FnOnce(EdgeValue) -> bool,
    ) -> bool {
        let stands_for_edge =
            || u64::from(self.topology.is_canonical_entry(self.stored, change.owner, change.neighbor));
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

    /// Entries that are different now.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Edges that did not exist before, and edges that exist no more. An edge is counted at the one entry that stands for it.
    #[must_use]
    pub fn edges(&self) -> (u64, u64) {
        (self.added, self.removed)
    }
}
