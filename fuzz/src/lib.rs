//! Targets of graph files: arbitrary bytes as a graph file, with numbers and with text as keys,
//! strictly and skipping bad lines. The batches and the end must not depend on the batch size.

pub mod checkpoint;
pub mod levels;
pub mod log;
pub mod properties;
pub mod stream;

use hedgerow_formats::{Batch, ErrorKind, GraphFormat, GraphReader, ReadOptions, VertexKey};
use std::io::Cursor;

/// Reads the bytes in all ways.
pub fn read_all(bytes: &[u8], format: Option<GraphFormat>) {
    for skip_bad_lines in [false, true] {
        let options = ReadOptions { format, skip_bad_lines, ..ReadOptions::default() };
        compare::<u64>(bytes, options);
        compare::<Box<str>>(bytes, options);
    }
}

fn compare<K: VertexKey>(bytes: &[u8], options: ReadOptions) {
    let large = read::<K>(bytes, options);
    let small = read::<K>(bytes, ReadOptions { batch_size: 7, ..options });
    // The order in which a bad line and later damage are found depends on the read-ahead.
    let is_damage = |end: &End| matches!(end, Some((ErrorKind::Corrupt, _)));
    if is_damage(&large.1) || is_damage(&small.1) {
        assert!(large.1.is_some() && small.1.is_some(), "{large:?} or {small:?}");
    } else {
        assert_eq!(large.1, small.1, "the end");
    }
    // The number of items read before an error depends on the batch size.
    if large.1.is_none() {
        assert_eq!(large.0, small.0, "edges and vertices");
    }
}

/// The error that ended the reading; `None` at the end of the file.
type End = Option<(ErrorKind, String)>;

/// Returns the numbers of edges and vertices, and the end.
fn read<K: VertexKey>(bytes: &[u8], options: ReadOptions) -> ((usize, usize), End) {
    let reader = GraphReader::<K>::from_reader("fuzz", Cursor::new(bytes.to_vec()), options);
    let mut reader = reader.expect("memory can be read");
    let mut batch = Batch::new();
    let mut counts = (0, 0);
    loop {
        match reader.read_batch(&mut batch) {
            Ok(true) => {
                assert!(batch.edges.iter().all(|edge| edge.weight.is_none_or(f64::is_finite)));
                counts = (counts.0 + batch.edges.len(), counts.1 + batch.vertices.len());
            }
            Ok(false) => return (counts, None),
            Err(error) => return (counts, Some((error.kind(), error.to_string()))),
        }
    }
}
