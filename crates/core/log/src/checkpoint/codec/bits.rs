//! Numbers of any bit width, packed, and the code for gaps between sorted numbers.
//!
//! Bits fill each byte from its lowest one. A gap is written in the exponential Golomb code:
//! `value + 2^shift` without its highest bit, preceded by the number of bits beyond `shift` in
//! unary, as zeros and a one. So a gap below `2^shift` takes `shift + 1` bits, and a gap `2^n`
//! times as large takes `2n` bits more.

use hedgerow_encoding::wire::DecodeError;

/// The largest shift of a gap: no value is 2^34 or larger.
pub(crate) const MAX_SHIFT: u32 = 32;

/// Maximum number of bits of a coded gap after its one.
const MAX_WIDTH: u32 = 34;

/// Appends bits to bytes.
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that are not in `bytes` yet: the `used` lowest bits, fewer than 32.
    pending: u64,
    used: u32,
}

impl BitWriter {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        BitWriter { bytes: Vec::with_capacity(bytes), pending: 0, used: 0 }
    }

    /// Appends the `width` lowest bits of `value`, whose other bits are zero; at most 32.
    #[inline]
    fn put(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 32 && value < 1 << width, "{value} in {width} bits");
        self.pending |= value << self.used;
        self.used += width;
        if self.used >= 32 {
            self.bytes.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.used -= 32;
        }
    }

    /// Appends the `width` lowest bits of `value`, whose other bits are zero; at most 64.
    #[inline]
    pub(crate) fn bits(&mut self, value: u64, width: u32) {
        if width <= 32 {
            self.put(value, width);
        } else {
            self.put(value & u64::from(u32::MAX), 32);
            self.put(value >> 32, width - 32);
        }
    }

    /// Appends a gap below 2^34, with a shift of at most [`MAX_SHIFT`].
    #[inline]
    pub(crate) fn gap(&mut self, value: u64, shift: u32) {
        let coded = value + (1 << shift);
        let width = coded.ilog2();
        let zeros = width - shift;
        let tail = coded ^ (1 << width);
        if zeros + 1 + width <= 32 {
            self.put(tail << (zeros + 1) | 1 << zeros, zeros + 1 + width);
        } else {
            self.bits(1 << zeros, zeros + 1);
            self.bits(tail, width);
        }
    }

    /// Returns all bytes; the last is padded with zeros.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let last = self.pending.to_le_bytes();
        self.bytes.extend_from_slice(&last[..self.used.div_ceil(8) as usize]);
        self.bytes
    }
}

/// Reads the output of [`BitWriter`]. Reads zeros past the end, which [`BitReader::finish`]
/// reports.
#[derive(Clone)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read.
    position: usize,
    /// Offset of the bytes in the input to which errors refer.
    begin: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8], begin: usize) -> Self {
        BitReader { bytes, position: 0, begin }
    }

    /// Returns at least the next 57 bits.
    #[inline]
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.position >> 3..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => last_word(rest),
        };
        word >> (self.position & 7)
    }

    /// Reads the next `width` bits, at most 64.
    #[inline]
    pub(crate) fn bits(&mut self, width: u32) -> u64 {
        if width <= 56 {
            let value = self.peek() & mask(width);
            self.position += width as usize;
            value
        } else {
            let low = self.bits(32);
            low | self.bits(width - 32) << 32
        }
    }

    /// Reads the next gap.
    #[inline]
    pub(crate) fn gap(&mut self, shift: u32) -> Result<u64, DecodeError> {
        let word = self.peek();
        let zeros = word.trailing_zeros();
        let width = zeros + shift;
        if width > MAX_WIDTH {
            return Err(self.error("no number is coded like this"));
        }
        let tail = if zeros + 1 + width <= 56 {
            self.position += (zeros + 1 + width) as usize;
            word >> (zeros + 1) & mask(width)
        } else {
            self.position += zeros as usize + 1;
            self.bits(width)
        };
        Ok((tail | 1 << width) - (1 << shift))
    }

    /// Fails unless exactly all bytes were read.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        if self.position.div_ceil(8) == self.bytes.len() {
            return Ok(());
        }
        Err(self.error("another number of bits than its entries take"))
    }

    /// An error at the current position.
    #[cold]
    pub(crate) fn error(&self, what: &'static str) -> DecodeError {
        let offset = self.begin + (self.position >> 3).min(self.bytes.len());
        DecodeError { offset, what }
    }
}

/// The last bytes, padded with zeros.
#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(word)
}

/// A mask of the `width` lowest bits, at most 63.
#[inline]
fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

/// Maps small numbers of either sign to small unsigned numbers.
#[inline]
pub(crate) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// A histogram of gaps by size, for choosing the best shift.
#[derive(Clone, Debug)]
pub(crate) struct GapCounts([u32; 35]);

impl GapCounts {
    pub(crate) const NONE: GapCounts = GapCounts([0; 35]);

    /// Counts a gap below 2^34.
    #[inline]
    pub(crate) fn add(&mut self, gap: u64) {
        self.0[(u64::BITS - gap.leading_zeros()) as usize] += 1;
    }

    /// Returns true if nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// The shift that takes the fewest bits if gaps are spread evenly between powers of two.
    pub(crate) fn best_shift(&self) -> u32 {
        let cost = |shift: &u32| -> u64 {
            let counts = (0u32..).zip(&self.0);
            counts.map(|(length, count)| u64::from(*count) * mean_cost(length, *shift)).sum()
        };
        (0..=MAX_SHIFT).min_by_key(cost).unwrap_or(0)
    }
}

/// The expected cost of a gap of `length` significant bits, in 256ths of a bit.
fn mean_cost(length: u32, shift: u32) -> u64 {
    if length <= shift {
        return u64::from(shift + 1) << 8;
    }
    // `gap / 2^shift + 1` has one bit more than `gap / 2^shift` only if the latter is all ones:
    // once in 2^(beyond - 1).
    let beyond = length - shift;
    let carried = 512 >> (beyond - 1).min(9);
    (u64::from(2 * (beyond - 1) + 1 + shift) << 8) + carried
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_gaps_come_back(
            items in prop::collection::vec((any::<u64>(), 0..=64u32, 0..=MAX_SHIFT, any::<bool>()), 0..200)
        ) {
            let mut writer = BitWriter::with_capacity(0);
            let value = |value: u64, width: u32| value & 1u64.checked_shl(width).unwrap_or(0).wrapping_sub(1);
            for (number, width, shift, is_gap) in &items {
                match is_gap {
                    true => writer.gap(value(*number, (*width).min(34)), *shift),
                    false => writer.bits(value(*number, *width), *width),
                }
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes, 0);
            for (number, width, shift, is_gap) in &items {
                match is_gap {
                    true => prop_assert_eq!(reader.gap(*shift).unwrap(), value(*number, (*width).min(34))),
                    false => prop_assert_eq!(reader.bits(*width), value(*number, *width)),
                }
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn any_bytes_give_gaps_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40), shift in 0..=255_u32) {
            let mut reader = BitReader::new(&bytes, 100);
            while let Ok(gap) = reader.gap(shift) {
                prop_assert!(gap < 1 << 35);
                if reader.position > bytes.len() * 8 {
                    prop_assert!(reader.finish().is_err());
                    break;
                }
            }
        }

        #[test]
        fn the_best_shift_is_close_to_the_best(gaps in prop::collection::vec(0..1u64 << 33, 1..50), bits in 0..33u32) {
            let gaps: Vec<u64> = gaps.into_iter().map(|gap| gap >> bits).collect();
            let mut counts = GapCounts::NONE;
            gaps.iter().for_each(|gap| counts.add(*gap));
            let size = |shift: u32| {
                let mut writer = BitWriter::with_capacity(0);
                gaps.iter().for_each(|gap| writer.gap(*gap, shift));
                writer.finish().len()
            };
            let best = (0..=MAX_SHIFT).map(size).min().unwrap();
            // The estimate is off by at most one carried pair of bits per gap.
            prop_assert!(size(counts.best_shift()) <= best + gaps.len() / 4 + 1);
        }
    }

    #[test]
    fn a_small_gap_takes_one_bit_more_than_its_shift() {
        for shift in 0..=MAX_SHIFT {
            let mut writer = BitWriter::with_capacity(0);
            (0..8).for_each(|_| writer.gap((1 << shift) - 1, shift));
            assert_eq!(writer.finish().len() as u32, shift + 1);
        }
    }
}
