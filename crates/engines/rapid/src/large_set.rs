//! Large neighbor sets: sorted leaves that versions share.
//!
//! A change copies only the leaf that it touches and, once per version, the directory of leaves.
//! This replaces RapidStore's compressed adaptive radix tree (section 6.2): the leaves are like its
//! leaves, and a flat directory takes the place of the radix nodes.

use crate::block::prefetch_behind_guess;
use crate::directory::{LeafDirectory, LeafEntry};
use crate::extent::Extent;
use crate::leaf::{self, LEAF_CAPACITY, Leaf};
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeChange, EdgeValue, VertexId, search};
use std::ops::Range;

/// A neighbor set with more entries becomes a large set. Low in unit tests, so that random
/// operations cross it.
pub(crate) const LARGE: usize = if cfg!(test) { 24 } else { 1024 };

/// A large set with fewer entries becomes small again.
pub(crate) const SMALL_AGAIN: usize = LARGE / 2;

/// A leaf with fewer entries is merged with the next.
const LEAF_MINIMUM: usize = LEAF_CAPACITY / 4;

/// Position of a neighbor: its entry, or its insertion point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SetPosition {
    leaf: usize,
    position: usize,
    pub(crate) is_there: bool,
}

impl SetPosition {
    /// Packs the leaf and the position, both below 2^32, into one number.
    #[inline]
    pub(crate) fn to_number(self) -> u64 {
        (self.leaf as u64) << 32 | self.position as u64
    }

    #[inline]
    fn from_number(number: u64) -> Self {
        SetPosition { leaf: (number >> 32) as usize, position: number as u32 as usize, is_there: false }
    }
}

/// The neighbors of one vertex, behind one pointer. Clones share them until one of the clones
/// changes.
#[derive(Clone)]
pub(crate) struct LargeSet(LeafDirectory);

impl LargeSet {
    /// A set of a sorted range of entries.
    pub(crate) fn new<H>(entries: &Extent<H>, stretch: Range<usize>) -> Self {
        LargeSet(LeafDirectory::of(leaf::pieces(entries, stretch)))
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The sorted leaves, ascending.
    #[inline]
    pub(crate) fn leaves(&self) -> &[LeafEntry] {
        self.0.entries()
    }

    /// Returns true if both share the same entries.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }

    /// Copies all entries into an extent.
    pub(crate) fn copy_to<H>(&self, to: &mut Extent<H>, mut at: usize) {
        for entry in self.leaves() {
            entry.leaf().copy_to(to, at);
            at += entry.len();
        }
    }

    /// Prefetches the leaf where `id` is or belongs.
    #[inline]
    pub(crate) fn prefetch_leaf(&self, id: VertexId) {
        if let Some((entry, spread)) = self.0.entry_of(id) {
            entry.prefetch_header();
            prefetch_behind_guess(entry.ids(), spread, id);
        }
    }

    /// The value of a neighbor. `W` is the column's type or `()`. O(log length).
    #[inline]
    pub(crate) fn find<W: Column>(&self, id: VertexId) -> Option<W> {
        let (entry, spread) = self.0.entry_of(id)?;
        let (ids, values) = entry.neighbors::<W>();
        Some(values[search::position(ids, spread, id)?])
    }

    /// The value of a neighbor, untyped. `column` is the type of the leaves' values.
    pub(crate) fn value_of(&self, column: ColumnType, id: VertexId) -> Option<EdgeValue> {
        let (entry, spread) = self.0.entry_of(id)?;
        let position = search::position(entry.ids(), spread, id)?;
        Some(if column.width() == 0 { EdgeValue(0) } else { entry.leaf().value(position) })
    }

    /// Returns the position of `id`, or its insertion point. O(log length).
    #[inline]
    pub(crate) fn locate(&self, id: VertexId) -> SetPosition {
        let place = self.0.place_of(id);
        let Some((entry, spread)) = self.0.entry_at(place) else { return SetPosition::default() };
        let position = search::lower_bound(entry.ids(), spread, id);
        SetPosition { leaf: place, position, is_there: entry.ids().get(position) == Some(&id) }
    }

    /// Returns the value of the entry at a position that `is_there`.
    pub(crate) fn value_at(&self, site: SetPosition) -> EdgeValue {
        self.leaves()[site.leaf].leaf().value(site.position)
    }

    /// Makes a change at its [position](SetPosition::to_number), if the directory and the leaf are
    /// not shared and the leaf needs neither to grow nor to be merged; otherwise does nothing.
    /// Returns the growth of the set in entries.
    #[inline]
    pub(crate) fn edit_at(&mut self, site: u64, change: &EdgeChange) -> Option<isize> {
        let SetPosition { leaf, position, .. } = SetPosition::from_number(site);
        // A set of one leaf becomes small before the leaf falls below the minimum.
        let least = if self.leaves().len() > 1 { LEAF_MINIMUM } else { 0 };
        if change.value.is_none() && self.len() <= SMALL_AGAIN {
            return None;
        }
        self.0.change_in_place(leaf, |leaf| leaf.edit_at(position, change, least))
    }

    /// Makes changes, which ascend; copies shared parts first. O(leaf) per leaf that changes, and
    /// O(leaves) if it splits or is removed.
    pub(crate) fn edit_all(&mut self, mut changes: ChangeSlice<'_>) {
        self.0.make_own(0);
        while let Some(change) = changes.get(0) {
            let place = self.0.place_of(change.neighbor());
            let (here, rest) = match self.leaves().get(place + 1) {
                Some(next) => changes.split_at_neighbor(|neighbor| neighbor < next.first()),
                None => (changes, ChangeSlice::default()),
            };
            self.edit_leaf(place, here);
            changes = rest;
        }
    }

    fn edit_leaf(&mut self, place: usize, changes: ChangeSlice<'_>) {
        let split_off = self.0.change(place, |leaf| leaf.edit(changes));
        if !split_off.is_empty() {
            self.0.insert(place + 1, split_off);
        } else if self.leaves()[place].len() < LEAF_MINIMUM && self.leaves().len() > 1 {
            self.join(place);
        }
    }

    /// Merges a leaf with the next one, or the last with the one before.
    fn join(&mut self, place: usize) {
        if self.leaves()[place].len() == 0 {
            self.0.remove(place);
            return;
        }
        let place = place.min(self.leaves().len() - 2);
        if self.leaves()[place].len() + self.leaves()[place + 1].len() <= LEAF_CAPACITY {
            let next = self.0.remove(place + 1);
            self.0.change(place, |leaf| *leaf = leaf.joined(&next));
        }
    }

    /// All bytes, including leaves.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.0.own_bytes() + self.0.leaf_bytes()
    }

    /// Returns the bytes that `newer` does not share. O(leaves).
    pub(crate) fn bytes_beside(&self, newer: &LargeSet) -> usize {
        if self.is(newer) {
            return 0;
        }
        let mut candidates = newer.leaves().iter().peekable();
        let mut shared = 0;
        for entry in self.leaves() {
            while candidates.next_if(|other| other.first() < entry.first()).is_some() {}
            if candidates.peek().is_some_and(|other| entry.leaf().is(other.leaf())) {
                shared += entry.leaf().bytes();
            }
        }
        self.bytes() - shared
    }

    /// Returns an upper bound on the bytes by which a change grows the set.
    pub(crate) fn growth(&self) -> usize {
        let leaf = self.leaves().first().map_or(0, |entry| Leaf::full_bytes(entry.leaf().column()));
        leaf + LeafDirectory::growth(self.leaves().len())
    }

    /// Upper bound on the bytes of a set that has just become large.
    pub(crate) fn first_bytes(column: ColumnType) -> usize {
        let leaves = LARGE.div_ceil(LEAF_CAPACITY / 2) + 1;
        leaves * Leaf::full_bytes(column) + LeafDirectory::growth(leaves)
    }
}
