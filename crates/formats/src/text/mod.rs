//! Text files: cut into chunks of lines, which are parsed in parallel and returned in order.
//!
//! A **round** has enough chunks to keep the threads busy. While one round is parsed, the next one
//! is read, decompressed and cut, so that memory is bounded by two rounds whatever the size of the
//! file.

mod chunk;
pub(crate) mod fields;
mod layout;
mod lines;
mod matrix;
pub(crate) mod parse;
pub(crate) mod plain;
mod preamble;

pub(crate) use chunk::{BYTE_ORDER_MARK, Cutter, Lines};
pub(crate) use layout::Layout;
pub(crate) use lines::{EXAMPLES, describe};
pub(crate) use matrix::most_rows;
pub(crate) use preamble::Preamble;

use crate::error::{BadLine, ErrorKind, FormatError, Problem};
use crate::piece::Piece;
use crate::progress::Position;
use crate::source::Source;
use crate::{Batch, ReadOptions, VertexKey};
use chunk::Chunk;
use lines::{Parsed, Rules};
use matrix::Matrix;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::VecDeque;
use std::ops::Range;

/// The maximum length of a line of an edge list, a vertex file or a matrix, in bytes.
pub const MAX_EDGE_LINE: usize = 1 << 20;

/// The maximum length of a line of the adjacency format, in bytes.
pub const MAX_ADJACENCY_LINE: usize = 256 << 20;

/// The largest chunk, in bytes; smaller ones serve smaller batches.
const CHUNK: usize = 256 << 10;

/// Approximate size of an edge in a file, in bytes.
const BYTES_PER_EDGE: usize = 16;

/// Chunks per batch, unless they would be larger than [`CHUNK`]: a round of two threads, so that
/// chunks read ahead of a batch take about as much memory as the batch.
const CHUNKS_PER_BATCH: usize = 8;

/// Chunks of a round per thread: enough that no thread waits for the slowest.
const CHUNKS_PER_THREAD: usize = 4;

/// Vertices of a matrix returned at a time.
const VERTICES: u64 = 1 << 14;

/// A text file, read piece by piece.
pub(crate) struct TextReader<K> {
    cutter: Cutter,
    rules: Rules,
    /// Handles the first lines; `None` after them.
    preamble: Option<Preamble>,
    /// Chunks that are cut but not parsed.
    cut: Vec<Chunk>,
    /// The error in place of a further chunk.
    failed: Option<FormatError>,
    has_ended: bool,
    parsed: VecDeque<Parsed<K>>,
    /// Memory of chunks, for reuse.
    spare: Vec<Vec<u8>>,
    /// Memory of parsed contents, for reuse.
    spare_batches: Vec<Batch<K>>,
    lines: u64,
    bytes: u64,
    /// Number of entries of a matrix so far.
    entries: u64,
    /// Vertices of a matrix that are still to be returned after its last entry.
    vertices: Option<Range<u64>>,
}

impl<K: VertexKey> TextReader<K> {
    /// A reader of lines of one layout; `preamble` handles the lines before them.
    pub fn new(source: Source, layout: Layout, preamble: Option<Preamble>, options: &ReadOptions) -> Self {
        let limit = if layout == Layout::Adjacency { MAX_ADJACENCY_LINE } else { MAX_EDGE_LINE };
        let size = (options.batch_size / CHUNKS_PER_BATCH).saturating_mul(BYTES_PER_EDGE);
        TextReader {
            cutter: Cutter::new(source, size.clamp(BYTES_PER_EDGE, CHUNK), limit),
            rules: Rules { layout, columns: options.columns, skip_bad_lines: options.skip_bad_lines },
            preamble,
            cut: Vec::new(),
            failed: None,
            has_ended: false,
            parsed: VecDeque::new(),
            spare: Vec::new(),
            spare_batches: Vec::new(),
            lines: 0,
            bytes: 0,
            entries: 0,
            vertices: None,
        }
    }

    /// Reads the edges of a graph: the first lines determine whether it is an edge list or a
    /// matrix.
    pub fn edges(source: Source, is_matrix: Option<bool>, options: &ReadOptions) -> Self {
        let preamble = Preamble::new(is_matrix, options.header, K::KIND);
        Self::new(source, Layout::Edges, Some(preamble), options)
    }

    pub fn source(&self) -> &Source {
        self.cutter.source()
    }

    /// Like [`Source::damage`]; it may have been found ahead of the pieces.
    pub fn damage(&mut self) -> Option<FormatError> {
        let found = self.failed.take().filter(|error| error.kind() == ErrorKind::Corrupt);
        found.or_else(|| self.cutter.source_mut().damage())
    }

    /// The end of the last piece.
    pub fn position(&self) -> Position<'_> {
        Position { path: self.source().path(), line: self.lines, byte: self.bytes }
    }

    /// Returns true if vertices may stand among the edges.
    pub fn mixes_vertices(&self) -> bool {
        matches!(self.rules.layout, Layout::Adjacency | Layout::Entries(_))
    }

    /// Returns true if the next piece has been parsed with the last one.
    pub fn has_parsed(&self) -> bool {
        !self.parsed.is_empty()
    }

    /// Takes memory back that is no longer needed.
    pub fn reuse(&mut self, mut batch: Batch<K>) {
        batch.clear();
        self.spare_batches.push(batch);
    }

    /// The next piece, parsed with others on the threads of `pool`, or alone on this one; `None` at
    /// the end.
    pub fn next(&mut self, pool: Option<&ThreadPool>) -> Result<Option<Piece<K>>, FormatError> {
        loop {
            if let Some(parsed) = self.parsed.pop_front() {
                return self.in_file(parsed).map(Some);
            }
            if self.cut.is_empty() {
                self.cut_round(pool.map_or(1, |pool| CHUNKS_PER_THREAD * pool.current_num_threads()));
            }
            if !self.cut.is_empty() {
                self.parse_round(pool);
            } else if let Some(error) = self.failed.take() {
                return Err(error);
            } else {
                return self.after_lines();
            }
        }
    }

    /// Parses the cut chunks, and meanwhile cuts the next ones.
    fn parse_round(&mut self, pool: Option<&ThreadPool>) {
        let with_batch = |chunk| (chunk, self.spare_batches.pop().unwrap_or_default());
        let chunks: Vec<_> = self.cut.drain(..).map(with_batch).collect();
        let (rules, path) = (self.rules, self.source().path().to_path_buf());
        let limit = self.cutter.limit();
        let parse = |(chunk, batch)| Parsed::new(chunk, batch, &rules, limit, &path);
        self.parsed = match pool {
            None => chunks.into_iter().map(parse).collect(),
            Some(pool) => {
                let round = CHUNKS_PER_THREAD * pool.current_num_threads();
                let parse_all = || chunks.into_par_iter().map(parse).collect::<Vec<_>>();
                let ((), parsed) = pool.install(|| rayon::join(|| self.cut_round(round), parse_all));
                parsed.into()
            }
        };
    }

    /// Cuts up to `count` chunks, or their total size in bytes.
    fn cut_round(&mut self, count: usize) {
        let mut bytes = 0;
        while self.cut.len() < count && bytes < count * self.cutter.size() && !self.has_ended {
            match self.cut_chunk() {
                Ok(Some(chunk)) => {
                    bytes += chunk.bytes.len();
                    self.cut.push(chunk);
                }
                Ok(None) => self.has_ended = true,
                Err(error) => {
                    self.failed = Some(error);
                    self.has_ended = true;
                }
            }
        }
    }

    fn cut_chunk(&mut self) -> Result<Option<Chunk>, FormatError> {
        let buffer = self.spare.pop().unwrap_or_default();
        let Some(mut chunk) = self.cutter.cut(buffer)? else { return Ok(None) };
        if let Some(preamble) = &mut self.preamble {
            let path = self.cutter.source().path();
            if let Some(layout) = preamble.pass(&mut chunk, path)? {
                self.rules.layout = layout;
                self.preamble = None;
            }
        }
        Ok(Some(chunk))
    }

    /// The piece with its position in the file.
    fn in_file(&mut self, parsed: Parsed<K>) -> Result<Piece<K>, FormatError> {
        if let Layout::Entries(matrix) = self.rules.layout {
            self.check_entries(&matrix, &parsed)?;
        }
        let Parsed { mut piece, chunk, .. } = parsed;
        let bad_lines = piece.skipped.examples.iter_mut().chain(&mut piece.bad);
        bad_lines.for_each(|bad| bad.line += self.lines);
        self.lines += piece.line;
        self.bytes = piece.byte;
        piece.line = self.lines;
        self.spare.extend(chunk);
        Ok(piece)
    }

    /// Counts the entries of a chunk and checks that there are not too many.
    fn check_entries(&mut self, matrix: &Matrix, parsed: &Parsed<K>) -> Result<(), FormatError> {
        let left = matrix.entries - self.entries;
        if parsed.entries <= left {
            self.entries += parsed.entries;
            return Ok(());
        }
        let mut bad = parsed.data_line(left, self.source().path());
        bad.line += self.lines;
        bad.problem = Problem::TooManyEntries { declared: matrix.entries };
        Err(Box::new(bad).into())
    }

    /// The piece after the last line: for a complete matrix its vertices.
    fn after_lines(&mut self) -> Result<Option<Piece<K>>, FormatError> {
        let is_incomplete = self.preamble.as_ref().and_then(Preamble::problem_at_end);
        let problem = is_incomplete.or(match self.rules.layout {
            Layout::Entries(Matrix { entries: declared, .. }) if self.entries < declared => {
                Some(Problem::MissingEntries { declared, found: self.entries })
            }
            _ => None,
        });
        if let Some(problem) = problem {
            let (path, line) = (self.source().path().into(), self.lines + 1);
            return Err(Box::new(BadLine { path, line, column: 1, found: String::new(), problem }).into());
        }
        let left = self.vertices.get_or_insert_with(|| match self.rules.layout {
            Layout::Entries(matrix) => 1..matrix.size + 1,
            _ => 1..1,
        });
        let end = left.end.min(left.start + VERTICES);
        let vertices: Vec<K> = (left.start..end).map(K::of_number).collect();
        left.start = end;
        let batch = Batch { edges: Vec::new(), vertices };
        Ok((!batch.is_empty()).then(|| Piece { batch, line: self.lines, ..Piece::new(self.bytes) }))
    }
}
