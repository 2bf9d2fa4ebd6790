//! Edge blocks: the pieces of a row (GraphOne, 4).
//!
//! | offset | content |
//! |---|---|
//! | 0 | the next block of the row |
//! | 8 | in the first block of a row: its [note](BlockNote) |
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

use crate::adjacency::extra::RowExtra;
use crate::adjacency::former::{Former, FormerChain, FormerChains};
use hedgerow_model::{Column, ColumnType, EdgeValue, VertexId, unit_slice};
use hedgerow_sync::atomic::{AtomicPtr, Ordering};
use hedgerow_sync::{epoch, prefetch};
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
    /// Points to a [`RowExtra`], or is a [`FormerLink`].
    note: AtomicPtr<u8>,
    capacity: u32,
    before: u32,
}

/// Tag of a pointer to one former chain.
const ONE: usize = 1;

/// Tag of a pointer to several former chains.
const MORE: usize = 2;

/// The note of a row, in its first block.
#[derive(Clone, Copy)]
pub(super) enum BlockNote<'a> {
    /// The former chains of the row, if any: all that a short row notes.
    Former(Former<'a>),
    Extra(&'a RowExtra),
}

impl<'a> BlockNote<'a> {
    /// Returns the round since which the row has this chain.
    #[inline]
    pub(super) fn since(self) -> u32 {
        match self {
            BlockNote::Former(former) => former.until(),
            BlockNote::Extra(extra) => extra.since,
        }
    }

    /// Returns the state that only few rows have.
    #[inline]
    pub(super) fn extra(self) -> Option<&'a RowExtra> {
        match self {
            BlockNote::Extra(extra) => Some(extra),
            BlockNote::Former(_) => None,
        }
    }

    /// Returns the former chains of the row, newest first.
    pub(super) fn former(self) -> impl Iterator<Item = &'a FormerChain> {
        let former = match self {
            BlockNote::Former(former) => former,
            BlockNote::Extra(extra) => extra.former.get(),
        };
        former.iter()
    }

    /// Heap bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            BlockNote::Former(former) => former.bytes(),
            BlockNote::Extra(extra) => extra.bytes(),
        }
    }
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

    /// Returns the note of the row that begins with this block.
    #[inline]
    pub(super) fn note(self) -> BlockNote<'a> {
        let note = self.header().note.load(Ordering::Acquire);
        // Checked after the load, before which the model checker runs other tasks.
        epoch::check_live(self.header.as_ptr());
        if note.is_null() || note.addr() & (ONE | MORE) != 0 {
            // SAFETY: null or set by `set_former`; the former chains stay until the first block is
            // freed, even if another note takes their place.
            return BlockNote::Former(unsafe { former_in(note) });
        }
        // SAFETY: set by `extra_or_new`, and freed with the first block of its row.
        BlockNote::Extra(unsafe { &*note.cast::<RowExtra>() })
    }

    /// Notes the former chains of the row, newest first: `newest`, then `before`. The caller writes
    /// the row, and no reader has this block yet.
    pub(super) fn set_former(self, newest: FormerChain, before: impl Iterator<Item = FormerChain>) {
        let before: Box<[FormerChain]> = before.collect();
        let (note, tag) = match before.is_empty() {
            true => (Box::into_raw(Box::new(newest)).cast::<u8>(), ONE),
            false => (Box::into_raw(Box::new(FormerChains::new(newest, before))).cast(), MORE),
        };
        self.header().note.store(note.map_addr(|address| address | tag), Ordering::Release);
    }

    /// Returns the extra state of the row that begins with this block, and creates it if there is
    /// none. The caller writes the row.
    pub(super) fn extra_or_new(self) -> &'a RowExtra {
        let note = self.note();
        if let Some(extra) = note.extra() {
            return extra;
        }
        let former = FormerLink(AtomicPtr::new(self.header().note.load(Ordering::Relaxed)));
        let extra = Box::into_raw(RowExtra::after(note.since(), former));
        self.header().note.store(extra.cast(), Ordering::Release);
        // SAFETY: it is freed with the first block of its row.
        unsafe { &*extra }
    }

    /// Frees the note of a block that no reader has.
    pub(super) fn free_note(self) {
        let mut note = self.header().note.swap(std::ptr::null_mut(), Ordering::Relaxed);
        if !note.is_null() && note.addr() & (ONE | MORE) == 0 {
            // SAFETY: from `Box::into_raw` in `extra_or_new`, and taken once.
            let extra = unsafe { Box::from_raw(note.cast::<RowExtra>()) };
            note = extra.former.0.load(Ordering::Relaxed);
        }
        let untagged = note.map_addr(|address| address & !(ONE | MORE));
        match note.addr() & (ONE | MORE) {
            // SAFETY: from `Box::into_raw` in `set_former`, and taken once, out of this note or the
            // note that took its place.
            ONE => drop(unsafe { Box::from_raw(untagged.cast::<FormerChain>()) }),
            // SAFETY: as above.
            MORE => drop(unsafe { Box::from_raw(untagged.cast::<FormerChains>()) }),
            _ => {}
        }
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

/// Returns the former chains behind a tagged pointer; none if it is null.
///
/// # Safety
/// The pointer is null or from [`ChainedBlock::set_former`], and the chains live for `'a`.
#[inline]
unsafe fn former_in<'a>(note: *mut u8) -> Former<'a> {
    let untagged = note.map_addr(|address| address & !(ONE | MORE));
    match note.addr() & (ONE | MORE) {
        // SAFETY: tagged by `set_former`, and valid by the promise of the caller.
        ONE => Former::One(unsafe { &*untagged.cast::<FormerChain>() }),
        // SAFETY: as above.
        MORE => Former::More(unsafe { &*untagged.cast::<FormerChains>() }),
        _ => Former::None,
    }
}

/// A tagged pointer to former chains, or null. The chains live until the block whose note has the
/// link is freed.
#[derive(Default)]
pub(super) struct FormerLink(AtomicPtr<u8>);

impl FormerLink {
    pub(super) fn get(&self) -> Former<'_> {
        // SAFETY: null or from `set_former`, and freed with the note that has this link.
        unsafe { former_in(self.0.load(Ordering::Relaxed)) }
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
