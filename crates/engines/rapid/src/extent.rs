//! One allocation with a header, followed by room for neighbors and their values.
//!
//! Invariants of an [`Extent`] behind a pointer that [`allocate`] or [`duplicate`] returned and
//! [`free`] has not freed:
//!
//! 1. The memory is [`Extent::memory_bytes`] long and starts with the extent, followed by
//!    `capacity` ids, followed, at a multiple of 8 from the start, by `capacity` values of the
//!    column's width. All of them are initialized.
//! 2. Only the owner of the pointer has a pointer into it, except for borrows from the extent.

use crate::pool;
use hedgerow_in_memory::reclamation::account;
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeValue, Neighbors, VertexId};
use std::ops::Range;
use std::ptr::NonNull;

/// A header, followed in memory by room for neighbors with a value each.
#[repr(C, align(8))]
pub struct Extent<H> {
    bytes: usize,
    capacity: u32,
    column: ColumnType,
    pub(crate) header: H,
}

impl<H> Extent<H> {
    const START: usize = size_of::<Self>();

    /// The bytes that the pool hands out for a capacity of `capacity` neighbors.
    pub(crate) fn bytes_for(column: ColumnType, capacity: usize) -> usize {
        pool::rounded(Self::values_at(capacity) + capacity * column.width())
    }

    /// Returns the capacity that fits into `bytes`.
    fn capacity_of(column: ColumnType, bytes: usize) -> usize {
        // Alignment may cost up to two ids.
        let per_entry = size_of::<VertexId>() + column.width();
        let most = (bytes - Self::START) / per_entry;
        let fits = |capacity: &usize| Self::values_at(*capacity) + capacity * column.width() <= bytes;
        (0..=most).rev().find(fits).unwrap_or(0)
    }

    /// The offset of the values.
    #[inline]
    fn values_at(capacity: usize) -> usize {
        (Self::START + capacity * size_of::<VertexId>()).next_multiple_of(8)
    }

    /// The size of the allocation.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the capacity in neighbors.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The type of the values.
    #[inline]
    pub(crate) fn column(&self) -> ColumnType {
        self.column
    }

    /// Returns all ids, in use or not.
    #[inline]
    pub(crate) fn ids(&self) -> &[VertexId] {
        // SAFETY: the length is the capacity.
        unsafe { self.first_ids(self.capacity()) }
    }

    /// The first `length` neighbors. Does not read the capacity.
    ///
    /// # Safety
    /// `length` is at most the capacity.
    #[inline]
    pub(crate) unsafe fn first_ids(&self, length: usize) -> &[VertexId] {
        let first = self.first_byte().wrapping_add(Self::START).cast();
        // SAFETY: invariant 1 and the caller's promise; borrowed with the extent.
        unsafe { std::slice::from_raw_parts(first, length) }
    }

    /// A range of neighbors and their values. `W` is the column's type or `()`.
    #[inline]
    pub(crate) fn neighbors<W: Column>(&self, stretch: Range<usize>) -> Neighbors<'_, W> {
        assert!(W::TYPE.width() == 0 || W::TYPE.width() == self.column.width(), "a column of another width");
        let ids = &self.ids()[stretch.clone()];
        let first = self.first_byte().wrapping_add(Self::values_at(self.capacity())).cast::<W>();
        // SAFETY: there are as many values as ids, of the width of `W` (or `W` has none), aligned
        // to 8, and every bit pattern is valid, as for all columns; `stretch` lies within the
        // capacity.
        let values = unsafe { std::slice::from_raw_parts(first.wrapping_add(stretch.start), ids.len()) };
        (ids, values)
    }

    /// A range of neighbors and their values. Does not read the capacity if the values are
    /// zero-sized.
    ///
    /// # Safety
    /// The range lies within the capacity, and does not begin after its end.
    #[inline]
    pub(crate) unsafe fn neighbors_unchecked<W: Column>(&self, stretch: Range<usize>) -> Neighbors<'_, W> {
        if size_of::<W>() > 0 {
            return self.neighbors(stretch);
        }
        // SAFETY: the caller's promise.
        let up_to_end = unsafe { self.first_ids(stretch.end) };
        // SAFETY: the caller promises that the range begins before it ends.
        let ids = unsafe { up_to_end.get_unchecked(stretch) };
        // SAFETY: zero-sized values may lie anywhere.
        let values = unsafe { std::slice::from_raw_parts(NonNull::dangling().as_ptr(), ids.len()) };
        (ids, values)
    }

    /// The value at a position; 0 if there are no values.
    pub(crate) fn value(&self, position: usize) -> EdgeValue {
        match self.column.width() {
            0 => EdgeValue(0),
            4 => EdgeValue(u64::from(self.neighbors::<u32>(position..position + 1).1[0])),
            _ => EdgeValue(self.neighbors::<u64>(position..position + 1).1[0]),
        }
    }

    /// All ids and the bytes of all values, for writing.
    #[inline]
    fn entries_mut(&mut self) -> (&mut [VertexId], &mut [u8]) {
        let (capacity, width) = (self.capacity(), self.column.width());
        let first = std::ptr::from_mut(self).cast::<u8>();
        let (ids, values) = (first.wrapping_add(Self::START), first.wrapping_add(Self::values_at(capacity)));
        // SAFETY: invariant 1; borrowed exclusively with the extent.
        let ids = unsafe { std::slice::from_raw_parts_mut(ids.cast(), capacity) };
        // SAFETY: as above, and the two do not overlap.
        let values = unsafe { std::slice::from_raw_parts_mut(values, capacity * width) };
        (ids, values)
    }

    /// Writes an entry.
    #[inline]
    pub(crate) fn put(&mut self, position: usize, id: VertexId, value: EdgeValue) {
        self.entries_mut().0[position] = id;
        self.put_value(position, value);
    }

    /// Writes the entries that changes put, from a position on.
    pub(crate) fn put_all(&mut self, position: usize, puts: ChangeSlice<'_>) {
        let ids = &mut self.entries_mut().0[position..position + puts.len()];
        ids.iter_mut().zip(puts.iter()).for_each(|(id, put)| *id = put.neighbor());
        if self.column.width() > 0 {
            let values = puts.iter().map(|put| put.value.unwrap_or_default());
            (position..).zip(values).for_each(|(position, value)| self.put_value(position, value));
        }
    }

    /// Writes the value of an entry.
    #[inline]
    pub(crate) fn put_value(&mut self, position: usize, value: EdgeValue) {
        let width = self.column.width();
        let bytes = &mut self.entries_mut().1[position * width..(position + 1) * width];
        match width {
            0 => {}
            4 => bytes.copy_from_slice(&(value.0 as u32).to_ne_bytes()),
            _ => bytes.copy_from_slice(&value.0.to_ne_bytes()),
        }
    }

    /// Moves a range of entries to begin at `to`.
    #[inline]
    pub(crate) fn shift(&mut self, stretch: Range<usize>, to: usize) {
        let width = self.column.width();
        account::moved(stretch.len() * (size_of::<VertexId>() + width));
        let (ids, values) = self.entries_mut();
        ids.copy_within(stretch.clone(), to);
        if width > 0 {
            values.copy_within(stretch.start * width..stretch.end * width, to * width);
        }
    }

    /// Copies entries of another extent with the same column to begin at `to`.
    #[inline]
    pub(crate) fn copy_from<G>(&mut self, other: &Extent<G>, stretch: Range<usize>, to: usize) {
        let width = self.column.width();
        assert_eq!(width, other.column.width(), "columns of different widths");
        account::moved(stretch.len() * (size_of::<VertexId>() + width));
        let (ids, values) = self.entries_mut();
        ids[to..to + stretch.len()].copy_from_slice(&other.ids()[stretch.clone()]);
        if width > 0 {
            let from = &other.value_bytes()[stretch.start * width..stretch.end * width];
            values[to * width..][..from.len()].copy_from_slice(from);
        }
    }

    fn value_bytes(&self) -> &[u8] {
        let first = self.first_byte().wrapping_add(Self::values_at(self.capacity()));
        // SAFETY: invariant 1; borrowed with the extent.
        unsafe { std::slice::from_raw_parts(first, self.capacity() * self.column.width()) }
    }

    #[inline]
    fn first_byte(&self) -> *const u8 {
        std::ptr::from_ref(self).cast()
    }
}

/// Allocates an extent from the pool, for at least `capacity` and at most `most` neighbors, zeroed.
pub(crate) fn allocate<H>(header: H, column: ColumnType, capacity: usize, most: usize) -> NonNull<Extent<H>> {
    debug_assert!(capacity <= most && most <= u32::MAX as usize);
    let bytes = Extent::<H>::bytes_for(column, capacity);
    let memory = pool::allocate(bytes);
    account::allocated(bytes);
    account::moved(bytes);
    let capacity = Extent::<H>::capacity_of(column, bytes).min(most);
    let extent = Extent { bytes, capacity: capacity as u32, column, header };
    let place = memory.cast::<Extent<H>>();
    let behind = memory.as_ptr().wrapping_add(Extent::<H>::START);
    // SAFETY: the pool hands out `bytes` bytes, aligned to 16, for exclusive use; these lie after
    // the extent.
    unsafe { behind.write_bytes(0, bytes - Extent::<H>::START) };
    // SAFETY: as above; the extent fits into them.
    unsafe { place.write(extent) };
    place
}

/// Copies an extent with another header: the same entries at the same positions, in new memory from
/// the pool.
pub(crate) fn duplicate<H>(original: &Extent<H>, header: H) -> NonNull<Extent<H>> {
    let Extent { bytes, capacity, column, .. } = *original;
    let memory = pool::allocate(bytes);
    account::allocated(bytes);
    account::moved(bytes);
    let place = memory.cast::<Extent<H>>();
    let start = Extent::<H>::START;
    let (from, to) = (original.first_byte().wrapping_add(start), memory.as_ptr().wrapping_add(start));
    // SAFETY: by invariant 1 of the original, its bytes after the extent are initialized; the pool
    // hands out `bytes` bytes, aligned to 16, for exclusive use.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes - start) };
    // SAFETY: as above; the extent fits into them.
    unsafe { place.write(Extent { bytes, capacity, column, header }) };
    place
}

/// Drops the header and returns the memory to the pool.
///
/// # Safety
/// `extent` came from [`allocate`] or [`duplicate`], and is not used any more.
pub(crate) unsafe fn free<H>(extent: NonNull<Extent<H>>) {
    // SAFETY: the caller has the only pointer.
    let bytes = unsafe { extent.as_ref() }.memory_bytes();
    // SAFETY: as above, and it is not used again.
    unsafe { extent.drop_in_place() };
    // SAFETY: the memory came from the pool with this size.
    unsafe { pool::free(extent.cast(), bytes) };
    account::freed(bytes);
}

/// A temporary extent, freed when dropped.
pub(crate) struct ScratchExtent(NonNull<Extent<()>>);

impl ScratchExtent {
    pub(crate) fn new(column: ColumnType, capacity: usize) -> Self {
        ScratchExtent(allocate((), column, capacity, u32::MAX as usize))
    }
}

impl std::ops::Deref for ScratchExtent {
    type Target = Extent<()>;

    fn deref(&self) -> &Extent<()> {
        // SAFETY: owned.
        unsafe { self.0.as_ref() }
    }
}

impl std::ops::DerefMut for ScratchExtent {
    fn deref_mut(&mut self) -> &mut Extent<()> {
        // SAFETY: owned, and borrowed exclusively with its owner.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for ScratchExtent {
    fn drop(&mut self) {
        // SAFETY: owned until now, and not used after the drop.
        unsafe { free(self.0) }
    }
}
