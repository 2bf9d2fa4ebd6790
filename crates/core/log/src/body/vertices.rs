//! The section of vertices: put vertices with their records, and deleted vertices.

use super::gaps::Gaps;
use hedgerow_encoding::wire::{DecodeError, Reader, put_varint};
use hedgerow_encoding::{decode_values, encode_value};
use hedgerow_model::{VertexChange, VertexEffect};

/// Marks a deletion; other numbers are one more than the number of values.
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
            values => VertexChange::Put(decode_values(reader, values - 1)?),
        };
        vertices.push(VertexEffect { vertex, change });
    }
    Ok(vertices)
}
