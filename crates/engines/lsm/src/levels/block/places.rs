//! The beginnings of every fourth row of a block, to find a row by its number in constant time.
//!
//! A place has the offset of a row among the rows, in the bit width of the length of the rows, and
//! the number of entries before the row, in the bit width of the number of all entries; lowest bits
//! first.

use crate::levels::bits::{put_bits, word};
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;

/// Number of rows between two places: a lookup skips fewer.
pub(super) const STEP: usize = 4;

/// Maximum bits of both numbers of a place together.
const MAX_WIDTH: u32 = 56;

/// The beginning of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Offset of the row among the rows.
    pub(super) offset: usize,
    /// Number of the first entry of the row in the block.
    pub(super) first: usize,
}

/// The places of rows [`STEP`], 2 · [`STEP`], …; the place of row 0 is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'b> {
    packed: &'b [u8],
    offset_width: u32,
    first_width: u32,
}

impl<'b> Places<'b> {
    /// Reads the places of a block with these numbers of rows, of entries, and of bytes of the
    /// rows.
    ///
    /// # Errors
    /// The bytes are too few, or the numbers are too large.
    pub(super) fn read(
        bytes: &mut Reader<'b>,
        rows: usize,
        entries: usize,
        row_bytes: usize,
    ) -> Result<Self, DecodeError> {
        let (offset_width, first_width) = (width_of(row_bytes), width_of(entries));
        let width = offset_width + first_width;
        if width > MAX_WIDTH {
            return Err(bytes.error("more rows than a block can have"));
        }
        let packed = bytes.take(((rows - 1) / STEP * width as usize).div_ceil(8))?;
        Ok(Places { packed, offset_width, first_width })
    }

    /// Returns the place of row `number` · [`STEP`], which must exist. O(1).
    #[inline]
    pub(super) fn get(&self, number: usize) -> Place {
        let Some(before) = number.checked_sub(1) else { return Place::default() };
        let bit = before * (self.offset_width + self.first_width) as usize;
        let place = word(&self.packed[bit / 8..]) >> (bit % 8);
        let low = |bits: u64, width: u32| (bits & ((1 << width) - 1)) as usize;
        Place {
            offset: low(place, self.offset_width),
            first: low(place >> self.offset_width, self.first_width),
        }
    }
}

/// Appends the places of rows [`STEP`], 2 · [`STEP`], ….
pub(super) fn put_places(bytes: &mut Vec<u8>, places: &[Place], entries: usize, row_bytes: usize) {
    let (offset_width, first_width) = (width_of(row_bytes), width_of(entries));
    let place = |Place { offset, first }: &Place| *offset as u64 | (*first as u64) << offset_width;
    put_bits(bytes, places.iter().map(place), offset_width + first_width);
}

/// Returns the number of bits of a number.
fn width_of(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}
