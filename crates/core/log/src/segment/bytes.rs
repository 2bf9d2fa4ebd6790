//! The bytes of a segment, with a window of them in memory.

use crate::files::{File, FileError, PIECE};
use std::ops::Range;

/// Bytes of the first window. Each later one is twice as large, up to a piece: a reader that only
/// wants the last few records reads little, and one of the whole segment seldom.
const FIRST_WINDOW: u64 = 16 << 10;

/// The first bytes of a file, read piece by piece as needed.
#[derive(Debug)]
pub(crate) struct SegmentBytes<'f> {
    file: &'f dyn File,
    /// Nothing is read from this offset on.
    end: u64,
    /// The bytes in memory, which begin at `start`.
    window: Vec<u8>,
    start: u64,
    /// Bytes of the next window.
    next: u64,
}

impl<'f> SegmentBytes<'f> {
    /// The first `end` bytes of `file`, which must have at least `end` bytes.
    pub(crate) fn new(file: &'f dyn File, end: u64) -> Self {
        SegmentBytes { file, end, window: Vec::new(), start: 0, next: FIRST_WINDOW }
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns `length` bytes at `position`, or fewer at the end. May replace the window.
    pub(crate) fn at(&mut self, position: u64, length: u64) -> Result<&[u8], FileError> {
        let wanted = position.min(self.end)..position.saturating_add(length).min(self.end);
        if !self.holds(&wanted) {
            self.start = wanted.start;
            let end = self.end.min(wanted.end.max(wanted.start + self.next));
            self.window = self.file.read_range(wanted.start..end)?;
            self.next = PIECE.min(2 * self.next);
        }
        let begin = (wanted.start - self.start) as usize;
        Ok(&self.window[begin..begin + (wanted.end - wanted.start) as usize])
    }

    /// The checksum of the bytes of `range`. Does not keep ranges longer than a few pieces in
    /// memory.
    pub(crate) fn checksum(&mut self, range: Range<u64>) -> Result<u32, FileError> {
        let length = range.end - range.start;
        match length <= 4 * PIECE {
            true => Ok(crc32c::crc32c(self.at(range.start, length)?)),
            false => self.file.checksum_of(range, 0),
        }
    }

    fn holds(&self, wanted: &Range<u64>) -> bool {
        self.start <= wanted.start && wanted.end <= self.start + self.window.len() as u64
    }
}
