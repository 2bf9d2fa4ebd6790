//! Edges that arrive in blocks of bytes, as those of a pipe or of a growing file.

use crate::characters::is_blank;
use crate::error::{Fault, FormatError, Problem};
use crate::progress::SkippedLines;
use crate::text::fields::is_blank_or_comment;
use crate::text::{BYTE_ORDER_MARK, EXAMPLES, Lines, MAX_EDGE_LINE, Preamble, describe, parse, plain};
use crate::{Columns, Edge, Header, VertexKey};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The form of the edges of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StreamForm {
    /// Lines of an edge list.
    #[default]
    Lines,
    /// Lines of an edge list that begin with the operation on the edge: `+` puts it, `-` deletes
    /// it. A separator may follow.
    Operations,
    /// Source and destination as numbers of 4 bytes each, little-endian, without gaps.
    Pairs32,
    /// Source and destination as numbers of 8 bytes each, little-endian, without gaps.
    Pairs64,
}

/// Options of a [`StreamParser`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The form of the edges.
    pub form: StreamForm,
    /// The meaning of further columns of lines.
    pub columns: Columns,
    /// Every edge that is put must have a weight.
    pub needs_weights: bool,
    /// The largest number that may be a key.
    pub largest_key: Option<u64>,
    /// Count and skip bad lines instead of failing; a line that is too long always fails.
    pub skip_bad_lines: bool,
}

/// A place in a stream, between two edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamPlace {
    /// Bytes before it.
    pub bytes: u64,
    /// Lines before it; 0 in a binary stream.
    pub lines: u64,
}

/// Edges to put and to delete, in the order of the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamBatch<K> {
    /// The edges.
    pub edges: Vec<Edge<K>>,
    /// The positions in `edges` of those to delete, ascending.
    pub deletions: Vec<usize>,
}

/// Parses a stream block by block: unlike a [`GraphReader`](crate::GraphReader), it never waits for
/// more bytes than an edge has, and knows its place after every edge.
///
/// ```
/// use hedgerow_formats::{StreamBatch, StreamForm, StreamOptions, StreamParser, StreamPlace};
///
/// let options = StreamOptions { form: StreamForm::Operations, ..StreamOptions::default() };
/// let mut parser = StreamParser::<u64>::new("events", options, StreamPlace::default());
/// let mut batch = StreamBatch::default();
/// parser.parse(b"+ 1 2\n- 1 2\n+ 3", false, usize::MAX, &mut batch)?;
/// assert_eq!((batch.edges.len(), &*batch.deletions, parser.place().bytes), (2, &[1][..], 12));
/// # Ok::<(), hedgerow_formats::FormatError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamParser<K> {
    path: PathBuf,
    options: StreamOptions,
    place: StreamPlace,
    /// True before the first line that is neither blank nor a comment, which may name columns.
    may_be_header: bool,
    skipped: SkippedLines,
    keys: PhantomData<fn() -> K>,
}

impl<K> StreamBatch<K> {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        StreamBatch { edges: Vec::new(), deletions: Vec::new() }
    }

    /// Removes everything, keeps the memory.
    pub fn clear(&mut self) {
        self.edges.clear();
        self.deletions.clear();
    }
}

impl<K> Default for StreamBatch<K> {
    fn default() -> Self {
        StreamBatch::new()
    }
}

impl<K: VertexKey> StreamParser<K> {
    /// A parser of the bytes from `place` on; errors use `name` as the name of the file.
    #[must_use]
    pub fn new(name: impl AsRef<Path>, options: StreamOptions, place: StreamPlace) -> Self {
        let (path, skipped) = (name.as_ref().into(), SkippedLines::default());
        StreamParser { path, options, place, may_be_header: place.bytes == 0, skipped, keys: PhantomData }
    }

    /// The place after the last edge. O(1).
    #[must_use]
    pub fn place(&self) -> StreamPlace {
        self.place
    }

    /// Goes to the beginning of another part of the stream, such as a message, which errors call
    /// `name`. A first line with the names of columns is not expected there.
    pub fn restart(&mut self, name: impl AsRef<Path>) {
        self.path = name.as_ref().into();
        self.place = StreamPlace::default();
        self.may_be_header = false;
    }

    /// Lines skipped so far.
    #[must_use]
    pub fn skipped(&self) -> &SkippedLines {
        &self.skipped
    }

    /// Adds up to `most` of the edges in `bytes`, which begin at [`place`](Self::place), and moves
    /// the place behind the last one. Leaves an unfinished edge alone; with `is_end` the stream
    /// ends with `bytes`, and the last line may lack its end.
    ///
    /// # Errors
    /// A bad line, unless bad lines are skipped; bytes after the last pair at the end. The edges
    /// before it are in `batch`, and the place is before it.
    pub fn parse(
        &mut self,
        bytes: &[u8],
        is_end: bool,
        most: usize,
        batch: &mut StreamBatch<K>,
    ) -> Result<(), FormatError> {
        match self.options.form {
            StreamForm::Lines | StreamForm::Operations => self.lines(bytes, is_end, most, batch),
            StreamForm::Pairs32 => {
                let read = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes).into();
                self.pairs(bytes, is_end, most, batch, read)
            }
            StreamForm::Pairs64 => {
                self.pairs(bytes, is_end, most, batch, |bytes: &[u8; 8]| u64::from_le_bytes(*bytes))
            }
        }
    }

    fn lines(
        &mut self,
        bytes: &[u8],
        is_end: bool,
        most: usize,
        batch: &mut StreamBatch<K>,
    ) -> Result<(), FormatError> {
        let whole = if is_end { bytes.len() } else { memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1) };
        let has_mark = self.place.bytes == 0 && bytes[..whole].starts_with(BYTE_ORDER_MARK);
        let mark = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
        let mut lines = Lines::new(&bytes[..whole], mark);
        let (begin, mut may_be_plain) = (self.place.bytes, !self.options.needs_weights);
        while batch.edges.len() < most {
            if may_be_plain {
                let before = batch.edges.len();
                lines.pass(self.plain_lines(lines.rest(), most, batch));
                self.place.lines += (batch.edges.len() - before) as u64;
                self.may_be_header &= batch.edges.len() == before;
            }
            let column_offset = if lines.position() == mark { mark } else { 0 };
            self.place.bytes = begin + lines.position() as u64;
            let Some(line) = (batch.edges.len() < most).then(|| lines.next()).flatten() else { break };
            if !is_blank_or_comment(line) {
                // Lines after an edge of another form probably have that form, too.
                may_be_plain = false;
                self.line(line, column_offset, batch)?;
            }
            self.place.lines += 1;
            self.place.bytes = begin + lines.position() as u64;
        }
        let rest = &bytes[whole..];
        match rest.len() > MAX_EDGE_LINE && lines.is_at_end() {
            true => Err(Box::new(describe(too_long(rest), rest, self.place.lines + 1, 0, &self.path)).into()),
            false => Ok(()),
        }
    }

    /// Reads lines of two numbers; returns their length.
    fn plain_lines(&self, bytes: &[u8], most: usize, batch: &mut StreamBatch<K>) -> usize {
        let before = batch.edges.len();
        let read = |most, batch: &mut StreamBatch<K>| match self.options.form {
            StreamForm::Operations => plain::operations(bytes, most, &mut batch.edges, &mut batch.deletions),
            _ => plain::edges(bytes, most, &mut batch.edges),
        };
        let length = read(most, batch);
        let Some(largest) = self.options.largest_key else { return length };
        let is_too_large = |key: &K| key.as_number() > Some(largest);
        let wrong = |edge: &Edge<K>| is_too_large(&edge.source) || is_too_large(&edge.destination);
        match batch.edges[before..].iter().position(wrong) {
            None => length,
            // Up to the wrong line, which is described later.
            Some(right) => {
                batch.edges.truncate(before);
                batch.deletions.retain(|deletion| *deletion < before);
                read(before + right, batch)
            }
        }
    }

    /// Reads any line that is neither blank nor a comment.
    fn line(
        &mut self,
        line: &[u8],
        column_offset: usize,
        batch: &mut StreamBatch<K>,
    ) -> Result<(), FormatError> {
        if std::mem::take(&mut self.may_be_header)
            && Preamble::new(Some(false), Header::Auto, K::KIND).is_header(line)
        {
            return Ok(());
        }
        let fault = match self.edge(line) {
            Ok((edge, is_deleted)) => {
                batch.deletions.extend(is_deleted.then_some(batch.edges.len()));
                batch.edges.push(edge);
                return Ok(());
            }
            Err(fault) => fault,
        };
        let bad = || describe(fault, line, self.place.lines + 1, column_offset, &self.path);
        if !self.options.skip_bad_lines {
            return Err(Box::new(bad()).into());
        }
        if self.skipped.examples.len() < EXAMPLES {
            let bad = bad();
            self.skipped.examples.push(bad);
        }
        self.skipped.count += 1;
        Ok(())
    }

    /// The edge of a line, and whether it is to be deleted.
    fn edge(&self, line: &[u8]) -> Result<(Edge<K>, bool), Fault> {
        if line.len() > MAX_EDGE_LINE {
            return Err(too_long(line));
        }
        let (is_deleted, start) = match self.options.form {
            StreamForm::Operations => operation(line)?,
            _ => (false, 0),
        };
        let edge =
            parse::edge::<K>(&line[start..], self.options.columns).map_err(|fault| fault.after(start))?;
        let fault = |problem| Err(Fault { problem, start, end: line.len() });
        match self.options.largest_key {
            Some(largest)
                if [&edge.source, &edge.destination].iter().any(|key| key.as_number() > Some(largest)) =>
            {
                fault(Problem::KeyTooLarge { largest })
            }
            _ if self.options.needs_weights && edge.weight.is_none() && !is_deleted => {
                fault(Problem::MissingWeight)
            }
            _ => Ok((edge, is_deleted)),
        }
    }

    fn pairs<const N: usize>(
        &mut self,
        bytes: &[u8],
        is_end: bool,
        most: usize,
        batch: &mut StreamBatch<K>,
        number: impl Fn(&[u8; N]) -> u64,
    ) -> Result<(), FormatError> {
        let (numbers, _) = bytes.as_chunks::<N>();
        let (pairs, _) = numbers.as_chunks::<2>();
        let pairs = &pairs[..pairs.len().min(most.saturating_sub(batch.edges.len()))];
        let before = batch.edges.len();
        batch.edges.reserve(pairs.len());
        let largest = self.options.largest_key.unwrap_or(u64::MAX);
        let parsed = pairs.iter().map(|pair| pair.each_ref().map(&number));
        let parsed = parsed.take_while(|pair| pair.iter().all(|key| *key <= largest));
        batch.edges.extend(parsed.map(|[from, to]| Edge::new(K::of_number(from), K::of_number(to))));
        let read = batch.edges.len() - before;
        let length = read * 2 * N;
        self.place.bytes += length as u64;
        if let Some([from, to]) = pairs.get(read).map(|pair| pair.each_ref().map(&number)) {
            let expected = Problem::KeyTooLarge { largest }.to_string();
            let expected = expected.trim_start_matches("expected ").to_owned();
            return Err(self.bad_bytes(format!("the pair {from} {to}"), expected));
        }
        let rest = bytes.len() - length;
        if is_end && 0 < rest && rest < 2 * N {
            return Err(
                self.bad_bytes(format!("the end after {rest} bytes"), format!("a pair of {} bytes", 2 * N))
            );
        }
        Ok(())
    }

    /// An error at the place.
    fn bad_bytes(&self, found: String, expected: String) -> FormatError {
        FormatError::BadBytes { path: self.path.clone(), offset: self.place.bytes, found, expected }
    }
}

/// The operation at the beginning of a line: whether it deletes, and the start of the edge.
fn operation(line: &[u8]) -> Result<(bool, usize), Fault> {
    let blanks = |from: usize| line[from..].iter().take_while(|byte| is_blank(**byte)).count();
    let start = blanks(0);
    let is_deleted = match line.get(start) {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(Fault { problem: Problem::NoOperation, start, end: line.len() }),
    };
    let end = start + 1 + blanks(start + 1);
    Ok((is_deleted, end + usize::from(line.get(end) == Some(&b','))))
}

/// The fault of a line above the limit.
fn too_long(line: &[u8]) -> Fault {
    Fault { problem: Problem::LineTooLong { limit: MAX_EDGE_LINE }, start: 0, end: line.len() }
}
