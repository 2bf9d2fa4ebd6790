//! Vertices: their ids, keys and records. Ids that are passed over are free.

use super::bits::{BitReader, BitWriter, GapCounts};
use super::column::{ColumnReader, put_column};
use super::stretch::{put_stretch, read_stretch};
use crate::body::{decode_record, encode_value};
use crate::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{ColumnType, KeyKind, KeyRef, Record, VertexId};

/// Vertices of a chunk, at most.
pub(crate) const MAX_VERTICES: usize = 1 << 16;

/// Bytes of keys or of records in a chunk, unless one alone has more.
const MANY_BYTES: usize = 1 << 20;

/// What a chunk of vertices says of itself beside its bytes, and what the graph says of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerticesShape {
    /// What keys are.
    pub(crate) keys: KeyKind,
    /// Fields of a record.
    pub(crate) fields: usize,
    /// Every vertex is below this.
    pub(crate) vertex_bound: u32,
    /// Vertices.
    pub(crate) entries: usize,
    /// The first and the last vertex.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// Vertices that are going to be a chunk.
#[derive(Debug, Default)]
pub(crate) struct VertexBuffer {
    ids: Vec<VertexId>,
    /// Keys that are numbers, or the lengths of those that are texts.
    numbers: Vec<u64>,
    texts: Vec<u8>,
    records: Vec<u8>,
    has_records: bool,
}

impl VertexBuffer {
    /// A buffer for vertices with or without records.
    pub(crate) fn new(has_records: bool) -> Self {
        VertexBuffer { has_records, ..VertexBuffer::default() }
    }

    /// Appends a vertex above all that were appended.
    pub(crate) fn push(&mut self, vertex: VertexId, key: KeyRef<'_>, record: &Record) {
        self.ids.push(vertex);
        match key {
            KeyRef::Number(number) => self.numbers.push(number),
            KeyRef::Text(text) => {
                self.numbers.push(text.len() as u64);
                self.texts.extend_from_slice(text.as_bytes());
            }
        }
        if self.has_records {
            put_varint(&mut self.records, record.values().len() as u64);
            record.values().iter().for_each(|value| encode_value(&mut self.records, value));
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.ids.len() >= MAX_VERTICES || self.texts.len().max(self.records.len()) >= MANY_BYTES
    }

    /// The vertices, ascending.
    pub(crate) fn ids(&self) -> &[VertexId] {
        &self.ids
    }

    /// Empties the buffer.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.numbers.clear();
        self.texts.clear();
        self.records.clear();
    }

    /// The vertices as bytes.
    pub(crate) fn encode(&self, keys: KeyKind) -> Vec<u8> {
        let mut counts = GapCounts::NONE;
        self.gaps().for_each(|gap| counts.add(gap));
        let shift = counts.best_shift();
        let mut bits = BitWriter::with_capacity(self.ids.len() / 4);
        self.gaps().for_each(|gap| bits.gap(gap, shift));
        let bits = bits.finish();
        let mut bytes = vec![shift as u8];
        put_bytes(&mut bytes, &bits);
        if keys != KeyKind::Dense {
            put_column(&mut bytes, ColumnType::U64, &self.numbers);
        }
        if keys == KeyKind::Text {
            put_stretch(&mut bytes, &self.texts);
        }
        if self.has_records {
            put_stretch(&mut bytes, &self.records);
        }
        bytes
    }

    /// How many ids lie between a vertex and the one before; for the first, its id.
    fn gaps(&self) -> impl Iterator<Item = u64> {
        let expected = std::iter::once(0).chain(self.ids.iter().map(|id| u64::from(id.get()) + 1));
        self.ids.iter().zip(expected).map(|(id, expected)| u64::from(id.get()) - expected)
    }
}

/// Hands the vertices over, ascending, each with its key and its record.
pub(crate) fn read_vertices(
    bytes: &[u8],
    shape: &VerticesShape,
    mut visit: impl FnMut(VertexId, KeyRef<'_>, Record),
) -> Result<(), DecodeError> {
    let mut bytes = Reader::new(bytes);
    let shift = u32::from(bytes.byte()?);
    let gaps = bytes.bytes()?;
    let mut gaps = BitReader::new(gaps, bytes.position() - gaps.len());
    let numbers = if shape.keys == KeyKind::Dense { ColumnType::Unit } else { ColumnType::U64 };
    let mut numbers = ColumnReader::begin(&mut bytes, numbers, shape.entries)?;
    let texts = if shape.keys == KeyKind::Text { read_stretch(&mut bytes)? } else { Default::default() };
    let records = if shape.fields > 0 { read_stretch(&mut bytes)? } else { Default::default() };
    bytes.end()?;
    let (mut texts, mut records) = (Reader::new(&texts), Reader::new(&records));
    let outside = |error: DecodeError| DecodeError { offset: bytes.position(), ..error };
    let mut expected = 0;
    for position in 0..shape.entries {
        let id = gaps.gap(shift)?.saturating_add(expected);
        if id >= u64::from(shape.vertex_bound) || (position == 0 && id != shape.first) {
            return Err(gaps.error("another vertex than the chunk says"));
        }
        expected = id + 1;
        // The bound is at most 2^32 - 1.
        let vertex = VertexId::new(id as u32);
        let number = numbers.next()?;
        let key = match shape.keys {
            KeyKind::Dense => KeyRef::Number(id),
            KeyKind::Number => KeyRef::Number(number),
            KeyKind::Text => KeyRef::Text(text(&mut texts, number).map_err(outside)?),
        };
        let record = if shape.fields > 0 { record(&mut records, shape.fields) } else { Ok(Record::EMPTY) };
        visit(vertex, key, record.map_err(outside)?);
    }
    if expected != shape.last + 1 {
        return Err(gaps.error("another last vertex than the chunk says"));
    }
    numbers.finish()?;
    texts.end().and_then(|()| records.end()).map_err(outside)?;
    gaps.finish()
}

/// The next `length` bytes of all keys.
fn text<'a>(texts: &mut Reader<'a>, length: u64) -> Result<&'a str, DecodeError> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let bytes = texts.take(length)?;
    std::str::from_utf8(bytes).map_err(|_| texts.error("a key that is no UTF-8"))
}

/// The next record: of as many values as there are fields, or of none.
fn record(records: &mut Reader<'_>, fields: usize) -> Result<Record, DecodeError> {
    let values = records.varint()?;
    if values != 0 && values != fields as u64 {
        return Err(records.error("a record of another number of fields"));
    }
    decode_record(records, values)
}
