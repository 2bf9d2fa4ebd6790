//! Encoding of numbers and bytes: little endian, or as variable-length numbers.

/// An invalid encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {offset}")]
pub struct DecodeError {
    /// The offset in the input.
    pub offset: usize,
    /// A description of the fault.
    pub what: &'static str,
}

/// Appends `value` in one to ten bytes: seven bits each, the lowest first; the top bit is set if
/// more bytes follow.
#[inline]
pub fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Joins the lower seven bits of each byte. The top bits must be 0.
#[inline]
fn sevens_together(bits: u64) -> u64 {
    let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
    let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
    bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4
}

/// Appends a signed number; small numbers of either sign take few bytes.
pub fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put_varint(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a length and the bytes.
pub fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    put_varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

/// Reads the encodings of the functions above.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the first byte.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, position: 0 }
    }

    /// Number of bytes read.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Number of bytes left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The remaining bytes.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// An error at the current position.
    #[inline]
    pub fn error(&self, what: &'static str) -> DecodeError {
        DecodeError { offset: self.position, what }
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    /// If fewer bytes are left.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.bytes[self.position..].split_at_checked(count) {
            Some((taken, _)) => {
                self.position += count;
                Ok(taken)
            }
            None => Err(self.error("the end comes too early")),
        }
    }

    /// Reads an array of bytes.
    ///
    /// # Errors
    /// If fewer bytes are left.
    #[inline]
    pub fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], DecodeError> {
        let mut array = [0; COUNT];
        array.copy_from_slice(self.take(COUNT)?);
        Ok(array)
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// If no byte is left.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        match self.bytes.get(self.position) {
            Some(byte) => {
                self.position += 1;
                Ok(*byte)
            }
            None => Err(self.error("the end comes too early")),
        }
    }

    /// Reads a number that [`put_varint`] wrote.
    ///
    /// # Errors
    /// If the input ends early, or the number is longer than 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, DecodeError> {
        match self.bytes.get(self.position) {
            Some(byte) if *byte < 0x80 => {
                self.position += 1;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    /// Reads a number of two to eight bytes at once, if eight bytes are left.
    #[inline]
    fn long_varint(&mut self) -> Result<u64, DecodeError> {
        const TOP_BITS: u64 = 0x8080_8080_8080_8080;
        if let Some(word) = self.bytes.get(self.position..).and_then(<[u8]>::first_chunk::<8>) {
            let word = u64::from_le_bytes(*word);
            let ends = !word & TOP_BITS;
            if ends != 0 {
                // All bits up to the first clear top bit, without the top bits.
                let bits = word & (ends ^ (ends - 1)) & !TOP_BITS;
                self.position += ends.trailing_zeros() as usize / 8 + 1;
                return Ok(sevens_together(bits));
            }
        }
        self.varint_by_byte()
    }

    #[cold]
    fn varint_by_byte(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.error("a number is longer than 64 bits"))
    }

    /// Reads a number that [`put_signed`] wrote.
    ///
    /// # Errors
    /// The errors of [`Reader::varint`].
    #[inline]
    pub fn signed(&mut self) -> Result<i64, DecodeError> {
        let bits = self.varint()?;
        Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }

    /// Reads the number of the items that follow, each of which takes at least one byte.
    #[inline]
    pub fn count(&mut self) -> Result<usize, DecodeError> {
        let count = self.varint()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining() => Ok(count),
            _ => Err(self.error("more is promised than there are bytes")),
        }
    }

    /// Reads bytes that [`put_bytes`] wrote.
    ///
    /// # Errors
    /// If the input ends early.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.count()?;
        self.take(length)
    }

    /// Reads text that [`put_bytes`] wrote.
    ///
    /// # Errors
    /// If the input ends early, or the bytes are not UTF-8.
    #[inline]
    pub fn text(&mut self) -> Result<&'a str, DecodeError> {
        let error = self.error("a text is not UTF-8");
        str::from_utf8(self.bytes()?).map_err(|_| error)
    }

    /// Reads a byte that must be 0 or 1.
    ///
    /// # Errors
    /// If the byte is neither, or no byte is left.
    pub fn flag(&mut self) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.error("neither yes nor no")),
        }
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// If bytes are left.
    pub fn end(&self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(self.error("something follows the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(value: u64, shift in 0..64_u32) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value >> shift);
            put_signed(&mut bytes, value as i64 >> shift);
            put_bytes(&mut bytes, b"rest");
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint(), Ok(value >> shift));
            prop_assert_eq!(reader.signed(), Ok(value as i64 >> shift));
            prop_assert_eq!(reader.text(), Ok("rest"));
            prop_assert_eq!(reader.end(), Ok(()));
        }

        /// Numbers of every length, followed by arbitrary bytes.
        #[test]
        fn several_bytes_at_once_are_what_they_are_one_by_one(mut bytes: Vec<u8>, long in 0..10_usize) {
            bytes.iter_mut().take(long).for_each(|byte| *byte |= 0x80);
            let (mut at_once, mut by_byte) = (Reader::new(&bytes), Reader::new(&bytes));
            let (found, expected) = (at_once.varint(), by_byte.varint_by_byte());
            prop_assert_eq!(&found, &expected);
            if found.is_ok() {
                prop_assert_eq!(at_once.position(), by_byte.position());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            while reader.varint().is_ok() {}
            prop_assert!(Reader::new(&bytes).bytes().is_ok_and(|taken| taken.len() < bytes.len())
                || Reader::new(&bytes).bytes().is_err());
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        assert!(Reader::new(&[0xff; 10]).varint().is_err());
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Reader::new(&largest).varint(), Ok(u64::MAX));
    }
}
