//! Leaves of large neighbor sets: sorted entries that versions share.

use crate::extent::{self, Extent};
use crate::shared::{Counted, SharedPointer};
use hedgerow_model::search::{self, Spread};
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeChange, EdgeValue, Neighbors, VertexId};
use hedgerow_sync::atomic::AtomicU32;
use hedgerow_sync::prefetch;
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr::NonNull;

/// Maximum entries of a leaf (RapidStore, section 6.5, "Hyperparameters"). Small in unit tests.
pub(crate) const LEAF_CAPACITY: usize = if cfg!(test) { 8 } else { 512 };

/// Maximum entries of a leaf under construction, before it is split: the maximum number of
/// neighbors.
const MOST: usize = u32::MAX as usize;

/// Sorted entries. Versions share them; they change only while there is one owner.
#[derive(Clone)]
#[repr(transparent)]
pub(crate) struct Leaf(SharedPointer<Extent<LeafHeader>>);

pub(crate) struct LeafHeader {
    owners: AtomicU32,
    length: u32,
}

// SAFETY: `owners` counts nothing else.
unsafe impl Counted for Extent<LeafHeader> {
    #[inline]
    fn owners(&self) -> &AtomicU32 {
        &self.header.owners
    }

    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: every leaf comes from `extent::allocate`; the caller has the only pointer.
        unsafe { extent::free(this) }
    }
}

/// Position of a change in a leaf.
#[derive(Clone, Copy)]
struct LeafPosition {
    position: usize,
    is_there: bool,
}

/// Positions of ascending changes in a leaf, and the number of entries after the changes.
struct LeafPositions {
    each: SmallVec<[LeafPosition; 4]>,
    length: usize,
}

impl Leaf {
    /// An empty leaf with room for at least `capacity` entries.
    fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        let header = LeafHeader { owners: AtomicU32::new(1), length: 0 };
        let leaf = extent::allocate(header, column, capacity, MOST);
        // SAFETY: just allocated, with one owner.
        Leaf(unsafe { SharedPointer::new(leaf) })
    }

    /// A leaf of a sorted range of entries, with room for `slack` more.
    fn of<H>(entries: &Extent<H>, stretch: Range<usize>, slack: usize) -> Self {
        let mut leaf = Leaf::with_capacity(entries.column(), stretch.len() + slack);
        leaf.append(entries, stretch);
        leaf
    }

    /// The type of the values.
    pub(crate) fn column(&self) -> ColumnType {
        self.0.column()
    }

    /// The bytes of a full leaf.
    pub(crate) fn full_bytes(column: ColumnType) -> usize {
        Extent::<LeafHeader>::bytes_for(column, roomy(LEAF_CAPACITY))
    }

    fn append<H>(&mut self, entries: &Extent<H>, stretch: Range<usize>) {
        let at = self.len();
        let extent = self.0.get_mut().expect("a leaf under construction has one owner");
        extent.copy_from(entries, stretch.clone(), at);
        extent.header.length += stretch.len() as u32;
    }

    fn push(&mut self, id: VertexId, value: EdgeValue) {
        let at = self.len();
        let extent = self.0.get_mut().expect("a leaf under construction has one owner");
        extent.put(at, id, value);
        extent.header.length += 1;
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.header.length as usize
    }

    /// The size in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.0.memory_bytes()
    }

    /// Returns true if both are the same leaf.
    pub(crate) fn is(&self, other: &Leaf) -> bool {
        self.0.is(&other.0)
    }

    #[inline]
    pub(crate) fn ids(&self) -> &[VertexId] {
        &self.0.ids()[..self.len()]
    }

    /// Prefetches the header.
    #[inline]
    pub(crate) fn prefetch_header(&self) {
        prefetch(std::ptr::from_ref(&*self.0), 1);
    }

    /// The first `length` neighbors. Does not access the header.
    ///
    /// # Safety
    /// The leaf has at least `length` neighbors.
    #[inline]
    pub(crate) unsafe fn first_ids(&self, length: usize) -> &[VertexId] {
        // SAFETY: the caller's promise.
        unsafe { self.0.first_ids(length) }
    }

    /// The first `length` neighbors and their values. Does not access the header if the values are
    /// zero-sized.
    ///
    /// # Safety
    /// The leaf has at least `length` neighbors.
    #[inline]
    pub(crate) unsafe fn first_neighbors<W: Column>(&self, length: usize) -> Neighbors<'_, W> {
        // SAFETY: the caller's promise.
        unsafe { self.0.neighbors_unchecked(0..length) }
    }

    #[inline]
    pub(crate) fn value(&self, position: usize) -> EdgeValue {
        self.0.value(position)
    }

    /// Makes changes, which ascend: in place if this is the only owner and there is room, otherwise
    /// in a copy.
    ///
    /// If the leaf exceeds its capacity, it is split into leaves of about equal size; returns all
    /// but the first.
    pub(crate) fn edit(&mut self, changes: ChangeSlice<'_>) -> Vec<Leaf> {
        let sites = self.locate(changes);
        let (length, capacity) = (self.len(), self.0.capacity());
        match self.0.get_mut() {
            Some(extent) if sites.length <= capacity => edit_in_place(extent, changes, sites),
            Some(_) => *self = self.edited(changes, &sites, roomy(sites.length)),
            None if sites.length > length => *self = self.edited(changes, &sites, capacity),
            None => *self = self.edited(changes, &sites, 0),
        }
        if self.len() <= LEAF_CAPACITY {
            return Vec::new();
        }
        let mut pieces = pieces(&self.0, 0..self.len());
        *self = pieces.remove(0);
        pieces
    }

    /// Makes a change at its position, if this is the only owner, has room, and keeps at least
    /// `least` entries; otherwise does nothing. Returns the growth of the leaf in entries.
    #[inline]
    pub(crate) fn edit_at(&mut self, position: usize, change: &EdgeChange, least: usize) -> Option<isize> {
        let extent = self.0.get_mut()?;
        let length = extent.header.length as usize;
        let is_there = extent.ids()[..length].get(position) == Some(&change.neighbor());
        let grown = match change.value {
            Some(value) if is_there => {
                extent.put_value(position, value);
                0
            }
            Some(value) => {
                if length == extent.capacity() || length == LEAF_CAPACITY {
                    return None;
                }
                extent.shift(position..length, position + 1);
                extent.put(position, change.neighbor(), value);
                1
            }
            None if is_there => {
                if length <= least {
                    return None;
                }
                extent.shift(position + 1..length, position);
                -1
            }
            None => 0,
        };
        extent.header.length = extent.header.length.wrapping_add_signed(grown as i32);
        Some(grown)
    }

    fn locate(&self, changes: ChangeSlice<'_>) -> LeafPositions {
        let ids = self.ids();
        let spread = Spread::of(ids);
        let mut sites = LeafPositions { each: SmallVec::with_capacity(changes.len()), length: ids.len() };
        for change in changes.iter() {
            let position = search::lower_bound(ids, spread, change.neighbor());
            let is_there = ids.get(position) == Some(&change.neighbor());
            sites.length += usize::from(!is_there && change.value.is_some());
            sites.length -= usize::from(is_there && change.value.is_none());
            sites.each.push(LeafPosition { position, is_there });
        }
        sites
    }

    /// A copy with changes made and room for at least `capacity` entries.
    fn edited(&self, changes: ChangeSlice<'_>, sites: &LeafPositions, capacity: usize) -> Leaf {
        let mut edited = Leaf::with_capacity(self.column(), sites.length.max(capacity));
        let mut next = 0;
        for (change, site) in changes.iter().zip(&sites.each) {
            edited.append(&self.0, next..site.position);
            next = site.position + usize::from(site.is_there);
            if let Some(value) = change.value {
                edited.push(change.neighbor(), value);
            }
        }
        edited.append(&self.0, next..self.len());
        edited
    }

    /// Merges two adjacent leaves into one.
    pub(crate) fn joined(&self, next: &Leaf) -> Leaf {
        let mut joined = Leaf::of(&self.0, 0..self.len(), next.len());
        joined.append(&next.0, 0..next.len());
        joined
    }

    /// Copies all entries into another extent.
    pub(crate) fn copy_to<H>(&self, to: &mut Extent<H>, at: usize) {
        to.copy_from(&self.0, 0..self.len(), at);
    }
}

/// The capacity of a leaf that has grown to `length` entries.
fn roomy(length: usize) -> usize {
    length + length / 8 + 4
}

/// Makes changes in a leaf that has one owner and enough room.
///
/// Removals close their gaps front to back, then insertions open theirs back to front: every entry
/// moves at most twice.
fn edit_in_place(leaf: &mut Extent<LeafHeader>, changes: ChangeSlice<'_>, mut sites: LeafPositions) {
    let length = leaf.header.length as usize;
    let (mut removed, mut unmoved) = (0, 0);
    for (change, site) in changes.iter().zip(&mut sites.each) {
        let position = site.position;
        site.position -= removed;
        match change.value {
            Some(value) if site.is_there => leaf.put_value(position, value),
            None if site.is_there => {
                if removed > 0 {
                    leaf.shift(unmoved..position, unmoved - removed);
                }
                unmoved = position + 1;
                removed += 1;
            }
            _ => {}
        }
    }
    if removed > 0 {
        leaf.shift(unmoved..length, unmoved - removed);
    }
    let mut end = length - removed;
    let mut to_insert = sites.length - end;
    leaf.header.length = sites.length as u32;
    for (change, site) in changes.iter().zip(&sites.each).rev() {
        if let (Some(value), false) = (change.value, site.is_there) {
            leaf.shift(site.position..end, site.position + to_insert);
            to_insert -= 1;
            leaf.put(site.position + to_insert, change.neighbor(), value);
            end = site.position;
        }
    }
}

/// Splits a sorted range of entries into leaves of about equal size, each with some spare room.
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
