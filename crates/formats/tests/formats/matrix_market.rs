//! Tests the graphs and errors that Matrix Market files yield.

use crate::common::{Whole, read};
use hedgerow_formats::{BadLine, FormatError, GraphFormat, Problem, ReadOptions};

/// Reads a file whose first line determines its format.
fn matrix(text: &str) -> Whole<u64> {
    read(text.as_bytes(), &ReadOptions::default())
}

/// The edges of a file, which must be valid.
fn edges(text: &str) -> Vec<(u64, u64, Option<f64>)> {
    let whole = matrix(text);
    whole.end.unwrap();
    whole.read.edges.iter().map(|edge| (edge.source, edge.destination, edge.weight)).collect()
}

fn bad(text: &str) -> BadLine {
    match matrix(text).end {
        Err(FormatError::BadLine(bad)) => *bad,
        other => panic!("{text:?} gives {other:?}"),
    }
}

#[test]
fn entries_are_edges_and_all_rows_are_vertices() {
    let text =
        "%%MatrixMarket matrix coordinate real general\r\n% comment\n\n4 4 2\n1 2 0.5\n% more\n3 3 -1e2\n";
    assert_eq!(edges(text), [(1, 2, Some(0.5)), (3, 3, Some(-100.0))]);
    assert_eq!(matrix(text).read.vertices, [1, 2, 3, 4]);
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1";
    assert_eq!(edges(text), [(2, 1, None)]);
    let text = "%%MatrixMarket matrix coordinate integer general\n3 3 1\n2 1 -7\n";
    assert_eq!(edges(text), [(2, 1, Some(-7.0))]);
    assert_eq!(edges("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n"), []);
    let empty = matrix("%%MatrixMarket matrix coordinate pattern general\n0 0 0\n").read;
    assert!(empty.is_empty());
}

#[test]
fn a_symmetric_matrix_has_both_sides_of_the_diagonal() {
    let text = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 1\n";
    assert_eq!(edges(text), [(2, 1, Some(5.0)), (1, 2, Some(5.0)), (3, 3, Some(1.0))]);
    let text = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n";
    assert_eq!(edges(text), [(2, 1, Some(5.0)), (1, 2, Some(-5.0))]);
    let bad = bad("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 0\n");
    assert_eq!((bad.line, bad.problem), (3, Problem::OnSkewDiagonal));
}

#[test]
fn keys_of_text_are_the_numbers_as_text() {
    let text = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n02 1\n";
    let whole = read::<Box<str>>(text, &ReadOptions::default());
    whole.end.unwrap();
    assert_eq!((&*whole.read.edges[0].source, &*whole.read.edges[0].destination), ("2", "1"));
    assert_eq!(whole.read.vertices, ["1".into(), "2".into()]);
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let general = "%%MatrixMarket matrix coordinate real general\n";
    let cases = [
        ("1 1", 3, 4, "", Problem::NotAnEntry),
        ("0 1 1", 3, 1, "0", Problem::OutsideMatrix { size: 2 }),
        ("1 3 1", 3, 3, "3", Problem::OutsideMatrix { size: 2 }),
        ("1 2 x", 3, 5, "x", Problem::NotAWeight),
        ("1 2 3 4", 3, 7, "4", Problem::NotAnEntry),
        ("1 b 3", 3, 3, "b", Problem::NotANumber),
    ];
    for (line, number, column, found, problem) in cases {
        let problem = if line == "1 1" { Problem::MissingValue } else { problem };
        let bad = bad(&format!("{general}2 2 1\n{line}\n"));
        assert_eq!(
            (bad.line, bad.column, &*bad.found, bad.problem),
            (number, column, found, problem),
            "{line}"
        );
    }
    assert_eq!(bad(&format!("{general}% c\n3 4 1\n")).problem, Problem::NotSquare);
    assert_eq!(bad(general).problem, Problem::NotSizes);
    let array = bad("%%MatrixMarket matrix array real general\n2 2\n1\n");
    assert_eq!((array.line, array.column, array.problem), (1, 1, Problem::NotAMatrix));
}

#[test]
fn the_sizes_must_agree_with_the_entries() {
    let general = "%%MatrixMarket matrix coordinate pattern general\n";
    let missing = bad(&format!("{general}3 3 3\n1 2\n2 3\n"));
    assert_eq!((missing.line, missing.problem), (5, Problem::MissingEntries { declared: 3, found: 2 }));
    let entries: String = (0..1000).map(|_| "1 2\n% comment\n").collect();
    let surplus = bad(&format!("{general}3 3 999\n{entries}"));
    assert_eq!((surplus.line, surplus.column), (2 + 1999, 1));
    assert_eq!((&*surplus.found, surplus.problem), ("1 2", Problem::TooManyEntries { declared: 999 }));
    assert_eq!(edges(&format!("{general}3 3 1000\n{entries}")).len(), 1000);

    // Skipped bad lines count as entries.
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    let skipped = read::<u64>(format!("{general}3 3 2\n1 2\n9 9\n").as_bytes(), &options);
    skipped.end.unwrap();
    assert_eq!((skipped.read.edges.len(), skipped.reader.skipped().count), (1, 1));
    let missing = read::<u64>(format!("{general}3 3 3\n1 2\n9 9\n").as_bytes(), &options);
    assert!(missing.end.is_err());
}

/// Reads bytes in a given format.
#[test]
fn the_format_can_be_named() {
    let named = |format, text: &str| {
        read::<u64>(text.as_bytes(), &ReadOptions { format: Some(format), ..ReadOptions::default() })
    };
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n";
    assert_eq!(named(GraphFormat::MatrixMarket, text).read.edges.len(), 1);
    // As an edge list, its first line is a comment, and the sizes are an edge.
    assert_eq!(named(GraphFormat::EdgeList, text).read.edges.len(), 2);
    for text in ["", "1 2\n", "% comment\n%%MatrixMarket matrix coordinate pattern general\n"] {
        let end = named(GraphFormat::MatrixMarket, text).end;
        let Err(FormatError::BadLine(bad)) = end else { panic!("{text:?} gives {end:?}") };
        assert_eq!((bad.line, bad.problem), (1, Problem::NotAMatrix));
    }
    // Only the very first line can declare a matrix.
    let edges = matrix("# c\n%%MatrixMarket\n3 3 2\n").read.edges;
    assert_eq!((edges.len(), edges[0].weight), (1, Some(2.0)));
}
