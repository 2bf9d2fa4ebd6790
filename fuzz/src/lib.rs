//! What the fuzz targets of graph files do: read any bytes as a graph file, with number and with text keys, strictly and passing
//! over bad lines. The batches and the end must not depend on how large the batches are.

pub mod checkpoint;
pub mod levels;
pub mod log;
pub mod properties;

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
    // Of a bad line and damaged data after it, the one that is met first depends on how far is read ahead.
    let is_damage = |end: &End| matches!(end, Some((ErrorKind::Corrupt, _)));
    if is_damage(&large.1) || is_damage(&small.1) {
        assert!(large.1.is_some() && small.1.is_some(), "{large:?} or {small:?}");
    } else {
        assert_eq!(large.1, small.1, "the end");
    }
    // Of an error, more or less of what comes before it may have been read.
    if large.1.is_none() {
        assert_eq!(large.0, small.0, "edges and vertices");
    }
}

/// What ended the reading, if not the end of the file.
type End = Option<(ErrorKind, String)>;

/// How many edges and vertices there are, and the end.
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
