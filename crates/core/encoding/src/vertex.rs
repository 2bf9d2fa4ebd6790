//! Encoding of a vertex with its key, for engines with their own files.
//!
//! The kind of the key, the key, then the [record](crate::encode_record).

use crate::record::encode_record;
use crate::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{Key, KeyRef, Record};

/// The tag of a vertex without a key: its key is its id.
const NO_KEY: u8 = 0;
const NUMBER: u8 = 1;
const TEXT: u8 = 2;

/// Encodes a vertex. O(bytes).
#[must_use]
pub fn encode_vertex(key: Option<&Key>, record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    match key {
        None => bytes.push(NO_KEY),
        Some(Key::Number(number)) => {
            bytes.push(NUMBER);
            put_varint(&mut bytes, *number);
        }
        Some(Key::Text(text)) => {
            bytes.push(TEXT);
            put_bytes(&mut bytes, text.as_bytes());
        }
    }
    bytes.extend_from_slice(&encode_record(record));
    bytes
}

/// Returns the key of a vertex that [`encode_vertex`] wrote, and its encoded record, which is not
/// checked. O(key).
///
/// # Errors
/// If the bytes do not begin with a key.
pub fn decode_vertex(bytes: &[u8]) -> Result<(Option<KeyRef<'_>>, &[u8]), DecodeError> {
    let mut reader = Reader::new(bytes);
    let key = match reader.byte()? {
        NO_KEY => None,
        NUMBER => Some(KeyRef::Number(reader.varint()?)),
        TEXT => Some(KeyRef::Text(reader.text()?)),
        _ => return Err(DecodeError { offset: 0, what: "an unknown kind of key" }),
    };
    Ok((key, reader.rest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode_record;
    use hedgerow_model::Value;

    #[test]
    fn keys_and_records_come_back() {
        let keys = [None, Some(Key::Number(0)), Some(Key::Number(u64::MAX)), Some(Key::Text("ä".into()))];
        let records = [Record::EMPTY, Record::new(vec![Value::I64(-1), Value::Null])];
        for (key, record) in keys.iter().flat_map(|key| records.iter().map(move |record| (key, record))) {
            let bytes = encode_vertex(key.as_ref(), record);
            let (decoded, rest) = decode_vertex(&bytes).unwrap();
            assert_eq!((decoded, &decode_record(rest).unwrap()), (key.as_ref().map(Key::as_ref), record));
            for end in 0..bytes.len() {
                let record = decode_vertex(&bytes[..end]).and_then(|(_, rest)| decode_record(rest));
                assert!(record.is_err(), "{end} of {} bytes", bytes.len());
            }
        }
        assert!(decode_vertex(&[3, 0]).is_err());
    }
}
