//! Edge blocks: the pieces of a row (GraphOne, 4).
//!
//! | offset | content |
//! |---|---|
//! | 0 | the next block of the row |
//! | 8 | in the first block of a row: its [note](super::note) |
//! | 16 | capacity, 32 bits; number of entries in the blocks before, 32 bits |
//! | 24 | a value per entry of the capacity, of 0, 4 or 8 bytes |
//! | then | a neighbor per entry |
//!
//! Invariants of blocks that are linked to a row:
//!
//! 1. They lie in memory of the arenas, laid out by the shape of their adjacency, with an
//!    initialized header.
//! 2. One thread at a time writes a row: the thread that archives its changes.
//! 3. An entry below the entry count of a version that a reader has chosen is written, and does not
//!    change. Its writer wrote it before it stored that version.
//! 4. Readers have retained versions. A replaced chain is retired when no retained version has it.
//!    A reader of an older version may have loaded the first block of such a chain, while it was
//!    the row's newest, to find the way to its own chain. Such a reader pins the domain of the
//!    table, and the blocks are freed when every thread that had pinned it has unpinned.

use hedgerow_model::{Column, ColumnType, EdgeValue, VertexId, unit_slice};
use hedgerow_sync::atomic::{AtomicPtr, Ordering};
use hedgerow_sync::prefetch;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// Bytes at the start of a block prefetched for a reader; the hardware prefetcher does the rest.
const AHEAD_BYTES: usize = 256;

const HEADER_BYTES: usize = size_of::<BlockHeader>();

const NEIGHBOR_BYTES: usize = size_of::<VertexId>();

#[repr(C)]
pub(super) struct BlockHeader {
    next: BlockLink,
    /// See [`ChainedBlock::note_word`].
    note: AtomicPtr<u8>,
    capacity: u32,
    before: u32,
}

/// Value layout of the entries of an adjacency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    value_bytes: usize,
}

impl BlockShape {
    pub(crate) const fn of(column: ColumnType) -> Self {
        BlockShape { value_bytes: column.width() }
    }

    pub(crate) const fn has_values(self) -> bool {
        self.value_bytes > 0
    }

    /// Returns the bytes of a block with room for `entries`.
    pub(crate) const fn bytes_for(self, entries: usize) -> usize {
        HEADER_BYTES + entries * (NEIGHBOR_BYTES + self.value_bytes)
    }

    /// Returns the number of entries that fit in a block of `bytes`.
    pub(crate) const fn entries_in(self, bytes: usize) -> usize {
        (bytes - HEADER_BYTES) / (NEIGHBOR_BYTES + self.value_bytes)
    }
}

/// A block that lives for `'a`.
#[derive(Clone, Copy)]
pub(crate) struct ChainedBlock<'a> {
    header: NonNull<BlockHeader>,
    lives: PhantomData<&'a BlockHeader>,
}

impl<'a> ChainedBlock<'a> {
    /// Makes an empty block from memory.
    ///
    /// # Safety
    /// The memory has the bytes of a block of this shape with this capacity, aligned to 8, lives
    /// for `'a`, and belongs to the caller.
    pub(super) unsafe fn new(memory: NonNull<u8>, capacity: u32, before: u32) -> Self {
        let header = memory.cast::<BlockHeader>();
        let (next, note) = (BlockLink::default(), AtomicPtr::default());
        // SAFETY: room for a header, by the promise of the caller.
        unsafe { header.write(BlockHeader { next, note, capacity, before }) };
        ChainedBlock { header, lives: PhantomData }
    }

    /// Returns the block at an address loaded from a link, if there is one.
    ///
    /// # Safety
    /// The block stays linked for `'a`.
    #[inline]
    unsafe fn at(address: *mut BlockHeader) -> Option<Self> {
        NonNull::new(address).map(|header| ChainedBlock { header, lives: PhantomData })
    }

    #[inline]
    fn header(self) -> &'a BlockHeader {
        // SAFETY: invariant 1.
        unsafe { self.header.as_ref() }
    }

    pub(super) fn address(self) -> NonNull<u8> {
        self.header.cast()
    }

    #[inline]
    pub(super) fn capacity(self) -> u32 {
        self.header().capacity
    }

    /// Returns the number of entries in the blocks before this one.
    #[inline]
    pub(super) fn before(self) -> u32 {
        self.header().before
    }

    /// Returns the next block of the row, which lives as long as this one.
    #[inline]
    pub(super) fn next(self) -> Option<ChainedBlock<'a>> {
        self.header().next.get()
    }

    /// Prefetches the header, for a writer.
    #[inline]
    pub(super) fn prefetch(self) {
        prefetch(self.header.as_ptr().cast_const(), LINE_BYTES);
    }

    /// Prefetches the header and the first entries.
    #[inline]
    pub(super) fn prefetch_entries(self) {
        prefetch(self.header.as_ptr().cast_const(), AHEAD_BYTES);
    }

    /// Links a block after this one, which is the last of its row.
    pub(super) fn link(self, next: ChainedBlock<'_>) {
        self.header().next.set(next);
    }

    /// Returns the note of the row that begins with this block: a pointer to a
    /// [`RowExtra`](super::extra::RowExtra), or a [`FormerLink`](super::former::FormerLink).
    #[inline]
    pub(super) fn note_word(self) -> &'a AtomicPtr<u8> {
        &self.header().note
    }

    #[inline]
    fn value_at(self, shape: BlockShape, place: usize) -> NonNull<u8> {
        // SAFETY: within the block, by its layout (invariant 1).
        unsafe { self.header.cast::<u8>().add(HEADER_BYTES + place * shape.value_bytes) }
    }

    #[inline]
    fn neighbor_at(self, shape: BlockShape, place: usize) -> NonNull<VertexId> {
        let values = self.value_at(shape, self.capacity() as usize);
        // SAFETY: within the block, by its layout (invariant 1).
        unsafe { values.cast::<VertexId>().add(place) }
    }

    /// Returns the first neighbors of the block.
    ///
    /// # Safety
    /// At least `entries` entries are written, and are below the entry count of a version that is
    /// retained for `'a`.
    #[inline]
    pub(super) unsafe fn neighbors(self, shape: BlockShape, entries: usize) -> &'a [VertexId] {
        // SAFETY: written, and not changed during `'a` (invariants 3 and 4).
        unsafe { std::slice::from_raw_parts(self.neighbor_at(shape, 0).as_ptr(), entries) }
    }

    /// Returns the values of the first entries of the block.
    ///
    /// # Safety
    /// As for [`ChainedBlock::neighbors`].
    #[inline]
    pub(super) unsafe fn values<W: Column>(self, shape: BlockShape, entries: usize) -> &'a [W] {
        if size_of::<W>() == 0 {
            return bytemuck::cast_slice(unit_slice(entries));
        }
        assert_eq!(size_of::<W>(), shape.value_bytes, "values are read as what they are");
        // SAFETY: as for the neighbors; values of this width, at an address aligned to 8.
        unsafe { std::slice::from_raw_parts(self.value_at(shape, 0).cast().as_ptr(), entries) }
    }

    /// Returns the bits of the value of an entry, or 0 if there are no values.
    ///
    /// # Safety
    /// As for [`ChainedBlock::neighbors`], with more entries than `place`.
    pub(super) unsafe fn value_bits(self, shape: BlockShape, place: usize) -> EdgeValue {
        let value = self.value_at(shape, place);
        EdgeValue(match shape.value_bytes {
            0 => 0,
            // SAFETY: written, and not changed during `'a` (invariants 3 and 4).
            4 => u64::from(unsafe { value.cast::<u32>().read() }),
            // SAFETY: as above.
            _ => unsafe { value.cast::<u64>().read() },
        })
    }

    /// Writes an entry that no version has yet.
    ///
    /// # Safety
    /// The caller is the only thread that writes the row, and no reader has a version with this
    /// entry.
    pub(super) unsafe fn write(self, shape: BlockShape, place: usize, neighbor: VertexId, value: EdgeValue) {
        assert!(place < self.capacity() as usize, "an entry is within its block");
        // SAFETY: within the block, and not read meanwhile.
        unsafe { self.neighbor_at(shape, place).write(neighbor) };
        match shape.value_bytes {
            0 => {}
            // SAFETY: as above.
            4 => unsafe { self.value_at(shape, place).cast::<u32>().write(value.0 as u32) },
            // SAFETY: as above.
            _ => unsafe { self.value_at(shape, place).cast::<u64>().write(value.0) },
        }
    }
}

/// A link to a block of a row, or to none.
#[derive(Default)]
pub(super) struct BlockLink(AtomicPtr<BlockHeader>);

impl BlockLink {
    /// Returns the block, with everything written before it was linked.
    #[inline]
    pub(super) fn get<'a>(&'a self) -> Option<ChainedBlock<'a>> {
        // SAFETY: the caller has a version with the block, is pinned (invariant 4), writes the row,
        // or uses only its address.
        unsafe { ChainedBlock::at(self.0.load(Ordering::Acquire)) }
    }

    pub(super) fn set(&self, block: ChainedBlock<'_>) {
        self.0.store(block.header.as_ptr(), Ordering::Release);
    }
}

/// The first and the last block of a row. Only the thread that writes the row uses the last one.
#[derive(Default)]
pub(super) struct ChainEnds {
    pub(super) first: BlockLink,
    pub(super) last: BlockLink,
}
