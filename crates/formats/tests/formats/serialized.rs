//! Tests serialized graphs of the GAP benchmark suite, laid out by hand, byte by byte.

use crate::common::{Whole, drain};
use hedgerow_formats::{
    Batch, Edge, ErrorKind, FormatError, GraphFormat, GraphReader, GraphWriter, ReadOptions, VertexKey,
    WriteOptions,
};
use std::io::Cursor;

/// Rows of neighbors with weights, in the order of the file.
type Rows<'a> = &'a [&'a [(i32, i32)]];

/// A file: header, out-neighbors, and for a directed graph in-neighbors.
fn file(out: Rows<'_>, inverse: Option<Rows<'_>>, weighted: bool) -> Vec<u8> {
    let mut bytes = vec![u8::from(inverse.is_some())];
    let neighbors: usize = out.iter().map(|row| row.len()).sum();
    bytes.extend((neighbors as i64).to_le_bytes());
    bytes.extend((out.len() as i64).to_le_bytes());
    for rows in [Some(out), inverse].into_iter().flatten() {
        let mut offset = 0i64;
        bytes.extend(offset.to_le_bytes());
        for row in rows {
            offset += row.len() as i64;
            bytes.extend(offset.to_le_bytes());
        }
        for (neighbor, weight) in rows.iter().copied().flatten() {
            bytes.extend(neighbor.to_le_bytes());
            if weighted {
                bytes.extend(weight.to_le_bytes());
            }
        }
    }
    bytes
}

/// 0 -> 2 (weight 7), 0 -> 3 (1), 2 -> 0 (-4), 3 -> 3 (9); vertex 1 is alone.
fn directed(weighted: bool) -> Vec<u8> {
    let out: Rows<'_> = &[&[(2, 7), (3, 1)], &[], &[(0, -4)], &[(3, 9)]];
    let inverse: Rows<'_> = &[&[(2, -4)], &[], &[(0, 7)], &[(0, 1), (3, 9)]];
    file(out, Some(inverse), weighted)
}

fn options(weighted: bool) -> ReadOptions {
    let format = if weighted { GraphFormat::WeightedSerialized } else { GraphFormat::Serialized };
    ReadOptions { format: Some(format), batch_size: 3, ..ReadOptions::default() }
}

fn read<K: VertexKey>(bytes: &[u8], weighted: bool) -> Whole<K> {
    drain(GraphReader::from_reader("graph", Cursor::new(bytes.to_vec()), options(weighted)).unwrap())
}

/// Reads the bytes from a file, whose size is known.
fn read_file(bytes: &[u8], weighted: bool) -> Whole<u64> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(if weighted { "graph.wsg" } else { "graph.sg" });
    std::fs::write(&path, bytes).unwrap();
    drain(GraphReader::open(path).unwrap())
}

fn bad_bytes(end: Result<(), FormatError>) -> (u64, String, String) {
    match end {
        Err(FormatError::BadBytes { offset, found, expected, .. }) => (offset, found, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn vertices_and_edges_come_as_they_are_laid_out() {
    for weighted in [false, true] {
        let edge = |source, destination, weight: f64| Edge {
            weight: weighted.then_some(weight),
            ..Edge::new(source, destination)
        };
        let expected = [edge(0u64, 2, 7.0), edge(0, 3, 1.0), edge(2, 0, -4.0), edge(3, 3, 9.0)];
        let bytes = directed(weighted);
        for whole in [read(&bytes, weighted), read_file(&bytes, weighted)] {
            whole.end.unwrap();
            assert_eq!(whole.read.edges, expected);
            assert_eq!(whole.read.vertices, [0, 1, 2, 3]);
            assert_eq!(whole.reader.position().byte, bytes.len() as u64);
        }
        let text = read::<Box<str>>(&bytes, weighted).read;
        assert_eq!((&*text.edges[0].source, &*text.vertices[3]), ("0", "3"));
    }
    let empty = read_file(&file(&[], None, false), false);
    empty.end.unwrap();
    assert!(empty.read.is_empty());
}

#[test]
fn what_is_written_is_what_the_suite_would_write() {
    let folder = tempfile::tempdir().unwrap();
    let edge =
        |source: u64, destination, weight| Edge { weight: Some(weight), ..Edge::new(source, destination) };
    let edges = vec![edge(3, 3, 9.0), edge(0, 3, 0.0), edge(2, 0, -4.0), edge(0, 2, 7.0), edge(0, 3, 1.0)];
    let batch = Batch { edges, vertices: vec![1] };
    let write = |name: &str, undirected| {
        let path = folder.path().join(name);
        let mut writer =
            GraphWriter::create(&path, &WriteOptions { undirected, ..WriteOptions::default() }).unwrap();
        writer.write(&batch).unwrap();
        let written = writer.finish().unwrap();
        assert_eq!((written.vertices, written.keys), (Some(4), None));
        (std::fs::read(path).unwrap(), written.edges)
    };
    assert_eq!(write("graph.sg", false), (directed(false), 4));
    assert_eq!(write("graph.wsg", false), (directed(true), 4));
    let both: Rows<'_> = &[&[(2, 7), (3, 1)], &[], &[(0, 7)], &[(0, 1), (3, 9)]];
    assert_eq!(write("both.wsg", true), (file(both, None, true), 5));
}

#[test]
fn a_size_that_is_not_that_of_the_file_is_refused_before_memory_is_used() {
    let huge = |at: usize, number: i64| {
        let mut bytes = directed(false);
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        bytes
    };
    for bytes in [huge(1, i64::MAX), huge(9, (1 << 31) - 2), huge(1, 5), huge(9, 3)] {
        let (offset, found, expected) = bad_bytes(read_file(&bytes, false).end);
        assert_eq!((offset, &*found), (1, "the header of a file of 129 bytes"));
        assert!(expected.contains("bytes in all, because the header says"), "{expected}");
        // If the size is not known, the data ends unexpectedly, or not where it should.
        assert_eq!(read::<u64>(&bytes, false).end.unwrap_err().kind(), ErrorKind::BadInput);
    }
    // A file without weights is not one with weights, and vice versa.
    assert_eq!(bad_bytes(read_file(&directed(false), true).end).0, 1);
    assert_eq!(bad_bytes(read_file(&directed(true), false).end).0, 1);
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let with = |at: usize, change: &[u8]| {
        let mut bytes = directed(false);
        bytes[at..at + change.len()].copy_from_slice(change);
        bad_bytes(read_file(&bytes, false).end)
    };
    // Offsets are at 17 to 57, neighbors at 57 to 73, then the inverse: 73 to 113, and 113 to 129.
    let cases: [(usize, &[u8], u64, &str); 11] = [
        (0, &[2], 0, "0 or 1, whether the graph is directed"),
        (1, &(-1i64).to_le_bytes(), 1, "the number of edges, from 0"),
        (9, &((1i64 << 31) - 1).to_le_bytes(), 9, "the number of vertices, from 0 to 2147483646"),
        (17, &1i64.to_le_bytes(), 17, "0, where the first neighbors start"),
        (33, &1i64.to_le_bytes(), 33, "an offset from 2 to 4"),
        (33, &5i64.to_le_bytes(), 33, "an offset from 2 to 4"),
        (49, &3i64.to_le_bytes(), 49, "4, the number of neighbors, because this is the last offset"),
        (61, &4i32.to_le_bytes(), 61, "a vertex below 4"),
        (61, &(-1i32).to_le_bytes(), 61, "a vertex below 4"),
        (97, &(-1i64).to_le_bytes(), 97, "an offset from 1 to 4"),
        (125, &4i32.to_le_bytes(), 125, "a vertex below 4"),
    ];
    for (at, change, offset, expected) in cases {
        let (found_offset, found, found_expected) = with(at, change);
        assert_eq!(found_offset, offset, "{found}, {found_expected}");
        assert!(found_expected.starts_with(expected), "{found_expected}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    for weighted in [false, true] {
        let bytes = directed(weighted);
        for length in 0..bytes.len() {
            assert!(read_file(&bytes[..length], weighted).end.is_err(), "{length}");
            let (offset, found, _) = bad_bytes(read::<u64>(&bytes[..length], weighted).end);
            assert_eq!((offset, &*found), (length as u64, "the end of the file"));
        }
        let longer = [bytes.clone(), vec![0]].concat();
        assert_eq!(bad_bytes(read::<u64>(&longer, weighted).end).0, bytes.len() as u64);
    }
}
