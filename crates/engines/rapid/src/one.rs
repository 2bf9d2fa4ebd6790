//! The most frequent write: a single change of a block, located once, then made at that place.
//!
//! A change that would allocate or free memory is left to [`edit`](crate::edit).

use crate::block::{Block, Row};
use crate::edit;
use crate::large_set::LARGE;
use crate::subgraphs::partition::slot_of;
use crate::subgraphs::{Container, Tally};
use hedgerow_model::{EdgeChange, search};

/// Counts the effect of a change, and returns its place: a position in a row, or the number of a
/// position in a large set. Returns `None` if the block may become empty.
#[inline]
pub(crate) fn locate(block: &Block, change: &EdgeChange, tally: &mut Tally) -> Option<u64> {
    let has_values = block.column().width() > 0;
    let place = match block.row(slot_of(change.owner())) {
        Row::Small(stretch) => {
            let row = &block.ids()[stretch.clone()];
            let position = search::lower_bound(row, block.spread(), change.neighbor());
            let found = row.get(position) == Some(&change.neighbor());
            tally.count(change, found, |value| has_values && block.value(stretch.start + position) != value);
            position as u64
        }
        Row::Large(set) => {
            let site = set.locate(change.neighbor());
            tally.count(change, site.is_there, |value| has_values && set.value_at(site) != value);
            site.to_number()
        }
    };
    (block.header.small_entries > 1 || block.entries() > 1).then_some(place)
}

/// Makes a change at its located place, if that neither allocates nor frees memory. Returns true if
/// the change was made.
#[inline]
pub(crate) fn edit_at(block: &mut Block, place: u64, change: &EdgeChange) -> bool {
    let slot = slot_of(change.owner());
    let stretch = match block.row(slot) {
        Row::Small(stretch) => stretch,
        Row::Large(_) => return edit_large_at(block, slot, place, change),
    };
    // A position in a row, so the number fits.
    let position = place as usize;
    let is_there = block.ids()[stretch.clone()].get(position) == Some(&change.neighbor());
    let entries = block.header.small_entries as usize;
    match change.value {
        Some(value) if is_there => block.put_value(stretch.start + position, value),
        Some(value) => {
            if stretch.len() >= LARGE || entries == block.capacity() {
                return false;
            }
            let at = edit::open(block, slot, position);
            block.put(at, change.neighbor(), value);
            block.header.resize_row(slot, 1);
            block.header.expect(change.into());
        }
        None if is_there => {
            if edit::shrinks(block, entries - 1) {
                return false;
            }
            edit::close(block, slot, position);
        }
        None => {}
    }
    true
}

fn edit_large_at(block: &mut Block, slot: usize, place: u64, change: &EdgeChange) -> bool {
    let rows = &mut block.header;
    let index = rows.large_index(slot);
    let Some(grown) = rows.large[index].edit_at(place, change) else { return false };
    rows.large_entries = rows.large_entries.wrapping_add_signed(grown);
    rows.expect(change.into());
    true
}
