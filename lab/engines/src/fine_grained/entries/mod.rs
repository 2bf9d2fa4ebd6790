//! The entries of a row by neighbor: each with its newest value and its versions.

mod radix;
mod sorted;

pub use radix::ArtEntries;
pub use sorted::SortedEntries;

use super::version::{Begin, History};
use hedgerow_model::{Column, ColumnType, CommitTimestamp, EdgeValue, VertexId};

/// Capacity of the smallest array.
const SMALLEST: usize = 4;

/// An array with less than one in this many slots in use is replaced by a smaller one.
const SPARSE: usize = 4;

/// The entries of a row.
///
/// An entry has a place, a number that identifies it until entries are inserted or removed.
pub trait Entries: Default + Send + Sync + 'static {
    /// The memory that new entries need: planned, and not yet allocated if that can wait.
    type Growth: Send;

    /// The memory for new entries.
    type Room: Send;

    /// Returns the place of a neighbor, or the place to insert it.
    fn locate(&self, neighbor: VertexId) -> Result<usize, usize>;

    /// Returns the versions of the entry at a place.
    fn head(&self, place: usize) -> &Head;

    /// Returns the versions of the entry at a place, mutably.
    fn head_mut(&mut self, place: usize) -> &mut Head;

    /// Returns the newest value of the entry at a place; meaningless for a deletion.
    fn value(&self, place: usize) -> EdgeValue;

    /// Replaces the newest value of the entry at a place.
    fn set_value(&mut self, place: usize, value: EdgeValue);

    /// Returns the number of entries, visible or not. O(1).
    fn count(&self) -> usize;

    /// Returns the number of entries visible at `at`. O(entries).
    fn degree(&self, at: CommitTimestamp) -> usize;

    /// Appends the neighbors visible at `at`, ascending, and their values. O(entries).
    fn copy_visible<W: Column>(
        &self,
        at: CommitTimestamp,
        neighbors: &mut Vec<VertexId>,
        values: &mut Vec<W>,
    );

    /// Returns the memory for inserting neighbors, which ascend and are absent; `None` if there is
    /// room.
    fn growth(&self, column: ColumnType, new: &[VertexId]) -> Option<Self::Growth>;

    /// Returns the bytes by which `growth` enlarges a row.
    fn growth_bytes(growth: &Self::Growth, column: ColumnType) -> usize;

    /// Allocates the planned room, for values of type `column`.
    fn room(growth: Self::Growth, column: ColumnType) -> Self::Room;

    /// Inserts entries, which ascend by neighbor, with a version that begins at `begin`.
    ///
    /// `room` is for exactly these entries, if they need any; since it was planned, only the heads
    /// and values of the row's entries have changed.
    fn insert(&mut self, new: &[NewEntry], begin: Begin, room: Option<Self::Room>);

    /// Removes the absent entries among `neighbors`, which ascend.
    fn drop_absent(&mut self, neighbors: impl Iterator<Item = VertexId>);

    /// Frees memory that is mostly unused. Amortized O(1) per removed entry.
    fn shrink_if_sparse(&mut self);

    /// Returns the heap bytes, excluding older versions.
    fn heap_bytes(&self) -> usize;

    /// Returns the neighbors and their heads, ascending. O(entries).
    fn heads(&self) -> Vec<(VertexId, &Head)>;
}

/// An entry to insert.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry {
    pub(super) neighbor: VertexId,
    pub(super) value: EdgeValue,
    /// The place that [`Entries::locate`] returned.
    pub(super) gap: usize,
}

/// The newest version of an entry, without its value, and the older versions.
#[derive(Debug)]
pub struct Head {
    pub(super) begin: Begin,
    pub(super) older: History<EdgeValue>,
}

impl Head {
    /// Creates a version without older ones.
    pub(super) const fn new(begin: Begin) -> Self {
        Head { begin, older: History::NONE }
    }

    /// Returns true if this is a deletion without older versions, which is equivalent to no entry.
    pub(super) fn is_absent(&self) -> bool {
        !self.begin.exists() && self.older.is_empty()
    }

    /// Returns the value at a timestamp; `newest` is the value of the newest version.
    #[inline]
    pub(super) fn value_at<W: Column>(&self, at: CommitTimestamp, newest: W) -> Option<W> {
        if self.begin.shows_at(at) { Some(newest) } else { self.earlier(at).map(W::from_bits) }
    }

    /// Returns true if there is a value at a timestamp.
    #[inline]
    pub(super) fn shows_at(&self, at: CommitTimestamp) -> bool {
        self.begin.shows_at(at) || self.earlier(at).is_some()
    }

    /// Returns the value at a timestamp at which the newest version is not visible.
    pub(super) fn earlier(&self, at: CommitTimestamp) -> Option<EdgeValue> {
        let is_newer = self.begin.at() > at;
        self.older.at(at).filter(|_| is_newer).copied()
    }
}
