//! Reads graph files in batches.

use crate::error::{ErrorKind, FormatError};
use crate::format::{GraphFormat, pair_of};
use crate::piece::{Piece, Remainder};
use crate::progress::{Position, Progress, SkippedLines};
use crate::serialized::SerializedReader;
use crate::source::Source;
use crate::text::{EXAMPLES, Layout, TextReader};
use crate::{Batch, ReadOptions, VertexKey};
use rayon::ThreadPool;
use std::io::Read;
use std::path::Path;

/// Reads a graph file, or a pair of a vertex and an edge file, in batches.
///
/// Memory: the batch. For text, also 2 bytes per edge of a batch, at most 256 KiB, and the parsed
/// contents, for each chunk in progress: one, or eight per thread of a pool. A longer line (up to
/// the format's limit) is held as a whole. For a binary file, 8 bytes per vertex, which the file
/// takes as well. For zstd, a window of at most 128 MiB. None of this depends on the sizes that the
/// file claims.
///
/// Do not trust the graph until the end is reached without an error: the checksums of compressed
/// data come after it.
pub struct GraphReader<K> {
    parts: Vec<Part<K>>,
    /// The part being read; the number of parts at the end.
    current: usize,
    batch_size: usize,
    /// Contents that were read but not returned.
    remainder: Option<Remainder<K>>,
    skipped: SkippedLines,
}

/// One of the files.
enum Part<K> {
    Text(Box<TextReader<K>>),
    Serialized(Box<SerializedReader<K>>),
}

impl<K: VertexKey> GraphReader<K> {
    /// Opens a file of any format with default options: see [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// See [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        Self::open_with(path, ReadOptions::default())
    }

    /// Opens a graph file.
    ///
    /// An edge list named `x.e` that has a sibling `x.v` (either may also end in `.gz` or `.zst`)
    /// is read together with it, whichever of the two is named: first the vertices of `x.v`, one
    /// key per line.
    ///
    /// # Errors
    /// A file cannot be opened, or is a directory.
    pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let (vertices, edges) = pair_of(path, options.format_of(path));
        let vertices = vertices.map(|path| Source::open(&path)).transpose()?;
        Ok(Self::from_sources(vertices, Source::open(&edges)?, &options))
    }

    /// Opens a file of vertices, one key per line; only `skip_bad_lines` and `batch_size` matter.
    ///
    /// # Errors
    /// The file cannot be opened, or is a directory.
    pub fn open_vertices(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, FormatError> {
        let source = Source::open(path.as_ref())?;
        Ok(Self::of_parts(vec![vertices_part(source, &options)], &options))
    }

    /// Reads from any reader, such as standard input; errors use `name` as the file name.
    ///
    /// # Errors
    /// Its first bytes cannot be read.
    pub fn from_reader(
        name: impl AsRef<Path>,
        reader: impl Read + Send + 'static,
        options: ReadOptions,
    ) -> Result<Self, FormatError> {
        let source = Source::new(name.as_ref(), Box::new(reader), None)?;
        Ok(Self::from_sources(None, source, &options))
    }

    fn from_sources(vertices: Option<Source>, graph: Source, options: &ReadOptions) -> Self {
        let vertices = vertices.map(|source| vertices_part(source, options));
        let parts = vertices.into_iter().chain([graph_part(graph, options)]).collect();
        Self::of_parts(parts, options)
    }

    fn of_parts(parts: Vec<Part<K>>, options: &ReadOptions) -> Self {
        let (batch_size, skipped) = (options.batch_size.max(1), SkippedLines::default());
        GraphReader { parts, current: 0, batch_size, remainder: None, skipped }
    }

    /// Returns true if the file says that its graph is undirected, although it has the edges from
    /// both ends: a serialized graph may. To be called before anything is read. O(1).
    ///
    /// # Errors
    /// The beginning of the file is wrong, or cannot be read.
    pub fn is_undirected(&mut self) -> Result<bool, FormatError> {
        match self.parts.get_mut(self.current) {
            Some(Part::Serialized(reader)) => {
                let is_undirected = reader.is_undirected();
                is_undirected.map_err(|error| self.cause_of(error))
            }
            _ => Ok(false),
        }
    }

    /// Replaces the contents of `batch` with the next edges and vertices; false at the end.
    ///
    /// # Errors
    /// A bad line, unless bad lines are skipped; or a file that cannot be read or decompressed,
    /// which is reported in preference to a bad line that it causes. `batch` then holds the
    /// contents before the error, and the reader is at its end.
    pub fn read_batch(&mut self, batch: &mut Batch<K>) -> Result<bool, FormatError> {
        self.read_batch_on(None, batch)
    }

    /// Like [`read_batch`](Self::read_batch), on the threads of a pool: some read and decompress
    /// text while others parse it. Batches are identical, edge by edge, whatever the pool.
    ///
    /// # Errors
    /// See [`read_batch`](Self::read_batch).
    pub fn read_batch_on(
        &mut self,
        pool: Option<&ThreadPool>,
        batch: &mut Batch<K>,
    ) -> Result<bool, FormatError> {
        batch.clear();
        while batch.len() < self.batch_size && self.current < self.parts.len() {
            if let Err(error) = self.read_more(pool, batch) {
                self.current = self.parts.len();
                self.remainder = None;
                return Err(error);
            }
        }
        Ok(!batch.is_empty())
    }

    /// Replaces `pieces` with the next pieces of the file, which were parsed together on the
    /// threads of the pool and are not copied; or with one batch, if vertices may stand among the
    /// edges. Returns false at the end.
    ///
    /// # Errors
    /// See [`read_batch`](Self::read_batch); `pieces` then has the contents before the error.
    pub fn read_pieces_on(
        &mut self,
        pool: Option<&ThreadPool>,
        pieces: &mut Vec<Batch<K>>,
    ) -> Result<bool, FormatError> {
        let spare = pieces.drain(..);
        match self.parts.get_mut(self.current) {
            Some(Part::Text(reader)) => spare.for_each(|batch| reader.reuse(batch)),
            _ => drop(spare),
        }
        let (mut batch, mut is_ready) = (Batch::new(), true);
        while self.current < self.parts.len() && batch.len() < self.batch_size {
            if !(is_ready || pieces.is_empty()) {
                break;
            }
            if let Err(error) = self.read_piece(pool, pieces, &mut batch) {
                self.current = self.parts.len();
                self.remainder = None;
                pieces.push(batch);
                return Err(error);
            }
            is_ready = self.parts.get(self.current).is_some_and(Part::has_parsed) || !batch.is_empty();
        }
        if !batch.is_empty() {
            pieces.push(batch);
        }
        Ok(!pieces.is_empty())
    }

    /// Lines skipped so far, which may be ahead of the batches.
    #[must_use]
    pub fn skipped(&self) -> &SkippedLines {
        &self.skipped
    }

    /// The position of the reader, which may be ahead of the batches: for messages. O(1).
    #[must_use]
    pub fn position(&self) -> Position<'_> {
        match &self.parts[self.current.min(self.parts.len() - 1)] {
            Part::Text(reader) => reader.position(),
            Part::Serialized(reader) => reader.position(),
        }
    }

    /// The progress of reading, for a progress bar. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress {
        let sources = || self.parts.iter().map(Part::source);
        Progress { done: sources().map(Source::bytes_used).sum(), total: sources().map(Source::size).sum() }
    }

    /// Returns more of the last piece, or reads the next one, or goes to the next file.
    fn read_more(&mut self, pool: Option<&ThreadPool>, batch: &mut Batch<K>) -> Result<(), FormatError> {
        if let Some(remainder) = &mut self.remainder {
            let is_done = remainder.hand_over(self.batch_size - batch.len(), batch);
            let bad = if is_done { self.remainder.take().and_then(Remainder::into_bad) } else { None };
            return bad.map_or(Ok(()), |bad| Err(self.cause_of(Box::new(bad).into())));
        }
        self.remainder = self.next_piece(pool)?.map(Remainder::of);
        Ok(())
    }

    /// Appends the next piece to `pieces`, or to `batch` if vertices may stand among the edges; or
    /// goes to the next file.
    fn read_piece(
        &mut self,
        pool: Option<&ThreadPool>,
        pieces: &mut Vec<Batch<K>>,
        batch: &mut Batch<K>,
    ) -> Result<(), FormatError> {
        if self.remainder.is_some() || self.parts[self.current].mixes_vertices() {
            return self.read_more(pool, batch);
        }
        let Some(mut piece) = self.next_piece(pool)? else { return Ok(()) };
        // The first piece of a file may tell that it is a matrix.
        if !self.parts[self.current].mixes_vertices() && !piece.batch.is_empty() {
            pieces.push(std::mem::take(&mut piece.batch));
        }
        self.remainder = Some(Remainder::of(piece));
        Ok(())
    }

    /// The next piece; `None` if the reader has gone to the next file instead.
    fn next_piece(&mut self, pool: Option<&ThreadPool>) -> Result<Option<Piece<K>>, FormatError> {
        let next = self.parts[self.current].next(pool);
        let piece = next.map_err(|error| self.cause_of(error))?;
        match &piece {
            Some(piece) => self.note_skipped(piece),
            None => self.current += 1,
        }
        Ok(piece)
    }

    /// Reads on to find damage of the compressed data that checksums within the next gibibyte
    /// reveal: for callers that refuse what was read. Leaves the reader at its end.
    pub fn damage(&mut self) -> Option<FormatError> {
        let current = std::mem::replace(&mut self.current, self.parts.len());
        self.remainder = None;
        match self.parts.get_mut(current)? {
            Part::Text(reader) => reader.damage(),
            Part::Serialized(reader) => reader.damage(),
        }
    }

    /// The cause of a fault: damage of the compressed data, or the fault itself.
    fn cause_of(&mut self, fault: FormatError) -> FormatError {
        let is_bad = fault.kind() == ErrorKind::BadInput;
        is_bad.then(|| self.damage()).flatten().unwrap_or(fault)
    }

    fn note_skipped(&mut self, piece: &Piece<K>) {
        let room = EXAMPLES - self.skipped.examples.len();
        self.skipped.examples.extend(piece.skipped.examples.iter().take(room).cloned());
        self.skipped.count += piece.skipped.count;
    }
}

impl<K: VertexKey> Part<K> {
    fn source(&self) -> &Source {
        match self {
            Part::Text(reader) => reader.source(),
            Part::Serialized(reader) => reader.source(),
        }
    }

    /// Returns true if vertices may stand among the edges.
    fn mixes_vertices(&self) -> bool {
        match self {
            Part::Text(reader) => reader.mixes_vertices(),
            Part::Serialized(_) => false,
        }
    }

    /// Returns true if the next piece can be had at once.
    fn has_parsed(&self) -> bool {
        match self {
            Part::Text(reader) => reader.has_parsed(),
            Part::Serialized(_) => false,
        }
    }

    fn next(&mut self, pool: Option<&ThreadPool>) -> Result<Option<Piece<K>>, FormatError> {
        match self {
            Part::Text(reader) => reader.next(pool),
            Part::Serialized(reader) => reader.next(),
        }
    }
}

fn vertices_part<K: VertexKey>(source: Source, options: &ReadOptions) -> Part<K> {
    Part::Text(Box::new(TextReader::new(source, Layout::Vertices, None, options)))
}

fn graph_part<K: VertexKey>(source: Source, options: &ReadOptions) -> Part<K> {
    use GraphFormat as Format;
    let format = options.format_of(source.path());
    let text = match format {
        None => TextReader::edges(source, None, options),
        Some(Format::EdgeList | Format::Tsv | Format::Csv | Format::Graphalytics) => {
            TextReader::edges(source, Some(false), options)
        }
        Some(Format::MatrixMarket) => TextReader::edges(source, Some(true), options),
        Some(Format::Adjacency) => TextReader::new(source, Layout::Adjacency, None, options),
        Some(Format::Serialized | Format::WeightedSerialized) => {
            let is_weighted = format == Some(Format::WeightedSerialized);
            return Part::Serialized(Box::new(SerializedReader::new(source, is_weighted)));
        }
    };
    Part::Text(Box::new(text))
}
