//! Reads a segment from its beginning to the last valid record, and distinguishes a torn tail from
//! damage.
//!
//! A loss of power can leave any part of the writes since the last sync, in any order: a hole, and
//! valid records after it. This is a torn tail, and nothing in it was acknowledged as durable. But
//! if a later batch states that everything up to a position after the hole had been synced before,
//! the hole is damage.

use super::SegmentEntry;
use super::frame::{BATCH_LENGTH, Binding, FirstTimes, Frame, read_batch, read_frame};
use super::header::{HEADER_LENGTH, NoHeader, SegmentHeader};
use super::{LARGEST_RECORD, LogRecord, SegmentBytes};
use crate::files::{FileError, pieces};
use crate::planted::{self, PlantedBug};
use hedgerow_model::CommitTimestamp;
use std::ops::Range;

/// Reads the records of one segment.
#[derive(Debug)]
pub(crate) struct SegmentScan<'f> {
    segment: SegmentBytes<'f>,
    binding: Binding,
    first: FirstTimes,
    /// The timestamp that the next record must have.
    next: CommitTimestamp,
    wall_clock: u64,
    position: u64,
    synced: u64,
    /// No batch begins at or after this offset.
    batches_end: u64,
}

/// The end of what was read of a segment, at which a later scan can resume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentPlace {
    first: FirstTimes,
    /// The timestamp that the next record must have.
    pub(crate) next: CommitTimestamp,
    /// The wall-clock time of the last record.
    pub(crate) wall_clock: u64,
    pub(crate) position: u64,
}

/// A segment that cannot be read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoScan {
    /// Nothing in the segment was acknowledged as durable. Contains the number of bytes up to the
    /// last nonzero one.
    Unused(u64),
    /// The header is damaged.
    Damaged,
    /// The segment belongs to another store, or has another number.
    Foreign,
    /// A later version wrote the segment.
    Version(u32),
    /// The segment begins with another record than expected. Contains its timestamp.
    Gap(CommitTimestamp),
}

/// The end of the valid part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// At the end of the segment, or before zeros only.
    Clean,
    /// Before a torn tail, the remains of the last batches after a loss of power. Contains the
    /// number of bytes up to the last nonzero one.
    Torn(u64),
    /// Before damage: the bytes that follow had been synced.
    Damaged,
}

impl<'f> SegmentScan<'f> {
    /// Reads the header of segment `entry` of `store`, whose first record should have timestamp
    /// `first`, if that is given.
    pub(crate) fn new(
        mut segment: SegmentBytes<'f>,
        store: [u8; 16],
        entry: &SegmentEntry,
        first: Option<CommitTimestamp>,
    ) -> Result<Result<Self, NoScan>, FileError> {
        let number = entry.number;
        let binding = Binding { salt: crc32c::crc32c(&store), segment: number };
        // Only a record that does not fit makes a segment longer than it was created, and this
        // record is the last one.
        let batches_end = if entry.length > 0 { entry.length } else { LARGEST_RECORD };
        Ok(match SegmentHeader::decode(segment.at(0, HEADER_LENGTH as u64)?) {
            Ok(header) if header.store != store || header.number != number => Err(NoScan::Foreign),
            Ok(header) if first.is_some_and(|first| header.first != first) => Err(NoScan::Gap(header.first)),
            Ok(SegmentHeader { first: next, wall_clock, .. }) => {
                let first = FirstTimes { at: next, wall_clock };
                let position = HEADER_LENGTH as u64;
                Ok(SegmentScan {
                    segment,
                    binding,
                    first,
                    next,
                    wall_clock,
                    position,
                    synced: 0,
                    batches_end,
                })
            }
            Err(NoHeader::Version(version)) => Err(NoScan::Version(version)),
            Err(NoHeader::Invalid) => match Remains::read(&mut segment, binding, 0..batches_end)? {
                Remains { claim_more: true, .. } => Err(NoScan::Damaged),
                Remains { length, .. } => Err(NoScan::Unused(length)),
            },
        })
    }

    /// Resumes a scan of segment `entry` of `store`. Reads nothing before that place.
    pub(crate) fn resume(
        segment: SegmentBytes<'f>,
        store: [u8; 16],
        entry: &SegmentEntry,
        place: SegmentPlace,
    ) -> Self {
        let binding = Binding { salt: crc32c::crc32c(&store), segment: entry.number };
        let SegmentPlace { first, next, wall_clock, position } = place;
        let batches_end = entry.length;
        SegmentScan { segment, binding, first, next, wall_clock, position, synced: 0, batches_end }
    }

    /// The end of what was read.
    pub(crate) fn place(&self) -> SegmentPlace {
        let SegmentScan { first, next, wall_clock, position, .. } = *self;
        SegmentPlace { first, next, wall_clock, position }
    }

    /// Reads the next record. Returns its position and the record, if it is valid.
    pub(crate) fn next_record(&mut self) -> Result<Option<(u64, LogRecord<'_>)>, FileError> {
        let Some((start, body)) = self.pass_record()? else { return Ok(None) };
        let (at, wall_clock) = (CommitTimestamp(self.next.0 - 1), self.wall_clock);
        let body = self.segment.at(body.start, body.end - body.start)?;
        Ok(Some((start, LogRecord { at, wall_clock, body })))
    }

    /// Checks the next record, without keeping its body in memory. Returns its position and the
    /// range of its body, if it is valid.
    pub(crate) fn pass_record(&mut self) -> Result<Option<(u64, Range<u64>)>, FileError> {
        loop {
            let start = self.position;
            match read_frame(&mut self.segment, start, self.binding, self.first)? {
                Some((Frame::Batch { synced }, end)) => (self.position, self.synced) = (end, synced),
                Some((Frame::Record { times: FirstTimes { at, wall_clock }, body }, end))
                    if at == self.next && wall_clock >= self.wall_clock =>
                {
                    (self.position, self.next, self.wall_clock) = (end, at.next(), wall_clock);
                    return Ok(Some((start, body)));
                }
                _ => return Ok(None),
            }
        }
    }

    /// The timestamp that the next record must have.
    pub(crate) fn next_timestamp(&self) -> CommitTimestamp {
        self.next
    }

    /// The end of the valid part, as far as it was read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Number of bytes that were durable when the last batch was written.
    pub(crate) fn synced(&self) -> u64 {
        self.synced
    }

    /// The wall-clock time of the last record that was read.
    pub(crate) fn wall_clock(&self) -> u64 {
        self.wall_clock
    }

    /// Examines the bytes after the last valid record. O(these bytes).
    pub(crate) fn end(&mut self) -> Result<ScanEnd, FileError> {
        let remains = Remains::read(&mut self.segment, self.binding, self.position..self.batches_end)?;
        Ok(match remains {
            Remains { length: 0, .. } => ScanEnd::Clean,
            Remains { claim_more: true, .. } => ScanEnd::Damaged,
            Remains { length, .. } => ScanEnd::Torn(length),
        })
    }
}

/// The bytes after the valid part of a segment.
struct Remains {
    /// Number of bytes up to the last nonzero one.
    length: u64,
    /// True if a batch in these bytes states that more than the valid part had been synced before
    /// it.
    claim_more: bool,
}

impl Remains {
    /// Reads `range`, which begins after the valid part, piece by piece.
    fn read(segment: &mut SegmentBytes<'_>, binding: Binding, range: Range<u64>) -> Result<Self, FileError> {
        let mut remains = Remains { length: 0, claim_more: false };
        let hole = range.start;
        for piece in pieces(hole..range.end.min(segment.end())) {
            // A batch may begin in one piece and end in the next.
            let position = piece.start;
            let bytes = segment.at(position, piece.end - position + BATCH_LENGTH as u64)?;
            let length = length_without_zeros(bytes);
            if length > 0 {
                remains.length = position - hole + length as u64;
            }
            let claims =
                (0..length).filter_map(|begin| read_batch(&bytes[begin..], position + begin as u64, binding));
            remains.claim_more |= claims.into_iter().any(|synced| synced > hole);
        }
        remains.claim_more &= !planted::is(PlantedBug::CutDamage);
        Ok(remains)
    }
}

/// The end of the last nonzero byte. Works in blocks without branches.
fn length_without_zeros(bytes: &[u8]) -> usize {
    let is_zero = |block: &&[u8]| block.iter().fold(0, |all, byte| all | byte) == 0;
    let zeros: usize = bytes.rchunks(4096).take_while(is_zero).map(<[u8]>::len).sum();
    let last = bytes[..bytes.len() - zeros].iter().rposition(|byte| *byte != 0);
    last.map_or(0, |last| last + 1)
}
