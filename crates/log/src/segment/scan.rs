//! Reading a segment from its beginning to the last valid record, and telling a torn tail from damage.
//!
//! A loss of power can leave any part of what was written since the last sync, in any order: a hole, and behind it
//! records that are as they should be. That is a torn tail, and nobody was promised anything in it. But if a later batch
//! says that everything up to a place behind the hole had been synced before, what was there has been damaged since.

use super::SegmentEntry;
use super::frame::{BATCH_LENGTH, Binding, Frame, Times, read_batch, read_frame};
use super::header::{HEADER_LENGTH, NoHeader, SegmentHeader};
use super::{LARGEST_RECORD, Record, SegmentBytes};
use crate::files::{FileError, pieces};
use crate::planted::{self, PlantedBug};
use hedgerow_model::Timestamp;
use std::ops::Range;

/// Reads the records of one segment.
#[derive(Debug)]
pub(crate) struct Scan<'f> {
    segment: SegmentBytes<'f>,
    binding: Binding,
    first: Times,
    /// The timestamp that the next record must have.
    next: Timestamp,
    wall_clock: u64,
    position: u64,
    synced: u64,
    /// No batch begins at or after this.
    batches_end: u64,
}

/// Why a segment cannot be read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoScan {
    /// Nothing was written here that anybody was promised. So many bytes are not zeros, or stand before one that is not.
    Unused(u64),
    /// The header is damaged.
    Damaged,
    /// It is another store's, or another segment.
    Foreign,
    /// A later version wrote this.
    Version(u32),
    /// It begins with another record than the one that should come next.
    Gap(Timestamp),
}

/// Where the valid part of a segment ends, and what comes then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// Nothing, or only zeros.
    Clean,
    /// What a loss of power left of the last batches: so many bytes, up to the last that is not zero.
    Torn(u64),
    /// Damage: so much had been synced.
    Damaged,
}

impl<'f> Scan<'f> {
    /// Reads the header of segment `entry` of `store`, whose first record should have timestamp `next`.
    pub(crate) fn new(
        mut segment: SegmentBytes<'f>,
        store: [u8; 16],
        entry: &SegmentEntry,
        next: Timestamp,
    ) -> Result<Result<Self, NoScan>, FileError> {
        let number = entry.number;
        let binding = Binding { salt: crc32c::crc32c(&store), segment: number };
        // Only a record that does not fit makes a segment longer than it was made, and then nothing comes after it.
        let batches_end = if entry.length > 0 { entry.length } else { LARGEST_RECORD };
        Ok(match SegmentHeader::decode(segment.at(0, HEADER_LENGTH as u64)?) {
            Ok(header) if header.store != store || header.number != number => Err(NoScan::Foreign),
            Ok(header) if header.first != next => Err(NoScan::Gap(header.first)),
            Ok(SegmentHeader { first, wall_clock, .. }) => {
                let first = Times { at: first, wall_clock };
                let position = HEADER_LENGTH as u64;
                Ok(Scan { segment, binding, first, next, wall_clock, position, synced: 0, batches_end })
            }
            Err(NoHeader::Version(version)) => Err(NoScan::Version(version)),
            Err(NoHeader::Invalid) => match Remains::read(&mut segment, binding, 0..batches_end)? {
                Remains { claim_more: true, .. } => Err(NoScan::Damaged),
                Remains { length, .. } => Err(NoScan::Unused(length)),
            },
        })
    }

    /// The next record and where it begins, if there is a valid one.
    pub(crate) fn next_record(&mut self) -> Result<Option<(u64, Record<'_>)>, FileError> {
        loop {
            let start = self.position;
            match read_frame(&mut self.segment, start, self.binding, self.first)? {
                Some((Frame::Batch { synced }, end)) => (self.position, self.synced) = (end, synced),
                Some((Frame::Record { times: Times { at, wall_clock }, body }, end))
                    if at == self.next && wall_clock >= self.wall_clock =>
                {
                    (self.position, self.next, self.wall_clock) = (end, at.next(), wall_clock);
                    let body = self.segment.at(body.start, body.end - body.start)?;
                    return Ok(Some((start, Record { at, wall_clock, body })));
                }
                _ => return Ok(None),
            }
        }
    }

    /// The timestamp that the next record must have.
    pub(crate) fn next_timestamp(&self) -> Timestamp {
        self.next
    }

    /// Where the valid part ends, as far as it was read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// So many bytes were durable when the last batch was written.
    pub(crate) fn synced(&self) -> u64 {
        self.synced
    }

    /// The wall-clock time of the last record that was read.
    pub(crate) fn wall_clock(&self) -> u64 {
        self.wall_clock
    }

    /// What comes after the last valid record. O(bytes) to come.
    pub(crate) fn end(&mut self) -> Result<ScanEnd, FileError> {
        let remains = Remains::read(&mut self.segment, self.binding, self.position..self.batches_end)?;
        Ok(match remains {
            Remains { length: 0, .. } => ScanEnd::Clean,
            Remains { claim_more: true, .. } => ScanEnd::Damaged,
            Remains { length, .. } => ScanEnd::Torn(length),
        })
    }
}

/// What stands behind the valid part of a segment.
struct Remains {
    /// Bytes up to the last that is not zero.
    length: u64,
    /// Whether a batch among them says that more than the valid part had been synced before it.
    claim_more: bool,
}

impl Remains {
    /// Reads what stands in `range`, which begins behind the valid part, piece by piece.
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

/// Where the last byte ends that is not zero. By blocks, each of which is read without a branch.
fn length_without_zeros(bytes: &[u8]) -> usize {
    let is_zero = |block: &&[u8]| block.iter().fold(0, |all, byte| all | byte) == 0;
    let zeros: usize = bytes.rchunks(4096).take_while(is_zero).map(<[u8]>::len).sum();
    let last = bytes[..bytes.len() - zeros].iter().rposition(|byte| *byte != 0);
    last.map_or(0, |last| last + 1)
}
