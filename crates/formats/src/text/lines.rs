//! Parses a chunk of lines to edges and vertices.

use super::chunk::{Chunk, Lines};
use super::fields::is_blank_or_comment;
use super::layout::Layout;
use super::{parse, plain};
use crate::error::{BadLine, Fault, Problem, excerpt};
use crate::piece::{LongLine, Piece};
use crate::{Batch, Columns, Edge, VertexKey};
use std::path::Path;

/// A longer adjacency line that ends its chunk is first checked as a whole and then cut into
/// batches.
const UNCUT_LINE: usize = 64 << 10;

/// Number of bad lines kept as examples.
pub(crate) const EXAMPLES: usize = 5;

/// Rules for parsing lines and handling bad ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub layout: Layout,
    pub columns: Columns,
    pub skip_bad_lines: bool,
}

/// The parsed contents of a chunk. Lines are numbered from the start of the chunk.
pub(crate) struct Parsed<K> {
    pub piece: Piece<K>,
    /// Lines that are neither blank nor comments.
    pub entries: u64,
    /// The memory of the chunk, unless a long line is still in it.
    pub chunk: Option<Vec<u8>>,
    start: usize,
}

/// An adjacency line that has been checked.
#[derive(Debug)]
struct Neighbors<K> {
    chunk: Vec<u8>,
    line: std::ops::Range<usize>,
    source: K,
    /// The position of the next neighbor in the line.
    position: usize,
}

impl<K: VertexKey> Parsed<K> {
    /// Parses all lines, or up to the first bad line unless bad lines are skipped, into the memory
    /// of `batch`, which is empty.
    pub fn new(chunk: Chunk, batch: Batch<K>, rules: &Rules, limit: usize, path: &Path) -> Self {
        let Chunk { bytes, mark, start, lines_passed, end_in_text, is_too_long } = chunk;
        let mut piece = Piece { batch, line: lines_passed, ..Piece::new(end_in_text) };
        if rules.layout == Layout::Edges {
            // One edge per line. Growing would copy the edges, and take up to three times the
            // memory.
            piece.batch.edges.reserve_exact(memchr::memchr_iter(b'\n', &bytes[start..]).count() + 1);
        }
        let (mut entries, mut long_line) = (0, None);
        let mut lines = Lines::new(&bytes, start);
        let mut may_be_plain = rules.layout == Layout::Edges && !is_too_long;
        loop {
            if may_be_plain {
                let before = piece.batch.edges.len();
                lines.pass(plain::edges(lines.rest(), usize::MAX, &mut piece.batch.edges));
                let plain = (piece.batch.edges.len() - before) as u64;
                (piece.line, entries) = (piece.line + plain, entries + plain);
            }
            let line_start = lines.position();
            let Some(line) = lines.next() else { break };
            piece.line += 1;
            if !is_too_long && is_blank_or_comment(line) {
                continue;
            }
            entries += 1;
            // Lines after an entry of another form probably have that form, too.
            may_be_plain = false;
            let parsed = if is_too_long {
                Err(Fault { problem: Problem::LineTooLong { limit }, start: 0, end: line.len() })
            } else if line.len() > UNCUT_LINE && rules.layout == Layout::Adjacency && lines.is_at_end() {
                check_long_line(line, &mut piece)
            } else {
                parse_line(line, rules, &mut piece).map(|()| None)
            };
            match parsed {
                Ok(None) => {}
                Ok(Some((source, position))) => {
                    long_line = Some((source, position, line_start..line_start + line.len()));
                }
                Err(fault) => {
                    let column_offset = if line_start == mark { mark } else { 0 };
                    let bad = || describe(fault, line, piece.line, column_offset, path);
                    if !rules.skip_bad_lines {
                        piece.bad = Some(bad());
                        break;
                    }
                    if piece.skipped.examples.len() < EXAMPLES {
                        let bad = bad();
                        piece.skipped.examples.push(bad);
                    }
                    piece.skipped.count += 1;
                }
            }
        }
        match long_line {
            None => Parsed { piece, entries, chunk: Some(bytes), start },
            Some((source, position, line)) => {
                piece.long_line = Some(Box::new(Neighbors { chunk: bytes, line, source, position }));
                Parsed { piece, entries, chunk: None, start }
            }
        }
    }

    /// Reports line `index` as bad, counting only lines that are neither blank nor comments.
    pub fn data_line(&self, index: u64, path: &Path) -> BadLine {
        let bytes = self.chunk.as_deref().unwrap_or_default();
        let before = memchr::memchr_iter(b'\n', &bytes[..self.start]).count() as u64;
        let lines = (before + 1..).zip(Lines::new(bytes, self.start));
        let mut data = lines.filter(|(_, line)| !is_blank_or_comment(line));
        let (number, line) = data.nth(index as usize).unwrap_or((before, b""));
        describe(Fault { problem: Problem::NotAnEntry, start: 0, end: line.len() }, line, number, 0, path)
    }
}

impl<K: VertexKey> LongLine<K> for Neighbors<K> {
    fn hand_over(&mut self, room: usize, edges: &mut Vec<Edge<K>>) -> bool {
        let line = &self.chunk[self.line.clone()];
        match parse::neighbors_from(line, self.position, &self.source, room, edges) {
            Some(position) => {
                self.position = position;
                false
            }
            None => true,
        }
    }
}

/// Parses a line into the piece.
#[inline]
fn parse_line<K: VertexKey>(line: &[u8], rules: &Rules, piece: &mut Piece<K>) -> Result<(), Fault> {
    let batch = &mut piece.batch;
    match &rules.layout {
        Layout::Edges => batch.edges.push(parse::edge(line, rules.columns)?),
        Layout::Entries(matrix) => parse::entry(line, matrix, &mut batch.edges)?,
        Layout::Vertices => batch.vertices.push(parse::vertex(line)?),
        Layout::Adjacency => parse::adjacency(line, batch)?,
    }
    Ok(())
}

/// Checks a line of a vertex and its neighbors; returns the vertex and the start of its neighbors,
/// if it has any.
fn check_long_line<K: VertexKey>(line: &[u8], piece: &mut Piece<K>) -> Result<Option<(K, usize)>, Fault> {
    let (source, neighbors) = parse::check_adjacency(line)?;
    match neighbors {
        Some(position) => Ok(Some((source, position))),
        None => {
            piece.batch.vertices.push(source);
            Ok(None)
        }
    }
}

/// Describes a fault.
pub(crate) fn describe(fault: Fault, line: &[u8], number: u64, column_offset: usize, path: &Path) -> BadLine {
    let found = match fault.problem {
        Problem::MissingDestination => line,
        _ => &line[fault.start..fault.end],
    };
    BadLine {
        path: path.into(),
        line: number,
        column: (column_offset + fault.start) as u64 + 1,
        found: excerpt(found),
        problem: fault.problem,
    }
}
