//! In-place changes of a block, row by row, while there is room.

use crate::block::{Block, BlockRows, Row};
use crate::extent::Extent;
use crate::large_set::{LARGE, LargeSet, SMALL_AGAIN};
use crate::subgraphs::Owned;
use crate::subgraphs::partition::{PARTITION_SIZE, slot_of};
use hedgerow_model::{ChangeSlice, EdgeChange, EdgeValue, VertexId, search};
use smallvec::SmallVec;
use std::ops::Range;

/// Returns the capacity of a growing block with `entries` small entries.
pub(crate) fn roomy(entries: usize) -> usize {
    entries + entries / 8 + 4
}

/// Makes changes, which ascend. O(row + changes) amortized per changed row, and O(block) if the
/// block outgrows its memory.
pub(crate) fn changes(block: &mut Owned<Block>, changes: ChangeSlice<'_>) {
    block.header.expect(changes);
    for row in changes.groups(|owner| owner) {
        if let (1, Some(alone)) = (row.len(), row.get(0)) {
            change(block, &alone);
            continue;
        }
        let slot = slot_of(row.first_owner());
        match block.row(slot) {
            Row::Large(_) => change_large(block, slot, row),
            Row::Small(stretch) => {
                if !put_into_row(block, stretch, row) {
                    row.iter().for_each(|alone| change(block, &alone));
                }
            }
        }
    }
}

/// Puts several entries into a row in one pass from its end, if all changes are puts and the room
/// after the row suffices; otherwise does nothing. Returns true if the changes were made.
fn put_into_row(block: &mut Block, stretch: Range<usize>, changes: ChangeSlice<'_>) -> bool {
    let slot = slot_of(changes.first_owner());
    let row = &block.ids()[stretch.clone()];
    let mut places: SmallVec<[EntryPlace; 16]> = SmallVec::new();
    for change in changes.iter() {
        let Some(value) = change.value else { return false };
        let next = search::lower_bound(row, block.spread(), change.neighbor());
        let is_there = row.get(next) == Some(&change.neighbor());
        places.push(EntryPlace { position: stretch.start + next, is_there, id: change.neighbor(), value });
    }
    let mut inserted = places.iter().filter(|place| !place.is_there).count();
    let room = block.header.room_end(slot, block.capacity()) - stretch.end;
    if inserted > room || stretch.len() + inserted > LARGE {
        return false;
    }
    // At most `LARGE`.
    block.header.resize_row(slot, inserted as i16);
    let mut end = stretch.end;
    for place in places.into_iter().rev() {
        if inserted > 0 {
            block.shift(place.position..end, place.position + inserted);
        }
        end = place.position;
        match place.is_there {
            true => block.put_value(place.position + inserted, place.value),
            false => {
                inserted -= 1;
                block.put(place.position + inserted, place.id, place.value);
            }
        }
    }
    true
}

/// Place of an entry to put: its position, or its insertion point.
struct EntryPlace {
    position: usize,
    is_there: bool,
    id: VertexId,
    value: EdgeValue,
}

/// Makes one change. O(row) amortized, and O(block) if the block outgrows its memory.
pub(crate) fn change(block: &mut Owned<Block>, change: &EdgeChange) {
    let slot = slot_of(change.owner());
    match block.row(slot) {
        Row::Large(_) => change_large(block, slot, change.into()),
        Row::Small(stretch) => {
            let row = &block.ids()[stretch.clone()];
            let position = search::lower_bound(row, block.spread(), change.neighbor());
            let is_there = row.get(position) == Some(&change.neighbor());
            match change.value {
                Some(value) if is_there => block.put_value(stretch.start + position, value),
                Some(value) => insert(block, slot, position, change, value),
                None if is_there => remove(block, slot, position),
                None => {}
            }
        }
    }
}

fn change_large(block: &mut Owned<Block>, slot: usize, changes: ChangeSlice<'_>) {
    let rows = &mut block.header;
    let index = rows.large_index(slot);
    let (length, bytes) = (rows.large[index].len(), rows.large[index].bytes());
    let set = &mut rows.large[index];
    set.edit_all(changes);
    rows.large_entries = rows.large_entries - length + set.len();
    rows.large_bytes = rows.large_bytes - bytes + set.bytes();
    if set.len() < SMALL_AGAIN {
        demote(block, slot);
    }
}

fn insert(block: &mut Owned<Block>, slot: usize, position: usize, change: &EdgeChange, value: EdgeValue) {
    if block.header.stretch(slot).len() >= LARGE {
        promote(block, slot);
        return change_large(block, slot, change.into());
    }
    if block.header.small_entries as usize == block.capacity() {
        if block.capacity() == Block::MOST {
            promote(block, longest(&block.header));
            return self::change(block, change);
        }
        let entries = block.capacity() + 1;
        resize(block, roomy(entries));
    }
    let place = open(block, slot, position);
    block.put(place, change.neighbor(), value);
    block.header.resize_row(slot, 1);
}

/// Makes a gap for an entry at `position` of a row, using the next free room after it, or else the
/// last before it.
///
/// The entries between are contiguous, and all shift by one.
pub(crate) fn open(block: &mut Block, slot: usize, position: usize) -> usize {
    let (rows, capacity) = (&block.header, block.capacity());
    let at = rows.stretch(slot).start + position;
    let has_room_after = |slot: &usize| rows.stretch(*slot).end < rows.room_end(*slot, capacity);
    if let Some(roomy) = (slot..PARTITION_SIZE).find(has_room_after) {
        let end = rows.stretch(roomy).end;
        block.shift(at..end, at + 1);
        block.header.shift_starts(slot + 1..=roomy, 1);
        return at;
    }
    let has_room_before = |slot: &usize| {
        let end_before = slot.checked_sub(1).map_or(0, |before| rows.stretch(before).end);
        end_before < rows.stretch(*slot).start
    };
    let roomy = (0..=slot).rev().find(has_room_before).expect("a block that is not full has room somewhere");
    let start = rows.stretch(roomy).start;
    block.shift(start..at, start - 1);
    block.header.shift_starts(roomy..=slot, -1);
    at - 1
}

fn remove(block: &mut Owned<Block>, slot: usize, position: usize) {
    close(block, slot, position);
    let entries = block.header.small_entries as usize;
    if shrinks(block, entries) {
        resize(block, roomy(entries));
    }
}

/// Returns true if a block is too large for `entries` entries.
pub(crate) fn shrinks(block: &Block, entries: usize) -> bool {
    roomy(2 * entries) < block.capacity()
        && Block::bytes_for(block.column(), roomy(entries)) < block.memory_bytes()
}

/// Removes the entry at `position` of a row.
pub(crate) fn close(block: &mut Block, slot: usize, position: usize) {
    let stretch = block.header.stretch(slot);
    block.shift(stretch.start + position + 1..stretch.end, stretch.start + position);
    block.header.resize_row(slot, -1);
}

/// Turns the row of a slot into a large set.
fn promote(block: &mut Owned<Block>, slot: usize) {
    let stretch = block.header.stretch(slot);
    let set = LargeSet::new(block, stretch);
    block.header.insert_large(slot, set);
}

/// Turns the large set of a slot into a row.
fn demote(block: &mut Owned<Block>, slot: usize) {
    let set = block.header.remove_large(slot);
    let entries = block.header.small_entries as usize + set.len();
    if entries > Block::MOST {
        block.header.insert_large(slot, set);
        return;
    }
    if set.len() == 0 {
        return;
    }
    // Lay out a block with room for a row of the set's length, then copy the set into it.
    let mut lengths = block.header.lengths();
    lengths[slot] = set.len();
    let rows = std::mem::take(&mut block.header);
    *block = laid_out(block, rows, &lengths, roomy(entries));
    let at = block.header.stretch(slot).start;
    set.copy_to(block, at);
}

/// Returns the slot of the longest small row.
fn longest(rows: &BlockRows) -> usize {
    (0..PARTITION_SIZE).max_by_key(|slot| rows.length(*slot)).expect("a partition has slots")
}

/// Moves the rows into a block of another capacity.
fn resize(block: &mut Owned<Block>, capacity: usize) {
    let rows = std::mem::take(&mut block.header);
    // The new block has taken the header; the old block is now empty, and is freed.
    *block = resized(block, rows, capacity);
}

/// Creates a block with the entries of `old` at the ranges in `rows`.
pub(crate) fn resized<H>(old: &Extent<H>, rows: BlockRows, capacity: usize) -> Owned<Block> {
    let lengths = rows.lengths();
    laid_out(old, rows, &lengths, capacity)
}

/// Creates a block whose rows have new lengths and begin with the entries that `rows` locates in
/// `old`.
fn laid_out<H>(
    old: &Extent<H>,
    rows: BlockRows,
    lengths: &[usize; PARTITION_SIZE],
    capacity: usize,
) -> Owned<Block> {
    let stretches: [_; PARTITION_SIZE] = std::array::from_fn(|slot| rows.stretch(slot));
    let mut new = Block::with_rows(rows, old.column(), capacity);
    let capacity = new.capacity();
    new.header.lay_out(lengths, capacity);
    for (slot, stretch) in stretches.into_iter().enumerate() {
        if !stretch.is_empty() {
            let to = new.header.stretch(slot).start;
            new.copy_from(old, stretch, to);
        }
    }
    new
}
