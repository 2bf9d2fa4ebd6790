//! How the entries of a row are kept, by neighbor: each with its newest value and its versions.

mod radix;
mod sorted;

pub use radix::ArtEntries;
pub use sorted::SortedEntries;

use super::version::{Begin, History};
use hedgerow_model::{Column, ColumnType, EdgeValue, Timestamp, VertexId};

/// Entries of the smallest array.
const SMALLEST: usize = 4;

/// An array with less than one entry in so many in use is given back in favor of a smaller one.
const SPARSE: usize = 4;

/// The entries of a row.
///
/// An entry has a place, a number that names it until entries are inserted or removed.
pub trait Entries: Default + Send + Sync + 'static {
    /// What new entries take, planned and not yet allocated where that can wait.
    type Growth: Send;

    /// The memory for new entries.
    type Room: Send;

    /// The place of a neighbor, or where it would be.
    fn locate(&self, neighbor: VertexId) -> Result<usize, usize>;

    /// The versions of the entry at a place.
    fn head(&self, place: usize) -> &Head;

    /// The same, to change.
    fn head_mut(&mut self, place: usize) -> &mut Head;

    /// The newest value of the entry at a place; that of a deletion means nothing.
    fn value(&self, place: usize) -> EdgeValue;

    /// Replaces it.
    fn set_value(&mut self, place: usize, value: EdgeValue);

    /// How many entries there are, visible or not. O(1).
    fn count(&self) -> usize;

    /// How many entries are visible at `at`. O(entries).
    fn degree(&self, at: Timestamp) -> usize;

    /// Appends the neighbors at `at`, ascending, and their values. O(entries).
    fn copy_visible<W: Column>(&self, at: Timestamp, neighbors: &mut Vec<VertexId>, values: &mut Vec<W>);

    /// What it takes to insert neighbors, which ascend and are not there; `None` if there is room.
    fn growth(&self, column: ColumnType, new: &[VertexId]) -> Option<Self::Growth>;

    /// The bytes by which this makes a row larger.
    fn growth_bytes(growth: &Self::Growth, column: ColumnType) -> usize;

    /// Makes the room that was planned, for values of type `column`.
    fn room(growth: Self::Growth, column: ColumnType) -> Self::Room;

    /// Inserts entries, which ascend by neighbor, with a version that begins at `begin`.
    ///
    /// `room` is that for just these entries, if they need any, and the row is as it was when it was planned
    /// but for the heads and values of its entries.
    fn insert(&mut self, new: &[NewEntry], begin: Begin, room: Option<Self::Room>);

    /// Takes out which of the entries of `neighbors`, which ascend, are absent.
    fn drop_absent(&mut self, neighbors: impl Iterator<Item = VertexId>);

    /// Gives back memory that is nearly unused. Amortised O(1) per entry taken out.
    fn shrink_if_sparse(&mut self);

    /// The bytes on the heap, without those of older versions.
    fn heap_bytes(&self) -> usize;

    /// The neighbors and their heads, ascending. O(entries).
    fn heads(&self) -> Vec<(VertexId, &Head)>;
}

/// An entry to be inserted.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry {
    pub(super) neighbor: VertexId,
    pub(super) value: EdgeValue,
    /// What [`Entries::locate`] said.
    pub(super) gap: usize,
}

/// The newest version of an entry, whose value lies beside it, and the older ones.
#[derive(Debug)]
pub struct Head {
    pub(super) begin: Begin,
    pub(super) older: History<EdgeValue>,
}

impl Head {
    /// A version without older ones.
    pub(super) const fn new(begin: Begin) -> Self {
        Head { begin, older: History::NONE }
    }

    /// Whether this is a deletion without older versions, which is as good as no entry.
    pub(super) fn is_absent(&self) -> bool {
        !self.begin.exists() && self.older.is_empty()
    }

    /// The value at a timestamp; `newest` is that of the newest version.
    #[inline]
    pub(super) fn value_at<W: Column>(&self, at: Timestamp, newest: W) -> Option<W> {
        if self.begin.shows_at(at) { Some(newest) } else { self.earlier(at).map(W::from_bits) }
    }

    /// Whether there is a value at a timestamp.
    #[inline]
    pub(super) fn shows_at(&self, at: Timestamp) -> bool {
        self.begin.shows_at(at) || self.earlier(at).is_some()
    }

    /// The value at a timestamp at which the newest version does not show.
    pub(super) fn earlier(&self, at: Timestamp) -> Option<EdgeValue> {
        let is_newer = self.begin.at() > at;
        self.older.at(at).filter(|_| is_newer).copied()
    }
}
