//! Frames: a checksum, a length, a kind, and what the kind holds.

use super::Record;
use crate::body::Body;
use crate::planted::{self, PlantedBug};
use crate::wire::{Reader, put_varint};
use hedgerow_model::Timestamp;

/// Bytes before what a frame holds: the checksum, the length of what it holds, the kind.
pub(crate) const FRAME_HEADER: usize = 9;

/// Bytes of a frame that begins a batch.
pub(crate) const BATCH_LENGTH: usize = FRAME_HEADER + 8;

const RECORD: u8 = 1;
const BATCH: u8 = 2;

/// The place that checksums are bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// Different in every store.
    pub(crate) salt: u32,
    pub(crate) segment: u64,
}

/// What the times of a segment's records are counted from: those of its first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) at: Timestamp,
    pub(crate) wall_clock: u64,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Record(Record<'a>),
    /// The first frame of a batch: when it was written, everything of this segment before `synced` was durable.
    Batch {
        synced: u64,
    },
}

impl Binding {
    /// The checksum of a frame, from that of its bytes: continued over everything that it is bound to.
    fn checksum(&self, of_bytes: u32, kind: u8, length: u32, position: u64, times: Times) -> u32 {
        let (segment, position) = match planted::is(PlantedBug::UnboundChecksum) {
            false => (self.segment, position),
            true => (0, 0),
        };
        let mut bound = [0; 41];
        bound[..8].copy_from_slice(&times.at.0.to_le_bytes());
        bound[8..16].copy_from_slice(&times.wall_clock.to_le_bytes());
        bound[16..24].copy_from_slice(&segment.to_le_bytes());
        bound[24..32].copy_from_slice(&position.to_le_bytes());
        bound[32..36].copy_from_slice(&self.salt.to_le_bytes());
        bound[36..40].copy_from_slice(&length.to_le_bytes());
        bound[40] = kind;
        crc32c::crc32c_append(of_bytes, &bound)
    }
}

/// Bytes that a record takes at most.
pub(crate) fn record_length(body: usize) -> usize {
    FRAME_HEADER + 20 + body
}

fn frame_header(checksum: u32, length: u32, kind: u8) -> [u8; FRAME_HEADER] {
    let mut header = [0; FRAME_HEADER];
    header[..4].copy_from_slice(&checksum.to_le_bytes());
    header[4..8].copy_from_slice(&length.to_le_bytes());
    header[8] = kind;
    header
}

/// Appends a record that will stand at `position`, but for the bytes of its body, which come next. The body has less than 2^32 - 20 bytes.
pub(crate) fn put_record(
    bytes: &mut Vec<u8>,
    binding: Binding,
    position: u64,
    first: Times,
    times: Times,
    body: &Body,
) {
    let start = bytes.len();
    bytes.extend([0; FRAME_HEADER]);
    put_varint(bytes, times.at.0 - first.at.0);
    put_varint(bytes, times.wall_clock - first.wall_clock);
    let length = (bytes.len() - start - FRAME_HEADER + body.bytes.len()) as u32;
    let checksum = binding.checksum(body.checksum, RECORD, length, position, times);
    bytes[start..start + FRAME_HEADER].copy_from_slice(&frame_header(checksum, length, RECORD));
}

/// The first frame of a batch.
pub(crate) fn put_batch(bytes: &mut [u8], binding: Binding, position: u64, synced: u64) {
    let (length, synced) = (8, synced.to_le_bytes());
    let checksum = binding.checksum(crc32c::crc32c(&synced), BATCH, length, position, Times::default());
    bytes[..FRAME_HEADER].copy_from_slice(&frame_header(checksum, length, BATCH));
    bytes[FRAME_HEADER..BATCH_LENGTH].copy_from_slice(&synced);
}

/// The frame at `position` of a segment, and where the next one is; `None` if there is no valid one.
pub(crate) fn read_frame(
    segment: &[u8],
    position: usize,
    binding: Binding,
    first: Times,
) -> Option<(Frame<'_>, usize)> {
    let (header, rest) = segment.get(position..)?.split_at_checked(FRAME_HEADER)?;
    let (checksum, length, kind) = (
        u32::from_le_bytes(*header.first_chunk()?),
        u32::from_le_bytes(*header[4..].first_chunk()?),
        header[8],
    );
    if kind != RECORD && kind != BATCH {
        return None;
    }
    let held = rest.get(..usize::try_from(length).ok()?)?;
    let end = position + FRAME_HEADER + held.len();
    let (frame, times, checked) = match kind {
        RECORD => {
            let mut reader = Reader::new(held);
            let at = Timestamp(first.at.0.checked_add(reader.varint().ok()?)?);
            let wall_clock = first.wall_clock.checked_add(reader.varint().ok()?)?;
            let body = reader.take(reader.remaining()).ok()?;
            (Frame::Record(Record { at, wall_clock, body }), Times { at, wall_clock }, body)
        }
        _ => {
            let synced = u64::from_le_bytes(held.try_into().ok()?);
            (Frame::Batch { synced }, Times::default(), held)
        }
    };
    let expected = binding.checksum(crc32c::crc32c(checked), kind, length, position as u64, times);
    (checksum == expected || planted::is(PlantedBug::IgnoreChecksum)).then_some((frame, end))
}

/// Whether a batch begins at `position`; if so, what was synced before it. O(1).
pub(crate) fn read_batch(segment: &[u8], position: usize, binding: Binding) -> Option<u64> {
    if segment.get(position + FRAME_HEADER - 1) != Some(&BATCH) {
        return None;
    }
    match read_frame(segment.get(..position + BATCH_LENGTH)?, position, binding, Times::default())? {
        (Frame::Batch { synced }, _) => Some(synced),
        (Frame::Record(_), _) => None,
    }
}
