//! Numbers in the width of the largest one, read by position.
//!
//! | part | bytes |
//! |---|---|
//! | base | 8 |
//! | width in bits: at most 56, or 64 | 1 |
//! | numbers: 0, or difference to the base + 1; lowest bits first | ⌈numbers · width / 8⌉ |
//!
//! So 0 takes no more bits than numbers that are near each other. Numbers whose differences need
//! more than 56 bits are stored unchanged, in 64 bits.

use crate::levels::bits::{put_bits, word};
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;

/// Maximum width of a difference.
const MAX_WIDTH: u32 = 56;

/// Width of numbers that are stored unchanged.
const PLAIN: u32 = 64;

/// Appends numbers.
pub(crate) fn put_numbers(bytes: &mut Vec<u8>, numbers: &[u64]) {
    let others = || numbers.iter().copied().filter(|number| *number > 0);
    let base = others().min().unwrap_or(0);
    let largest = others().max().map_or(0, |largest| largest - base + 1);
    let width = match u64::BITS - largest.leading_zeros() {
        width @ ..=MAX_WIDTH => width,
        _ => PLAIN,
    };
    bytes.extend_from_slice(&base.to_le_bytes());
    bytes.push(width as u8);
    if width == PLAIN {
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        return;
    }
    let differences = numbers.iter().map(|number| if *number == 0 { 0 } else { number - base + 1 });
    put_bits(bytes, differences, width);
}

/// Numbers that [`put_numbers`] appended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'b> {
    base: u64,
    width: u32,
    packed: &'b [u8],
}

impl<'b> Numbers<'b> {
    /// Reads `count` numbers.
    ///
    /// # Errors
    /// The bytes are not [`Numbers`].
    pub(crate) fn read(bytes: &mut Reader<'b>, count: usize) -> Result<Self, DecodeError> {
        let base = u64::from_le_bytes(bytes.array()?);
        let width = u32::from(bytes.byte()?);
        if width > MAX_WIDTH && width != PLAIN {
            return Err(bytes.error("numbers of more than 56 bits"));
        }
        let bits = count.checked_mul(width as usize).ok_or_else(|| bytes.error("too many numbers"))?;
        Ok(Numbers { base, width, packed: bytes.take(bits.div_ceil(8))? })
    }

    /// Returns a number by its position, which must be below the count. O(1).
    #[inline]
    pub(crate) fn get(&self, position: usize) -> u64 {
        let bit = position * self.width as usize;
        let word = word(&self.packed[bit / 8..]);
        if self.width == PLAIN {
            return word;
        }
        match word >> (bit % 8) & ((1 << self.width) - 1) {
            0 => 0,
            difference => self.base.wrapping_add(difference - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec(
            prop_oneof![Just(0), 1_000_000..1_000_900u64, any::<u64>()], 0..200,
        ), near in any::<bool>()) {
            let near_ones = numbers.iter().copied().filter(|number| *number < 2_000_000);
            let numbers: Vec<u64> = if near { near_ones.collect() } else { numbers };
            let mut bytes = Vec::new();
            put_numbers(&mut bytes, &numbers);
            let mut reader = Reader::new(&bytes);
            let read = Numbers::read(&mut reader, numbers.len()).unwrap();
            prop_assert_eq!(reader.remaining(), 0);
            prop_assert_eq!((0..numbers.len()).map(|position| read.get(position)).collect::<Vec<_>>(), numbers);
        }

        #[test]
        fn any_bytes_are_numbers_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60), count in 0..40usize) {
            if let Ok(numbers) = Numbers::read(&mut Reader::new(&bytes), count) {
                (0..count).for_each(|position| _ = numbers.get(position));
            }
        }
    }
}
