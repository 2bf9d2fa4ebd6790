//! A block: the neighbors of one partition, for one label and direction.

use crate::extent::{self, Extent};
use crate::large_set::{LARGE, LargeSet};
use crate::subgraphs::partition::{PARTITION_SIZE, slot_of};
use crate::subgraphs::{Container, Owned, Tally};
use hedgerow_in_memory::reclamation::account;
use hedgerow_model::search::{self, Spread};
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeChange, EdgeValue, Neighbors, VertexId};
use hedgerow_sync::prefetch;
use smallvec::SmallVec;
use std::ops::{Range, RangeInclusive};

/// Neighbors as rows of one array, in vertex order, with spare room between them; large sets are
/// stored separately.
///
/// Takes the place of RapidStore's vertex index and clustered index (sections 6.1 and 6.3).
pub type Block = Extent<BlockRows>;

/// Locations of a block's rows, all within its capacity. Fields for every reader come first, then
/// the places, then fields for writers only.
#[repr(C)]
pub struct BlockRows {
    /// Entries of all rows, without large sets.
    pub(crate) small_entries: u32,
    /// An upper bound on all neighbors ever put, for interpolation search.
    highest: VertexId,
    /// One bit per slot, set if the slot has neighbors.
    pub(crate) occupied: u64,
    /// One bit per slot, set if its neighbors are a large set.
    pub(crate) large_slots: u64,
    /// The large sets, ascending by slot.
    pub(crate) large: SmallVec<[LargeSet; 2]>,
    /// The place of each row. Starts ascend; the gap between the end of a row and the next start is
    /// free.
    places: [RowSpan; PARTITION_SIZE],
    /// Entries of large sets and, in `large_bytes`, their bytes.
    pub(crate) large_entries: usize,
    pub(crate) large_bytes: usize,
}

/// The place of a row, small or large. A cache line holds sixteen.
#[derive(Clone, Copy, Debug, Default)]
struct RowSpan {
    start: u16,
    /// [`IS_LARGE`] if the row is a large set.
    length: u16,
}

/// Length that marks a large set, longer than any row.
const IS_LARGE: u16 = u16::MAX;
const _: () = assert!(LARGE < IS_LARGE as usize);

/// The neighbors of one slot.
pub(crate) enum Row<'b> {
    /// A range of the block.
    Small(Range<usize>),
    /// A large set.
    Large(&'b LargeSet),
}

/// Maximum bytes of a row prefetched before a change; the hardware prefetcher does the rest.
const PREFETCHED_CHANGE: usize = 1024;

/// Ids per cache line.
pub(crate) const IDS_PER_LINE: usize = 64 / size_of::<VertexId>();

impl Block {
    /// Maximum number of small entries: positions have 16 bits.
    pub(crate) const MOST: usize = u16::MAX as usize;

    /// Creates an empty block with room for at least `capacity` small entries.
    pub(crate) fn with_capacity(column: ColumnType, capacity: usize) -> Owned<Block> {
        Block::with_rows(BlockRows::default(), column, capacity)
    }

    pub(crate) fn with_rows(rows: BlockRows, column: ColumnType, capacity: usize) -> Owned<Block> {
        let block = extent::allocate(rows, column, capacity.min(Block::MOST), Block::MOST);
        // SAFETY: just allocated; `destroy` below frees it.
        unsafe { Owned::from_raw(block) }
    }

    /// Bounds on the ids of the neighbors.
    #[inline]
    pub(crate) fn spread(&self) -> Spread {
        Spread::up_to(self.header.highest)
    }

    /// The offset of a row's place from the start of the block.
    pub(crate) const fn place_offset(slot: usize) -> usize {
        std::mem::offset_of!(Block, header)
            + std::mem::offset_of!(BlockRows, places)
            + slot * size_of::<RowSpan>()
    }

    /// The neighbors of a slot. O(1).
    #[inline]
    pub(crate) fn row(&self, slot: usize) -> Row<'_> {
        let RowSpan { start, length } = self.header.places[slot];
        if length == IS_LARGE {
            return Row::Large(&self.header.large[self.header.large_index(slot)]);
        }
        Row::Small(usize::from(start)..usize::from(start) + usize::from(length))
    }

    /// Returns the entries of a row of this block. Accesses only the ids if `W` has no values.
    #[inline]
    pub(crate) fn entries_of<W: Column>(&self, row: Range<usize>) -> Neighbors<'_, W> {
        debug_assert!(row.end <= self.capacity(), "a row lies within its block");
        // SAFETY: rows lie within the capacity; only this module and those that change blocks make
        // any.
        unsafe { self.neighbors_unchecked(row) }
    }

    /// Returns the value of a neighbor of a slot, for writers.
    #[inline]
    fn value_of(&self, slot: usize, neighbor: VertexId) -> Option<EdgeValue> {
        match self.row(slot) {
            Row::Small(stretch) => {
                let position = search::position(&self.ids()[stretch.clone()], self.spread(), neighbor)?;
                Some(self.value(stretch.start + position))
            }
            Row::Large(set) => set.value_of(self.column(), neighbor),
        }
    }
}

impl BlockRows {
    /// The range of a row; empty for a large set.
    #[inline]
    pub(crate) fn stretch(&self, slot: usize) -> Range<usize> {
        let start = usize::from(self.places[slot].start);
        start..start + self.length(slot)
    }

    /// An empty header for a copy of the rows of `other`.
    pub(crate) fn empty_as(other: &BlockRows) -> Self {
        let mut rows = BlockRows::default();
        rows.highest = other.highest;
        rows
    }

    /// Returns `count` of this header, or 0 without large sets: their totals lie apart from the
    /// rest of the header.
    #[inline]
    pub(crate) fn in_large_sets(&self, count: impl Fn(&BlockRows) -> usize) -> usize {
        if self.large_slots == 0 { 0 } else { count(self) }
    }

    /// Raises the upper bound to cover neighbors that are put.
    #[inline]
    pub(crate) fn expect(&mut self, changes: ChangeSlice<'_>) {
        let put = changes.iter().filter(|change| change.value.is_some()).map(|change| change.neighbor());
        self.highest = put.fold(self.highest, VertexId::max);
    }

    /// The length of a row; 0 for a large set.
    #[inline]
    pub(crate) fn length(&self, slot: usize) -> usize {
        match self.places[slot].length {
            IS_LARGE => 0,
            length => usize::from(length),
        }
    }

    /// The lengths of all rows.
    pub(crate) fn lengths(&self) -> [usize; PARTITION_SIZE] {
        std::array::from_fn(|slot| self.length(slot))
    }

    /// Returns the end of the free room after a row.
    #[inline]
    pub(crate) fn room_end(&self, slot: usize, capacity: usize) -> usize {
        self.places.get(slot + 1).map_or(capacity, |next| usize::from(next.start))
    }

    /// Shifts the starts of rows by 1 or -1.
    pub(crate) fn shift_starts(&mut self, slots: RangeInclusive<usize>, by: i16) {
        self.places[slots].iter_mut().for_each(|place| place.start = place.start.wrapping_add_signed(by));
    }

    /// Makes a row longer or shorter by `by` entries.
    pub(crate) fn resize_row(&mut self, slot: usize, by: i16) {
        let length = &mut self.places[slot].length;
        *length = length.wrapping_add_signed(by);
        self.small_entries = self.small_entries.wrapping_add_signed(i32::from(by));
        self.occupied = self.occupied & !(1 << slot) | u64::from(*length > 0) << slot;
    }

    /// Places rows of the given lengths, 0 for large sets, and distributes the free room in
    /// proportion.
    pub(crate) fn lay_out(&mut self, lengths: &[usize; PARTITION_SIZE], capacity: usize) {
        let entries: usize = lengths.iter().sum();
        let room = capacity - entries;
        let (mut passed, mut given, mut at) = (0, 0, 0);
        for (slot, length) in lengths.iter().enumerate() {
            let is_large = self.large_slots >> slot & 1 == 1;
            // Rows are shorter than IS_LARGE, and positions at most `Block::MOST`.
            self.places[slot] =
                RowSpan { start: at as u16, length: if is_large { IS_LARGE } else { *length as u16 } };
            passed += length;
            let due = (room * passed).checked_div(entries).unwrap_or(0);
            at += length + due - given;
            given = due;
        }
        self.small_entries = entries as u32;
        let small = lengths.iter().enumerate().filter(|(_, length)| **length > 0);
        self.occupied = small.fold(self.large_slots, |occupied, (slot, _)| occupied | 1 << slot);
    }

    /// Returns the index of a slot's large set, or its insertion point.
    #[inline]
    pub(crate) fn large_index(&self, slot: usize) -> usize {
        (self.large_slots & ((1 << slot) - 1)).count_ones() as usize
    }

    /// Replaces the row of a slot by a large set.
    pub(crate) fn insert_large(&mut self, slot: usize, set: LargeSet) {
        let index = self.large_index(slot);
        self.small_entries -= self.length(slot) as u32;
        self.places[slot].length = IS_LARGE;
        self.large_entries += set.len();
        self.large_bytes += set.bytes();
        self.counting_heap(|rows| rows.large.insert(index, set));
        self.large_slots |= 1 << slot;
        self.occupied |= 1 << slot;
    }

    /// Removes the large set of a slot, which leaves an empty row.
    pub(crate) fn remove_large(&mut self, slot: usize) -> LargeSet {
        let index = self.large_index(slot);
        let set = self.counting_heap(|rows| rows.large.remove(index));
        self.places[slot].length = 0;
        self.large_entries -= set.len();
        self.large_bytes -= set.bytes();
        self.large_slots &= !(1 << slot);
        self.occupied &= !(1 << slot);
        set
    }

    fn counting_heap<R>(&mut self, change: impl FnOnce(&mut Self) -> R) -> R {
        account::freed(self.heap_bytes());
        let result = change(self);
        account::allocated(self.heap_bytes());
        result
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        if self.large.spilled() { self.large.capacity() * size_of::<LargeSet>() } else { 0 }
    }
}

impl Default for BlockRows {
    fn default() -> Self {
        BlockRows {
            occupied: 0,
            large_slots: 0,
            small_entries: 0,
            highest: VertexId::default(),
            large: SmallVec::new(),
            places: [RowSpan::default(); PARTITION_SIZE],
            large_entries: 0,
            large_bytes: 0,
        }
    }
}

impl Clone for BlockRows {
    fn clone(&self) -> Self {
        let copy = BlockRows { large: self.large.clone(), ..*self };
        account::allocated(copy.heap_bytes());
        copy
    }
}

impl Drop for BlockRows {
    fn drop(&mut self) {
        account::freed(self.heap_bytes());
    }
}

/// Prefetches the part of a row that putting an id touches, from the guessed position to the end.
#[inline]
pub(crate) fn prefetch_behind_guess(row: &[VertexId], spread: Spread, id: VertexId) {
    let guess = spread.guess(row.len(), id).saturating_sub(IDS_PER_LINE);
    let bytes = (row.len() - guess + 1) * size_of::<VertexId>();
    prefetch(row[guess..].as_ptr(), bytes.min(PREFETCHED_CHANGE));
}

impl Block {
    /// Counts the effect of a change.
    #[inline]
    pub(crate) fn tally(&self, change: &EdgeChange, tally: &mut Tally) {
        let found = self.value_of(slot_of(change.owner()), change.neighbor());
        tally.count(change, found.is_some(), |value| self.column().width() > 0 && found != Some(value));
    }

    /// Returns true if the changes, at least one per entry, remove all entries.
    pub(crate) fn is_emptied_by(&self, changes: ChangeSlice<'_>) -> bool {
        let removed =
            |change: &EdgeChange| self.value_of(slot_of(change.owner()), change.neighbor()).is_some();
        changes.iter().all(|change| change.value.is_none())
            && changes.iter().filter(removed).count() == self.entries()
    }
}
