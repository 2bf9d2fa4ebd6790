//! Reading a segment from its beginning to the last valid record, and telling a torn tail from damage.
//!
//! A loss of power can leave any part of what was written since the last sync, in any order: a hole, and behind it
//! records that are as they should be. That is a torn tail, and nobody was promised anything in it. But if a later batch
//! says that everything up to a place behind the hole had been synced before, what was there has been damaged since.

use super::Record;
use super::frame::{Binding, Frame, Times, read_batch, read_frame};
use super::header::{HEADER_LENGTH, NoHeader, SegmentHeader};
use crate::planted::{self, PlantedBug};
use hedgerow_model::Timestamp;

/// Reads the records of one segment.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    segment: &'a [u8],
    binding: Binding,
    first: Times,
    /// The timestamp that the next record must have.
    next: Timestamp,
    wall_clock: u64,
    position: usize,
    synced: u64,
}

/// Why a segment cannot be read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoScan {
    /// Nothing was written here that anybody was promised.
    Unused,
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
    /// What a loss of power left of the last batches.
    Torn,
    /// Damage: so much had been synced.
    Damaged,
}

impl<'a> Scan<'a> {
    /// Reads the header of segment `number` of `store`, whose first record should have timestamp `next`.
    pub(crate) fn new(
        segment: &'a [u8],
        store: [u8; 16],
        number: u64,
        next: Timestamp,
    ) -> Result<Self, NoScan> {
        let binding = Binding { salt: crc32c::crc32c(&store), segment: number };
        match SegmentHeader::decode(segment) {
            Ok(header) if header.store != store || header.number != number => Err(NoScan::Foreign),
            Ok(header) if header.first != next => Err(NoScan::Gap(header.first)),
            Ok(SegmentHeader { first, wall_clock, .. }) => {
                let first = Times { at: first, wall_clock };
                Ok(Scan { segment, binding, first, next, wall_clock, position: HEADER_LENGTH, synced: 0 })
            }
            Err(NoHeader::Version(version)) => Err(NoScan::Version(version)),
            Err(NoHeader::Invalid) => match something_synced(segment, binding, 0) {
                true => Err(NoScan::Damaged),
                false => Err(NoScan::Unused),
            },
        }
    }

    /// The next record, if there is a valid one.
    pub(crate) fn next_record(&mut self) -> Option<(usize, Record<'a>)> {
        loop {
            let start = self.position;
            match read_frame(self.segment, start, self.binding, self.first)? {
                (Frame::Batch { synced }, end) => (self.position, self.synced) = (end, synced),
                (Frame::Record(record), end) => {
                    if record.at != self.next || record.wall_clock < self.wall_clock {
                        return None;
                    }
                    self.position = end;
                    self.next = record.at.next();
                    self.wall_clock = record.wall_clock;
                    return Some((start, record));
                }
            }
        }
    }

    /// The timestamp that the next record must have.
    pub(crate) fn next_timestamp(&self) -> Timestamp {
        self.next
    }

    /// Where the valid part ends, as far as it was read.
    pub(crate) fn position(&self) -> usize {
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
    pub(crate) fn end(&self) -> ScanEnd {
        let rest = &self.segment[self.position..];
        if length_without_zeros(rest) == 0 {
            ScanEnd::Clean
        } else if something_synced(self.segment, self.binding, self.position) {
            ScanEnd::Damaged
        } else {
            ScanEnd::Torn
        }
    }
}

/// Where the last byte ends that is not zero. By blocks, each of which is read without a branch.
pub(crate) fn length_without_zeros(bytes: &[u8]) -> usize {
    let is_zero = |block: &&[u8]| block.iter().fold(0, |all, byte| all | byte) == 0;
    let zeros: usize = bytes.rchunks(4096).take_while(is_zero).map(<[u8]>::len).sum();
    let last = bytes[..bytes.len() - zeros].iter().rposition(|byte| *byte != 0);
    last.map_or(0, |last| last + 1)
}

/// Whether a batch at or after `hole` says that more than `hole` bytes had been synced before it.
fn something_synced(segment: &[u8], binding: Binding, hole: usize) -> bool {
    let synced = |position| read_batch(segment, position, binding);
    // A frame has a kind, which is not 0.
    let end = hole + length_without_zeros(&segment[hole..]);
    let mut batches = (hole..end).filter_map(synced);
    !planted::is(PlantedBug::CutDamage) && batches.any(|synced| synced > hole as u64)
}
