//! Sizes of the blocks of rows (GraphOne, 5.2).

use crate::adjacency::block::{BlockShape, LINE_BYTES};
use crate::adjacency::members::LONG_ROW;

/// Bytes of a page.
const PAGE_BYTES: usize = 4096;

/// Minimum entries of a hub. A row that gets more than [`HUB_ENTRIES_AT_ONCE`] in one round is a
/// hub, too.
const HUB_ENTRIES: usize = 8192;
const HUB_ENTRIES_AT_ONCE: usize = 256;

/// Divisor of a row's entries for the minimum capacity of its next block.
const GROWTH_PART: usize = 8;

/// Policy for the sizes of blocks. A block of a page or more may reuse a freed block that is up to
/// a quarter larger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockSizes {
    /// Exactly the entries that a row gets in one round: the paper's baseline.
    Exact,
    /// Multiples of cache lines: the paper's first optimization.
    Lines,
    /// Multiples of cache lines, and of pages for rows with many entries: both of the paper's
    /// optimizations.
    LinesAndPages,
    /// Multiples of cache lines. A short row that outgrows its block is copied to a larger one. A
    /// further block of a long row has room for at least an eighth of the row's entries, so that
    /// the number of blocks grows with the logarithm of the number of entries.
    #[default]
    Growing,
}

impl BlockSizes {
    /// Returns the bytes of the next block of a row with `entries` entries that gets `added` more.
    pub(super) fn bytes(self, shape: BlockShape, entries: usize, added: usize) -> usize {
        let needed = shape.bytes_for(added);
        match self {
            BlockSizes::Exact => needed.next_multiple_of(8),
            BlockSizes::LinesAndPages if entries >= HUB_ENTRIES || added > HUB_ENTRIES_AT_ONCE => {
                needed.next_multiple_of(PAGE_BYTES)
            }
            BlockSizes::Lines | BlockSizes::LinesAndPages => needed.next_multiple_of(LINE_BYTES),
            BlockSizes::Growing => {
                needed.max(shape.bytes_for(entries / GROWTH_PART)).next_multiple_of(LINE_BYTES)
            }
        }
    }

    /// Returns true if a row with this many entries is kept in one block, copied whenever it needs
    /// another cache line.
    pub(super) fn is_one_block(self, entries: usize) -> bool {
        self == BlockSizes::Growing && entries < LONG_ROW
    }

    /// Returns the bytes of a block sized by [`BlockSizes::bytes`], given its capacity.
    pub(super) fn allocated_bytes(self, shape: BlockShape, capacity: usize) -> usize {
        let alignment = if self == BlockSizes::Exact { 8 } else { LINE_BYTES };
        shape.bytes_for(capacity).next_multiple_of(alignment)
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::ColumnType;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_block_has_room_and_its_bytes_follow_from_its_capacity(
            column in prop::sample::select(vec![ColumnType::Unit, ColumnType::F32, ColumnType::F64]),
            sizes in prop::sample::select(vec![
                BlockSizes::Exact, BlockSizes::Lines, BlockSizes::LinesAndPages, BlockSizes::Growing,
            ]),
            entries in 0..20_000_usize,
            added in 1..3000_usize,
        ) {
            let shape = BlockShape::of(column);
            let bytes = sizes.bytes(shape, entries, added);
            prop_assert!(shape.entries_in(bytes) >= added);
            prop_assert_eq!(sizes.allocated_bytes(shape, shape.entries_in(bytes)), bytes);
        }
    }
}
