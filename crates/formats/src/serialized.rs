//! The serialized graphs of the GAP benchmark suite, `.sg` and `.wsg`.
//!
//! All numbers are little-endian and follow each other without gaps:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | 1 if the graph is directed, else 0 |
//! | 8 | m, the number of neighbors: edges, or in an undirected graph twice as many |
//! | 8 | n, the number of vertices; their ids are 0 to n - 1 |
//! | 8 (n + 1) | the offset of each vertex's first neighbor among all neighbors, and m |
//! | 4 m, with weights 8 m | the neighbors, row by row: an id of 32 bits, then with weights a signed weight of 32 bits |
//! | size of the last two | for a directed graph: offsets and neighbors of the in-edges |
//!
//! The suite writes ascending rows, without self loops and repeated neighbors; it reads any
//! contents with this layout. This module reads such files and checks everything that it takes from
//! them. `write/serialized.rs` writes them.

use crate::error::FormatError;
use crate::piece::Piece;
use crate::progress::Position;
use crate::source::Source;
use crate::{Batch, Edge, VertexKey};

/// Ids are signed 32-bit numbers, and so is the suite's number of offsets, which exceeds the number
/// of vertices by one.
pub(crate) const MAX_VERTICES: u64 = (1 << 31) - 2;

/// The file is read in pieces of this size.
const PIECE: usize = 64 << 10;

/// Bytes before the offsets.
const HEADER: u64 = 17;

/// A serialized graph, read piece by piece: first its vertices, then the edges.
pub(crate) struct SerializedReader<K> {
    bytes: Bytes,
    is_weighted: bool,
    step: Step,
    keys: std::marker::PhantomData<fn() -> K>,
}

/// The next part to read.
enum Step {
    Header,
    /// The offsets of the out-neighbors.
    Offsets(Header, Vec<u64>),
    /// The out-neighbors.
    Neighbors(Header, Rows),
    /// Offsets and ids of the in-neighbors, which are redundant but must be valid.
    Inverse(Header),
    End,
}

#[derive(Clone, Copy)]
struct Header {
    is_directed: bool,
    neighbors: u64,
    vertices: u64,
}

/// The ends of the rows, and the position among the neighbors.
struct Rows {
    ends: Vec<u64>,
    vertex: usize,
    next: u64,
}

/// The bytes of the file, counted.
struct Bytes {
    source: Source,
    offset: u64,
    buffer: Vec<u8>,
}

impl<K: VertexKey> SerializedReader<K> {
    pub fn new(source: Source, is_weighted: bool) -> Self {
        let bytes = Bytes { source, offset: 0, buffer: Vec::new() };
        SerializedReader { bytes, is_weighted, step: Step::Header, keys: std::marker::PhantomData }
    }

    pub fn source(&self) -> &Source {
        &self.bytes.source
    }

    /// See [`Source::damage`].
    pub fn damage(&mut self) -> Option<FormatError> {
        self.bytes.source.damage()
    }

    pub fn position(&self) -> Position<'_> {
        Position { path: self.source().path(), line: 0, byte: self.bytes.offset }
    }

    /// The next piece; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Piece<K>>, FormatError> {
        let mut batch = Batch::new();
        let step = std::mem::replace(&mut self.step, Step::End);
        self.step = match step {
            Step::Header => self.begin()?,
            Step::Offsets(header, ends) => self.offsets(header, ends, &mut batch)?,
            Step::Neighbors(header, rows) => self.neighbors(header, rows, &mut batch)?,
            Step::Inverse(header) => {
                self.check_inverse(&header)?;
                self.bytes.expect_end()?;
                Step::End
            }
            Step::End => return Ok(None),
        };
        Ok(Some(Piece { batch, ..Piece::new(self.bytes.offset) }))
    }

    /// Returns true if the file says that its graph is undirected, whose edges stand at both ends.
    pub fn is_undirected(&mut self) -> Result<bool, FormatError> {
        if let Step::Header = self.step {
            self.step = Step::End;
            self.step = self.begin()?;
        }
        Ok(matches!(&self.step, Step::Offsets(header, _) if !header.is_directed))
    }

    /// Reads what comes before the offsets of the rows.
    fn begin(&mut self) -> Result<Step, FormatError> {
        let header = self.header()?;
        self.check_size(&header)?;
        self.bytes.first_offset()?;
        Ok(Step::Offsets(header, Vec::new()))
    }

    fn header(&mut self) -> Result<Header, FormatError> {
        let expected = "0 or 1, whether the graph is directed";
        self.bytes.read(1, expected)?;
        let directed = self.bytes.buffer[0];
        if directed > 1 {
            return Err(self.bytes.bad(0, directed.to_string(), expected.into()));
        }
        let neighbors = self.bytes.count(1, "the number of edges", i64::MAX as u64)?;
        let vertices = self.bytes.count(9, "the number of vertices", MAX_VERTICES)?;
        Ok(Header { is_directed: directed == 1, neighbors, vertices })
    }

    /// Checks that the size of the file, if known, matches the header, before anything is
    /// allocated.
    fn check_size(&self, header: &Header) -> Result<(), FormatError> {
        let Some(size) = self.source().plain_size() else { return Ok(()) };
        let neighbor = if self.is_weighted { 8 } else { 4 };
        let rows = 8 * (u128::from(header.vertices) + 1) + neighbor * u128::from(header.neighbors);
        let expected = u128::from(HEADER) + rows * if header.is_directed { 2 } else { 1 };
        if u128::from(size) == expected {
            return Ok(());
        }
        let Header { neighbors, vertices, .. } = header;
        let weights = if self.is_weighted { "with" } else { "without" };
        let sizes = format!("{vertices} vertices and {neighbors} neighbors {weights} weights");
        let expected = format!("{expected} bytes in all, because the header says {sizes}");
        Err(self.bytes.bad(1, format!("the header of a file of {size} bytes"), expected))
    }

    /// Reads a piece of the offsets, each the end of a row, and returns their vertices.
    fn offsets(
        &mut self,
        header: Header,
        mut ends: Vec<u64>,
        batch: &mut Batch<K>,
    ) -> Result<Step, FormatError> {
        if self.source().plain_size().is_some() {
            // The size of the file has been checked.
            ends.reserve_exact(header.vertices as usize - ends.len());
        }
        let first = ends.len() as u64;
        let last = header.vertices.min(first + (PIECE / 8) as u64);
        self.bytes.offsets(first..last, header, ends.last().copied().unwrap_or(0), |end| ends.push(end))?;
        batch.vertices.extend((first..last).map(K::of_number));
        if last < header.vertices {
            return Ok(Step::Offsets(header, ends));
        }
        self.bytes.expect_all(ends.last().copied().unwrap_or(0), header.neighbors)?;
        Ok(Step::Neighbors(header, Rows { ends, vertex: 0, next: 0 }))
    }

    /// Reads a piece of the neighbors.
    fn neighbors(
        &mut self,
        header: Header,
        mut rows: Rows,
        batch: &mut Batch<K>,
    ) -> Result<Step, FormatError> {
        let width = if self.is_weighted { 8 } else { 4 };
        let count = (header.neighbors - rows.next).min((PIECE / width) as u64);
        batch.edges.reserve_exact(count as usize);
        let is_weighted = self.is_weighted;
        self.bytes.neighbors(count, width, header.vertices, |neighbor, entry| {
            while rows.ends[rows.vertex] <= rows.next {
                rows.vertex += 1;
            }
            rows.next += 1;
            let weight = if is_weighted { Some(f64::from(number(&entry[4..]))) } else { None };
            let source = K::of_number(rows.vertex as u64);
            batch.edges.push(Edge { weight, ..Edge::new(source, K::of_number(neighbor)) });
        })?;
        if rows.next < header.neighbors {
            return Ok(Step::Neighbors(header, rows));
        }
        if header.is_directed {
            return Ok(Step::Inverse(header));
        }
        self.bytes.expect_end()?;
        Ok(Step::End)
    }

    fn check_inverse(&mut self, header: &Header) -> Result<(), FormatError> {
        self.bytes.first_offset()?;
        let (mut first, mut end) = (0, 0);
        while first < header.vertices {
            let last = header.vertices.min(first + (PIECE / 8) as u64);
            self.bytes.offsets(first..last, *header, end, |next| end = next)?;
            first = last;
        }
        self.bytes.expect_all(end, header.neighbors)?;
        let width = if self.is_weighted { 8 } else { 4 };
        let mut left = header.neighbors;
        while left > 0 {
            let count = left.min((PIECE / width) as u64);
            self.bytes.neighbors(count, width, header.vertices, |_, _| {})?;
            left -= count;
        }
        Ok(())
    }
}

impl Bytes {
    /// Fills the buffer with the next `length` bytes, at most a piece.
    fn read(&mut self, length: usize, expected: &str) -> Result<(), FormatError> {
        self.buffer.resize(length, 0);
        let mut read = 0;
        while read < length {
            match self.source.read(&mut self.buffer[read..])? {
                0 => {
                    let end = self.offset + read as u64;
                    return Err(self.bad(end, "the end of the file".into(), expected.into()));
                }
                more => read += more,
            }
        }
        self.offset += length as u64;
        Ok(())
    }

    /// Reads a count at `at`.
    fn count(&mut self, at: u64, what: &str, most: u64) -> Result<u64, FormatError> {
        self.read(8, what)?;
        let count = long(&self.buffer);
        match u64::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(self.bad(at, count.to_string(), format!("{what}, from 0 to {most}"))),
        }
    }

    /// The first offset, which is 0.
    fn first_offset(&mut self) -> Result<(), FormatError> {
        let at = self.offset;
        self.read(8, "0, the offset of the first neighbors")?;
        match long(&self.buffer) {
            0 => Ok(()),
            other => {
                let expected = "0, where the first neighbors start".into();
                Err(self.bad(at, format!("the offset {other}"), expected))
            }
        }
    }

    /// Reads the offsets where the rows of `vertices` end, which must not fall below `start`.
    fn offsets(
        &mut self,
        vertices: std::ops::Range<u64>,
        header: Header,
        mut start: u64,
        mut visit: impl FnMut(u64),
    ) -> Result<(), FormatError> {
        let at = self.offset;
        let count = (vertices.end - vertices.start) as usize;
        self.read(8 * count, "the offset where the neighbors of a vertex end")?;
        for (index, bytes) in (0..).zip(self.buffer.chunks_exact(8)) {
            let offset = long(bytes);
            match u64::try_from(offset) {
                Ok(end) if (start..=header.neighbors).contains(&end) => {
                    start = end;
                    visit(end);
                }
                _ => {
                    let expected = format!("an offset from {start} to {}", header.neighbors);
                    return Err(self.bad(at + 8 * index, format!("the offset {offset}"), expected));
                }
            }
        }
        Ok(())
    }

    /// Checks that the rows hold all neighbors.
    fn expect_all(&self, end: u64, neighbors: u64) -> Result<(), FormatError> {
        if end == neighbors {
            return Ok(());
        }
        let expected = format!("{neighbors}, the number of neighbors, because this is the last offset");
        Err(self.bad(self.offset - 8, format!("the offset {end}"), expected))
    }

    /// Reads the next `count` neighbors, each of `width` bytes.
    fn neighbors(
        &mut self,
        count: u64,
        width: usize,
        vertices: u64,
        mut visit: impl FnMut(u64, &[u8]),
    ) -> Result<(), FormatError> {
        let at = self.offset;
        self.read(width * count as usize, "a neighbor")?;
        for (index, entry) in (0..).zip(self.buffer.chunks_exact(width)) {
            let neighbor = number(entry);
            match u64::try_from(neighbor) {
                Ok(neighbor) if neighbor < vertices => visit(neighbor, entry),
                _ => {
                    let found = format!("the neighbor {neighbor}");
                    let expected = format!("a vertex below {vertices}, the number of vertices");
                    return Err(self.bad(at + width as u64 * index, found, expected));
                }
            }
        }
        Ok(())
    }

    fn expect_end(&mut self) -> Result<(), FormatError> {
        let mut more = [0];
        match self.source.read(&mut more)? {
            0 => Ok(()),
            _ => Err(self.bad(self.offset, "more bytes".into(), "the end of the file".into())),
        }
    }

    fn bad(&self, offset: u64, found: String, expected: String) -> FormatError {
        FormatError::BadBytes { path: self.source.path().into(), offset, found, expected }
    }
}

/// The 64-bit number at the start of the bytes.
fn long(bytes: &[u8]) -> i64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[..8]);
    i64::from_le_bytes(number)
}

/// The 32-bit number at the start of the bytes.
fn number(bytes: &[u8]) -> i32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[..4]);
    i32::from_le_bytes(number)
}
