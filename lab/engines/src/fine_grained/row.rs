//! The neighbors of one vertex, with a version chain per entry.

use super::entries::{Entries, NewEntry};
use super::garbage::Superseded;
use super::version::{Begin, Version};
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_model::token::Stamp;
use hedgerow_model::{ChangeSlice, Column, CommitTimestamp, EdgeChange, EdgeValue, VertexId};
use smallvec::SmallVec;

/// The bytes of a superseded version and of the note that files it.
pub(super) const VERSION_BYTES: usize = size_of::<Version<EdgeValue>>() + size_of::<Superseded>();

/// The neighbors of a vertex, including deleted ones that may still be visible.
///
/// An absent entry, which is a deletion without older versions, is removed by the operation that
/// makes it absent.
#[derive(Default)]
pub(super) struct Row<E> {
    pub(super) entries: E,
}

/// The effect of changes on a row.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// True if any of the changes has an effect.
    pub(super) makes_a_difference: bool,
    /// The neighbors that get an entry.
    pub(super) new: SmallVec<[VertexId; 2]>,
}

impl<E: Entries> Row<E> {
    // --- reading -------------------------------------------------------------------------------

    /// Returns the value of the edge to `neighbor` at `at`. O(search + versions newer than `at`).
    #[inline]
    pub(super) fn find(&self, neighbor: VertexId, at: CommitTimestamp) -> Option<EdgeValue> {
        let place = self.entries.locate(neighbor).ok()?;
        let head = self.entries.head(place);
        if head.begin.shows_at(at) { Some(self.entries.value(place)) } else { head.earlier(at) }
    }

    /// Returns the number of neighbors at `at`. O(entries).
    pub(super) fn degree(&self, at: CommitTimestamp) -> usize {
        self.entries.degree(at)
    }

    /// Appends the neighbors visible at `at` to `neighbors` and `values`. O(entries).
    #[inline]
    pub(super) fn copy_visible<W: Column>(
        &self,
        at: CommitTimestamp,
        neighbors: &mut Vec<VertexId>,
        values: &mut Vec<W>,
    ) {
        self.entries.copy_visible(at, neighbors, values);
    }

    // --- writing -------------------------------------------------------------------------------

    /// Plans `changes`, which ascend by neighbor. Calls `visit` with each edge that is added or
    /// removed. O(changes) searches.
    pub(super) fn plan(&self, changes: ChangeSlice<'_>, mut visit: impl FnMut(&EdgeChange)) -> Plan {
        let mut plan = Plan::default();
        for change in changes.iter() {
            let found = self.entries.locate(change.neighbor());
            if found.is_err() && change.value.is_some() {
                plan.new.push(change.neighbor());
            }
            let old = found.ok().and_then(|place| self.newest(place));
            plan.makes_a_difference |= old != change.value;
            if old.is_some() != change.value.is_some() {
                visit(&change);
            }
        }
        plan
    }

    /// Makes changes, which ascend by neighbor, at a stamp, with the room for new entries. Calls
    /// `kept` with the neighbor and the birth of each superseded version that is kept.
    pub(super) fn apply(
        &mut self,
        changes: ChangeSlice<'_>,
        stamp: Stamp,
        room: Option<E::Room>,
        mut kept: impl FnMut(VertexId, CommitTimestamp),
    ) {
        let (mut new, mut some_absent) = (SmallVec::<[NewEntry; 1]>::new(), false);
        for change in changes.iter() {
            let (neighbor, value) = (change.neighbor(), change.value);
            match (self.entries.locate(neighbor), value) {
                (Ok(place), _) => {
                    let superseded = self.change(place, value, stamp);
                    superseded.into_iter().for_each(|born| kept(neighbor, born));
                    some_absent |= self.entries.head(place).is_absent();
                }
                (Err(gap), Some(value)) => new.push(NewEntry { neighbor, value, gap }),
                (Err(_), None) => {}
            }
        }
        self.entries.insert(&new, Begin::new(stamp.at(), true), room);
        if some_absent {
            self.entries.drop_absent(changes.iter().map(|change| change.neighbor()));
        }
    }

    /// Frees superseded versions of `neighbor` by their births, which descend. The caller calls
    /// [`Entries::drop_absent`] afterwards. O(search + versions newer than the last).
    pub(super) fn remove_versions(
        &mut self,
        neighbor: VertexId,
        births: impl ExactSizeIterator<Item = CommitTimestamp>,
    ) {
        let place = self.entries.locate(neighbor).expect("a filed version has an entry");
        let count = births.len();
        let removed = self.entries.head_mut(place).older.remove(births);
        assert_eq!(removed.len(), count, "a filed version is linked");
    }

    /// Recounts by a walk the bytes that [`MemoryChange`] counts step by step, and checks the order
    /// of the entries.
    pub(super) fn count_bytes(&self) -> MemoryChange {
        let heads = self.entries.heads();
        debug_assert!(heads.windows(2).all(|pair| pair[0].0 < pair[1].0), "entries ascend, each once");
        debug_assert!(heads.len() == self.entries.count() && heads.iter().all(|(_, head)| !head.is_absent()));
        let versions: usize = heads.iter().map(|(_, head)| head.older.states().count()).sum();
        let retained = (versions * VERSION_BYTES) as isize;
        MemoryChange { live: self.entries.heap_bytes() as isize, retained }
    }

    /// Returns the newest value of an entry; `None` if it is deleted.
    fn newest(&self, place: usize) -> Option<EdgeValue> {
        self.entries.head(place).begin.exists().then(|| self.entries.value(place))
    }

    /// Gives an entry a new newest version. Returns the birth of the previous one, if it is kept.
    fn change(&mut self, place: usize, value: Option<EdgeValue>, stamp: Stamp) -> Option<CommitTimestamp> {
        if self.newest(place) == value {
            return None;
        }
        let old = self.entries.value(place);
        let head = self.entries.head_mut(place);
        let born = head.begin.at();
        // An invisible version is overwritten.
        let kept = (born < stamp.editable_from()).then_some(born);
        if kept.is_some() {
            head.older.push(head.begin, old);
        }
        head.begin = Begin::new(stamp.at(), value.is_some());
        self.entries.set_value(place, value.unwrap_or_default());
        kept
    }
}
