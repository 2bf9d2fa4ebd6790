//! Tests that several threads read the same as one.

use crate::common::drain;
use hedgerow_formats::{
    Batch, Edge, FormatError, GraphFormat, GraphReader, ReadOptions, SkippedLines, VertexKey,
};
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io::{Cursor, Write};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Reads everything on a pool into one batch; returns it with the skipped lines, and the message of
/// the error.
fn read_on<K: VertexKey>(
    pool: Option<&ThreadPool>,
    bytes: &[u8],
    options: ReadOptions,
) -> (Batch<K>, SkippedLines, Option<String>) {
    let mut reader = GraphReader::<K>::from_reader("graph", Cursor::new(bytes.to_vec()), options).unwrap();
    let (mut all, mut batch) = (Batch::new(), Batch::new());
    let error = loop {
        let more = reader.read_batch_on(pool, &mut batch);
        all.edges.append(&mut batch.edges);
        all.vertices.append(&mut batch.vertices);
        match more {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    (all, reader.skipped().clone(), error)
}

/// Long enough for many chunks of the usual size.
fn text(lines: u64) -> String {
    let line = |number: u64| match number % 1000 {
        0 => format!("# comment {number}\n"),
        1 => "\r\n".to_string(),
        _ => format!("{number} {} {}\n", number * 7919 % 100_003, number % 10),
    };
    (0..lines).map(line).collect()
}

#[test]
fn many_chunks_come_in_the_order_of_the_file() {
    let text = text(400_000);
    assert!(text.len() > 4 << 20);
    let expected = read_on::<u64>(None, text.as_bytes(), ReadOptions::default());
    let numbers: Vec<u64> = expected.0.edges.iter().map(|edge| edge.source).collect();
    assert!(numbers.iter().copied().eq((0..400_000).filter(|number| number % 1000 > 1)));
    for threads in [1, 2, 5] {
        assert_eq!(read_on(Some(&pool(threads)), text.as_bytes(), ReadOptions::default()), expected);
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for bytes in [gzip, zstd] {
        assert_eq!(read_on(Some(&pool(2)), &bytes, ReadOptions::default()), expected);
    }
}

#[test]
fn a_bad_line_far_into_the_file_has_its_number_and_what_comes_before_it_is_read() {
    let good = text(300_000);
    let bad = format!("{good}1 2\n7 x\n3 4\n{good}y\n");
    let (read, _, error) = read_on::<u64>(Some(&pool(3)), bad.as_bytes(), ReadOptions::default());
    assert!(error.unwrap().starts_with("graph:300002:3: found \"x\""));
    assert_eq!(read.edges.last(), Some(&Edge::new(1, 2)));

    let skipping = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    let (_, skipped, error) = read_on::<u64>(Some(&pool(3)), bad.as_bytes(), skipping);
    let lines: Vec<u64> = skipped.examples.iter().map(|bad| bad.line).collect();
    assert_eq!((error, skipped.count, lines), (None, 2, vec![300_002, 600_004]));
}

#[test]
fn a_file_cut_short_is_an_error_after_what_could_be_read() {
    let text = text(300_000);
    let mut compressed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    compressed.truncate(compressed.len() - 100);
    let alone = read_on::<u64>(None, &compressed, ReadOptions::default());
    assert!(alone.2.as_ref().unwrap().contains("cut short or damaged"));
    assert_eq!(read_on(Some(&pool(2)), &compressed, ReadOptions::default()), alone);
}

#[test]
fn a_matrix_with_too_few_or_too_many_entries_is_noticed_in_any_chunk() {
    let entries: String = (1..=100_000).map(|row| format!("{row} {}\n", 100_001 - row)).collect();
    let pool = pool(2);
    let read = |declared: u64| {
        let head = "%%MatrixMarket matrix coordinate pattern general\n% comment\n100000 100000";
        let text = format!("{head} {declared}\n{entries}");
        read_on::<u64>(Some(&pool), text.as_bytes(), ReadOptions::default())
    };
    let (whole, _, error) = read(100_000);
    assert_eq!((whole.edges.len(), whole.vertices.len(), error), (100_000, 100_000, None));
    assert!(read(99_999).2.unwrap().starts_with("graph:100003:1: found \"100000 1\", expected the end"));
    assert!(read(100_001).2.unwrap().starts_with("graph:100004:1: found nothing, expected 100001 entries"));
}

#[test]
fn dropping_a_reader_early_is_no_problem() {
    let text = text(300_000);
    let mut reader =
        GraphReader::<u64>::from_reader("graph", Cursor::new(text), ReadOptions::default()).unwrap();
    assert!(reader.read_batch_on(Some(&pool(2)), &mut Batch::new()).unwrap());
}

proptest! {
    #[test]
    fn any_bytes_say_the_same_on_any_number_of_threads(
        bytes in prop::collection::vec(
            prop::sample::select(b"0123456789-. ,\t\n\n\n\r#%ax\0\xff".to_vec()), 0..600),
        format in prop::sample::select(vec![GraphFormat::EdgeList, GraphFormat::Adjacency]),
        batch_size in 1usize..10,
        skip_bad_lines: bool,
    ) {
        // Small batches make small chunks.
        let options =
            ReadOptions { format: Some(format), batch_size, skip_bad_lines, ..ReadOptions::default() };
        let alone = read_on::<Box<str>>(None, &bytes, options);
        let pool = pool(2);
        prop_assert_eq!(&read_on::<Box<str>>(Some(&pool), &bytes, options), &alone);
        let reader = GraphReader::from_reader("graph", Cursor::new(bytes), options).unwrap();
        let whole = drain::<Box<str>>(reader);
        prop_assert_eq!(whole.end.err().as_ref().map(FormatError::to_string), alone.2);
        prop_assert_eq!(whole.read, alone.0);
    }
}
