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

/// Reads `bytes` as a file named `graph`, in batches; in pieces they must be the same.
pub fn read<K: VertexKey>(bytes: &[u8], options: &ReadOptions) -> Whole<K> {
    let reader = || GraphReader::from_reader("graph", Cursor::new(bytes.to_vec()), *options).unwrap();
    let whole = drain(reader());
    let (mut reader, mut read, mut pieces) = (reader(), Batch::new(), Vec::new());
    let end = loop {
        let more = reader.read_pieces_on(None, &mut pieces);
        for piece in &mut pieces {
            read.edges.append(&mut piece.edges);
            read.vertices.append(&mut piece.vertices);
        }
        match more {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!((&read, end), (&whole.read, whole.end.as_ref().err().map(ToString::to_string)));
    assert_eq!(reader.skipped(), whole.reader.skipped());
    whole
}
