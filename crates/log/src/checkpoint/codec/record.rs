//! Records of vertices: a byte that is 0 for the record without values, else 1 and the values.

use super::Malformed;
use super::bytes::{ByteReader, put_bytes, put_text, put_varint, unzigzag, zigzag};
use hedgerow_model::{Record, Value};

/// Types of values: the byte before each.
const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const I64: u8 = 3;
const F64: u8 = 4;
const STRING: u8 = 5;
const BYTES: u8 = 6;
const TIMESTAMP: u8 = 7;

/// Appends a record.
pub(crate) fn put_record(bytes: &mut Vec<u8>, record: &Record) {
    bytes.push(u8::from(!record.is_empty()));
    record.values().iter().for_each(|value| put_value(bytes, value));
}

fn put_value(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => bytes.push(NULL),
        Value::Bool(is_true) => bytes.push(if *is_true { TRUE } else { FALSE }),
        Value::I64(number) => {
            bytes.push(I64);
            put_varint(bytes, zigzag(*number));
        }
        Value::F64(number) => {
            bytes.push(F64);
            bytes.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        Value::String(text) => {
            bytes.push(STRING);
            put_text(bytes, text);
        }
        Value::Bytes(content) => {
            bytes.push(BYTES);
            put_bytes(bytes, content);
        }
        Value::Timestamp(microseconds) => {
            bytes.push(TIMESTAMP);
            put_varint(bytes, zigzag(*microseconds));
        }
    }
}

/// Reads a record of `fields` values, or of none.
pub(crate) fn read_record(bytes: &mut ByteReader<'_>, fields: usize) -> Result<Record, Malformed> {
    match bytes.u8()? {
        0 => Ok(Record::EMPTY),
        // A field takes a byte at least: more are not believed.
        1 if fields <= bytes.remaining() => {
            (0..fields).map(|_| read_value(bytes)).collect::<Result<_, _>>().map(Record::new)
        }
        1 => Err(bytes.malformed("it ends too early")),
        _ => Err(bytes.malformed("an unknown sort of record")),
    }
}

fn read_value(bytes: &mut ByteReader<'_>) -> Result<Value, Malformed> {
    Ok(match bytes.u8()? {
        NULL => Value::Null,
        FALSE => Value::Bool(false),
        TRUE => Value::Bool(true),
        I64 => Value::I64(unzigzag(bytes.varint()?)),
        F64 => Value::F64(f64::from_bits(bytes.u64()?)),
        STRING => Value::String(bytes.text()?.into()),
        BYTES => Value::Bytes(bytes.bytes()?.into()),
        TIMESTAMP => Value::Timestamp(unzigzag(bytes.varint()?)),
        _ => return Err(bytes.malformed("an unknown type of value")),
    })
}
