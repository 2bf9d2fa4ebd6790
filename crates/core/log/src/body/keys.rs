//! The sections of keys: the key of each new vertex, and of each deleted one.

use super::gaps::Gaps;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{Key, VertexId};

const NUMBER: u8 = 0;
const TEXT: u8 = 1;

pub(super) fn encode(bytes: &mut Vec<u8>, keys: &[(VertexId, Key)]) {
    put_varint(bytes, keys.len() as u64);
    let mut gaps = Gaps::default();
    for (id, key) in keys {
        put_varint(bytes, gaps.encode(*id));
        match key {
            Key::Number(number) => {
                bytes.push(NUMBER);
                put_varint(bytes, *number);
            }
            Key::Text(text) => {
                bytes.push(TEXT);
                put_bytes(bytes, text.as_bytes());
            }
        }
    }
}

pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Vec<(VertexId, Key)>, DecodeError> {
    let count = reader.count()?;
    let mut keys = Vec::with_capacity(count.min(reader.remaining() / 3));
    let mut gaps = Gaps::default();
    for _ in 0..count {
        let id = gaps.decode(reader)?;
        let key = match reader.byte()? {
            NUMBER => Key::Number(reader.varint()?),
            TEXT => Key::Text(reader.text()?.into()),
            _ => return Err(reader.error("an unknown kind of key")),
        };
        keys.push((id, key));
    }
    Ok(keys)
}
