//! Cuts a stream of bytes into chunks of whole lines that can be parsed independently.

use crate::FormatError;
use crate::source::Source;
use memchr::{memchr, memrchr};

/// Kept bytes of a line that is too long, for the message.
const KEPT_OF_LONG_LINE: usize = 64;

/// The UTF-8 byte order mark.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole lines up to the size of a chunk, or one longer line.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The lines with their ends; for a line that is too long its start.
    pub bytes: Vec<u8>,
    /// The length of the byte order mark before the lines.
    pub mark: usize,
    /// The start of the lines to parse: earlier ones were already processed.
    pub start: usize,
    /// Number of lines already processed.
    pub lines_passed: u64,
    /// Bytes of text up to the end of the chunk.
    pub end_in_text: u64,
    /// True if the chunk is one line that is longer than the limit.
    pub is_too_long: bool,
}

/// Cuts chunks from a source. Buffers bytes read but not yet cut: at most a chunk.
pub(crate) struct Cutter {
    source: Source,
    rest: Vec<u8>,
    size: usize,
    limit: usize,
    bytes_cut: u64,
}

impl Cutter {
    /// Chunks of at most `size` bytes, or of one longer line of at most `limit` bytes, its end not
    /// counted.
    pub fn new(source: Source, size: usize, limit: usize) -> Self {
        assert!((1..=limit).contains(&size), "a chunk of {size} bytes, a line of at most {limit}");
        Cutter { source: source.of_text(), rest: Vec::new(), size, limit, bytes_cut: 0 }
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    pub fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }

    /// The longest line, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The size of a chunk, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The next chunk, in the memory of `buffer`; `None` at the end.
    pub fn cut(&mut self, mut buffer: Vec<u8>) -> Result<Option<Chunk>, FormatError> {
        buffer.clear();
        std::mem::swap(&mut buffer, &mut self.rest);
        let (mut goal, mut searched) = (self.size, 0);
        let end = loop {
            let has_ended = self.fill(&mut buffer, goal)?;
            match memchr(b'\n', &buffer[searched..]) {
                Some(first) if searched + first >= self.size => break searched + first + 1,
                Some(first) => break memrchr(b'\n', &buffer).unwrap_or(first) + 1,
                None if buffer.len() > self.limit => return self.discard(buffer).map(Some),
                None if buffer.is_empty() => return Ok(None),
                None if has_ended => break buffer.len(),
                None => {
                    searched = buffer.len();
                    // The memory grows by doubling; little is read too far.
                    goal = (goal + self.size).min(self.limit + 1);
                }
            }
        };
        self.rest.extend_from_slice(&buffer[end..]);
        buffer.truncate(end);
        Ok(Some(self.chunk(buffer, false)))
    }

    fn chunk(&mut self, bytes: Vec<u8>, is_too_long: bool) -> Chunk {
        let is_first = self.bytes_cut == 0;
        self.bytes_cut += bytes.len() as u64;
        let mark = if is_first && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Chunk { bytes, mark, start: mark, lines_passed: 0, end_in_text: self.bytes_cut, is_too_long }
    }

    /// Reads until the buffer holds `goal` bytes; true if there are no more.
    fn fill(&mut self, buffer: &mut Vec<u8>, goal: usize) -> Result<bool, FormatError> {
        let mut length = buffer.len();
        if length >= goal {
            return Ok(false);
        }
        buffer.resize(goal, 0);
        while length < goal {
            match self.source.read(&mut buffer[length..])? {
                0 => break,
                read => length += read,
            }
        }
        buffer.truncate(length);
        Ok(length < goal)
    }

    /// Skips a line that is too long, whose start is in the buffer.
    fn discard(&mut self, mut buffer: Vec<u8>) -> Result<Chunk, FormatError> {
        let mut discarded = buffer.len() as u64;
        buffer.truncate(KEPT_OF_LONG_LINE);
        let mut rest = Vec::new();
        loop {
            rest.clear();
            self.fill(&mut rest, self.size)?;
            let end = memchr(b'\n', &rest);
            discarded += end.map_or(rest.len(), |end| end + 1) as u64;
            if let Some(end) = end {
                self.rest.extend_from_slice(&rest[end + 1..]);
            }
            if end.is_some() || rest.is_empty() {
                break;
            }
        }
        let kept = buffer.len() as u64;
        let mut chunk = self.chunk(buffer, true);
        self.bytes_cut += discarded - kept;
        chunk.end_in_text = self.bytes_cut;
        Ok(chunk)
    }
}

/// The lines of a chunk, without their ends: line feed, or carriage return and line feed.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `bytes` from `start` on.
    pub fn new(bytes: &'a [u8], start: usize) -> Self {
        Lines { bytes, next: start }
    }

    /// The start of the next line.
    pub fn position(&self) -> usize {
        self.next
    }

    /// The lines that are left, with their ends.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.next..]
    }

    /// Passes the first `length` bytes of the rest, which are whole lines.
    pub fn pass(&mut self, length: usize) {
        self.next += length;
    }

    /// Returns true if no line is left.
    pub fn is_at_end(&self) -> bool {
        self.next == self.bytes.len()
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let line = match memchr(b'\n', rest) {
            Some(length) => {
                self.next += length + 1;
                &rest[..length]
            }
            None if rest.is_empty() => return None,
            None => {
                self.next = self.bytes.len();
                rest
            }
        };
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{Cursor, Read};
    use std::path::Path;

    /// Returns at most `.1` bytes per read.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn cutter(text: &[u8], size: usize, limit: usize, trickle: usize) -> Cutter {
        let reader = Trickle(Cursor::new(text.to_vec()), trickle);
        Cutter::new(Source::new(Path::new("x"), Box::new(reader), None).unwrap(), size, limit)
    }

    /// The expected lines, cut from the whole text at once; `None` is a line that is too long.
    fn expected(text: &[u8], limit: usize) -> Vec<Option<Vec<u8>>> {
        let first_end = text.iter().position(|byte| b"\r\n".contains(byte));
        let ends_lines =
            |end: usize| text[end] == b'\r' && text.get(end + 1).is_some_and(|next| *next != b'\n');
        let mut text = text.to_vec();
        if first_end.is_some_and(ends_lines) {
            text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let trimmed = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        lines.into_iter().map(|line| (line.len() <= limit).then(|| trimmed(line))).collect()
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_the_bytes_arrive_and_are_cut(
            text in prop::collection::vec(prop::sample::select(vec![b'a', b'b', b'\r', b'\n']), 0..200),
            limit in 1usize..20,
            size in 1usize..20,
            trickle in 1usize..30,
        ) {
            let size = size.min(limit);
            let mut cutter = cutter(&text, size, limit, trickle);
            let (mut lines, mut end, mut buffer) = (Vec::new(), 0, Vec::new());
            while let Some(chunk) = cutter.cut(buffer).unwrap() {
                let before = lines.len();
                prop_assert!(chunk.end_in_text > end);
                end = chunk.end_in_text;
                if chunk.is_too_long {
                    lines.push(None);
                } else {
                    lines.extend(Lines::new(&chunk.bytes, chunk.start).map(|line| Some(line.to_vec())));
                }
                // Several lines, or one that is longer than a chunk.
                prop_assert!(chunk.bytes.len() <= size || lines.len() == before + 1);
                buffer = chunk.bytes;
            }
            prop_assert_eq!(lines, expected(&text, limit));
            prop_assert_eq!(end, text.len() as u64);
        }
    }

    #[test]
    fn memory_stays_near_the_limit_however_long_the_line() {
        let mut text = vec![b'x'; 8 << 20];
        text.extend_from_slice(b"\nshort\n");
        let mut cutter = cutter(&text, 1 << 18, 1 << 20, usize::MAX);
        let chunk = cutter.cut(Vec::new()).unwrap().unwrap();
        assert!(chunk.is_too_long);
        assert_eq!(chunk.bytes, [b'x'; KEPT_OF_LONG_LINE]);
        assert!(chunk.bytes.capacity() <= 2 << 20);
        assert!(cutter.rest.capacity() <= 1 << 18);
        let chunk = cutter.cut(Vec::new()).unwrap().unwrap();
        assert_eq!((chunk.is_too_long, &chunk.bytes[..]), (false, &b"short\n"[..]));
        assert!(cutter.cut(Vec::new()).unwrap().is_none());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        let mut cutter = cutter(b"\xef\xbb\xbf1 2\n3 4\n", 7, 100, 100);
        let chunk = cutter.cut(Vec::new()).unwrap().unwrap();
        assert_eq!(chunk.start, 3);
        assert!(Lines::new(&chunk.bytes, chunk.start).eq([b"1 2"]));
        assert_eq!(cutter.cut(Vec::new()).unwrap().unwrap().start, 0);
    }
}
