//! The position of an import, recorded in the store with each commit, so that the next import
//! resumes there.
//!
//! The vertices of a file are always read in one order, and so are its edges. So a position is a
//! file and the numbers of vertices and edges imported of it, whatever the size of the chunks;
//! checksums detect changed files.

use super::repeats::digest;
use hedgerow::{AsKey, KeyRef, Value};
use hedgerow_formats::{Batch, Edge, PropertyBatch, PropertyEdge};
use hedgerow_model::Record;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Identifies the program and the format of a position.
const IMPORTER: &str = "hedgerow import, version 1";

/// Items that are encoded at a time for the checksum.
const ITEMS_PER_CHECKSUM: usize = 256;

/// The position of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    importer: String,
    pub input: InputList,
    /// The file being read.
    pub file: usize,
    /// The imported part of the file.
    pub read: Tallies,
    /// True if all files were imported to their ends.
    pub finished: bool,
}

/// The files of an import, and the options for reading them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputList {
    pub files: Vec<String>,
    /// The label that edges get.
    pub label: String,
    pub format: String,
    pub columns: String,
}

/// Vertices and edges of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tallies {
    pub vertices: Tally,
    pub edges: Tally,
}

/// A count, and a checksum of all counted items in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub count: u64,
    checksum: u32,
}

/// The error for a file whose imported part was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed;

impl Position {
    /// The position before the first file.
    pub fn start(input: InputList) -> Self {
        let (importer, read) = (IMPORTER.to_owned(), Tallies::default());
        Position { importer, input, file: 0, read, finished: false }
    }

    /// The position after `read` items of the same file.
    pub fn after(&self, read: Tallies) -> Self {
        Position { read, ..self.clone() }
    }

    /// Returns true if nothing was read.
    pub fn is_at_start(&self) -> bool {
        self.file == 0 && self.read.items() == 0
    }

    /// Encodes the position for the store.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text and numbers are JSON")
    }

    /// Decodes a position; `None` if another program wrote it.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|position: &Position| position.importer == IMPORTER)
    }

    /// The name of the file that is being read.
    pub fn file_name(&self) -> &str {
        self.input.files.get(self.file).map_or("", |name| name)
    }
}

impl fmt::Display for InputList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InputList { files, label, format, columns } = self;
        write!(f, "{} (format {format}, columns {columns}, label {label:?})", files.join(", "))
    }
}

/// The vertices and edges of a piece of a file, whose checksums are known before those of the
/// pieces before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PieceTallies {
    tallies: Tallies,
    /// The numbers of bytes that the checksums of vertices and of edges cover.
    lengths: [usize; 2],
}

impl PieceTallies {
    /// The tallies of a piece whose lines have properties.
    pub fn of<K: AsKey>(piece: &PropertyBatch<K>) -> Self {
        let (mut tallies, mut bytes) = (Tallies::default(), Vec::new());
        let vertices = tallies.vertices.add(&piece.vertices, &put_vertex_line, &mut bytes);
        let edges = tallies.edges.add(&piece.edges, &put_edge_line, &mut bytes);
        PieceTallies { tallies, lengths: [vertices, edges] }
    }
}

impl Tallies {
    /// Advances over a piece.
    pub fn pass_piece(&mut self, piece: &PieceTallies) {
        let PieceTallies { tallies, lengths: [vertices, edges] } = piece;
        self.vertices.append(&tallies.vertices, *vertices);
        self.edges.append(&tallies.edges, *edges);
    }

    /// Advances over a batch, and removes from it what `imported` already has.
    pub fn pass<K: AsKey>(&mut self, imported: &Tallies, batch: &mut Batch<K>) -> Result<(), Changed> {
        self.vertices.pass(&imported.vertices, &mut batch.vertices, |vertex, bytes| {
            put_key(vertex.as_key(), bytes);
        })?;
        self.edges.pass(&imported.edges, &mut batch.edges, put_edge)
    }

    /// Like [`Self::pass`], for a batch of lines with properties.
    pub fn pass_lines<K: AsKey>(
        &mut self,
        imported: &Tallies,
        batch: &mut PropertyBatch<K>,
    ) -> Result<(), Changed> {
        self.vertices.pass(&imported.vertices, &mut batch.vertices, put_vertex_line)?;
        self.edges.pass(&imported.edges, &mut batch.edges, put_edge_line)
    }

    /// The number of vertices and edges.
    pub fn items(&self) -> u64 {
        self.vertices.count + self.edges.count
    }

    /// Returns true if everything that was imported has been read again.
    pub fn have_passed(&self, imported: &Tallies) -> bool {
        self.vertices.count >= imported.vertices.count && self.edges.count >= imported.edges.count
    }
}

impl Tally {
    fn pass<T>(
        &mut self,
        imported: &Tally,
        items: &mut Vec<T>,
        encode: impl Fn(&T, &mut Vec<u8>),
    ) -> Result<(), Changed> {
        let ahead = imported.count.saturating_sub(self.count);
        let known = usize::try_from(ahead).map_or(items.len(), |ahead| ahead.min(items.len()));
        let (again, new) = items.split_at(known);
        let mut bytes = Vec::new();
        self.add(again, &encode, &mut bytes);
        if known > 0 && self.count == imported.count && self.checksum != imported.checksum {
            return Err(Changed);
        }
        self.add(new, &encode, &mut bytes);
        items.drain(..known);
        Ok(())
    }

    /// Adds items; returns the number of bytes that the checksum covers.
    fn add<T>(&mut self, items: &[T], encode: &impl Fn(&T, &mut Vec<u8>), bytes: &mut Vec<u8>) -> usize {
        let mut length = 0;
        for items in items.chunks(ITEMS_PER_CHECKSUM) {
            bytes.clear();
            items.iter().for_each(|item| encode(item, bytes));
            self.checksum = crc32c::crc32c_append(self.checksum, bytes);
            length += bytes.len();
        }
        self.count += items.len() as u64;
        length
    }

    /// Adds the items of another tally, whose checksum covers `length` bytes.
    fn append(&mut self, other: &Tally, length: usize) {
        self.checksum = crc32c::crc32c_combine(self.checksum, other.checksum, length);
        self.count += other.count;
    }
}

fn put_edge<K: AsKey>(edge: &Edge<K>, bytes: &mut Vec<u8>) {
    put_key(edge.source.as_key(), bytes);
    put_key(edge.destination.as_key(), bytes);
    // NaN stands for no weight: files have no such weight.
    bytes.extend(edge.weight.unwrap_or(f64::NAN).to_bits().to_le_bytes());
}

fn put_vertex_line<K: AsKey>((vertex, properties): &(K, Record), bytes: &mut Vec<u8>) {
    put_key(vertex.as_key(), bytes);
    put_record(properties, bytes);
}

fn put_edge_line<K: AsKey>(edge: &PropertyEdge<K>, bytes: &mut Vec<u8>) {
    put_key(edge.source.as_key(), bytes);
    put_key(edge.destination.as_key(), bytes);
    bytes.extend(edge.value.unwrap_or_default().0.to_le_bytes());
    put_record(&edge.record, bytes);
}

fn put_record(record: &Record, bytes: &mut Vec<u8>) {
    for value in record.values() {
        match value {
            Value::Null => bytes.push(0),
            Value::Bool(truth) => bytes.extend([1, u8::from(*truth)]),
            Value::I64(number) | Value::Timestamp(number) => put(2, &number.to_le_bytes(), bytes),
            Value::U64(number) => put(6, &number.to_le_bytes(), bytes),
            Value::F64(number) => put(3, &number.to_bits().to_le_bytes(), bytes),
            Value::String(text) => put(4, text.as_bytes(), bytes),
            Value::Bytes(value) => put(5, value, bytes),
        }
    }
}

/// The digest of a record, equal for equal values.
pub fn record_digest(record: &Record) -> u64 {
    let mut bytes = Vec::new();
    put_record(record, &mut bytes);
    digest(bytes)
}

/// Writes a self-delimiting value.
fn put(kind: u8, value: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(kind);
    bytes.extend((value.len() as u64).to_le_bytes());
    bytes.extend(value);
}

fn put_key(key: KeyRef<'_>, bytes: &mut Vec<u8>) {
    match key {
        KeyRef::Number(number) => bytes.extend(number.to_le_bytes()),
        KeyRef::Negative(number) => bytes.extend(number.to_le_bytes()),
        KeyRef::Text(text) => {
            bytes.extend(text.as_bytes());
            // This byte occurs in no text.
            bytes.push(u8::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(vertices: &[u64], edges: &[(u64, u64)]) -> Batch<u64> {
        let edges = edges.iter().map(|(source, destination)| Edge::new(*source, *destination)).collect();
        Batch { edges, vertices: vertices.to_vec() }
    }

    #[test]
    fn imported_items_are_skipped_whatever_the_batches() {
        let (vertices, edges) = ([7, 8, 9], [(1, 2), (2, 3), (3, 4), (4, 5)]);
        for imported in 0..=edges.len() {
            let mut before = Tallies::default();
            before.pass(&Tallies::default(), &mut batch(&vertices[..2], &edges[..imported])).unwrap();
            for cut in 0..=edges.len() {
                let mut seen = Tallies::default();
                let mut first = batch(&[], &edges[..cut]);
                let mut second = batch(&vertices, &edges[cut..]);
                seen.pass(&before, &mut first).unwrap();
                seen.pass(&before, &mut second).unwrap();
                assert!(seen.have_passed(&before));
                assert_eq!(second.vertices, [9]);
                let left: Vec<_> =
                    first.edges.into_iter().chain(second.edges).map(|edge| edge.source).collect();
                assert_eq!(left, (imported as u64 + 1..=4).collect::<Vec<_>>(), "{imported} {cut}");
            }
        }
    }

    #[test]
    fn pieces_are_tallied_like_their_lines() {
        let edge = |number: u64| PropertyEdge {
            source: number,
            destination: number / 3,
            value: None,
            record: Record::new(vec![Value::U64(number), Value::Null]),
        };
        let piece = |numbers: std::ops::Range<u64>| PropertyBatch {
            vertices: numbers.clone().map(|number| (number, Record::default())).collect(),
            edges: numbers.map(edge).collect(),
        };
        let (mut in_order, mut in_pieces) = (Tallies::default(), Tallies::default());
        in_order.pass_lines(&Tallies::default(), &mut piece(0..1000)).unwrap();
        for numbers in [0..1, 1..1, 1..700, 700..1000] {
            in_pieces.pass_piece(&PieceTallies::of(&piece(numbers)));
        }
        assert_eq!(in_pieces, in_order);
    }

    #[test]
    fn a_change_in_the_imported_part_of_a_file_is_noticed() {
        let mut imported = Tallies::default();
        imported.pass(&Tallies::default(), &mut batch(&[], &[(1, 2), (2, 3)])).unwrap();
        let again = |edges: &[(u64, u64)]| Tallies::default().pass(&imported, &mut batch(&[], edges));
        assert_eq!(again(&[(1, 2), (2, 3), (3, 4)]), Ok(()));
        for changed in [[(1, 2), (2, 4)], [(2, 3), (1, 2)], [(1, 3), (2, 3)]] {
            assert_eq!(again(&changed), Err(Changed));
        }
        let mut seen = Tallies::default();
        seen.pass(&imported, &mut batch(&[], &[(1, 2)])).unwrap();
        assert!(!seen.have_passed(&imported));
    }

    #[test]
    fn positions_round_trip_and_those_of_other_programs_are_recognized() {
        let input = InputList {
            files: vec!["a".into(), "b".into()],
            label: "edge".into(),
            format: "auto".into(),
            columns: "auto".into(),
        };
        let position = Position { file: 1, ..Position::start(input) };
        assert_eq!(Position::decode(&position.encode()), Some(position.clone()));
        assert_eq!(position.file_name(), "b");
        let other = Position { importer: "hedgerow import, version 2".into(), ..position };
        assert_eq!(Position::decode(&other.encode()), None);
        assert_eq!(Position::decode(&7u64.to_le_bytes()), None);
    }
}
