//! Rows of neighbors: the gaps between them, and the column of edge values.
//!
//! A row is the gap from the previous vertex, the number of neighbors less one, the distance from
//! the vertex to its first neighbor, and the gaps between neighbors. Each of these numbers is coded
//! with a shift that is chosen per chunk; gaps have one shift per class of rows whose numbers of
//! neighbors have the same bit length. A vertex with many neighbors has small gaps, so on graphs
//! with skewed degrees a shift per class comes within 1% of a shift per row, and takes no space.

use super::bits::{BitReader, BitWriter, GapCounts, unzigzag, zigzag};
use super::column::{ColumnReader, put_column};
use crate::checkpoint::CheckpointError;
use crate::stretch::put_stretch;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{Column, ColumnType, EdgeChange, EdgeValue, RecordHandle, VertexId};
use std::ops::RangeInclusive;

/// Maximum number of entries of a chunk.
pub(crate) const MAX_ENTRIES: usize = 1 << 17;

/// Number of record bytes that fill a chunk.
const MANY_BYTES: usize = 1 << 20;

/// Classes of rows: 1 neighbor, 2 and 3, 4 to 7, and so on.
const CLASSES: usize = MAX_ENTRIES.ilog2() as usize + 1;

/// Maximum number of neighbors that are passed on at a time.
const RUN: usize = 512;

/// The parameters of a chunk of rows, from its header and the description of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsShape {
    /// True if each edge is stored from its smaller end.
    pub(crate) is_undirected: bool,
    /// The type of the values.
    pub(crate) column: ColumnType,
    /// Greater than every vertex id.
    pub(crate) vertex_bound: u32,
    /// Number of entries.
    pub(crate) entries: usize,
    /// The [positions](EdgeChange::position_of) of the first and of the last entry.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// Collects the entries of a chunk.
#[derive(Debug)]
pub(crate) struct RowBuffer {
    vertex_bound: u32,
    /// The position of the last entry, of this chunk or of the previous one.
    last: Option<u64>,
    /// Each owner, and the end of its neighbors.
    rows: Vec<(VertexId, usize)>,
    neighbors: Vec<VertexId>,
    values: Vec<u64>,
    /// The records of all entries, each with its length, instead of values.
    records: Vec<u8>,
}

impl RowBuffer {
    /// A buffer for entries with both ends below the bound.
    pub(crate) fn new(vertex_bound: u32) -> Self {
        let (rows, neighbors, values, records) = Default::default();
        RowBuffer { vertex_bound, last: None, rows, neighbors, values, records }
    }

    /// Appends neighbors of `owner`, at most [`room`](RowBuffer::room).
    ///
    /// Fails if entries do not ascend, or exceed the bound.
    pub(crate) fn push<W: Column>(
        &mut self,
        owner: VertexId,
        neighbors: &[VertexId],
        values: &[W],
    ) -> Result<(), CheckpointError> {
        debug_assert!(neighbors.len() <= self.room());
        let [first, ..] = neighbors else { return Ok(()) };
        let [.., last] = neighbors else { return Ok(()) };
        let is_sorted = neighbors.is_sorted_by(|one, next| one < next);
        if !is_sorted || self.last >= Some(EdgeChange::position_of(owner, *first)) {
            return Err(CheckpointError::Contradiction("its edges don't ascend"));
        }
        if owner.max(*last).get() >= self.vertex_bound {
            return Err(CheckpointError::Contradiction("an edge ends beyond the vertex bound"));
        }
        self.last = Some(EdgeChange::position_of(owner, *last));
        self.neighbors.extend_from_slice(neighbors);
        if !matches!(W::TYPE, ColumnType::Unit | ColumnType::Record) {
            self.values.extend(values.iter().map(|value| value.to_bits().0));
        }
        let end = self.neighbors.len();
        match self.rows.last_mut() {
            Some((last, last_end)) if *last == owner => *last_end = end,
            _ => self.rows.push((owner, end)),
        }
        Ok(())
    }

    /// Appends the record of the next pushed entry.
    pub(crate) fn push_record(&mut self, bytes: &[u8]) {
        put_bytes(&mut self.records, bytes);
    }

    /// Number of further entries that fit.
    pub(crate) fn room(&self) -> usize {
        if self.records.len() >= MANY_BYTES { 0 } else { MAX_ENTRIES - self.neighbors.len() }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.neighbors.len()
    }

    /// The positions of the first and of the last entry, if there are entries.
    pub(crate) fn range(&self) -> Option<RangeInclusive<u64>> {
        let first = EdgeChange::position_of(self.rows.first()?.0, *self.neighbors.first()?);
        Some(first..=self.last?)
    }

    /// Empties the buffer. Later entries must still ascend from the earlier ones.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.neighbors.clear();
        self.values.clear();
        self.records.clear();
    }

    fn rows(&self) -> impl Iterator<Item = (VertexId, &[VertexId])> {
        let begins = std::iter::once(0).chain(self.rows.iter().map(|(_, end)| *end));
        self.rows.iter().zip(begins).map(|((owner, end), begin)| (*owner, &self.neighbors[begin..*end]))
    }

    /// Encodes the entries.
    pub(crate) fn encode(&self, is_undirected: bool, column: ColumnType) -> Vec<u8> {
        let mut counts = KindCounts::default();
        self.walk(is_undirected, |kind, gap| counts.of(kind).add(gap));
        let shifts = counts.best_shifts();
        let mut bits = BitWriter::with_capacity(self.len() * 2);
        self.walk(is_undirected, |kind, gap| bits.gap(gap, shifts.of(kind)));
        let bits = bits.finish();
        let mut bytes = Vec::with_capacity(bits.len() + 64);
        put_varint(&mut bytes, self.rows.len() as u64);
        shifts.encode(&mut bytes);
        put_bytes(&mut bytes, &bits);
        match column {
            ColumnType::Record => put_stretch(&mut bytes, &self.records),
            _ => put_column(&mut bytes, column, &self.values),
        }
        bytes
    }

    /// Visits every coded number, in order.
    #[inline]
    fn walk(&self, is_undirected: bool, mut visit: impl FnMut(GapKind, u64)) {
        let mut expected = 0;
        for (owner, neighbors) in self.rows() {
            let owner = owner.get();
            visit(GapKind::Owner, u64::from(owner - expected));
            visit(GapKind::Degree, neighbors.len() as u64 - 1);
            let class = class(neighbors.len());
            let first = neighbors[0].get();
            visit(GapKind::First(class), distance(is_undirected, owner, first));
            let mut before = first;
            for neighbor in &neighbors[1..] {
                visit(GapKind::Next(class), u64::from(neighbor.get() - before - 1));
                before = neighbor.get();
            }
            expected = owner + 1;
        }
    }
}

/// The class of a nonempty row.
#[inline]
fn class(neighbors: usize) -> usize {
    neighbors.ilog2() as usize
}

/// The distance from a vertex to its first neighbor, which in an undirected graph is not below the
/// vertex.
#[inline]
fn distance(is_undirected: bool, owner: u32, first: u32) -> u64 {
    if is_undirected { u64::from(first - owner) } else { zigzag(i64::from(first) - i64::from(owner)) }
}

/// The kind of a coded number.
#[derive(Clone, Copy, Debug)]
enum GapKind {
    Owner,
    Degree,
    First(usize),
    Next(usize),
}

/// One value per kind of coded number.
#[derive(Clone, Debug)]
struct PerKind<T> {
    owner: T,
    degree: T,
    first: [T; CLASSES],
    next: [T; CLASSES],
}

type KindCounts = PerKind<GapCounts>;
type Shifts = PerKind<u8>;

impl Default for KindCounts {
    fn default() -> Self {
        let none = || std::array::from_fn(|_| GapCounts::NONE);
        PerKind { owner: GapCounts::NONE, degree: GapCounts::NONE, first: none(), next: none() }
    }
}

impl KindCounts {
    #[inline]
    fn of(&mut self, kind: GapKind) -> &mut GapCounts {
        match kind {
            GapKind::Owner => &mut self.owner,
            GapKind::Degree => &mut self.degree,
            GapKind::First(class) => &mut self.first[class],
            GapKind::Next(class) => &mut self.next[class],
        }
    }

    fn best_shifts(&self) -> Shifts {
        // Shifts are at most 32.
        let best = |counts: &GapCounts| if counts.is_empty() { 0 } else { counts.best_shift() as u8 };
        PerKind {
            owner: best(&self.owner),
            degree: best(&self.degree),
            first: self.first.each_ref().map(best),
            next: self.next.each_ref().map(best),
        }
    }
}

impl Shifts {
    #[inline]
    fn of(&self, kind: GapKind) -> u32 {
        u32::from(match kind {
            GapKind::Owner => self.owner,
            GapKind::Degree => self.degree,
            GapKind::First(class) => self.first[class],
            GapKind::Next(class) => self.next[class],
        })
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.owner, self.degree]);
        bytes.extend_from_slice(&self.first);
        bytes.extend_from_slice(&self.next);
    }

    fn decode(bytes: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (owner, degree) = (bytes.byte()?, bytes.byte()?);
        let mut shifts = PerKind { owner, degree, first: [0; CLASSES], next: [0; CLASSES] };
        shifts.first.copy_from_slice(bytes.take(CLASSES)?);
        shifts.next.copy_from_slice(bytes.take(CLASSES)?);
        Ok(shifts)
    }
}

/// Passes on the entries in runs of neighbors of one vertex, ascending. A vertex may have several
/// runs.
///
/// `W` is the type of the values, or `()` to skip them. Entries passed on before an error also
/// ascend, are below the bound, and are within the chunk's range.
pub(crate) fn read_rows<W: Column>(
    bytes: &[u8],
    shape: &RowsShape,
    mut visit: impl FnMut(VertexId, &[VertexId], &[W]),
) -> Result<(), DecodeError> {
    read_rows_beside::<W>(bytes, shape, &mut |owner, neighbors, values, _| visit(owner, neighbors, values))
}

/// Passes on the entries of a chunk with records, one by one, each with its record.
pub(crate) fn read_record_rows(
    bytes: &[u8],
    shape: &RowsShape,
    mut visit: impl FnMut(VertexId, VertexId, &[u8]),
) -> Result<(), DecodeError> {
    read_rows_beside::<RecordHandle>(bytes, shape, &mut |owner, neighbors, handles, records| {
        for (neighbor, handle) in neighbors.iter().zip(handles) {
            // The handle is the offset that the reader of the column found.
            let begin = handle.to_bits().0 as usize;
            let record = records.get(begin..).and_then(|records| Reader::new(records).bytes().ok());
            visit(owner, *neighbor, record.unwrap_or_default());
        }
    })
}

/// Passes on the entries, with the bytes into which record values are offsets.
fn read_rows_beside<W: Column>(
    bytes: &[u8],
    shape: &RowsShape,
    visit: &mut impl FnMut(VertexId, &[VertexId], &[W], &[u8]),
) -> Result<(), DecodeError> {
    let mut bytes = Reader::new(bytes);
    let rows = bytes.varint()?;
    let shifts = Shifts::decode(&mut bytes)?;
    let gaps = bytes.bytes()?;
    let gaps = BitReader::new(gaps, bytes.position() - gaps.len());
    let values = ColumnReader::begin(&mut bytes, shape.column, shape.entries)?;
    bytes.end()?;
    let mut reader = RowDecoder { shape, shifts, gaps, values, owner: None, left: shape.entries };
    let mut run = EdgeRun { neighbors: [VertexId::new(0); RUN], values: [W::default(); RUN] };
    for _ in 0..rows {
        reader.read_row(&mut run, visit)?;
    }
    reader.finish()
}

struct EdgeRun<W> {
    neighbors: [VertexId; RUN],
    values: [W; RUN],
}

struct RowDecoder<'a> {
    shape: &'a RowsShape,
    shifts: Shifts,
    gaps: BitReader<'a>,
    values: ColumnReader<'a>,
    /// The last owner and its last neighbor.
    owner: Option<(VertexId, VertexId)>,
    /// Number of unread entries.
    left: usize,
}

impl RowDecoder<'_> {
    fn read_row<W: Column>(
        &mut self,
        run: &mut EdgeRun<W>,
        visit: &mut impl FnMut(VertexId, &[VertexId], &[W], &[u8]),
    ) -> Result<(), DecodeError> {
        let expected = self.owner.map_or(0, |(owner, _)| u64::from(owner.get()) + 1);
        let owner = self.gaps.gap(self.shifts.of(GapKind::Owner))?.saturating_add(expected);
        let owner = self.vertex(owner)?;
        let degree = self.gaps.gap(self.shifts.of(GapKind::Degree))?;
        if degree >= self.left as u64 {
            return Err(self.gaps.error("more entries than the chunk has"));
        }
        let degree = degree as usize + 1;
        let class = class(degree);
        let first = self.gaps.gap(self.shifts.of(GapKind::First(class)))?;
        let neighbor = if self.shape.is_undirected {
            first.checked_add(u64::from(owner.get()))
        } else {
            u64::try_from(unzigzag(first).wrapping_add(i64::from(owner.get()))).ok()
        };
        let mut neighbor = self.vertex(neighbor.unwrap_or(u64::MAX))?;
        if self.owner.is_none() && EdgeChange::position_of(owner, neighbor) != self.shape.first {
            return Err(self.gaps.error("another first entry than the chunk says"));
        }
        let shift = self.shifts.of(GapKind::Next(class));
        let mut filled = 1;
        run.neighbors[0] = neighbor;
        for _ in 1..degree {
            if filled == RUN {
                self.hand_over(owner, run, filled, visit)?;
                filled = 0;
            }
            let next = self.gaps.gap(shift)?.saturating_add(u64::from(neighbor.get()) + 1);
            neighbor = self.vertex(next)?;
            run.neighbors[filled] = neighbor;
            filled += 1;
        }
        self.hand_over(owner, run, filled, visit)?;
        self.left -= degree;
        self.owner = Some((owner, neighbor));
        Ok(())
    }

    #[inline]
    fn vertex(&self, number: u64) -> Result<VertexId, DecodeError> {
        if number < u64::from(self.shape.vertex_bound) {
            // The bound is at most 2^32 - 1.
            return Ok(VertexId::new(number as u32));
        }
        Err(self.gaps.error("a vertex beyond the bound"))
    }

    fn hand_over<W: Column>(
        &mut self,
        owner: VertexId,
        run: &mut EdgeRun<W>,
        filled: usize,
        visit: &mut impl FnMut(VertexId, &[VertexId], &[W], &[u8]),
    ) -> Result<(), DecodeError> {
        if EdgeChange::position_of(owner, run.neighbors[filled - 1]) > self.shape.last {
            return Err(self.gaps.error("an entry behind the last that the chunk says"));
        }
        if W::TYPE != ColumnType::Unit {
            for value in &mut run.values[..filled] {
                *value = W::from_bits(EdgeValue(self.values.next()?));
            }
        }
        visit(owner, &run.neighbors[..filled], &run.values[..filled], self.values.records());
        Ok(())
    }

    fn finish(&self) -> Result<(), DecodeError> {
        let last = self.owner.map(|(owner, neighbor)| EdgeChange::position_of(owner, neighbor));
        if self.left > 0 || last != Some(self.shape.last) {
            return Err(self.gaps.error("other entries than the chunk says"));
        }
        self.gaps.finish()
    }
}
