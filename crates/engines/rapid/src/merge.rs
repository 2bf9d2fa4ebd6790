//! Many changes of a block at once: builds a new block in one pass.

use crate::block::{Block, BlockRows, Row};
use crate::extent::{Extent, ScratchExtent};
use crate::large_set::{LARGE, LargeSet, SMALL_AGAIN};
use crate::subgraphs::partition::{PARTITION_SIZE, slot_of, slots_of};
use crate::subgraphs::{ChangePlan, Container, Owned, Tally};
use hedgerow_model::{ChangeSlice, ColumnType, search};
use std::ops::Range;

/// Entries per free entry in a merged block.
const SLACK: usize = 16;

/// Plans the block after `changes`, which ascend. O(block + changes · log row).
pub(crate) fn merged(
    old: Option<&Block>,
    column: ColumnType,
    changes: ChangeSlice<'_>,
    tally: &mut Tally,
) -> ChangePlan<Block> {
    let empty;
    let old = match old {
        Some(old) => old,
        None => {
            empty = Block::with_capacity(column, 0);
            &empty
        }
    };
    let changed_rows = rows_of(old, changes, tally);
    if tally.changed() == 0 {
        return ChangePlan::Nothing;
    }
    let mut new = assemble(old, changed_rows);
    new.header.expect(changes);
    ChangePlan::Replace((new.entries() > 0).then_some(new))
}

/// The content of a row in the new block.
enum NewRow<'c> {
    /// An unchanged range of the old block.
    Old(Range<usize>),
    /// Entries put into a row that was empty.
    New(ChangeSlice<'c>),
    /// A range of the old block with changes, and its length after them.
    Merged(Range<usize>, ChangeSlice<'c>, usize),
    /// A large set, shared or new.
    Large(LargeSet),
    /// A large set that has become small.
    Demoted(LargeSet),
}

impl NewRow<'_> {
    /// Returns the number of entries that the row takes in the block.
    fn length(&self) -> usize {
        match self {
            NewRow::Old(stretch) => stretch.len(),
            NewRow::New(changes) => changes.len(),
            NewRow::Merged(_, _, length) => *length,
            NewRow::Large(_) => 0,
            NewRow::Demoted(set) => set.len(),
        }
    }
}

/// Plans each row, and counts the effects of the changes.
fn rows_of<'c>(old: &Block, changes: ChangeSlice<'c>, tally: &mut Tally) -> Vec<NewRow<'c>> {
    let mut groups = changes.groups(|owner| owner).peekable();
    let row = |slot| {
        let group = groups.next_if(|group| slot_of(group.first_owner()) == slot).unwrap_or_default();
        match old.row(slot) {
            Row::Small(stretch) if group.is_empty() => NewRow::Old(stretch),
            Row::Small(stretch) if stretch.is_empty() && group.are_puts() => {
                tally.count_new(group);
                NewRow::New(group)
            }
            Row::Small(stretch) => {
                let length = merged_length(old, stretch.clone(), group, tally);
                NewRow::Merged(stretch, group, length)
            }
            Row::Large(set) => large_row(old, set, group, tally),
        }
    };
    (0..PARTITION_SIZE).map(row).collect()
}

/// Returns the length of a range after changes, and counts their effects.
fn merged_length(old: &Block, stretch: Range<usize>, changes: ChangeSlice<'_>, tally: &mut Tally) -> usize {
    let row = &old.ids()[stretch.clone()];
    let mut length = row.len();
    for change in changes.iter() {
        let next = search::lower_bound(row, old.spread(), change.neighbor());
        let found = row.get(next) == Some(&change.neighbor());
        let differs = |value| old.column().width() > 0 && old.value(stretch.start + next) != value;
        tally.count(&change, found, differs);
        length = length + usize::from(!found && change.value.is_some())
            - usize::from(found && change.value.is_none());
    }
    length
}

fn large_row<'c>(old: &Block, set: &LargeSet, changes: ChangeSlice<'_>, tally: &mut Tally) -> NewRow<'c> {
    let changed_before = tally.changed();
    changes.iter().for_each(|change| old.tally(&change, tally));
    if tally.changed() == changed_before {
        return NewRow::Large(set.clone());
    }
    let mut set = set.clone();
    set.edit_all(changes);
    match set.len() {
        0 => NewRow::Old(0..0),
        length if length < SMALL_AGAIN => NewRow::Demoted(set),
        _ => NewRow::Large(set),
    }
}

/// Writes the rows into a new block. Rows that are too long become large sets.
fn assemble(old: &Block, rows: Vec<NewRow<'_>>) -> Owned<Block> {
    let mut total: usize = rows.iter().map(NewRow::length).sum();
    let mut lengths = [0_usize; PARTITION_SIZE];
    let mut promoted = 0_u64;
    rows.iter()
        .enumerate()
        .filter(|(_, row)| row.length() > LARGE)
        .for_each(|(slot, _)| promoted |= 1 << slot);
    total -= slots_of(promoted).map(|slot| rows[slot].length()).sum::<usize>();
    while total > Block::MOST {
        let is_left = |slot: &usize| promoted >> slot & 1 == 0;
        let longest = (0..PARTITION_SIZE).filter(is_left).max_by_key(|slot| rows[*slot].length());
        let longest = longest.expect("the remaining rows exceed a block");
        promoted |= 1 << longest;
        total -= rows[longest].length();
    }
    for (slot, row) in rows.iter().enumerate() {
        lengths[slot] = if promoted >> slot & 1 == 1 { 0 } else { row.length() };
    }
    let mut new = Block::with_rows(BlockRows::empty_as(&old.header), old.column(), total + total / SLACK);
    let capacity = new.capacity();
    new.header.lay_out(&lengths, capacity);
    for (slot, row) in rows.into_iter().enumerate() {
        if promoted >> slot & 1 == 1 {
            let set = promote(old, &row);
            new.header.insert_large(slot, set);
        } else if let NewRow::Large(set) = row {
            new.header.insert_large(slot, set);
        } else if lengths[slot] > 0 {
            let at = new.header.stretch(slot).start;
            write(old, &row, &mut new, at);
        }
    }
    new
}

/// Turns a row into a large set.
fn promote(old: &Block, row: &NewRow<'_>) -> LargeSet {
    let mut scratch = ScratchExtent::new(old.column(), row.length());
    write(old, row, &mut scratch, 0);
    LargeSet::new(&scratch, 0..row.length())
}

/// Writes a row that is not a large set.
fn write<H>(old: &Block, row: &NewRow<'_>, new: &mut Extent<H>, at: usize) {
    match row {
        NewRow::Old(stretch) => new.copy_from(old, stretch.clone(), at),
        NewRow::New(changes) => new.put_all(at, *changes),
        NewRow::Merged(stretch, changes, _) => write_merged(old, stretch.clone(), *changes, new, at),
        NewRow::Demoted(set) => set.copy_to(new, at),
        NewRow::Large(_) => {}
    }
}

fn write_merged<H>(
    old: &Block,
    stretch: Range<usize>,
    changes: ChangeSlice<'_>,
    new: &mut Extent<H>,
    at: usize,
) {
    let (mut next, mut at) = (stretch.start, at);
    for change in changes.iter() {
        let row = &old.ids()[stretch.clone()];
        let position = stretch.start + search::lower_bound(row, old.spread(), change.neighbor());
        new.copy_from(old, next..position, at);
        at += position - next;
        let found = position < stretch.end && old.ids()[position] == change.neighbor();
        next = position + usize::from(found);
        if let Some(value) = change.value {
            new.put(at, change.neighbor(), value);
            at += 1;
        }
    }
    new.copy_from(old, next..stretch.end, at);
}
