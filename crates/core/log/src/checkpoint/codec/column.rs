//! Columns: numbers of one type. The reader knows their count.
//!
//! Integers, and floats with integer values, are packed: as differences from the minimum, or from
//! their predecessors, in blocks of 128, each with its own width. If packing does not save space,
//! the column is split into byte planes, the lowest bytes of all values first, which are compressed
//! if that saves space.

use super::bits::{BitReader, BitWriter, unzigzag, zigzag};
use crate::stretch::{put_stretch, read_stretch};
use hedgerow_encoding::decode_record;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_signed};
use hedgerow_model::ColumnType;
use std::borrow::Cow;

/// Number of values with a common width.
const BLOCK: usize = 128;

/// Bits that encode the width of a block.
const WIDTH_BITS: u32 = 7;

/// The form of a column: its first byte.
const PLANES: u8 = 0;
const FROM_SMALLEST: u8 = 1;
const FROM_PREDECESSOR: u8 = 2;

/// Appends a column of values, as the bits of their type.
pub(crate) fn put_column(bytes: &mut Vec<u8>, column: ColumnType, values: &[u64]) {
    if column == ColumnType::Unit {
        return;
    }
    let raw = column.width() * values.len();
    let packed = pack(column, values);
    match packed {
        Some(packed) if packed.len() <= raw / 4 * 3 => bytes.extend_from_slice(&packed),
        packed => {
            let planes = planes(column, values);
            let smaller = packed.filter(|packed| packed.len() < planes.len());
            bytes.extend_from_slice(&smaller.unwrap_or(planes));
        }
    }
}

fn planes(column: ColumnType, values: &[u64]) -> Vec<u8> {
    let plane = |number: usize| values.iter().map(move |value| (value >> (8 * number)) as u8);
    let content: Vec<u8> = (0..column.width()).flat_map(plane).collect();
    let mut bytes = vec![PLANES];
    put_stretch(&mut bytes, &content);
    bytes
}

/// Packs the column, if its values are integers.
fn pack(column: ColumnType, values: &[u64]) -> Option<Vec<u8>> {
    let integers = values.iter().map(|value| integer(column, *value)).collect::<Option<Vec<i64>>>()?;
    let smallest = integers.iter().copied().min().unwrap_or(0);
    let from_smallest: Vec<u64> = integers.iter().map(|value| value.wrapping_sub(smallest) as u64).collect();
    let first = integers.first().copied().unwrap_or(0);
    let predecessors = std::iter::once(&first).chain(&integers);
    let differences = integers.iter().zip(predecessors).map(|(value, before)| value.wrapping_sub(*before));
    let from_predecessor: Vec<u64> = differences.map(zigzag).collect();
    let (sort, base, numbers) = if packed_bits(&from_predecessor) < packed_bits(&from_smallest) {
        (FROM_PREDECESSOR, first, from_predecessor)
    } else {
        (FROM_SMALLEST, smallest, from_smallest)
    };
    let mut bits = BitWriter::with_capacity(packed_bits(&numbers) / 8 + 8);
    for block in numbers.chunks(BLOCK) {
        let width = width(block);
        bits.bits(u64::from(width), WIDTH_BITS);
        block.iter().for_each(|number| bits.bits(*number, width));
    }
    let bits = bits.finish();
    let mut bytes = vec![sort];
    put_signed(&mut bytes, base);
    put_bytes(&mut bytes, &bits);
    Some(bytes)
}

fn width(block: &[u64]) -> u32 {
    u64::BITS - block.iter().fold(0, |all, number| all | number).leading_zeros()
}

fn packed_bits(numbers: &[u64]) -> usize {
    numbers.chunks(BLOCK).map(|block| WIDTH_BITS as usize + width(block) as usize * block.len()).sum()
}

/// The value as an integer, if [`value_of`] converts it back to the same value.
fn integer(column: ColumnType, value: u64) -> Option<i64> {
    let integer = match column {
        ColumnType::F32 => f32::from_bits(value as u32) as i64,
        ColumnType::F64 => f64::from_bits(value) as i64,
        ColumnType::Unit | ColumnType::U32 | ColumnType::U64 | ColumnType::I64 | ColumnType::Record => {
            value as i64
        }
    };
    (value_of(column, integer) == value).then_some(integer)
}

fn value_of(column: ColumnType, integer: i64) -> u64 {
    match column {
        ColumnType::F32 => u64::from((integer as f32).to_bits()),
        ColumnType::F64 => (integer as f64).to_bits(),
        ColumnType::U32 => u64::from(integer as u32),
        ColumnType::Unit | ColumnType::U64 | ColumnType::I64 | ColumnType::Record => integer as u64,
    }
}

/// Reads a column value by value.
pub(crate) enum ColumnReader<'a> {
    /// No values: zeros.
    Unit,
    /// Byte planes: bytes of equal significance together.
    Planes { width: usize, planes: Cow<'a, [u8]>, next: usize },
    /// Concatenated records, each with its length. The values are the offsets of the records.
    Records { stretch: Cow<'a, [u8]>, next: usize },
    /// Packed differences.
    Packed { column: ColumnType, differences: Differences<'a> },
}

/// Differences from the minimum, or from the predecessor.
pub(crate) struct Differences<'a> {
    bits: BitReader<'a>,
    is_from_predecessor: bool,
    base: i64,
    width: u32,
    left_in_block: usize,
    left: usize,
}

impl<'a> ColumnReader<'a> {
    /// Begins a column of `length` values, and advances `bytes` past it.
    pub(crate) fn begin(
        bytes: &mut Reader<'a>,
        column: ColumnType,
        length: usize,
    ) -> Result<Self, DecodeError> {
        if column == ColumnType::Unit {
            return Ok(ColumnReader::Unit);
        }
        if column == ColumnType::Record {
            return Ok(ColumnReader::Records { stretch: read_stretch(bytes)?, next: 0 });
        }
        match bytes.byte()? {
            PLANES => {
                let planes = read_stretch(bytes)?;
                if planes.len() != length.saturating_mul(column.width()) {
                    return Err(bytes.error("a column of another number of values"));
                }
                Ok(ColumnReader::Planes { width: column.width(), planes, next: 0 })
            }
            sort @ (FROM_SMALLEST | FROM_PREDECESSOR) => {
                let base = bytes.signed()?;
                let bits = bytes.bytes()?;
                let bits = BitReader::new(bits, bytes.position() - bits.len());
                let is_from_predecessor = sort == FROM_PREDECESSOR;
                let differences =
                    Differences { bits, is_from_predecessor, base, width: 0, left_in_block: 0, left: length };
                Ok(ColumnReader::Packed { column, differences })
            }
            _ => Err(bytes.error("an unknown sort of column")),
        }
    }

    /// Reads the next value. Must not be called more often than there are values.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<u64, DecodeError> {
        match self {
            ColumnReader::Unit => Ok(0),
            ColumnReader::Planes { width, planes, next } => {
                let rows = planes.len() / *width;
                let bytes = (0..*width).map(|plane| u64::from(planes[plane * rows + *next]) << (8 * plane));
                let value = bytes.sum();
                *next += 1;
                Ok(value)
            }
            ColumnReader::Records { stretch, next } => {
                let begin = *next;
                let mut rest = Reader::new(&stretch[begin..]);
                decode_record(rest.bytes()?)?;
                *next += rest.position();
                Ok(begin as u64)
            }
            ColumnReader::Packed { column, differences } => Ok(value_of(*column, differences.next()?)),
        }
    }

    /// The bytes into which record values are offsets; empty for other columns.
    pub(crate) fn records(&self) -> &[u8] {
        if let ColumnReader::Records { stretch, .. } = self { stretch } else { &[] }
    }

    /// Fails if there is unread input.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        match self {
            ColumnReader::Unit | ColumnReader::Planes { .. } => Ok(()),
            ColumnReader::Records { stretch, next } => Reader::new(&stretch[*next..]).end(),
            ColumnReader::Packed { differences, .. } => differences.bits.finish(),
        }
    }
}

impl Differences<'_> {
    #[inline]
    fn next(&mut self) -> Result<i64, DecodeError> {
        if self.left_in_block == 0 {
            self.width = self.bits.bits(WIDTH_BITS) as u32;
            self.left_in_block = self.left.min(BLOCK);
            if self.width > u64::BITS {
                return Err(self.bits.error("numbers of more than 64 bits"));
            }
        }
        self.left_in_block -= 1;
        self.left -= 1;
        let difference = self.bits.bits(self.width);
        if !self.is_from_predecessor {
            return Ok(self.base.wrapping_add(difference as i64));
        }
        self.base = self.base.wrapping_add(unzigzag(difference));
        Ok(self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: [ColumnType; 6] = [
        ColumnType::Unit,
        ColumnType::U32,
        ColumnType::U64,
        ColumnType::I64,
        ColumnType::F32,
        ColumnType::F64,
    ];

    fn written(column: ColumnType, values: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_column(&mut bytes, column, values);
        bytes
    }

    fn read(column: ColumnType, bytes: &[u8], length: usize) -> Result<Vec<u64>, DecodeError> {
        let mut bytes = Reader::new(bytes);
        let mut reader = ColumnReader::begin(&mut bytes, column, length)?;
        let values = (0..length).map(|_| reader.next()).collect::<Result<_, _>>()?;
        reader.finish()?;
        bytes.end()?;
        Ok(values)
    }

    fn bits_of(column: ColumnType, value: u64, is_small: bool) -> u64 {
        match column {
            ColumnType::Unit => 0,
            ColumnType::F32 if is_small => u64::from(((value % 1000) as f32).to_bits()),
            ColumnType::F64 if is_small => ((value % 1000) as f64).to_bits(),
            ColumnType::U32 | ColumnType::F32 => u64::from(value as u32),
            _ if is_small => value % 1000,
            _ => value,
        }
    }

    proptest! {
        #[test]
        fn values_of_every_type_come_back(
            values in prop::collection::vec(any::<u64>(), 0..400), is_small: bool, is_sorted: bool
        ) {
            for column in COLUMNS {
                let mut values: Vec<u64> = values.iter().map(|v| bits_of(column, *v, is_small)).collect();
                if is_sorted {
                    values.sort_unstable();
                }
                prop_assert_eq!(&read(column, &written(column, &values), values.len()).unwrap(), &values);
            }
        }

        #[test]
        fn any_bytes_give_values_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60), length in 0..300usize) {
            for column in COLUMNS {
                if let Ok(values) = read(column, &bytes, length) {
                    prop_assert_eq!(values.len(), length);
                }
            }
        }
    }

    #[test]
    fn special_floats_come_back_bit_by_bit() {
        let floats =
            [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 9.3e18, -9_223_372_036_854_775_808.0];
        let values: Vec<u64> = floats.iter().map(|float| float.to_bits()).collect();
        assert_eq!(read(ColumnType::F64, &written(ColumnType::F64, &values), values.len()).unwrap(), values);
    }

    #[test]
    fn small_integers_are_packed_whatever_their_type() {
        for column in [ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64] {
            let values: Vec<u64> = (0..10_000).map(|i| bits_of(column, i * 7919 % 256, true)).collect();
            let bytes = written(column, &values).len();
            assert!(bytes < 10_200, "{column}: {bytes}");
        }
    }
}
