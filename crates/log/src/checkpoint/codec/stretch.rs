//! Stretches of bytes that are compressed where it pays.

use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use std::borrow::Cow;

/// What a compressed stretch may hold beyond [`MAX_RATIO`] times its size: one chunk's worth of buffers.
const FREE_BYTES: usize = 1 << 20;

/// How many times its size a compressed stretch may hold. More is stored as it is, so that no file of a few bytes makes
/// its reader allocate many.
const MAX_RATIO: usize = 8;

/// Compression that costs little: a checkpoint is written beside foreground work.
const LEVEL: i32 = 1;

/// How a stretch is stored: its first byte.
const AS_IT_IS: u8 = 0;
const COMPRESSED: u8 = 1;

/// Appends a stretch of bytes with its length; or its length, and its compressed form with the length of that.
pub(crate) fn put_stretch(bytes: &mut Vec<u8>, content: &[u8]) {
    let pays = |compressed: &Vec<u8>| {
        compressed.len() < content.len() && content.len() <= most_held(compressed.len())
    };
    // What cannot be compressed is stored as it is, whatever the reason.
    match zstd::bulk::compress(content, LEVEL).ok().filter(pays) {
        Some(compressed) => {
            bytes.push(COMPRESSED);
            put_varint(bytes, content.len() as u64);
            put_bytes(bytes, &compressed);
        }
        None => {
            bytes.push(AS_IT_IS);
            put_bytes(bytes, content);
        }
    }
}

/// Reads what [`put_stretch`] wrote.
pub(crate) fn read_stretch<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, [u8]>, DecodeError> {
    match reader.byte()? {
        AS_IT_IS => Ok(Cow::Borrowed(reader.bytes()?)),
        COMPRESSED => {
            let length = reader.varint()?;
            let compressed = reader.bytes()?;
            let length = usize::try_from(length).ok().filter(|length| *length <= most_held(compressed.len()));
            let length = length.ok_or_else(|| reader.error("a compressed stretch larger than can be"))?;
            let content = zstd::bulk::decompress(compressed, length);
            let content = content.ok().filter(|content| content.len() == length);
            Ok(Cow::Owned(content.ok_or_else(|| reader.error("a stretch that is compressed wrongly"))?))
        }
        _ => Err(reader.error("an unknown sort of compression")),
    }
}

/// What a compressed stretch of `stored` bytes may hold.
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
    fn what_shrinks_too_much_is_stored_as_it_is() {
        for (length, is_compressed) in [(1 << 20, true), ((1 << 20) + 1, false)] {
            let mut bytes = Vec::new();
            put_stretch(&mut bytes, &vec![0; length]);
            assert_eq!(bytes.len() < length, is_compressed);
            assert_eq!(read_stretch(&mut Reader::new(&bytes)).unwrap().len(), length);
        }
    }

    #[test]
    fn promises_are_not_believed() {
        let mut bytes = vec![COMPRESSED];
        put_varint(&mut bytes, 1 << 40);
        put_bytes(&mut bytes, &zstd::bulk::compress(&[0; 100], 1).unwrap());
        let error = read_stretch(&mut Reader::new(&bytes)).unwrap_err();
        assert_eq!(error.what, "a compressed stretch larger than can be");
    }
}
