//! Lines out of a stream of bytes, without a copy per line and with a limit on their length.

use crate::FormatError;
use crate::source::Source;
use memchr::memchr;

/// What the buffer starts with; it grows only for a longer line.
const INITIAL_BUFFER: usize = 256 << 10;

/// How much of a line that is too long is kept, to be shown.
const KEPT_OF_LONG_LINE: usize = 64;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads line by line. Holds at most the longest line so far, the limit, and one buffer.
pub(crate) struct LineReader {
    source: Source,
    buffer: Vec<u8>,
    /// The current line, without its end.
    line: std::ops::Range<usize>,
    /// Bytes at `next..end` have been read but don't belong to a line yet.
    next: usize,
    end: usize,
    limit: usize,
    number: u64,
    bytes_consumed: u64,
}

/// What [`LineReader::advance`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A line.
    Line,
    /// A line longer than the limit. Its start is the current line; the rest is gone.
    TooLong,
    /// No more lines.
    End,
}

impl LineReader {
    /// Reads lines of at most `limit` bytes, line end not counted.
    pub fn new(source: Source, limit: usize) -> Self {
        LineReader {
            source,
            buffer: vec![0; limit.clamp(2 * KEPT_OF_LONG_LINE, INITIAL_BUFFER)],
            line: 0..0,
            next: 0,
            end: 0,
            limit,
            number: 0,
            bytes_consumed: 0,
        }
    }

    /// The current line, without line feed, carriage return or byte order mark.
    #[inline]
    pub fn line(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    /// The number of the current line, from 1; 0 before the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where [`line`](Self::line) starts in the line as it is in the file.
    pub fn column_offset(&self) -> usize {
        if self.number == 1 && self.line.start >= BYTE_ORDER_MARK.len() { BYTE_ORDER_MARK.len() } else { 0 }
    }

    /// Bytes of text up to and with the current line.
    pub fn bytes_consumed(&self) -> u64 {
        self.bytes_consumed
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Makes the next line the current one.
    #[inline]
    pub fn advance(&mut self) -> Result<Step, FormatError> {
        match memchr(b'\n', &self.buffer[self.next..self.end]) {
            Some(length) if length <= self.limit => {
                self.take(length, 1);
                Ok(Step::Line)
            }
            _ => self.advance_over_buffer_end(),
        }
    }

    /// [`advance`](Self::advance) where the line does not lie in the buffer as a whole.
    #[cold]
    fn advance_over_buffer_end(&mut self) -> Result<Step, FormatError> {
        let mut searched = 0; // bytes after `next` that are no line feed
        loop {
            let found = memchr(b'\n', &self.buffer[self.next + searched..self.end]);
            let length = found.map_or(self.end - self.next, |offset| searched + offset);
            if length > self.limit {
                return self.discard(length);
            }
            if found.is_some() {
                self.take(length, 1);
                return Ok(Step::Line);
            }
            searched = length;
            if self.fill()? == 0 {
                if length == 0 {
                    return Ok(Step::End);
                }
                self.take(length, 0);
                return Ok(Step::Line);
            }
        }
    }

    /// Makes the next `length` bytes the current line, followed by `line_feed` bytes of line end.
    #[inline]
    fn take(&mut self, length: usize, line_feed: usize) {
        let (mut start, mut end) = (self.next, self.next + length);
        self.next = end + line_feed;
        self.bytes_consumed += (length + line_feed) as u64;
        self.number += 1;
        if self.buffer[start..end].last() == Some(&b'\r') {
            end -= 1;
        }
        if self.number == 1 && self.buffer[start..end].starts_with(BYTE_ORDER_MARK) {
            start += BYTE_ORDER_MARK.len();
        }
        self.line = start..end;
    }

    /// Reads more after `end`, first making room: by moving what is left to the front, else by growing.
    fn fill(&mut self) -> Result<usize, FormatError> {
        if self.next > 0 {
            self.buffer.copy_within(self.next..self.end, 0);
            self.end -= self.next;
            self.next = 0;
        }
        if self.end == self.buffer.len() {
            let length = (2 * self.buffer.len()).min(self.limit + INITIAL_BUFFER);
            self.buffer.reserve_exact(length - self.end);
            self.buffer.resize(length, 0);
        }
        let length = self.source.read(&mut self.buffer[self.end..])?;
        self.end += length;
        Ok(length)
    }

    /// Passes over a line that is too long, of which `length` bytes have been read, keeping its
    /// start as the current line.
    fn discard(&mut self, length: usize) -> Result<Step, FormatError> {
        let kept = KEPT_OF_LONG_LINE.min(length);
        self.buffer.copy_within(self.next..self.next + kept, 0);
        self.line = 0..kept;
        self.number += 1;
        self.bytes_consumed += kept as u64;
        self.next += kept;
        loop {
            if let Some(offset) = memchr(b'\n', &self.buffer[self.next..self.end]) {
                self.bytes_consumed += offset as u64 + 1;
                self.next += offset + 1;
                return Ok(Step::TooLong);
            }
            self.bytes_consumed += (self.end - self.next) as u64;
            self.next = kept;
            self.end = kept + self.source.read(&mut self.buffer[kept..])?;
            if self.end == kept {
                return Ok(Step::TooLong);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{Cursor, Read};
    use std::path::Path;

    /// Gives at most so many bytes at a time.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn lines(text: &[u8], limit: usize, trickle: usize) -> LineReader {
        let reader = Trickle(Cursor::new(text.to_vec()), trickle);
        LineReader::new(Source::new(Path::new("x"), Box::new(reader), None).unwrap(), limit)
    }

    /// What the lines should be, over the whole text at once; `None` is a line that is too long.
    fn expected(text: &[u8], limit: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let trimmed = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        lines.into_iter().map(|line| (line.len() <= limit).then(|| trimmed(line))).collect()
    }

    fn read_all(lines: &mut LineReader) -> Vec<Option<Vec<u8>>> {
        let mut all = Vec::new();
        loop {
            match lines.advance().unwrap() {
                Step::Line => all.push(Some(lines.line().to_vec())),
                Step::TooLong => all.push(None),
                Step::End => return all,
            }
        }
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_the_bytes_arrive(
            text in prop::collection::vec(prop::sample::select(vec![b'a', b'b', b'\r', b'\n']), 0..200),
            limit in 1usize..20,
            trickle in 1usize..30,
        ) {
            let mut lines = lines(&text, limit, trickle);
            prop_assert_eq!(read_all(&mut lines), expected(&text, limit));
            prop_assert_eq!(lines.bytes_consumed(), text.len() as u64);
            prop_assert_eq!(lines.number(), expected(&text, limit).len() as u64);
        }
    }

    #[test]
    fn memory_stays_near_the_limit_however_long_the_line() {
        let mut text = vec![b'x'; 8 << 20];
        text.extend_from_slice(b"\nshort\n");
        let mut lines = lines(&text, 1 << 20, usize::MAX);
        assert_eq!(lines.advance().unwrap(), Step::TooLong);
        assert_eq!(lines.line(), [b'x'; KEPT_OF_LONG_LINE]);
        assert_eq!(lines.advance().unwrap(), Step::Line);
        assert_eq!((lines.line(), lines.number()), (&b"short"[..], 2));
        assert!(lines.buffer.capacity() <= (1 << 20) + INITIAL_BUFFER);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        let mut lines = lines(b"\xef\xbb\xbf1 2\n3 4\n", 100, 100);
        lines.advance().unwrap();
        assert_eq!((lines.line(), lines.column_offset()), (&b"1 2"[..], 3));
        lines.advance().unwrap();
        assert_eq!((lines.line(), lines.column_offset()), (&b"3 4"[..], 0));
    }
}
