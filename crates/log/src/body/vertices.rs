//! The section of vertices: which exist from now on, with which record, and which do not any more.

use super::Gaps;
use crate::wire::{DecodeError, Reader, put_bytes, put_signed, put_varint};
use hedgerow_model::{Record, Value, VertexChange, VertexEffect};

/// Stands for a deletion; anything else is one more than the number of values.
const DELETED: u64 = 0;

pub(super) fn encode(bytes: &mut Vec<u8>, vertices: &[VertexEffect]) {
    put_varint(bytes, vertices.len() as u64);
    let mut gaps = Gaps::default();
    for VertexEffect { vertex, change } in vertices {
        put_varint(bytes, gaps.encode(*vertex));
        match change {
            VertexChange::Delete => put_varint(bytes, DELETED),
            VertexChange::Put(record) => {
                put_varint(bytes, 1 + record.values().len() as u64);
                record.values().iter().for_each(|value| encode_value(bytes, value));
            }
        }
    }
}

pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Vec<VertexEffect>, DecodeError> {
    let count = reader.count()?;
    let mut vertices = Vec::with_capacity(count.min(reader.remaining() / 2));
    let mut gaps = Gaps::default();
    for _ in 0..count {
        let vertex = gaps.decode(reader)?;
        let change = match reader.varint()? {
            DELETED => VertexChange::Delete,
            values => VertexChange::Put(decode_record(reader, values - 1)?),
        };
        vertices.push(VertexEffect { vertex, change });
    }
    Ok(vertices)
}

pub(crate) fn decode_record(reader: &mut Reader<'_>, count: u64) -> Result<Record, DecodeError> {
    if count == 0 {
        // Most vertices, in bulk.
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
const BYTES: u8 = 6;
const TIMESTAMP: u8 = 7;

pub(crate) fn encode_value(bytes: &mut Vec<u8>, value: &Value) {
    let tag = match value {
        Value::Null => NULL,
        Value::Bool(false) => FALSE,
        Value::Bool(true) => TRUE,
        Value::I64(_) => I64,
        Value::F64(_) => F64,
        Value::String(_) => STRING,
        Value::Bytes(_) => BYTES,
        Value::Timestamp(_) => TIMESTAMP,
    };
    bytes.push(tag);
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::I64(number) | Value::Timestamp(number) => put_signed(bytes, *number),
        Value::F64(number) => bytes.extend(number.to_bits().to_le_bytes()),
        Value::String(text) => put_bytes(bytes, text.as_bytes()),
        Value::Bytes(content) => put_bytes(bytes, content),
    }
}

fn decode_value(reader: &mut Reader<'_>) -> Result<Value, DecodeError> {
    Ok(match reader.byte()? {
        NULL => Value::Null,
        FALSE => Value::Bool(false),
        TRUE => Value::Bool(true),
        I64 => Value::I64(reader.signed()?),
        F64 => Value::F64(f64::from_bits(u64::from_le_bytes(reader.array()?))),
        STRING => Value::String(reader.text()?.into()),
        BYTES => Value::Bytes(reader.bytes()?.into()),
        TIMESTAMP => Value::Timestamp(reader.signed()?),
        _ => return Err(reader.error("an unknown type of value")),
    })
}
