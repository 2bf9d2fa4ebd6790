//! Recomputes checksums after damage, so that tests and fuzz targets reach the code after the
//! checks.

use super::layout::{CHUNK_HEADER_BYTES, HEADER_BYTES, INDEX_ENTRY_BYTES, TRAILER_BYTES, read_index_entry};

/// Makes the checksums of a checkpoint match its bytes, and the headers of its chunks match the
/// index, as far as the frame can be recognized. For tests.
pub fn repair_checksums(bytes: &mut [u8]) {
    let Some(trailer) = bytes.len().checked_sub(TRAILER_BYTES).filter(|trailer| *trailer >= HEADER_BYTES)
    else {
        return;
    };
    let identity = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
    bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&identity.to_le_bytes());
    let number = |bytes: &[u8], at: usize| {
        bytes[at..].first_chunk().map_or(usize::MAX, |number| u64::from_le_bytes(*number) as usize)
    };
    let (index, chunks) = (number(bytes, trailer), number(bytes, trailer + 8));
    let end = chunks.checked_mul(INDEX_ENTRY_BYTES).and_then(|length| length.checked_add(index));
    if end == Some(trailer) {
        for entry in (index..trailer).step_by(INDEX_ENTRY_BYTES) {
            repair_chunk(bytes, entry, index, identity);
        }
        let checksum = crc32c::crc32c_append(identity, &bytes[index..trailer]);
        bytes[trailer + 16..trailer + 20].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32c::crc32c_append(identity, &bytes[trailer..trailer + 24]);
    bytes[trailer + 24..trailer + 28].copy_from_slice(&checksum.to_le_bytes());
}

/// Repairs the chunk whose index entry begins at `entry`.
fn repair_chunk(bytes: &mut [u8], entry: usize, index: usize, identity: u32) {
    let Ok(mut chunk) = read_index_entry(&bytes[entry..entry + INDEX_ENTRY_BYTES]) else { return };
    let Ok(begin) = usize::try_from(chunk.offset) else { return };
    let body = begin.saturating_add(CHUNK_HEADER_BYTES);
    let end = body.saturating_add(chunk.length as usize);
    if end > index {
        return;
    }
    chunk.checksum = chunk.checksum_of(identity, &bytes[body..end]);
    let mut repaired = Vec::new();
    chunk.put_index_entry(&mut repaired);
    bytes[entry..entry + INDEX_ENTRY_BYTES].copy_from_slice(&repaired);
    bytes[begin..body].copy_from_slice(&repaired[8..]);
}
