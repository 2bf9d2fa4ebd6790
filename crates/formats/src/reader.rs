//! Reads graph files in batches.

use crate::error::{BadLine, Fault, FormatError, Problem, excerpt};
use crate::fields::{Fields, is_blank_or_comment};
use crate::lines::{LineReader, Step};
use crate::parse;
use crate::source::Source;
use crate::{Batch, GraphFormat, Header, ReadOptions, VertexKey};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A line of an edge list or a vertex file is at most this long, in bytes.
pub const MAX_EDGE_LINE: usize = 1 << 20;

/// A line of the adjacency format is at most this long, in bytes.
pub const MAX_ADJACENCY_LINE: usize = 256 << 20;

/// A longer line of the adjacency format is checked as a whole first and then cut into batches.
const UNCUT_LINE: usize = 64 << 10;

/// How a Matrix Market file starts.
const MATRIX_MARKET: &[u8] = b"%%MatrixMarket";

/// So many bad lines are kept as examples.
const EXAMPLES: usize = 5;

/// Reads a graph file, or a pair of a vertex and an edge file, in batches.
///
/// Memory: the batch, the longest line so far (at most the format's limit), and buffers of less
/// than 1 MiB, for zstd also its window of at most 128 MiB; independent of the file's size.
///
/// Until the end is reached without an error, the graph is not to be trusted: the checksums of
/// compressed data come after it.
pub struct GraphReader<K> {
    parts: Vec<Part>,
    /// The part that is being read; the number of parts at the end.
    current: usize,
    options: ReadOptions,
    /// The rest of a long line of the adjacency format.
    pending: Option<Pending<K>>,
    skipped: SkippedLines,
}

/// One of the files.
struct Part {
    lines: LineReader,
    layout: Layout,
    /// No line that could be a header has come yet.
    before_header: bool,
    /// The first line has said that this is a Matrix Market file: a line of sizes comes before the edges.
    has_sizes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Vertices,
    Edges,
    Adjacency,
}

/// The current line has been checked; its neighbours from `position` on are still to be handed over.
struct Pending<K> {
    source: K,
    position: usize,
}

/// Lines that were passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// How many.
    pub count: u64,
    /// What was wrong with the first few.
    pub examples: Vec<BadLine>,
}

/// What has been read up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The file.
    pub path: &'a Path,
    /// The number of its last line read, from 1; 0 before the first.
    pub line: u64,
    /// Bytes of text up to and with that line.
    pub byte: u64,
}

/// How much of the files has been used, in bytes as they lie on disk, compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes used.
    pub done: u64,
    /// The size of the files; `None` if unknown, as with a pipe.
    pub total: Option<u64>,
}

impl<K: VertexKey> GraphReader<K> {
    /// Opens an edge list with default options: see [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a graph file.
    ///
    /// An edge list named `x.e` that has a sibling `x.v` (either may end in `.gz` or `.zst` as
    /// well) is read together with it: first the vertices of `x.v`, one key per line.
    ///
    /// # Errors
    /// A file cannot be opened, or is a directory.
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let vertices = match options.format {
            GraphFormat::EdgeList => vertex_file_of(path),
            GraphFormat::Adjacency => None,
        };
        let vertices = vertices.map(|path| Source::open(&path)).transpose()?;
        Ok(Self::from_sources(vertices, Source::open(path)?, options))
    }

    /// Opens a file of vertices, one key per line; only `skip_bad_lines` and `batch_size` matter.
    ///
    /// # Errors
    /// The file cannot be opened, or is a directory.
    pub fn open_vertices(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FormatError> {
        let part = Part::new(Source::open(path.as_ref())?, Layout::Vertices);
        let skipped = SkippedLines::default();
        Ok(GraphReader { parts: vec![part], current: 0, options, pending: None, skipped })
    }

    /// Reads from any reader, such as standard input; errors call it `name`.
    ///
    /// # Errors
    /// Its first bytes cannot be read.
    pub fn from_reader(
        name: impl AsRef<Path>,
        reader: impl Read + Send + 'static,
        options: ReadOptions,
    ) -> Result<Self, FormatError> {
        let source = Source::new(name.as_ref(), Box::new(reader), None)?;
        Ok(Self::from_sources(None, source, options))
    }

    fn from_sources(vertices: Option<Source>, graph: Source, options: ReadOptions) -> Self {
        let layout = match options.format {
            GraphFormat::EdgeList => Layout::Edges,
            GraphFormat::Adjacency => Layout::Adjacency,
        };
        let vertices = vertices.map(|source| Part::new(source, Layout::Vertices));
        let parts = vertices.into_iter().chain([Part::new(graph, layout)]).collect();
        GraphReader { parts, current: 0, options, pending: None, skipped: SkippedLines::default() }
    }

    /// Replaces what `batch` holds by what comes next; false if nothing does.
    ///
    /// # Errors
    /// A bad line, unless bad lines are skipped; or a file that cannot be read or decompressed.
    /// `batch` then holds what came before, and the reader is at its end.
    pub fn read_batch(&mut self, batch: &mut Batch<K>) -> Result<bool, FormatError> {
        batch.clear();
        while batch.len() < self.options.batch_size.max(1) && self.current < self.parts.len() {
            if let Err(error) = self.read_line(batch) {
                self.current = self.parts.len();
                self.pending = None;
                return Err(error);
            }
        }
        Ok(!batch.is_empty())
    }

    /// Lines passed over so far.
    #[must_use]
    pub fn skipped(&self) -> &SkippedLines {
        &self.skipped
    }

    /// What has been read up to: for messages. O(1).
    #[must_use]
    pub fn position(&self) -> Position<'_> {
        let lines = &self.parts[self.current.min(self.parts.len() - 1)].lines;
        Position { path: lines.source().path(), line: lines.number(), byte: lines.bytes_consumed() }
    }

    /// How far the reading has come: for a progress bar. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress {
        let sources = || self.parts.iter().map(|part| part.lines.source());
        Progress { done: sources().map(Source::bytes_used).sum(), total: sources().map(Source::size).sum() }
    }

    /// Reads a line, or goes on with a long one, or goes on to the next file.
    #[inline]
    fn read_line(&mut self, batch: &mut Batch<K>) -> Result<(), FormatError> {
        if self.pending.is_some() {
            self.continue_line(batch);
            return Ok(());
        }
        let part = &mut self.parts[self.current];
        let parsed = match part.lines.advance()? {
            Step::Line => part.parse_line(&self.options, batch),
            Step::TooLong => Err(part.too_long()),
            Step::End => {
                self.current += 1;
                return Ok(());
            }
        };
        match parsed {
            Ok(pending) => {
                self.pending = pending;
                Ok(())
            }
            Err(fault) => self.bad_line(fault),
        }
    }

    /// Hands over neighbours of a long line until the batch is full.
    fn continue_line(&mut self, batch: &mut Batch<K>) {
        let Some(pending) = &mut self.pending else { return };
        let room = self.options.batch_size.max(1) - batch.len();
        let line = self.parts[self.current].lines.line();
        let next = parse::neighbours_from(line, pending.position, &pending.source, room, &mut batch.edges);
        match next {
            Some(position) => pending.position = position,
            None => self.pending = None,
        }
    }

    /// Counts a bad line if such are skipped, else makes it an error.
    #[cold]
    fn bad_line(&mut self, fault: Fault) -> Result<(), FormatError> {
        let part = &self.parts[self.current];
        if !self.options.skip_bad_lines {
            return Err(FormatError::from(Box::new(part.describe(fault))));
        }
        if self.skipped.examples.len() < EXAMPLES {
            self.skipped.examples.push(part.describe(fault));
        }
        self.skipped.count += 1;
        Ok(())
    }
}

impl Part {
    fn new(source: Source, layout: Layout) -> Self {
        let limit = if layout == Layout::Adjacency { MAX_ADJACENCY_LINE } else { MAX_EDGE_LINE };
        Part { lines: LineReader::new(source, limit), layout, before_header: true, has_sizes: false }
    }

    /// Puts the current line into the batch; gives back what is left of a long one.
    #[inline]
    fn parse_line<K: VertexKey>(
        &mut self,
        options: &ReadOptions,
        batch: &mut Batch<K>,
    ) -> Result<Option<Pending<K>>, Fault> {
        let line = self.lines.line();
        if is_blank_or_comment(line) {
            self.has_sizes |= self.lines.number() == 1 && line.starts_with(MATRIX_MARKET);
            return Ok(None);
        }
        match self.layout {
            Layout::Edges => {
                let first = std::mem::take(&mut self.before_header);
                if first && (self.has_sizes || is_header::<K>(line, options.header)) {
                    return Ok(None);
                }
                batch.edges.push(parse::edge(line, options.columns)?);
            }
            Layout::Vertices => batch.vertices.push(parse::vertex(line)?),
            Layout::Adjacency if line.len() > UNCUT_LINE => {
                let (source, neighbours) = parse::check_adjacency(line)?;
                match neighbours {
                    Some(position) => return Ok(Some(Pending { source, position })),
                    None => batch.vertices.push(source),
                }
            }
            Layout::Adjacency => parse::adjacency(line, batch)?,
        }
        Ok(None)
    }

    fn too_long(&self) -> Fault {
        let problem = Problem::LineTooLong { limit: self.lines.limit() };
        Fault { problem, start: 0, end: self.lines.line().len() }
    }

    /// A fault in the current line, in words.
    fn describe(&self, fault: Fault) -> BadLine {
        let line = self.lines.line();
        let found = match fault.problem {
            Problem::MissingDestination => line,
            _ => &line[fault.start..fault.end],
        };
        BadLine {
            path: self.lines.source().path().into(),
            line: self.lines.number(),
            column: (self.lines.column_offset() + fault.start) as u64 + 1,
            found: excerpt(found),
            problem: fault.problem,
        }
    }
}

/// Whether the first line of an edge list names its columns.
fn is_header<K: VertexKey>(line: &[u8], header: Header) -> bool {
    // A quoted number is a bad key, not a name that may be passed over.
    let is_name = |bytes: &[u8]| match bytes.strip_prefix(b"\"").unwrap_or(bytes).first() {
        Some(first) => !first.is_ascii_digit() && !matches!(first, b'-' | b'+' | b'.') && *first >= b' ',
        None => false,
    };
    match header {
        Header::Present => true,
        Header::Auto => {
            K::KIND != hedgerow_model::KeyKind::Text
                && Fields::has_comma(line)
                && Fields::new(line).take(2).filter(|field| is_name(field.bytes)).count() == 2
        }
    }
}

/// The vertex file beside an edge file named `x.e`, if there is one.
fn vertex_file_of(path: &Path) -> Option<PathBuf> {
    let is_compressed = |end: &OsStr| end == "gz" || end == "zst";
    let plain =
        if path.extension().is_some_and(is_compressed) { path.with_extension("") } else { path.into() };
    if plain.extension()? != "e" {
        return None;
    }
    ["v", "v.gz", "v.zst"].iter().map(|end| plain.with_extension(end)).find(|vertices| vertices.exists())
}
