//! Helpers for the tests of reading.

use hedgerow_formats::{Batch, FormatError, GraphReader, ReadOptions, VertexKey};
use std::io::Cursor;

/// Everything that a reader returns, and its final result.
pub struct Whole<K> {
    pub read: Batch<K>,
    pub reader: GraphReader<K>,
    pub end: Result<(), FormatError>,
}

pub fn drain<K: VertexKey>(mut reader: GraphReader<K>) -> Whole<K> {
    let mut read = Batch::new();
    let mut batch = Batch::new();
    let end = loop {
        let more = reader.read_batch(&mut batch);
        read.edges.append(&mut batch.edges);
        read.vertices.append(&mut batch.vertices);
        match more {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    Whole { read, reader, end }
}

/// Reads `bytes` as a file named `graph`.
pub fn read<K: VertexKey>(bytes: &[u8], options: &ReadOptions) -> Whole<K> {
    let reader = GraphReader::from_reader("graph", Cursor::new(bytes.to_vec()), *options);
    drain(reader.expect("memory can be read"))
}
