//! Stretches: byte strings that are compressed where that saves space.

mod compression;

pub(crate) use compression::NOT_COMPILED;

use compression::{compress, decompress};
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::{Reader, put_bytes, put_varint};
use std::borrow::Cow;

/// Maximum content of a compressed stretch beyond [`MAX_RATIO`] times its size: the buffers of one
/// chunk.
const FREE_BYTES: usize = 1 << 20;

/// Maximum compression ratio. Content that compresses better is stored uncompressed, so that a file
/// of a few bytes cannot make its reader allocate much memory.
const MAX_RATIO: usize = 8;

/// The form of a stretch: its first byte.
const AS_IT_IS: u8 = 0;
const COMPRESSED: u8 = 1;

/// Appends a byte string: compressed if that saves space and the feature `compression` is enabled.
/// O(content).
pub fn put_stretch(bytes: &mut Vec<u8>, content: &[u8]) {
    let pays = |compressed: &Vec<u8>| {
        compressed.len() < content.len() && content.len() <= most_held(compressed.len())
    };
    // If compression fails for any reason, the content is stored uncompressed.
    match compress(content).filter(pays) {
        Some(compressed) => {
            bytes.push(COMPRESSED);
            put_varint(bytes, content.len() as u64);
            put_bytes(bytes, &compressed);
        }
        None => put_plain_stretch(bytes, content),
    }
}

/// Appends a byte string uncompressed. O(content).
pub fn put_plain_stretch(bytes: &mut Vec<u8>, content: &[u8]) {
    bytes.push(AS_IT_IS);
    put_bytes(bytes, content);
}

/// Reads a byte string that [`put_stretch`] or [`put_plain_stretch`] wrote. Allocates at most 1
/// MiB, or eight times the bytes that it reads.
///
/// # Errors
/// The bytes are no stretch, or the stretch is compressed and the feature `compression` is
/// disabled.
pub fn read_stretch<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, [u8]>, DecodeError> {
    match reader.byte()? {
        AS_IT_IS => Ok(Cow::Borrowed(reader.bytes()?)),
        COMPRESSED => {
            let length = reader.varint()?;
            let compressed = reader.bytes()?;
            let length = usize::try_from(length).ok().filter(|length| *length <= most_held(compressed.len()));
            let length = length.ok_or_else(|| reader.error("a compressed stretch larger than can be"))?;
            let content = decompress(compressed, length).map_err(|what| reader.error(what))?;
            Ok(Cow::Owned(content))
        }
        _ => Err(reader.error("an unknown sort of compression")),
    }
}

/// Maximum content of a compressed stretch of `stored` bytes.
fn most_held(stored: usize) -> usize {
    FREE_BYTES.max(stored.saturating_mul(MAX_RATIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_come_back(content in prop::collection::vec(0..4u8, 0..1000)) {
            let mut bytes = Vec::new();
            put_stretch(&mut bytes, &content);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(&*read_stretch(&mut reader).unwrap(), &content[..]);
            prop_assert_eq!(reader.end(), Ok(()));
        }
    }

    #[test]
    fn content_above_the_maximum_ratio_is_stored_uncompressed() {
        for (length, is_compressed) in [(1 << 20, true), ((1 << 20) + 1, false)] {
            let mut bytes = Vec::new();
            put_stretch(&mut bytes, &vec![0; length]);
            assert_eq!(bytes.len() < length, is_compressed);
            assert_eq!(read_stretch(&mut Reader::new(&bytes)).unwrap().len(), length);
        }
    }

    #[test]
    fn oversized_lengths_are_refused() {
        let mut bytes = vec![COMPRESSED];
        put_varint(&mut bytes, 1 << 40);
        put_bytes(&mut bytes, &compress(&[0; 100]).unwrap());
        let error = read_stretch(&mut Reader::new(&bytes)).unwrap_err();
        assert_eq!(error.what, "a compressed stretch larger than can be");
    }
}
