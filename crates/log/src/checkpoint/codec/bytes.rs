//! Numbers and texts as whole bytes, and stretches of bytes that are compressed where it pays.

use super::Malformed;
use std::borrow::Cow;

/// What a compressed stretch may hold beyond [`MAX_RATIO`] times its size: one chunk's worth of buffers.
const FREE_BYTES: usize = 1 << 20;

/// How many times its size a compressed stretch may hold. More is stored as it is, so that no file of a few bytes makes
/// its reader allocate many.
const MAX_RATIO: usize = 8;

/// Compression that costs little: a checkpoint is written beside foreground work.
const LEVEL: i32 = 1;

/// Appends a number below 2^7 as one byte, below 2^14 as two, and so on: seven bits each, the lowest first, and a bit that
/// says whether another follows.
#[inline]
pub(crate) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a text with its length.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_bytes(bytes, text.as_bytes());
}

/// Appends bytes with their length.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    put_varint(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Maps small numbers of either sign to small numbers.
#[inline]
pub(crate) fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Appends a stretch of bytes: 0 and the bytes with their length, or 1, their length, and their compressed form with its length.
pub(crate) fn put_stretch(bytes: &mut Vec<u8>, content: &[u8]) {
    let is_small = |compressed: &Vec<u8>| {
        compressed.len() < content.len() && content.len() <= most_held(compressed.len())
    };
    // What cannot be compressed is stored as it is, whatever the reason.
    match zstd::bulk::compress(content, LEVEL).ok().filter(is_small) {
        Some(compressed) => {
            bytes.push(1);
            put_varint(bytes, content.len() as u64);
            put_bytes(bytes, &compressed);
        }
        None => {
            bytes.push(0);
            put_bytes(bytes, content);
        }
    }
}

/// What a compressed stretch of `stored` bytes may hold.
fn most_held(stored: usize) -> usize {
    FREE_BYTES.max(stored.saturating_mul(MAX_RATIO))
}

/// Reads numbers and texts out of bytes.
#[derive(Clone, Debug)]
pub(crate) struct ByteReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        ByteReader { bytes, position: 0 }
    }

    /// How many bytes were read.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// An error at the current position.
    #[cold]
    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { offset: self.position, what }
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.position..];
        let taken = rest.get(..length).ok_or_else(|| self.malformed("it ends too early"))?;
        self.position += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let bytes = self.take(N)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn u128(&mut self) -> Result<u128, Malformed> {
        self.array().map(u128::from_le_bytes)
    }

    /// A number of [`put_varint`].
    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                // The tenth byte has room for one bit.
                let fits = shift < 63 || byte <= 1;
                return fits.then_some(number).ok_or_else(|| self.malformed("a number above 2^64"));
            }
        }
        Err(self.malformed("a number of more than ten bytes"))
    }

    /// A length of what follows: not more than `at_most`.
    pub(crate) fn length(&mut self, at_most: usize) -> Result<usize, Malformed> {
        let length = self.varint()?;
        let length = usize::try_from(length).ok().filter(|length| *length <= at_most);
        length.ok_or_else(|| self.malformed("a number larger than can be"))
    }

    /// Bytes of [`put_bytes`].
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.length(self.remaining())?;
        self.take(length)
    }

    /// A text of [`put_text`].
    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.malformed("a text that is no UTF-8"))
    }

    /// A stretch of [`put_stretch`].
    pub(crate) fn stretch(&mut self) -> Result<Cow<'a, [u8]>, Malformed> {
        match self.u8()? {
            0 => Ok(Cow::Borrowed(self.bytes()?)),
            1 => {
                let length = self.varint()?;
                let compressed = self.bytes()?;
                let length = usize::try_from(length).ok().filter(|l| *l <= most_held(compressed.len()));
                let length = length.ok_or_else(|| self.malformed("a compressed stretch larger than can be"))?;
                let content = zstd::bulk::decompress(compressed, length);
                let content = content.ok().filter(|content| content.len() == length);
                Ok(Cow::Owned(content.ok_or_else(|| self.malformed("a stretch that is compressed wrongly"))?))
            }
            _ => Err(self.malformed("an unknown sort of compression")),
        }
    }

    /// Fails unless everything was read.
    pub(crate) fn finish(&self) -> Result<(), Malformed> {
        if self.remaining() == 0 { Ok(()) } else { Err(self.malformed("more bytes than its content takes")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_texts_and_stretches_come_back(
            numbers in prop::collection::vec(any::<u64>(), 0..20),
            text in ".*",
            content in prop::collection::vec(0..4u8, 0..1000),
        ) {
            let mut bytes = Vec::new();
            for number in &numbers {
                put_varint(&mut bytes, *number);
                put_varint(&mut bytes, zigzag(*number as i64));
            }
            put_text(&mut bytes, &text);
            put_stretch(&mut bytes, &content);
            let mut reader = ByteReader::new(&bytes);
            for number in &numbers {
                prop_assert_eq!(reader.varint().unwrap(), *number);
                prop_assert_eq!(unzigzag(reader.varint().unwrap()), *number as i64);
            }
            prop_assert_eq!(reader.text().unwrap(), text);
            prop_assert_eq!(&*reader.stretch().unwrap(), &content[..]);
            prop_assert_eq!(reader.finish(), Ok(()));
        }
    }

    #[test]
    fn what_shrinks_too_much_is_stored_as_it_is() {
        for (length, is_compressed) in [(1 << 20, true), ((1 << 20) + 1, false)] {
            let mut bytes = Vec::new();
            put_stretch(&mut bytes, &vec![0; length]);
            assert_eq!(bytes.len() < length, is_compressed);
            assert_eq!(ByteReader::new(&bytes).stretch().unwrap().len(), length);
        }
    }

    #[test]
    fn promises_are_not_believed() {
        let mut bytes = vec![1];
        put_varint(&mut bytes, 1 << 40);
        put_bytes(&mut bytes, &zstd::bulk::compress(&[0; 100], 1).unwrap());
        let error = ByteReader::new(&bytes).stretch().unwrap_err();
        assert_eq!(error.what, "a compressed stretch larger than can be");
        let mut endless = ByteReader::new(&[0xff; 11]);
        assert_eq!(endless.varint().unwrap_err().what, "a number of more than ten bytes");
    }
}
