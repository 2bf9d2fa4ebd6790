//! What the manifest says of a segment.

use super::name_of;
use hedgerow_model::Timestamp;

/// Numbers that are counted up do not come that far.
pub(crate) const LAST_COUNT: u64 = 1 << 63;

/// A segment of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentEntry {
    /// Its number.
    pub number: u64,
    /// Bytes of its file when it was made, which were durable before it was listed; 0 where a version before wrote the manifest. Until it is
    /// sealed a shorter file is damaged.
    pub length: u64,
    /// What is in it, once nothing more is written to it.
    pub sealed: Option<Sealed>,
}

/// What is in a segment to which nothing more is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The timestamp of the first record.
    pub first: Timestamp,
    /// The timestamp of the last record.
    pub last: Timestamp,
    /// Where the last record ends.
    pub end: u64,
    /// The wall-clock time of the last record.
    pub wall_clock: u64,
}

impl SegmentEntry {
    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        name_of(self.number)
    }
}
