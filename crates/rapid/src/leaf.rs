//! Leaves of large neighbour sets: sorted entries that versions share.
//!
//! A leaf counts its owners as [`std::sync::Arc`] does, but beside its entries, so that a reader follows one
//! pointer. Its `unsafe` code rests on one invariant: a [`Leaf`] is one of `owners` pointers to an extent that
//! lives as long as there is one, and its entries and length change only while there is exactly one.

use crate::extent::{self, Extent};
use hedgerow_model::{Column, ColumnType, EdgeChange, EdgeValue, Neighbours, VertexId, search};
use hedgerow_sync::atomic::{AtomicU32, Ordering, fence};
use std::ops::Range;
use std::ptr::NonNull;

/// The most entries of a leaf (RapidStore, section 6.5, "Hyperparameters"). Small in unit tests.
pub(crate) const LEAF_CAPACITY: usize = if cfg!(test) { 8 } else { 512 };

/// The most entries of a leaf that is being made, before it is cut into pieces: all neighbours that there can be.
const MOST: usize = u32::MAX as usize;

/// Sorted entries, shared by versions.
pub(crate) struct Leaf(NonNull<Extent<Header>>);

struct Header {
    owners: AtomicU32,
    length: u32,
}

// SAFETY: shared owners read only; changes need the only owner, and the count is atomic.
unsafe impl Send for Leaf {}
// SAFETY: as above.
unsafe impl Sync for Leaf {}

impl Clone for Leaf {
    fn clone(&self) -> Self {
        // As many owners as there are versions of a partition, each larger than one byte: far from 2^32.
        self.extent().header.owners.fetch_add(1, Ordering::Relaxed);
        Leaf(self.0)
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        if self.extent().header.owners.fetch_sub(1, Ordering::Release) == 1 {
            // What the other owners did happens before the memory is used for something else.
            fence(Ordering::Acquire);
            // SAFETY: this was the last owner.
            unsafe { extent::free(self.0) }
        }
    }
}

impl Leaf {
    /// An empty leaf with room for at least `capacity` entries.
    fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        Leaf(extent::allocate(Header { owners: AtomicU32::new(1), length: 0 }, column, capacity, MOST))
    }

    /// A leaf of a sorted stretch, with room for `slack` more.
    pub(crate) fn of<H>(entries: &Extent<H>, stretch: Range<usize>, slack: usize) -> Self {
        let mut leaf = Leaf::with_capacity(entries.column(), stretch.len() + slack);
        leaf.append(entries, stretch);
        leaf
    }

    /// What lies beside its neighbours.
    pub(crate) fn column(&self) -> ColumnType {
        self.extent().column()
    }

    /// The bytes of a full leaf.
    pub(crate) fn full_bytes(column: ColumnType) -> usize {
        Extent::<Header>::bytes_for(column, LEAF_CAPACITY + LEAF_CAPACITY / 8 + 4)
    }

    #[inline]
    fn extent(&self) -> &Extent<Header> {
        // SAFETY: an owner keeps it alive, and it changes only while borrowed exclusively from its only owner.
        unsafe { self.0.as_ref() }
    }

    /// The extent, if this is its only owner.
    #[inline]
    fn extent_mut(&mut self) -> Option<&mut Extent<Header>> {
        if self.extent().header.owners.load(Ordering::Acquire) != 1 {
            return None;
        }
        // SAFETY: the only owner, borrowed exclusively; nobody can become another one meanwhile.
        Some(unsafe { self.0.as_mut() })
    }

    fn append<H>(&mut self, entries: &Extent<H>, stretch: Range<usize>) {
        let at = self.len();
        let extent = self.extent_mut().expect("a leaf that is being made has one owner");
        extent.copy_from(entries, stretch.clone(), at);
        extent.header.length += stretch.len() as u32;
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.extent().header.length as usize
    }

    /// All bytes of the leaf.
    pub(crate) fn bytes(&self) -> usize {
        self.extent().memory_bytes()
    }

    /// Whether two are the same leaf.
    pub(crate) fn is(&self, other: &Leaf) -> bool {
        self.0 == other.0
    }

    #[inline]
    pub(crate) fn entries<W: Column>(&self) -> Neighbours<'_, W> {
        self.extent().neighbours(0..self.len())
    }

    pub(crate) fn ids(&self) -> &[VertexId] {
        &self.extent().ids()[..self.len()]
    }

    pub(crate) fn value(&self, position: usize) -> EdgeValue {
        self.extent().value(position)
    }

    /// The position of the first entry that is not below `id`, and whether it is `id`.
    #[inline]
    pub(crate) fn locate(&self, id: VertexId) -> (usize, bool) {
        let position = search::lower_bound(self.ids(), id);
        (position, self.ids().get(position) == Some(&id))
    }

    /// Makes this the only owner of a leaf with room for one more, by a copy if need be.
    fn make_room(&mut self) {
        let length = self.len();
        let is_full = length == self.extent().capacity();
        if is_full || self.extent_mut().is_none() {
            let slack = if is_full { length / 8 + 4 } else { self.extent().capacity() - length };
            *self = Leaf::of(self.extent(), 0..length, slack);
        }
    }

    /// Puts an entry where [`Leaf::locate`] found its place.
    pub(crate) fn put(&mut self, position: usize, is_there: bool, id: VertexId, value: EdgeValue) {
        self.make_room();
        let length = self.len();
        let extent = self.extent_mut().expect("made the only owner");
        if !is_there {
            extent.shift(position..length, position + 1);
            extent.header.length += 1;
        }
        extent.put(position, id, value);
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, position: usize) {
        if self.extent_mut().is_none() {
            *self = Leaf::of(self.extent(), 0..self.len(), 0);
        }
        let length = self.len();
        let extent = self.extent_mut().expect("made the only owner");
        extent.shift(position + 1..length, position);
        extent.header.length -= 1;
    }

    /// The two halves of a leaf, both with room.
    pub(crate) fn halves(&self) -> (Leaf, Leaf) {
        let (length, middle) = (self.len(), self.len() / 2);
        let half = |stretch: Range<usize>| Leaf::of(self.extent(), stretch, middle / 8 + 1);
        (half(0..middle), half(middle..length))
    }

    /// The entries of two neighbouring leaves in one.
    pub(crate) fn joined(&self, next: &Leaf) -> Leaf {
        let mut joined = Leaf::with_capacity(self.extent().column(), self.len() + next.len());
        joined.append(self.extent(), 0..self.len());
        joined.append(next.extent(), 0..next.len());
        joined
    }

    /// Copies all entries into another extent.
    pub(crate) fn copy_to<H>(&self, to: &mut Extent<H>, at: usize) {
        to.copy_from(self.extent(), 0..self.len(), at);
    }

    /// The entries after `changes`, which ascend, as leaves that are at most three quarters full; none if none are left.
    pub(crate) fn merged(&self, changes: &[EdgeChange]) -> Vec<Leaf> {
        let mut merged = Leaf::with_capacity(self.extent().column(), self.len() + changes.len());
        let mut next = 0;
        for change in changes {
            let position = next + search::lower_bound(&self.ids()[next..], change.neighbour);
            merged.append(self.extent(), next..position);
            let found = self.ids().get(position) == Some(&change.neighbour);
            next = position + usize::from(found);
            if let Some(value) = change.value {
                let at = merged.len();
                let extent = merged.extent_mut().expect("a leaf that is being made has one owner");
                extent.put(at, change.neighbour, value);
                extent.header.length += 1;
            }
        }
        merged.append(self.extent(), next..self.len());
        match merged.len() {
            0 => Vec::new(),
            length if length <= LEAF_CAPACITY => vec![merged],
            length => pieces(merged.extent(), 0..length),
        }
    }
}

/// A sorted stretch as leaves of about equal size, each with room for some more.
pub(crate) fn pieces<H>(entries: &Extent<H>, stretch: Range<usize>) -> Vec<Leaf> {
    let full = (LEAF_CAPACITY * 3 / 4).max(1);
    let count = stretch.len().div_ceil(full);
    let piece = |number: usize| {
        let from = stretch.start + stretch.len() * number / count;
        let to = stretch.start + stretch.len() * (number + 1) / count;
        Leaf::of(entries, from..to, (to - from) / 16)
    };
    (0..count).map(piece).collect()
}
