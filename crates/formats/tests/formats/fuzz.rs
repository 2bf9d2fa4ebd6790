//! A short run of the fuzz targets: files that are damaged at random, from a fixed seed.
//!
//! No reader panics, none holds more than ten times the input and some buffers, and its output is
//! bounded by the input too. The initial files are the seeds of the fuzz targets.

use hedgerow_formats::{
    Batch, ErrorKind, GraphFormat, GraphReader, LineSchema, PropertyBatch, PropertyFormat, PropertyOptions,
    PropertyReader, ReadOptions, VertexKey,
};
use hedgerow_model::{EdgeSchema, Field, RecordSchema, ValueType};
use hedgerow_testing::allocation::most_held;
use hedgerow_testing::damage::{damage, seeds};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::io::Cursor;
use std::path::Path;

/// Damaged files per seed.
const CASES: usize = 300;

/// Bytes for buffers, independent of the input.
const BUFFERS: usize = 2 << 20;

/// Edges and vertices of a batch.
const BATCH: usize = 1000;

/// Reads everything; returns the number of edges and vertices, and true if there was no error.
fn read<K: VertexKey>(mut reader: GraphReader<K>) -> (usize, bool) {
    let (mut batch, mut count) = (Batch::new(), 0);
    loop {
        let more = reader.read_batch(&mut batch);
        count += batch.len();
        match more {
            Ok(true) => assert!(batch.len() <= BATCH),
            Ok(false) => return (count, true),
            Err(error) => {
                assert_ne!(error.kind(), ErrorKind::Io, "{error}");
                return (count, false);
            }
        }
    }
}

fn check<K: VertexKey>(bytes: &[u8], options: ReadOptions, path: &Path) -> bool {
    std::fs::write(path, bytes).unwrap();
    let bytes_in_memory = bytes.to_vec();
    let stream = move || {
        let reader = GraphReader::<K>::from_reader("graph", Cursor::new(bytes_in_memory), options);
        read(reader.unwrap())
    };
    // The size of a file is known, the size of a stream is not.
    let (of_stream, held) = most_held(stream);
    assert!(held <= 10 * bytes.len() + BUFFERS, "{held} bytes held for {} bytes", bytes.len());
    let (of_file, held) = most_held(|| read(GraphReader::<K>::open_with(path, options).unwrap()));
    assert!(held <= 10 * bytes.len() + BUFFERS, "{held} bytes held for {} bytes", bytes.len());
    assert_eq!(of_stream.1, of_file.1);
    of_file.1
}

fn run(target: &str, format: Option<GraphFormat>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph");
    let mut random = StdRng::seed_from_u64(7);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds(target) {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            let skip_bad_lines = case % 2 == 1;
            let options = ReadOptions { format, skip_bad_lines, batch_size: BATCH, ..ReadOptions::default() };
            let is_good = check::<u64>(&bytes, options, &path);
            check::<Box<str>>(&bytes, options, &path);
            assert!(is_good || case > 0, "a seed of {target} is no good");
            *if is_good { &mut good } else { &mut bad } += 1;
        }
    }
    assert!(good > 20 && bad > 20, "the damage is of one kind only: {good} good, {bad} bad");
}

#[test]
fn damaged_edge_lists() {
    run("edge_list", Some(GraphFormat::EdgeList));
}

#[test]
fn damaged_adjacency_lists() {
    run("adjacency", Some(GraphFormat::Adjacency));
}

#[test]
fn damaged_matrices() {
    run("matrix_market", None);
}

#[test]
fn damaged_serialized_graphs() {
    run("serialized", Some(GraphFormat::Serialized));
    run("weighted_serialized", Some(GraphFormat::WeightedSerialized));
}

#[test]
fn damaged_compressed_files() {
    run("compressed", None);
}

/// Lines with properties, of every type.
fn run_properties(target: &str, format: PropertyFormat) {
    let field = |value_type: ValueType| Field { name: value_type.to_string(), value_type, nullable: true };
    let schema = RecordSchema { fields: ValueType::ALL.map(field).to_vec() };
    let lines = LineSchema::Edges(EdgeSchema::Record(schema));
    let options = PropertyOptions { batch_size: BATCH, ..PropertyOptions::new(format, lines) };
    let mut random = StdRng::seed_from_u64(7);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds(target) {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            let reader = Cursor::new(bytes.clone());
            let (end, held) = most_held(|| {
                let mut reader = PropertyReader::<u64>::from_reader("graph", reader, &options).unwrap();
                let mut batch = PropertyBatch::new();
                loop {
                    match reader.read_batch(&mut batch) {
                        Ok(true) => {}
                        Ok(false) => return Ok(()),
                        Err(error) => return Err(error.kind()),
                    }
                }
            });
            assert!(held <= 10 * bytes.len() + BUFFERS, "{held} bytes held for {} bytes", bytes.len());
            assert!(end.is_ok() || case > 0, "a seed of {target} is no good");
            assert_ne!(end, Err(ErrorKind::Io));
            *if end.is_ok() { &mut good } else { &mut bad } += 1;
        }
    }
    assert!(good > 20 && bad > 20, "the damage is of one kind only: {good} good, {bad} bad");
}

#[test]
fn damaged_lines_with_properties() {
    run_properties("properties_csv", PropertyFormat::Csv);
    run_properties("json_lines", PropertyFormat::JsonLines);
}

/// Headers that claim much more than the file contains.
#[test]
fn promises_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph");
    let header = |neighbors: i64, vertices: i64| {
        let mut bytes = vec![0];
        bytes.extend(neighbors.to_le_bytes());
        bytes.extend(vertices.to_le_bytes());
        bytes.extend([0; 1000]);
        bytes
    };
    for bytes in [header(i64::MAX, 1), header(0, (1 << 31) - 2), header(1 << 40, 1 << 30)] {
        for format in [GraphFormat::Serialized, GraphFormat::WeightedSerialized] {
            let options = ReadOptions { format: Some(format), batch_size: BATCH, ..ReadOptions::default() };
            assert!(!check::<u64>(&bytes, options, &path));
        }
    }
    let options = ReadOptions { batch_size: BATCH, ..ReadOptions::default() };
    for sizes in ["4294967294 4294967294 67108864", "1048576 1048576 1", "1 1 18446744073709551615"] {
        let text = format!("%%MatrixMarket matrix coordinate pattern general\n{sizes}\n");
        assert!(!check::<u64>(text.as_bytes(), options, &path), "{sizes}");
    }
}
