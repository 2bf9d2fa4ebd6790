//! The header of a segment.

use super::LAST_COUNT;
use hedgerow_model::CommitTimestamp;

/// Bytes of a header.
pub(crate) const HEADER_LENGTH: usize = 64;

const MAGIC: &[u8; 8] = b"HEDGELOG";

/// The version of the format of segments.
const VERSION: u32 = 1;

/// The header of a segment. Written together with the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) store: [u8; 16],
    pub(crate) number: u64,
    /// The timestamp of the first record.
    pub(crate) first: CommitTimestamp,
    /// The wall-clock time of the first record.
    pub(crate) wall_clock: u64,
}

/// The defect of an invalid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoHeader {
    /// The bytes are not a header, or damaged.
    Invalid,
    /// A later version wrote the header.
    Version(u32),
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.store);
        bytes[32..40].copy_from_slice(&self.number.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.first.0.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.wall_clock.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoHeader> {
        let bytes: &[u8; HEADER_LENGTH] = bytes.first_chunk().ok_or(NoHeader::Invalid)?;
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(number)
        };
        let checksum = (number(56) >> 32) as u32;
        if &bytes[..8] != MAGIC || checksum != crc32c::crc32c(&bytes[..60]) {
            return Err(NoHeader::Invalid);
        }
        let version = number(8) as u32;
        if version != VERSION {
            return Err(NoHeader::Version(version));
        }
        let first = CommitTimestamp(number(40));
        // The first commit has timestamp 1, and the last must leave space for later ones.
        if first == CommitTimestamp::ZERO || first.0 > LAST_COUNT {
            return Err(NoHeader::Invalid);
        }
        let mut store = [0; 16];
        store.copy_from_slice(&bytes[16..32]);
        Ok(SegmentHeader { store, number: number(32), first, wall_clock: number(48) })
    }
}
