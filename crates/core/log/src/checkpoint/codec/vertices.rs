//! Vertices: their ids, keys and records. Ids in between are free.

use super::bits::{BitReader, BitWriter, GapCounts};
use super::column::{ColumnReader, put_column};
use crate::checkpoint::CheckpointError;
use crate::stretch::{put_stretch, read_stretch};
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_encoding::{decode_values, encode_value};
use hedgerow_model::{ColumnType, KeyKind, KeyRef, Record, VertexId};

/// Maximum number of vertices of a chunk.
pub(crate) const MAX_VERTICES: usize = 1 << 16;

/// Number of key or record bytes that fill a chunk; a single vertex may exceed it.
const MANY_BYTES: usize = 1 << 20;

/// The parameters of a chunk of vertices, from its header and the description of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerticesShape {
    /// The kind of keys.
    pub(crate) keys: KeyKind,
    /// Number of fields of a record.
    pub(crate) fields: usize,
    /// Greater than every vertex id.
    pub(crate) vertex_bound: u32,
    /// Number of vertices.
    pub(crate) entries: usize,
    /// The first and the last vertex.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// Collects the vertices of a chunk.
#[derive(Debug)]
pub(crate) struct VertexBuffer {
    keys: KeyKind,
    /// Number of fields of a record.
    fields: usize,
    vertex_bound: u32,
    /// Greater than every vertex so far, in this chunk and in earlier ones.
    next: u32,
    ids: Vec<VertexId>,
    /// Numeric keys, or the lengths of text keys.
    numbers: Vec<u64>,
    texts: Vec<u8>,
    records: Vec<u8>,
}

impl VertexBuffer {
    /// A buffer for vertices below the bound, with keys of one kind and records of `fields` fields.
    pub(crate) fn new(keys: KeyKind, fields: usize, vertex_bound: u32) -> Self {
        let (ids, numbers, texts, records) = Default::default();
        VertexBuffer { keys, fields, vertex_bound, next: 0, ids, numbers, texts, records }
    }

    /// Appends a vertex.
    ///
    /// Fails if vertices do not ascend or exceed the bound, or if a key or a record is of another
    /// kind.
    pub(crate) fn push(
        &mut self,
        vertex: VertexId,
        key: KeyRef<'_>,
        record: &Record,
    ) -> Result<(), CheckpointError> {
        if vertex.get() < self.next || vertex.get() >= self.vertex_bound {
            return Err(CheckpointError::Contradiction("its vertices don't ascend up to their bound"));
        }
        match (self.keys, key) {
            (KeyKind::Dense, KeyRef::Number(number)) if number == u64::from(vertex.get()) => {}
            (KeyKind::Number, KeyRef::Number(number)) => self.numbers.push(number),
            (KeyKind::String, KeyRef::Text(text)) => {
                self.numbers.push(text.len() as u64);
                self.texts.extend_from_slice(text.as_bytes());
            }
            _ => return Err(CheckpointError::Contradiction("a key is of another kind")),
        }
        if self.fields > 0 {
            let values = record.values();
            if !(values.is_empty() || values.len() == self.fields) {
                return Err(CheckpointError::Contradiction("a record has another number of fields"));
            }
            put_varint(&mut self.records, values.len() as u64);
            values.iter().for_each(|value| encode_value(&mut self.records, value));
        }
        self.ids.push(vertex);
        self.next = vertex.get() + 1;
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.ids.len() >= MAX_VERTICES || self.texts.len().max(self.records.len()) >= MANY_BYTES
    }

    /// The vertices, ascending.
    pub(crate) fn ids(&self) -> &[VertexId] {
        &self.ids
    }

    /// Empties the buffer. Later vertices must still ascend from the earlier ones.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.numbers.clear();
        self.texts.clear();
        self.records.clear();
    }

    /// Encodes the vertices.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut counts = GapCounts::NONE;
        self.gaps().for_each(|gap| counts.add(gap));
        let shift = counts.best_shift();
        let mut bits = BitWriter::with_capacity(self.ids.len() / 4);
        self.gaps().for_each(|gap| bits.gap(gap, shift));
        let bits = bits.finish();
        let mut bytes = vec![shift as u8];
        put_bytes(&mut bytes, &bits);
        if self.keys != KeyKind::Dense {
            put_column(&mut bytes, ColumnType::U64, &self.numbers);
        }
        if self.keys == KeyKind::String {
            put_stretch(&mut bytes, &self.texts);
        }
        if self.fields > 0 {
            put_stretch(&mut bytes, &self.records);
        }
        bytes
    }

    /// Number of ids between a vertex and its predecessor; for the first vertex, its id.
    fn gaps(&self) -> impl Iterator<Item = u64> {
        let expected = std::iter::once(0).chain(self.ids.iter().map(|id| u64::from(id.get()) + 1));
        self.ids.iter().zip(expected).map(|(id, expected)| u64::from(id.get()) - expected)
    }
}

/// Passes on the vertices, ascending, each with its key and its record. Vertices passed on before
/// an error also ascend, are below the bound, and are within the chunk's range.
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
    let texts = if shape.keys == KeyKind::String { read_stretch(&mut bytes)? } else { Default::default() };
    let records = if shape.fields > 0 { read_stretch(&mut bytes)? } else { Default::default() };
    bytes.end()?;
    let (mut texts, mut records) = (Reader::new(&texts), Reader::new(&records));
    let outside = |error: DecodeError| DecodeError { offset: bytes.position(), ..error };
    let mut expected = 0;
    for position in 0..shape.entries {
        let id = gaps.gap(shift)?.saturating_add(expected);
        let is_covered = id <= shape.last && (position > 0 || id == shape.first);
        if !is_covered || id >= u64::from(shape.vertex_bound) {
            return Err(gaps.error("another vertex than the chunk says"));
        }
        expected = id + 1;
        // The bound is at most 2^32 - 1.
        let vertex = VertexId::new(id as u32);
        let number = numbers.next()?;
        let key = match shape.keys {
            KeyKind::Dense => KeyRef::Number(id),
            KeyKind::Number => KeyRef::Number(number),
            KeyKind::String => KeyRef::Text(text(&mut texts, number).map_err(outside)?),
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

/// Reads the next key, of `length` bytes, from the concatenated keys.
fn text<'a>(texts: &mut Reader<'a>, length: u64) -> Result<&'a str, DecodeError> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let bytes = texts.take(length)?;
    std::str::from_utf8(bytes).map_err(|_| texts.error("a key that is no UTF-8"))
}

/// Reads the next record, which has one value per field, or no values.
fn record(records: &mut Reader<'_>, fields: usize) -> Result<Record, DecodeError> {
    let values = records.varint()?;
    if values != 0 && values != fields as u64 {
        return Err(records.error("a record of another number of fields"));
    }
    decode_values(records, values)
}
