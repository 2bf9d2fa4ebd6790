//! Written files are read back, and layout and cuts make no difference.

use crate::common::{drain, read};
use flate2::write::GzEncoder;
use hedgerow_formats::{Batch, Edge, EdgeListWriter, GraphFormat, GraphReader, ReadOptions, VertexKey};
use proptest::prelude::*;
use std::io::Write;

/// Keys that a file can contain: not empty, no separators, no control characters, no comment.
fn text_key() -> impl Strategy<Value = Box<str>> {
    "[^\\s,#%\\p{Cc}\u{feff}][^\\s,\\p{Cc}]{0,8}".prop_map(String::into_boxed_str)
}

fn weight() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO)
}

fn written_and_read<K: VertexKey>(edges: &[(K, K, Option<f64>)], extension: &str) -> Batch<K> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("graph{extension}"));
    let mut writer = EdgeListWriter::create(&path).unwrap();
    for (source, destination, weight) in edges {
        writer.write(source, destination, *weight).unwrap();
    }
    writer.finish().unwrap();
    let whole = drain(GraphReader::open(&path).unwrap());
    whole.end.unwrap();
    let progress = whole.reader.progress();
    assert_eq!(Some(progress.done), progress.total);
    whole.read
}

fn as_edges<K: VertexKey>(edges: &[(K, K, Option<f64>)]) -> Vec<Edge<K>> {
    let edge = |(source, destination, weight): &(K, K, Option<f64>)| Edge {
        weight: *weight,
        ..Edge::new(source.clone(), destination.clone())
    };
    edges.iter().map(edge).collect()
}

/// A line of a file, with the edge that it represents.
fn line() -> impl Strategy<Value = (String, Option<Edge<u64>>)> {
    let separator = || prop::sample::select(vec![" ", "\t", "  \t", ",", " , ", ",\t"]);
    let blank = || prop::sample::select(vec!["", " ", "\t "]);
    let end = || prop::sample::select(vec!["\n", "\r\n"]);
    let edge = (any::<u64>(), any::<u64>(), weight(), any::<Option<i64>>());
    let edge_line = (edge, separator(), blank(), end()).prop_map(|(parts, separator, blank, end)| {
        let (source, destination, weight, timestamp) = parts;
        let timestamp = weight.and(timestamp);
        let mut fields = vec![source.to_string(), destination.to_string()];
        fields.extend(weight.map(|weight| weight.to_string()));
        fields.extend(timestamp.map(|timestamp| timestamp.to_string()));
        let text = format!("{blank}{}{blank}{end}", fields.join(separator));
        (text, Some(Edge { source, destination, weight, timestamp }))
    });
    let other = ("|[ \t]{1,3}|[ ]?[#%][^\n\r]{0,20}", end()).prop_map(|(text, end)| (text + end, None));
    prop_oneof![4 => edge_line, 1 => other]
}

fn options(format: GraphFormat, batch_size: usize) -> ReadOptions {
    ReadOptions { format: Some(format), batch_size, skip_bad_lines: true, ..ReadOptions::default() }
}

proptest! {
    #[test]
    fn numbers_come_back(
        edges in prop::collection::vec((any::<u64>(), any::<u64>(), weight()), 0..100),
        extension in prop::sample::select(vec!["", ".txt", ".gz", ".zst"]),
    ) {
        let read = written_and_read(&edges, extension);
        prop_assert_eq!(read.edges, as_edges(&edges));
        prop_assert!(read.vertices.is_empty());
    }

    #[test]
    fn text_comes_back(edges in prop::collection::vec((text_key(), text_key(), weight()), 0..50)) {
        prop_assert_eq!(written_and_read(&edges, ".txt").edges, as_edges(&edges));
    }

    #[test]
    fn every_layout_of_a_line_is_read(
        lines in prop::collection::vec(line(), 0..50),
        cut_last_end: bool,
        batch_size in 0usize..20,
    ) {
        let mut text: String = lines.iter().map(|(text, _)| text.as_str()).collect();
        if cut_last_end {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        let strict = ReadOptions { batch_size, ..ReadOptions::default() };
        let whole = read::<u64>(text.as_bytes(), &strict);
        whole.end.unwrap();
        let expected: Vec<Edge<u64>> = lines.into_iter().filter_map(|(_, edge)| edge).collect();
        prop_assert_eq!(whole.read.edges, expected);
        prop_assert_eq!(whole.reader.position().byte, text.len() as u64);
    }

    #[test]
    fn any_bytes_give_the_same_in_batches_of_any_size(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            prop::collection::vec(prop::sample::select(b"0123456789-. ,\t\n\n\r#ax\0\xff".to_vec()), 0..300),
        ],
        format in prop::sample::select(vec![GraphFormat::EdgeList, GraphFormat::Adjacency]),
        batch_size in 1usize..10,
    ) {
        compare_batch_sizes::<u64>(&bytes, format, batch_size);
        compare_batch_sizes::<Box<str>>(&bytes, format, batch_size);
    }

    #[test]
    fn gzip_members_follow_each_other(parts in prop::collection::vec("([0-9]{1,3} [0-9]{1,3}\n){0,4}", 1..5)) {
        let mut file = Vec::new();
        for part in &parts {
            let mut encoder = GzEncoder::new(&mut file, flate2::Compression::fast());
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap();
        }
        let whole = read::<u64>(&file, &ReadOptions::default());
        whole.end.unwrap();
        let plain = read::<u64>(parts.concat().as_bytes(), &ReadOptions::default());
        prop_assert_eq!(whole.read, plain.read);
    }
}

/// Compares small batches with large ones. Also checks that a skipping reader returns the contents
/// of a strict reader up to the first error, and reports the same error.
fn compare_batch_sizes<K: VertexKey>(bytes: &[u8], format: GraphFormat, batch_size: usize) {
    let small = read::<K>(bytes, &options(format, batch_size));
    let large = read::<K>(bytes, &options(format, 1 << 20));
    assert_eq!(small.read, large.read);
    assert_eq!(small.reader.skipped(), large.reader.skipped());
    assert_eq!(small.end.is_ok(), large.end.is_ok());
    assert!(large.read.len() <= bytes.len());

    let strict = read::<K>(bytes, &ReadOptions { skip_bad_lines: false, ..options(format, batch_size) });
    assert!(large.read.edges.starts_with(&strict.read.edges));
    match large.reader.skipped().examples.first() {
        Some(first) => assert_eq!(strict.end.unwrap_err().to_string(), first.to_string()),
        None => assert_eq!(strict.end.is_ok(), large.end.is_ok()),
    }
}
