//! Segments: the files of the log. A header, then frames.
//!
//! A frame is a record, or states the number of bytes that were synced before a batch of records
//! was written. Its checksum is bound to the store, the segment and the position, so that a frame
//! is valid only where it was written. `docs/format.md` specifies the layout.

mod bytes;
mod entry;
mod frame;
mod header;
mod scan;

pub(crate) use bytes::SegmentBytes;
pub(crate) use entry::LAST_COUNT;
pub use entry::{SealedSegment, SegmentEntry};
#[cfg(any(test, feature = "simulation"))]
pub(crate) use frame::repair_checksums;
pub(crate) use frame::{BATCH_LENGTH, Binding, FirstTimes, put_batch, put_record, record_length};
pub(crate) use header::{HEADER_LENGTH, SegmentHeader};
pub(crate) use scan::{NoScan, ScanEnd, SegmentPlace, SegmentScan};

use hedgerow_model::CommitTimestamp;

/// A record of the log: one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// The commit's timestamp.
    pub at: CommitTimestamp,
    /// The wall-clock time of the commit, in microseconds since 1970-01-01 UTC. Never before the
    /// time of the previous record.
    pub wall_clock: u64,
    /// The commit's changes, for [`LogRecord::decode`].
    pub body: &'a [u8],
}

/// Bytes of a segment with a record of maximum size.
pub(crate) const LARGEST_RECORD: u64 = (1 << 32) + 1024;

/// The name of a segment's file.
pub(crate) fn name_of(number: u64) -> String {
    format!("log-{number:010}")
}

/// The number of the segment whose file has this name.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("log-")?.parse().ok()?;
    (name_of(number) == name).then_some(number)
}
