//! Files with properties, cut into parts that threads parse on their own.
//!
//! A part ends with a line. In a CSV file the line may end within quotation marks, which only the
//! parser of the part can tell: its last record is then parsed again, with the next part, and what
//! was parsed of that part as if it began with a record is thrown away.

use super::csv::{CsvLines, lines_in, most_frequent};
use super::json::JsonLines;
use super::lines::{File, Lines};
use super::{MAX_PROPERTY_LINE, PropertyFormat, PropertyOptions};
use crate::source::Source;
use crate::{ErrorKind, FormatError, Progress};
use memchr::{memchr_iter, memrchr};
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::any::Any;
use std::collections::VecDeque;
use std::path::Path;

/// The size of a part, unless a line is longer; smaller ones serve smaller batches.
const PART: usize = 256 << 10;

/// Approximate size of a line, in bytes.
const BYTES_PER_LINE: usize = 32;

/// Parts per batch, unless they would be larger than [`PART`].
const PARTS_PER_BATCH: usize = 8;

/// Parts that are parsed together, per thread: enough that no thread waits for the slowest.
const PARTS_PER_THREAD: usize = 4;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file with properties.
pub(super) struct Parts {
    source: Source,
    format: PropertyFormat,
    /// The byte between fields; `None` until the first line tells.
    delimiter: Option<u8>,
    /// The size of a part.
    size: usize,
    /// Bytes that were read but not cut.
    rest: Vec<u8>,
    /// The line of the next byte, from 1.
    line: u64,
    is_first: bool,
    /// The names of the columns of a CSV file that does not begin with them.
    given: Option<Vec<String>>,
    has_header: bool,
    has_ended: bool,
    has_parsed: bool,
    /// True if what was parsed last ends before a bad line.
    ends_at_bad_line: bool,
    /// Parts that are not parsed.
    cut: VecDeque<Part>,
    /// The error in place of a further part.
    failed: Option<FormatError>,
    /// Memory of parts, for reuse.
    spare: Vec<Vec<u8>>,
}

/// Whole lines.
struct Part {
    bytes: Vec<u8>,
    /// The position of the first byte to parse, and its line in the file.
    start: (usize, u64),
    /// The number of lines that end in the part.
    lines: usize,
    /// True if nothing follows.
    is_last: bool,
}

/// The parsed contents of a part.
type Content = Box<dyn Any + Send>;

/// Parses the lines of a part; returns the error after the contents.
type ParseLines<'p> = &'p (dyn Fn(&mut Lines<'_>) -> (Content, Option<FormatError>) + Sync);

/// The parsed contents of a part, and their end.
struct Parsed {
    content: Content,
    /// The error after the contents.
    error: Option<FormatError>,
    /// The position of a record that goes on in the next part.
    cut: Option<(usize, u64)>,
}

impl Parts {
    pub fn new(source: Source, options: &PropertyOptions) -> Self {
        let source = match options.format {
            // A quoted field may have carriage returns of its own.
            PropertyFormat::Csv => source,
            PropertyFormat::JsonLines => source.of_text(),
        };
        let size = (options.batch_size / PARTS_PER_BATCH).saturating_mul(BYTES_PER_LINE);
        Parts {
            source,
            format: options.format,
            delimiter: options.delimiter,
            size: size.clamp(BYTES_PER_LINE, PART),
            rest: Vec::new(),
            line: 1,
            is_first: true,
            given: options.columns.clone(),
            has_header: false,
            has_ended: false,
            has_parsed: false,
            ends_at_bad_line: false,
            cut: VecDeque::new(),
            failed: None,
            spare: Vec::new(),
        }
    }

    /// The byte between the fields of a CSV file, once its first line was read.
    pub fn delimiter(&self) -> Option<u8> {
        (self.format == PropertyFormat::Csv).then_some(self.delimiter?)
    }

    /// The progress of reading.
    pub fn progress(&self) -> Progress {
        Progress { done: self.source.bytes_used(), total: self.source.size() }
    }

    /// Returns true if the names of the columns were given.
    pub fn has_given_names(&self) -> bool {
        self.given.is_some()
    }

    /// Reads the names of the columns of a CSV file, from its first line unless they were given,
    /// and passes them to `take` with that line; only once.
    pub fn header(
        &mut self,
        take: impl FnOnce(&Lines<'_>, Vec<String>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let has_header = std::mem::replace(&mut self.has_header, true);
        if has_header || self.format == PropertyFormat::JsonLines {
            return Ok(());
        }
        let mut part = self.next_part()?.unwrap_or_default();
        let (is_record, start) = loop {
            let mut lines = part.lines(self.source.path(), self.format, self.delimiter);
            let read = lines.read();
            let goes_on = lines.cut().is_some() || matches!(read, Ok(false));
            if !goes_on || part.is_last {
                let header = read.and_then(|has_line| header_of(&lines, has_line, self.given.as_deref()));
                let taken = header.and_then(|(names, is_record)| take(&lines, names).map(|()| is_record));
                break (taken, lines.position());
            }
            part = self.doubled(part, &mut std::iter::empty())?;
        };
        if !is_record.map_err(|error| self.cause_of(error))? {
            part.start = start.unwrap_or(part.start);
        }
        self.cut.push_front(part);
        Ok(())
    }

    /// Parses the next parts, on the threads of `pool` or on this one, and meanwhile reads those
    /// after them; nothing at the end. `parse` returns the error after the contents.
    pub fn parse_on<P: Send + 'static>(
        &mut self,
        pool: Option<&ThreadPool>,
        parse: impl Fn(&mut Lines<'_>) -> (P, Option<FormatError>) + Sync,
    ) -> Result<Vec<P>, FormatError> {
        let contents = self.parse_any_on(pool, &|lines| {
            let (content, error) = parse(lines);
            (Box::new(content), error)
        })?;
        // All are of this type.
        Ok(contents
            .into_iter()
            .filter_map(|content| content.downcast().ok())
            .map(|content| *content)
            .collect())
    }

    /// Like [`parse_on`](Self::parse_on); compiled once for all contents.
    fn parse_any_on(
        &mut self,
        pool: Option<&ThreadPool>,
        parse: ParseLines<'_>,
    ) -> Result<Vec<Content>, FormatError> {
        // The first part alone, because it may come from a slow pipe, or be all that is read.
        let pool = pool.filter(|_| std::mem::replace(&mut self.has_parsed, true));
        let round = pool.map_or(1, |pool| PARTS_PER_THREAD * pool.current_num_threads());
        self.cut_round(round);
        let parts: Vec<_> = self.cut.drain(..).collect();
        if parts.is_empty() {
            return self.failed.take().map_or(Ok(Vec::new()), Err);
        }
        let (path, format, delimiter) = (self.source.path().to_path_buf(), self.format, self.delimiter);
        let parse = |part: Part| {
            let mut lines = part.lines(&path, format, delimiter);
            let (content, error) = parse(&mut lines);
            let cut = lines.cut();
            (part, Parsed { content, error, cut })
        };
        let parsed = match pool {
            None => parts.into_iter().map(parse).collect(),
            Some(pool) => {
                let parse_all = || parts.into_par_iter().map(&parse).collect::<Vec<_>>();
                pool.install(|| rayon::join(|| self.cut_round(round), parse_all)).1
            }
        };
        Ok(self.in_order(parsed, parse))
    }

    /// Returns true if what was parsed last ends before a bad line.
    pub fn ends_at_bad_line(&self) -> bool {
        self.ends_at_bad_line
    }

    /// The contents of the parts, parsed again where a record goes on in the next part.
    fn in_order(
        &mut self,
        parsed: Vec<(Part, Parsed)>,
        parse: impl Fn(Part) -> (Part, Parsed),
    ) -> Vec<Content> {
        let (mut contents, mut rest): (Vec<Content>, Option<Part>) = (Vec::new(), None);
        let mut parsed = parsed.into_iter();
        loop {
            let next = match (rest.take(), parsed.next()) {
                (None, None) => return contents,
                (None, Some(parsed)) => parsed,
                (Some(rest), again) => {
                    let mut others = again.into_iter().chain(parsed.by_ref()).map(|(part, _)| part);
                    match self.doubled(rest, &mut others) {
                        Ok(part) => parse(part),
                        Err(error) => {
                            self.failed = Some(error);
                            return contents;
                        }
                    }
                }
            };
            let (part, Parsed { content, error, cut }) = next;
            contents.push(content);
            match cut {
                Some(start) => rest = Some(Part { start, ..part }),
                None if part.bytes.capacity() <= 2 * self.size => self.spare.push(part.bytes),
                None => {}
            }
            if let Some(error) = error {
                self.cut.clear();
                self.has_ended = true;
                self.ends_at_bad_line = true;
                self.failed = Some(self.cause_of(error));
                return contents;
            }
        }
    }

    /// The cause of a fault in a line: see [`Source::cause_of`].
    fn cause_of(&mut self, fault: FormatError) -> FormatError {
        match self.failed.take() {
            Some(damage) if damage.kind() == ErrorKind::Corrupt => damage,
            _ => self.source.cause_of(fault),
        }
    }

    /// The part with some of the `others` after it, then those of the file: twice the bytes. Else a
    /// long record would be parsed again with each of its parts.
    fn doubled(
        &mut self,
        mut part: Part,
        others: &mut dyn Iterator<Item = Part>,
    ) -> Result<Part, FormatError> {
        let goal = 2 * (part.bytes.len() - part.start.0);
        loop {
            let next = match others.next() {
                Some(next) => Some(next),
                None => self.next_part()?,
            };
            part = match next {
                Some(next) => part.joined(&next),
                None => Part { is_last: true, ..part },
            };
            if part.is_last || part.bytes.len() >= goal {
                return Ok(part);
            }
        }
    }

    fn next_part(&mut self) -> Result<Option<Part>, FormatError> {
        self.cut_round(1);
        match self.cut.pop_front() {
            None => self.failed.take().map_or(Ok(None), Err),
            part => Ok(part),
        }
    }

    /// Cuts parts until there are `count`, or their usual bytes, or the file ends.
    fn cut_round(&mut self, count: usize) {
        let mut bytes = self.cut.iter().map(|part| part.bytes.len()).sum::<usize>();
        while self.cut.len() < count && bytes < count * self.size && !self.has_ended {
            let part = self.cut_part();
            bytes += part.as_ref().map_or(0, |part| part.bytes.len());
            self.cut.extend(part);
        }
    }

    /// The next part; before an error, the whole lines before it.
    fn cut_part(&mut self) -> Option<Part> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.append(&mut self.rest);
        // Enough to find the names of columns and the delimiter.
        let mut goal = if self.is_first { PART } else { self.size };
        let end = loop {
            let filled = fill(&mut self.source, &mut bytes, goal);
            let line_end = last_line_end(&bytes, self.format);
            match filled {
                Ok(has_ended) => self.has_ended = has_ended,
                Err(error) => {
                    self.failed = Some(error);
                    self.has_ended = true;
                    break line_end.unwrap_or(0);
                }
            }
            match line_end {
                Some(end) if !self.has_ended => break end,
                None if !self.has_ended && bytes.len() <= MAX_PROPERTY_LINE => {
                    goal = (2 * goal).min(MAX_PROPERTY_LINE + PART);
                }
                // All, for its parser to refuse if a line is too long.
                _ => break bytes.len(),
            }
        };
        self.rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        let is_first = std::mem::replace(&mut self.is_first, false);
        if is_first && self.format == PropertyFormat::Csv {
            self.delimiter.get_or_insert_with(|| most_frequent(&bytes));
        }
        let has_mark = is_first && bytes.starts_with(BYTE_ORDER_MARK);
        let start = (if has_mark { BYTE_ORDER_MARK.len() } else { 0 }, self.line);
        let lines = match self.format {
            PropertyFormat::Csv => lines_in(&bytes, 0..bytes.len()),
            PropertyFormat::JsonLines => memchr_iter(b'\n', &bytes).count() as u64,
        };
        self.line += lines;
        (!bytes.is_empty()).then_some(Part { bytes, start, lines: lines as usize, is_last: false })
    }
}

impl Part {
    /// The lines of the part.
    fn lines<'b>(&'b self, path: &'b Path, format: PropertyFormat, delimiter: Option<u8>) -> Lines<'b> {
        let Part { bytes, start, lines, is_last } = self;
        let file = match format {
            PropertyFormat::Csv => File::Csv(Box::new(
                CsvLines::new(path, bytes, *start, delimiter.unwrap_or(b',')).ending(*is_last),
            )),
            PropertyFormat::JsonLines => File::Json(JsonLines::new(path, bytes, *start)),
        };
        Lines { path, file, most: lines + 1 }
    }

    /// The rest of this part and the next one.
    fn joined(mut self, next: &Part) -> Self {
        let (start, line) = self.start;
        self.bytes.drain(..start);
        self.bytes.extend_from_slice(&next.bytes[next.start.0..]);
        Part { bytes: self.bytes, start: (0, line), lines: self.lines + next.lines, is_last: next.is_last }
    }
}

impl Default for Part {
    /// The start of an empty file.
    fn default() -> Self {
        Part { bytes: Vec::new(), start: (0, 1), lines: 0, is_last: true }
    }
}

/// The names of the columns of a CSV file; and true if the line that was read is no header but a
/// record.
fn header_of(
    lines: &Lines<'_>,
    has_line: bool,
    given: Option<&[String]>,
) -> Result<(Vec<String>, bool), FormatError> {
    let names = if has_line { lines.texts()? } else { Vec::new() };
    match given {
        Some(given) => {
            let is_header = names.len() == given.len()
                && names.iter().zip(given).all(|(name, given)| name.eq_ignore_ascii_case(given));
            Ok((given.to_vec(), !is_header))
        }
        None if has_line => Ok((names, false)),
        None => Err(lines.bad(String::new(), "a first line of column names")),
    }
}

/// Reads until there are `goal` bytes, or an error comes; true if there are no more.
fn fill(source: &mut Source, bytes: &mut Vec<u8>, goal: usize) -> Result<bool, FormatError> {
    let mut length = bytes.len();
    bytes.resize(goal.max(length), 0);
    let end = loop {
        if length >= goal {
            break Ok(false);
        }
        match source.read(&mut bytes[length..]) {
            Ok(0) => break Ok(true),
            Ok(read) => length += read,
            Err(error) => break Err(error),
        }
    };
    bytes.truncate(length);
    end
}

/// The end of the last line that ends in these bytes.
fn last_line_end(bytes: &[u8], format: PropertyFormat) -> Option<usize> {
    let line_feed = memrchr(b'\n', bytes);
    let is_csv = format == PropertyFormat::Csv;
    // The last byte may be half of a line end.
    let carriage_return = || memrchr(b'\r', bytes.split_last()?.1).filter(|_| is_csv);
    line_feed.or_else(carriage_return).map(|end| end + 1)
}
