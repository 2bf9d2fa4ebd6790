//! Frames: a checksum, a length, a kind, and content.

use super::SegmentBytes;
#[cfg(any(test, feature = "simulation"))]
use super::header::{HEADER_LENGTH, SegmentHeader};
use crate::body::Body;
use crate::files::FileError;
use crate::planted::{self, PlantedBug};
use hedgerow_encoding::wire::{Reader, put_varint};
use hedgerow_model::CommitTimestamp;
use std::ops::Range;

/// Bytes before the content of a frame: the checksum, the length of the content, the kind.
pub(crate) const FRAME_HEADER: usize = 9;

/// Bytes of a frame that begins a batch.
pub(crate) const BATCH_LENGTH: usize = FRAME_HEADER + 8;

const RECORD: u8 = 1;
const BATCH: u8 = 2;

/// The place to which checksums are bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// Different in every store.
    pub(crate) salt: u32,
    pub(crate) segment: u64,
}

/// The times of a record. A segment stores times relative to its first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstTimes {
    pub(crate) at: CommitTimestamp,
    pub(crate) wall_clock: u64,
}

/// A decoded frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A record, with the range of its body.
    Record { times: FirstTimes, body: Range<u64> },
    /// The first frame of a batch: when the batch was written, this segment was durable up to
    /// `synced`.
    Batch { synced: u64 },
}

impl Binding {
    /// The checksum of a frame: the checksum of its bytes, continued over everything to which it is
    /// bound.
    fn checksum(&self, of_bytes: u32, kind: u8, length: u32, position: u64, times: FirstTimes) -> u32 {
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

/// Maximum bytes of a record.
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

/// Appends a record for `position`, without the bytes of its body, which the caller appends next.
/// The body has less than 2^32 - 20 bytes.
#[inline(always)] // every logged commit, in a loop of few other instructions
pub(crate) fn put_record(
    bytes: &mut Vec<u8>,
    binding: Binding,
    position: u64,
    first: FirstTimes,
    times: FirstTimes,
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

/// Writes the first frame of a batch.
pub(crate) fn put_batch(bytes: &mut [u8], binding: Binding, position: u64, synced: u64) {
    let (length, synced) = (8, synced.to_le_bytes());
    let checksum = binding.checksum(crc32c::crc32c(&synced), BATCH, length, position, FirstTimes::default());
    bytes[..FRAME_HEADER].copy_from_slice(&frame_header(checksum, length, BATCH));
    bytes[FRAME_HEADER..BATCH_LENGTH].copy_from_slice(&synced);
}

/// Reads the frame at `position` of a segment. Returns the frame and the position of the next one;
/// `None` if the frame is invalid.
pub(crate) fn read_frame(
    segment: &mut SegmentBytes<'_>,
    position: u64,
    binding: Binding,
    first: FirstTimes,
) -> Result<Option<(Frame, u64)>, FileError> {
    let head = segment.at(position, (FRAME_HEADER + LONGEST_TIMES) as u64)?;
    let Some(head) = FrameHead::read(head, first) else { return Ok(None) };
    let held = position + FRAME_HEADER as u64;
    let (end, checked) = (held + u64::from(head.length), held + head.times_length as u64);
    if end > segment.end() || checked > end {
        return Ok(None);
    }
    let of_bytes = segment.checksum(checked..end)?;
    let expected = binding.checksum(of_bytes, head.kind, head.length, position, head.times);
    if head.checksum != expected && !planted::is(PlantedBug::IgnoreChecksum) {
        return Ok(None);
    }
    if head.kind == RECORD {
        return Ok(Some((Frame::Record { times: head.times, body: checked..end }, end)));
    }
    let mut synced = [0; 8];
    synced.copy_from_slice(segment.at(checked, 8)?);
    Ok(Some((Frame::Batch { synced: u64::from_le_bytes(synced) }, end)))
}

/// Maximum bytes of the times of a record.
const LONGEST_TIMES: usize = 20;

/// The part of a frame before its content: the header, and the times of a record.
struct FrameHead {
    checksum: u32,
    length: u32,
    kind: u8,
    times: FirstTimes,
    times_length: usize,
}

impl FrameHead {
    fn read(bytes: &[u8], first: FirstTimes) -> Option<Self> {
        let (header, held) = bytes.split_at_checked(FRAME_HEADER)?;
        let checksum = u32::from_le_bytes(*header.first_chunk()?);
        let length = u32::from_le_bytes(*header[4..].first_chunk()?);
        let head =
            FrameHead { checksum, length, kind: header[8], times: FirstTimes::default(), times_length: 0 };
        match head.kind {
            BATCH if length == 8 => Some(head),
            RECORD => {
                let mut reader = Reader::new(held);
                let at = CommitTimestamp(first.at.0.checked_add(reader.varint().ok()?)?);
                let wall_clock = first.wall_clock.checked_add(reader.varint().ok()?)?;
                let times_length = held.len() - reader.remaining();
                Some(FrameHead { times: FirstTimes { at, wall_clock }, times_length, ..head })
            }
            _ => None,
        }
    }
}

/// Reads the first frame of a batch from `bytes`, which are at `position` of a segment. Returns the
/// number of bytes that were synced before the batch; `None` if there is no valid frame of a batch.
/// O(1).
pub(crate) fn read_batch(bytes: &[u8], position: u64, binding: Binding) -> Option<u64> {
    let (header, held) = bytes.get(..BATCH_LENGTH)?.split_first_chunk::<FRAME_HEADER>()?;
    if header[8] != BATCH {
        return None;
    }
    let head = FrameHead::read(header, FirstTimes::default())?;
    let expected = binding.checksum(crc32c::crc32c(held), BATCH, head.length, position, head.times);
    let is_valid = head.checksum == expected || planted::is(PlantedBug::IgnoreChecksum);
    is_valid.then_some(u64::from_le_bytes(held.try_into().ok()?))
}

/// Makes the checksums of a segment's header and frames match their bytes, as far as the frames are
/// contiguous. For tests.
#[cfg(any(test, feature = "simulation"))]
pub(crate) fn repair_checksums(bytes: &mut [u8], store: [u8; 16], number: u64) {
    let Some(header) = bytes.first_chunk_mut::<HEADER_LENGTH>() else { return };
    let checksum = crc32c::crc32c(&header[..HEADER_LENGTH - 4]);
    header[HEADER_LENGTH - 4..].copy_from_slice(&checksum.to_le_bytes());
    let Ok(SegmentHeader { first, wall_clock, .. }) = SegmentHeader::decode(header) else { return };
    let binding = Binding { salt: crc32c::crc32c(&store), segment: number };
    let mut position = HEADER_LENGTH;
    while let Some(head) = FrameHead::read(&bytes[position..], FirstTimes { at: first, wall_clock }) {
        let held = position + FRAME_HEADER;
        let (checked, end) = (held + head.times_length, held.saturating_add(head.length as usize));
        let Some(body) = bytes.get(checked..end) else { return };
        let of_body = crc32c::crc32c(body);
        let checksum = binding.checksum(of_body, head.kind, head.length, position as u64, head.times);
        bytes[position..position + 4].copy_from_slice(&checksum.to_le_bytes());
        position = end;
    }
}
