//! The entry of a segment in the manifest.

use super::name_of;
use hedgerow_model::CommitTimestamp;

/// Upper bound on timestamps and on numbers of segments and checkpoints.
pub(crate) const LAST_COUNT: u64 = 1 << 63;

/// A segment of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentEntry {
    /// The number of the segment.
    pub number: u64,
    /// Bytes of the file when it was created, which were durable before the segment was listed; 0
    /// if an older version wrote the manifest. Until the segment is sealed, a shorter file is
    /// damaged.
    pub length: u64,
    /// The content, once the segment is complete.
    pub sealed: Option<SealedSegment>,
}

/// The content of a complete segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedSegment {
    /// The timestamp of the first record.
    pub first: CommitTimestamp,
    /// The timestamp of the last record.
    pub last: CommitTimestamp,
    /// The end of the last record.
    pub end: u64,
    /// The wall-clock time of the last record.
    pub wall_clock: u64,
}

impl SegmentEntry {
    /// The name of the segment's file.
    #[must_use]
    pub fn file_name(&self) -> String {
        name_of(self.number)
    }
}
