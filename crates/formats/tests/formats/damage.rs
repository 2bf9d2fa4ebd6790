//! Damaged files yield an error or a graph; never a panic, and where a checksum guards them, never
//! another graph without an error.

use crate::common::{Whole, read};
use hedgerow_formats::{Batch, ErrorKind, FormatError, GraphFormat, Kronecker, Problem, ReadOptions};
use hedgerow_testing::damage::damage;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::io::Write;

const CASES: usize = 1000;

fn edge_list() -> Vec<u8> {
    let mut edges = Vec::new();
    Kronecker::new(8, 1, 7).unwrap().fill(0..200, &mut edges);
    let line = |(source, destination): (u64, u64)| format!("{source},{destination},0.5,{}\n", source * 1000);
    ("Source,Target,Weight,CommitTimestamp\n".to_owned() + &edges.into_iter().map(line).collect::<String>())
        .into_bytes()
}

fn adjacency() -> Vec<u8> {
    (0..60).map(|v| format!("{v} {} {}\n{}\n", v + 1, v + 2, v + 100)).collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn damaged(file: &[u8], options: &ReadOptions, mut check: impl FnMut(&[u8], Whole<u64>)) {
    let mut random = StdRng::seed_from_u64(1);
    for _ in 0..CASES {
        let mut bytes = file.to_vec();
        damage(&mut bytes, &mut random);
        check(&bytes, read(&bytes, options));
    }
}

#[test]
fn damaged_text_gives_edges_or_a_bad_line() {
    let options = ReadOptions { batch_size: 7, ..ReadOptions::default() };
    let (mut good, mut bad) = (0, 0);
    for (file, format) in [(edge_list(), GraphFormat::EdgeList), (adjacency(), GraphFormat::Adjacency)] {
        let options = ReadOptions { format: Some(format), ..options };
        damaged(&file, &options, |bytes, whole| {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            let position = whole.reader.position();
            assert!(position.line <= lines && position.byte <= bytes.len() as u64);
            match whole.end {
                Ok(()) => {
                    assert_eq!(position.byte, bytes.len() as u64);
                    good += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::BadInput);
                    bad += 1;
                }
            }
        });
    }
    assert!(good > 100 && bad > 100, "the damage is of one kind only: {good} good, {bad} bad");
}

#[test]
fn damaged_text_loses_bad_lines_only_when_they_are_skipped() {
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    damaged(&edge_list(), &options, |bytes, whole| {
        whole.end.unwrap();
        // Every line is an edge, the header, blank, a comment, or skipped.
        let lines = whole.reader.position().line;
        let counted = whole.read.edges.len() as u64 + whole.reader.skipped().count;
        let others = bytes.split(|byte| *byte == b'\n').filter(|line| {
            let first = line.iter().find(|byte| !b" \t\r".contains(byte));
            first.is_none_or(|first| matches!(first, b'#' | b'%'))
        });
        let others = others.count() as u64;
        assert!(
            counted <= lines && lines <= counted + others + 1,
            "{counted} of {lines} lines, {others} others"
        );
    });
}

#[test]
fn damaged_compressed_files_never_pass_for_another_graph() {
    let whole = read::<u64>(&edge_list(), &ReadOptions::default()).read;
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    for (file, magic) in [(gzip(&edge_list()), 2), (zstandard(&edge_list()), 4)] {
        let mut corrupt = 0;
        damaged(&file, &options, |bytes, damaged| match damaged.end {
            // Some bytes of a header do not affect the data; without its first bytes the file is
            // (bad) text.
            Ok(()) => assert!(damaged.read == whole || !bytes.starts_with(&file[..magic])),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                corrupt += 1;
            }
        });
        assert!(corrupt > CASES / 2, "{corrupt}");
    }
}

#[test]
fn damage_is_reported_before_the_line_that_it_garbled() {
    for text in ["1 2\nx y\n".to_owned(), format!("1 2\nx y\n{}", "3 4\n".repeat(300_000))] {
        let mut wrong = gzip(text.as_bytes());
        let checksum = wrong.len() - 8;
        wrong[checksum] ^= 1;
        let whole = read::<u64>(&wrong, &ReadOptions::default());
        assert_eq!(whole.end.unwrap_err().kind(), ErrorKind::Corrupt);
        // The reader is at its end.
        let mut reader = whole.reader;
        assert!(!reader.read_batch(&mut Batch::new()).unwrap());
        let right = gzip(text.as_bytes());
        assert_eq!(read::<u64>(&right, &ReadOptions::default()).end.unwrap_err().kind(), ErrorKind::BadInput);
    }
}

#[test]
fn a_compressed_file_cut_anywhere_is_an_error() {
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    for file in [gzip(&edge_list()), zstandard(&edge_list())] {
        for length in 4..file.len() {
            let error = read::<u64>(&file[..length], &options).end.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "cut to {length} of {}", file.len());
            assert!(error.to_string().contains(&format!("at byte {length}")), "{error}");
        }
    }
}

#[test]
fn other_files_are_called_binary() {
    for file in [&b"PK\x03\x04\x14\0\0\0\x08\0"[..], b"\x7fELF\x02\x01\x01\0", b"\xff\xfe1\0 \x002\0\n\0"] {
        match read::<u64>(file, &ReadOptions::default()).end {
            Err(FormatError::BadLine(bad)) => assert_eq!(bad.problem, Problem::BinaryData),
            other => panic!("{other:?}"),
        }
    }
}
