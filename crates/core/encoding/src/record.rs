//! Encoding of records: in the log, in checkpoints, and in memory.
//!
//! A record is the number of its values, followed by the type and the content of each value. Equal
//! records have equal bytes.

use crate::wire::{DecodeError, Reader, put_bytes, put_signed, put_varint};
use hedgerow_model::{Record, Value, ValueRef};

/// Encodes a record. O(bytes).
#[must_use]
pub fn encode_record(record: &Record) -> Vec<u8> {
    let content = |value: &Value| match value {
        Value::String(text) => text.len(),
        Value::Bytes(content) => content.len(),
        _ => 0,
    };
    // Nearly always enough, so that the buffer does not grow.
    let capacity = 1 + record.values().iter().map(|value| 10 + content(value)).sum::<usize>();
    let mut bytes = Vec::with_capacity(capacity);
    put_values(&mut bytes, record.values());
    bytes
}

/// Appends the encoded record of these values. O(bytes).
pub fn put_values(bytes: &mut Vec<u8>, values: &[Value]) {
    put_varint(bytes, values.len() as u64);
    values.iter().for_each(|value| encode_value(bytes, value));
}

/// Decodes a record, which must span all bytes. O(bytes).
///
/// # Errors
/// If the bytes are not a record.
pub fn decode_record(bytes: &[u8]) -> Result<Record, DecodeError> {
    let mut reader = Reader::new(bytes);
    let count = reader.varint()?;
    let record = decode_values(&mut reader, count)?;
    reader.end()?;
    Ok(record)
}

/// Decodes one value of an encoded record, at a position of the schema. O(bytes before it).
///
/// # Errors
/// If the bytes are not a record with that position; bytes after the value are not checked.
#[inline]
pub fn decode_record_value(bytes: &[u8], position: usize) -> Result<ValueRef<'_>, DecodeError> {
    let mut reader = Reader::new(bytes);
    if position as u64 >= reader.varint()? {
        return Err(reader.error("the record has no such value"));
    }
    (0..position).try_for_each(|_| skip_value(&mut reader))?;
    decode_value_ref(&mut reader)
}

/// The values of an encoded record, in order, borrowed from it. Yields one error, at the first
/// invalid byte, and ends there.
#[derive(Clone, Debug)]
pub struct RecordValues<'b> {
    reader: Reader<'b>,
    left: u64,
}

impl<'b> RecordValues<'b> {
    /// Reads a record that [`encode_record`] wrote.
    ///
    /// # Errors
    /// If the bytes are not a record.
    #[inline]
    pub fn new(bytes: &'b [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let left = reader.varint()?;
        Ok(RecordValues { reader, left })
    }

    /// The number of values that were not yielded, as the record states it.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Checks that nothing follows the last value, once all were yielded.
    ///
    /// # Errors
    /// If there are bytes left.
    pub fn end(self) -> Result<(), DecodeError> {
        self.reader.end()
    }
}

impl<'b> Iterator for RecordValues<'b> {
    type Item = Result<ValueRef<'b>, DecodeError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let value = decode_value_ref(&mut self.reader);
        if value.is_err() {
            self.left = 0;
        }
        Some(value)
    }
}

/// Reads `count` values.
pub fn decode_values(reader: &mut Reader<'_>, count: u64) -> Result<Record, DecodeError> {
    if count == 0 {
        // The usual case for the vertices of a bulk load.
        return Ok(Record::default());
    }
    if count > reader.remaining() as u64 {
        return Err(reader.error("more is promised than there are bytes"));
    }
    let values = (0..count).map(|_| decode_value(reader));
    Ok(Record::new(values.collect::<Result<_, _>>()?))
}

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const I64: u8 = 3;
const F64: u8 = 4;
const STRING: u8 = 5;
/// The tag of a value of type bytes.
pub const BYTES: u8 = 6;
const TIMESTAMP: u8 = 7;
const U64: u8 = 8;

/// Appends a value.
pub fn encode_value(bytes: &mut Vec<u8>, value: &Value) {
    let tag = match value {
        Value::Null => NULL,
        Value::Bool(false) => FALSE,
        Value::Bool(true) => TRUE,
        Value::I64(_) => I64,
        Value::U64(_) => U64,
        Value::F64(_) => F64,
        Value::String(_) => STRING,
        Value::Bytes(_) => BYTES,
        Value::Timestamp(_) => TIMESTAMP,
    };
    bytes.push(tag);
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::I64(number) | Value::Timestamp(number) => put_signed(bytes, *number),
        Value::U64(number) => put_varint(bytes, *number),
        Value::F64(number) => bytes.extend(number.to_bits().to_le_bytes()),
        Value::String(text) => put_bytes(bytes, text.as_bytes()),
        Value::Bytes(content) => put_bytes(bytes, content),
    }
}

/// Skips a value without decoding it.
#[inline]
fn skip_value(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match reader.byte()? {
        NULL | FALSE | TRUE => Ok(()),
        I64 | TIMESTAMP => reader.signed().map(drop),
        U64 => reader.varint().map(drop),
        F64 => reader.array::<8>().map(drop),
        STRING | BYTES => reader.bytes().map(drop),
        _ => Err(reader.error("an unknown type of value")),
    }
}

fn decode_value(reader: &mut Reader<'_>) -> Result<Value, DecodeError> {
    decode_value_ref(reader).map(Value::from)
}

/// Inlined: returning a value of several words through memory would stall the caller.
#[inline(always)]
fn decode_value_ref<'b>(reader: &mut Reader<'b>) -> Result<ValueRef<'b>, DecodeError> {
    Ok(match reader.byte()? {
        NULL => ValueRef::Null,
        FALSE => ValueRef::Bool(false),
        TRUE => ValueRef::Bool(true),
        I64 => ValueRef::I64(reader.signed()?),
        U64 => ValueRef::U64(reader.varint()?),
        F64 => ValueRef::F64(f64::from_bits(u64::from_le_bytes(reader.array()?))),
        STRING => ValueRef::String(reader.text()?),
        BYTES => ValueRef::Bytes(reader.bytes()?),
        TIMESTAMP => ValueRef::Timestamp(reader.signed()?),
        _ => return Err(reader.error("an unknown type of value")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::I64),
            prop_oneof![any::<u64>(), Just(u64::MAX), Just(1 << 63)].prop_map(Value::U64),
            (-1e9..1e9).prop_map(Value::F64),
            ".{0,9}".prop_map(|text| Value::String(text.into())),
            any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())),
            any::<i64>().prop_map(Value::Timestamp),
        ]
    }

    fn values_of(bytes: &[u8]) -> Result<Vec<Value>, DecodeError> {
        let mut values = RecordValues::new(bytes)?;
        let found = values.by_ref().map(|value| value.map(Value::from)).collect::<Result<_, _>>()?;
        values.end()?;
        Ok(found)
    }

    proptest! {
        #[test]
        fn records_come_back(values in prop::collection::vec(value(), 0..6)) {
            let record = Record::new(values);
            let bytes = encode_record(&record);
            for (position, value) in record.values().iter().enumerate() {
                prop_assert_eq!(decode_record_value(&bytes, position).map(Value::from), Ok(value.clone()));
            }
            prop_assert!(decode_record_value(&bytes, record.values().len()).is_err());
            prop_assert_eq!(values_of(&bytes), Ok(record.values().to_vec()));
            prop_assert_eq!(decode_record(&bytes), Ok(record));
            for length in 0..bytes.len() {
                prop_assert!(decode_record(&bytes[..length]).is_err());
                prop_assert!(values_of(&bytes[..length]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_a_record_or_an_error(bytes: Vec<u8>) {
            prop_assert_eq!(values_of(&bytes).is_ok(), decode_record(&bytes).is_ok());
            if let Ok(record) = decode_record(&bytes) {
                prop_assert_eq!(decode_record(&encode_record(&record)), Ok(record));
            }
        }
    }
}
