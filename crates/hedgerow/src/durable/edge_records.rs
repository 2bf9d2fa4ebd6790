//! The records of the edges with which a store begins.

use hedgerow_encoding::put_values;
use hedgerow_encoding::wire::{DecodeError, Reader, put_varint};
use hedgerow_model::{ReadError, Value};
use std::error::Error as StdError;
use std::fmt;
use std::hint::black_box;

/// Records of edges, each at a place that is the value of its edge in the static graph of a
/// [`FirstState`](super::first_state::FirstState).
///
/// Encoded: a record takes about as many bytes as in the store. Several threads can each fill one
/// of their own, which are then [joined](Self::append).
///
/// ```
/// use hedgerow::store::EdgeRecords;
/// use hedgerow::Value;
///
/// let mut records = EdgeRecords::new();
/// let place = records.push(&[Value::F64(9.5)]);
/// let mut others = EdgeRecords::new();
/// let other = others.push(&[Value::F64(1.5)]);
/// let other = records.append(others) + other;
/// assert_ne!(place, other);
/// ```
#[derive(Clone, Debug, Default)]
pub struct EdgeRecords {
    /// A place is the position of a piece, in its upper half, and that of a record in it: the
    /// number of the edge, then the length of the record and its bytes.
    pieces: Vec<Vec<u8>>,
}

/// The bytes after which a piece is full. Far from the largest position in it.
const FULL: usize = 1 << 30;

impl EdgeRecords {
    /// No records.
    #[must_use]
    pub fn new() -> Self {
        EdgeRecords::default()
    }

    /// No records, with memory for this number of bytes, if they are fewer than a piece has.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        EdgeRecords { pieces: vec![Vec::with_capacity(bytes.min(FULL))] }
    }

    /// Adds the record of an edge, one value for each property of the label; returns its place.
    /// O(bytes).
    pub fn push(&mut self, values: &[Value]) -> u64 {
        self.push_parallel(0, values)
    }

    /// Like [`push`](Self::push), for an edge of a label whose edges may be parallel, which this
    /// number distinguishes. O(bytes).
    pub fn push_parallel(&mut self, number: u64, values: &[Value]) -> u64 {
        if self.pieces.last().is_none_or(|piece| piece.len() >= FULL) {
            self.pieces.push(Vec::new());
        }
        let piece = self.pieces.len() - 1;
        let bytes = &mut self.pieces[piece];
        let place = place(piece, bytes.len());
        put_varint(bytes, number);
        let start = bytes.len();
        put_values(bytes, values);
        let length = bytes.len() - start;
        // The length goes before the record, which takes no memory of its own.
        put_varint(bytes, length as u64);
        bytes[start..].rotate_left(length);
        place
    }

    /// Adds all records of another; returns what their places grow by. O(1), amortized.
    pub fn append(&mut self, other: EdgeRecords) -> u64 {
        let base = place(self.pieces.len(), 0);
        self.pieces.extend(other.pieces);
        base
    }

    /// Reads a byte of each record, so that the processor waits for all of them at once.
    pub(super) fn touch(&self, places: &[u64]) {
        let byte = |place: &u64| self.pieces.get((*place >> 32) as usize)?.get(*place as u32 as usize);
        black_box(places.iter().filter_map(byte).fold(0, |all, byte| all ^ byte));
    }

    /// The number and the encoded record at a place, which has `fields` values.
    pub(super) fn get(&self, place: u64, fields: usize) -> Result<(u64, &[u8]), ReadError> {
        let piece = usize::try_from(place >> 32).ok().and_then(|piece| self.pieces.get(piece));
        let bytes = piece.and_then(|piece| piece.get(place as u32 as usize..));
        let bytes = bytes.filter(|bytes| !bytes.is_empty()).ok_or_else(|| bad(NoRecord(place)))?;
        let read = || -> Result<(u64, &[u8], u64), DecodeError> {
            let mut reader = Reader::new(bytes);
            let (number, record) = (reader.varint()?, reader.bytes()?);
            Ok((number, record, Reader::new(record).varint()?))
        };
        let (number, record, found) = read().map_err(bad)?;
        match found == fields as u64 {
            true => Ok((number, record)),
            false => Err(bad(OtherFields { found, expected: fields })),
        }
    }
}

fn place(piece: usize, position: usize) -> u64 {
    (piece as u64) << 32 | position as u64
}

fn bad(error: impl StdError + Send + Sync + 'static) -> ReadError {
    ReadError::new("the records of the edges", error)
}

/// A value of the static graph that is no place.
#[derive(Debug)]
struct NoRecord(u64);

impl fmt::Display for NoRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no record at the place {}, which is the value of an edge", self.0)
    }
}

impl StdError for NoRecord {}

/// A record that does not fit the label.
#[derive(Debug)]
struct OtherFields {
    found: u64,
    expected: usize,
}

impl fmt::Display for OtherFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a record has {} values, for {} properties of the label", self.found, self.expected)
    }
}

impl StdError for OtherFields {}
