//! Recomputes checksums after damage, so that tests and fuzz targets reach the code after the
//! checks.

use crate::checkpoint;
use crate::segment;
use crate::store::{Manifest, mark};

/// Makes the checksums of a store's file match its bytes, as far as its frame can be recognized by
/// name and content. For tests.
pub fn repair_checksums(name: &str, bytes: &mut [u8], store: [u8; 16]) {
    if name == Manifest::FILE {
        repair_manifest(bytes);
    } else if name == mark::MARK {
        repair_last_four(bytes);
    } else if let Some(number) = segment::number_of(name) {
        segment::repair_checksums(bytes, store, number);
    } else if name.starts_with("checkpoint-") {
        checkpoint::repair_checksums(bytes);
    }
}

/// Recomputes the length of the content and the checksum after it.
fn repair_manifest(bytes: &mut [u8]) {
    let content = bytes.len().saturating_sub(20) as u32;
    if let Some(length) = bytes.get_mut(12..16) {
        length.copy_from_slice(&content.to_le_bytes());
    }
    repair_last_four(bytes);
}

/// Recomputes the last four bytes as the checksum of all bytes before them.
fn repair_last_four(bytes: &mut [u8]) {
    if let Some((content, checksum)) = bytes.split_last_chunk_mut::<4>() {
        *checksum = crc32c::crc32c(content).to_le_bytes();
    }
}
