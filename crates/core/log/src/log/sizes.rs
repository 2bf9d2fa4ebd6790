//! The sizes of segments.

use super::options::LogOptions;

/// Bytes of the first segment after an opening.
const FIRST_BYTES: u64 = 64 << 10;

/// The growth factor of segments, until they reach the size in the options.
const GROWTH: u64 = 16;

/// The sizes of the segments that one opening creates: small at first, so that a graph with few
/// commits costs little space and time; soon large, so that a busy graph seldom waits for a
/// segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSizes {
    /// The number of the first segment.
    first: u64,
    /// Bytes of the largest segment.
    largest: u64,
}

impl SegmentSizes {
    pub(super) fn new(first: u64, options: &LogOptions) -> Self {
        SegmentSizes { first, largest: options.segment_bytes }
    }

    /// Bytes of a segment. A record that does not fit makes it larger. O(1).
    pub(super) fn of(self, number: u64) -> u64 {
        let steps = u32::try_from(number - self.first).unwrap_or(u32::MAX);
        FIRST_BYTES.saturating_mul(GROWTH.saturating_pow(steps)).min(self.largest)
    }
}
