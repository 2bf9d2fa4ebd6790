//! Tests the graphs and errors that texts yield.

use crate::common::{Whole, drain, read};
use hedgerow_formats::{
    BadLine, Columns, Edge, ErrorKind, FormatError, GraphFormat, GraphReader, Header, MAX_EDGE_LINE, Problem,
    ReadOptions,
};
use std::io::Read;

fn text() -> ReadOptions {
    ReadOptions::default()
}

fn adjacency() -> ReadOptions {
    ReadOptions { format: Some(GraphFormat::Adjacency), ..text() }
}

fn columns(columns: Columns) -> ReadOptions {
    ReadOptions { columns, ..text() }
}

fn edges(bytes: &[u8], options: &ReadOptions) -> Vec<Edge<u64>> {
    let whole = read(bytes, options);
    whole.end.unwrap();
    whole.read.edges
}

fn edge(source: u64, destination: u64, weight: Option<f64>, timestamp: Option<i64>) -> Edge<u64> {
    Edge { source, destination, weight, timestamp }
}

fn bad_line(bytes: &[u8], options: &ReadOptions) -> BadLine {
    bad(read::<u64>(bytes, options).end)
}

fn bad(end: Result<(), FormatError>) -> BadLine {
    match end {
        Err(FormatError::BadLine(bad)) => *bad,
        other => panic!("expected a bad line, not {other:?}"),
    }
}

#[test]
fn edge_lists_may_have_comments_blank_lines_and_any_line_end() {
    let file = b"# comment\r\n% comment\n\n \t\r\n1 2\r\n  3\t\t4  \n5,6\n7 , 8\n  # comment\n9 10";
    let pairs: Vec<(u64, u64)> =
        edges(file, &text()).iter().map(|edge| (edge.source, edge.destination)).collect();
    assert_eq!(pairs, [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)]);
}

#[test]
fn further_columns_mean_what_the_options_say() {
    let file = b"1 2\n1 2 5\n1 2 5 -7\n";
    let expect = |options, expected: [(Option<f64>, Option<i64>); 3]| {
        let expected = expected.map(|(weight, timestamp)| edge(1, 2, weight, timestamp));
        assert_eq!(edges(file, &columns(options)), expected);
    };
    expect(Columns::Auto, [(None, None), (Some(5.0), None), (Some(5.0), Some(-7))]);
    expect(Columns::Timestamp, [(None, None), (None, Some(5)), (Some(-7.0), Some(5))]);
    expect(Columns::Topology, [(None, None); 3]);
    assert_eq!(edges(b"1 2 x y\n", &columns(Columns::Topology)), [edge(1, 2, None, None)]);
    assert_eq!(bad_line(b"1 2 3 4 5", &columns(Columns::Topology)).problem, Problem::TooManyColumns);
}

#[test]
fn a_header_is_passed_over_only_where_it_can_be_one() {
    let data = [edge(6, 2, Some(4.0), Some(9))];
    assert_eq!(edges(b"Source,Target,Weight,CommitTimestamp\n6,2,4,9\n", &text()), data);
    assert_eq!(edges(b"\xef\xbb\xbf# c\n\n\"a\" , \"b\"\n6,2,4,9\n", &text()), data);
    assert_eq!(edges(b"Source Target Weight Time\n6 2 4 9\n", &text()), data);
    assert_eq!(edges(b"a\tb\n6\t2\t4\t9\n", &text()), data);
    // A header has usual names, commas or tabs, must be the first line, and has no field that may
    // be meant as a number.
    for file in [
        "anna ben\n1 2\n",
        "1,2\nSource,Target\n",
        "Source,2\n",
        "anna,ben,9.5\n",
        "1x,2x\n",
        "-1,-2\n",
        ",a\n",
        "\"1\",\"2\"\n",
    ] {
        bad_line(file.as_bytes(), &text());
    }
    let present = ReadOptions { header: Header::Present, ..text() };
    assert_eq!(edges(b"# c\nFrom To\n6 2 4 9\n", &present), data);
    // Other names cannot be distinguished from an edge between text keys.
    let whole = read::<Box<str>>(b"Anna,Ben\na,b\n", &text());
    assert_eq!(whole.read.edges.len(), 2);
    for file in ["payer,payee\na,b\n", "from to\na b\n", "u\tv\na\tb\n"] {
        assert_eq!(read::<Box<str>>(file.as_bytes(), &text()).read.edges.len(), 2, "{file}");
    }
    let whole = read::<Box<str>>(b"from\tto\na\tb\n", &text());
    assert_eq!(whole.read.edges, [Edge::new("a".into(), "b".into())]);
    let whole = read::<Box<str>>(b"Source,Target\na,b\n", &present);
    assert_eq!(whole.read.edges, [Edge::new("a".into(), "b".into())]);
}

#[test]
fn adjacency_lines_are_a_vertex_and_its_neighbors() {
    let whole = read::<u64>(b"# c\n1 2 3 4 5 6\n7\n2,1\n\n8 8\n", &adjacency());
    whole.end.unwrap();
    let pairs: Vec<(u64, u64)> =
        whole.read.edges.iter().map(|edge| (edge.source, edge.destination)).collect();
    assert_eq!(pairs, [(1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 1), (8, 8)]);
    assert_eq!(whole.read.vertices, [7]);
}

#[test]
fn a_long_adjacency_line_comes_in_batches() {
    let neighbors: Vec<u64> = (0..100_000).collect();
    let line = |last: &str| {
        let numbers: Vec<String> = neighbors.iter().map(u64::to_string).collect();
        format!("7 {}{last}\n8 9\n5{}\n", numbers.join(" "), " ".repeat(100_000))
    };
    let options = ReadOptions { batch_size: 1000, ..adjacency() };
    let mut reader =
        GraphReader::<u64>::from_reader("graph", std::io::Cursor::new(line("")), options).unwrap();
    let mut batch = hedgerow_formats::Batch::new();
    let mut read = Vec::new();
    let mut vertices = Vec::new();
    while reader.read_batch(&mut batch).unwrap() {
        assert!(batch.len() <= 1000);
        read.extend(batch.edges.iter().map(|edge| (edge.source, edge.destination)));
        vertices.extend_from_slice(&batch.vertices);
    }
    assert_eq!(read.pop(), Some((8, 9)));
    assert!(read.into_iter().eq(neighbors.iter().map(|neighbor| (7, *neighbor))));
    assert_eq!(vertices, [5]);

    // After an error at the end of a line, no edge of the line is returned.
    let skipping = ReadOptions { skip_bad_lines: true, batch_size: 1000, ..adjacency() };
    let whole = read_text(&line(" x"), &skipping);
    assert_eq!(whole.read.edges, [edge(8, 9, None, None)]);
    assert_eq!(whole.reader.skipped().count, 1);
}

fn read_text(text: &str, options: &ReadOptions) -> Whole<u64> {
    read(text.as_bytes(), options)
}

#[test]
fn text_keys_are_any_utf8() {
    let whole = read::<Box<str>>("Zürich Köln 1.5\nhttp://a/?b=c,\"d\"\n".as_bytes(), &text());
    whole.end.unwrap();
    let pairs: Vec<(&str, &str)> =
        whole.read.edges.iter().map(|edge| (&*edge.source, &*edge.destination)).collect();
    assert_eq!(pairs, [("Zürich", "Köln"), ("http://a/?b=c", "\"d\"")]);

    let bad = bad(read::<Box<str>>(b"a b\nc caf\xe9\n", &text()).end);
    assert_eq!((bad.line, bad.column, bad.problem), (2, 3, Problem::NotUtf8));
    assert_eq!(bad.found, "caf\\xe9");
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let too_long = Problem::LineTooLong { limit: MAX_EDGE_LINE };
    let long = "1".repeat(MAX_EDGE_LINE + 1);
    let cases: [(&str, u64, &str, Problem); 16] = [
        ("1", 2, "1", Problem::MissingDestination),
        ("1 2 3 4 5", 9, "5", Problem::TooManyColumns),
        ("1 -2", 3, "-2", Problem::NegativeNumber),
        ("1 18446744073709551616", 3, "18446744073709551616", Problem::NumberTooLarge),
        ("a 2", 1, "a", Problem::NotANumber),
        ("1 2.0", 3, "2.0", Problem::NotANumber),
        ("1;2", 1, "1;2", Problem::NotANumber),
        ("1,,2", 3, "", Problem::EmptyField),
        ("1,2,", 5, "", Problem::EmptyField),
        ("1 2\0", 3, "2\\0", Problem::BinaryData),
        ("1 2 NaN", 5, "NaN", Problem::WeightNotFinite),
        ("1 2 -inf", 5, "-inf", Problem::WeightNotFinite),
        ("1 2 heavy", 5, "heavy", Problem::NotAWeight),
        ("1 2 3 soon", 7, "soon", Problem::NotATimestamp),
        ("1 2 3 9223372036854775808", 7, "9223372036854775808", Problem::TimestampTooLarge),
        (&long, 1, "1111111111111111111111111111111111111111…", too_long),
    ];
    for (line, column, found, problem) in cases {
        let bad = bad_line(format!("# comment\n1 2\n{line}\n3 4\n").as_bytes(), &text());
        assert_eq!(bad.path.to_str(), Some("graph"));
        assert_eq!((bad.line, bad.column, &*bad.found, bad.problem), (3, column, found, problem));
    }
    // A byte order mark counts with its bytes.
    assert_eq!(bad_line(b"\xef\xbb\xbf1 x", &text()).column, 6);
}

#[test]
fn a_line_without_an_end_takes_no_more_memory_than_the_limit() {
    let endless = std::io::repeat(b'1').take(64 << 20);
    let reader = GraphReader::<u64>::from_reader("endless", endless, text()).unwrap();
    let whole = drain(reader);
    assert_eq!(whole.reader.position().byte, 64 << 20);
    assert!(matches!(bad(whole.end).problem, Problem::LineTooLong { .. }));
}

#[test]
fn bad_lines_can_be_skipped() {
    let long = "1".repeat(MAX_EDGE_LINE + 1);
    let file = format!("1 2\nx\n{long}\n3\n3 4\n-1 2\n1 2 nan\n1 2 3 4 5\n5 6\n7");
    let skipping = ReadOptions { skip_bad_lines: true, ..text() };
    let whole = read_text(&file, &skipping);
    whole.end.unwrap();
    let sources: Vec<u64> = whole.read.edges.iter().map(|edge| edge.source).collect();
    assert_eq!(sources, [1, 3, 5]);
    let skipped = whole.reader.skipped();
    assert_eq!(skipped.count, 7);
    let lines: Vec<u64> = skipped.examples.iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [2, 3, 4, 6, 7]);
}

#[test]
fn lines_of_two_numbers_count_like_all_others() {
    let edge = |number: u64| (number * 7919 % 100_000, number * 104_729);
    // Lines that are not just two numbers, each after this many others.
    let odd = [(0, "# first"), (999, "1  x"), (20_000, ""), (20_001, "7 8 0.5"), (29_999, "1 y")];
    let (mut file, mut line, mut expected, mut bad_lines) =
        ("\u{feff}".to_owned(), 0, Vec::new(), Vec::new());
    for number in 0..30_000 {
        for (_, text) in odd.iter().filter(|(before, _)| *before == number) {
            line += 1;
            file += &format!("{text}\n");
            if text.starts_with('1') {
                bad_lines.push((line, 3 + u64::from(text.contains("  "))));
            }
            if text.starts_with('7') {
                expected.push((7, 8));
            }
        }
        line += 1;
        expected.push(edge(number));
        file += &format!("{} {}\n", edge(number).0, edge(number).1);
    }
    let whole = read_text(&file, &ReadOptions { skip_bad_lines: true, ..text() });
    whole.end.unwrap();
    let edges: Vec<_> = whole.read.edges.iter().map(|edge| (edge.source, edge.destination)).collect();
    assert!(edges == expected);
    let examples: Vec<_> = whole.reader.skipped().examples.iter().map(|bad| (bad.line, bad.column)).collect();
    assert_eq!(examples, bad_lines);
    assert_eq!(bad_line(file.as_bytes(), &text()).line, bad_lines[0].0);
}

#[test]
fn an_error_ends_the_reading_and_keeps_what_came_before() {
    let mut reader = GraphReader::<u64>::from_reader("graph", &b"1 2\nx y\n3 4\n"[..], text()).unwrap();
    let mut batch = hedgerow_formats::Batch::new();
    assert_eq!(reader.read_batch(&mut batch).unwrap_err().kind(), ErrorKind::BadInput);
    assert_eq!(batch.edges, [edge(1, 2, None, None)]);
    assert!(!reader.read_batch(&mut batch).unwrap());
    assert!(batch.is_empty());
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = GraphReader::<u64>::open(folder.path().join("none")).err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert!(missing.to_string().contains("none: cannot open"), "{missing}");
    let directory = GraphReader::<u64>::open(folder.path()).err().unwrap();
    assert_eq!(directory.kind(), ErrorKind::Io);
    assert!(directory.to_string().contains("directory"), "{directory}");
}

#[test]
fn a_vertex_file_can_be_read_on_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vertices");
    std::fs::write(&path, "# people\n3\n1 2\n1\n").unwrap();
    let open = |options| drain(GraphReader::<u64>::open_vertices(&path, options).unwrap());
    let bad = bad(open(text()).end);
    assert_eq!((bad.line, bad.column, bad.problem), (3, 3, Problem::NotOneVertex));
    let whole = open(ReadOptions { skip_bad_lines: true, ..text() });
    whole.end.unwrap();
    assert_eq!((whole.read.vertices, whole.reader.skipped().count), (vec![3, 1], 1));
    assert!(whole.read.edges.is_empty());
    assert!(GraphReader::<u64>::open_vertices(folder.path(), text()).is_err());
}

#[test]
fn a_vertex_file_beside_an_edge_file_is_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("g.v", "1\n2\n3\n");
    write("g.e", "1 2 0.5\n");
    let open = |name: &str, options| {
        drain(GraphReader::<u64>::open_with(folder.path().join(name), options).unwrap())
    };
    for batch_size in [1, 2, 100] {
        let whole = open("g.e", ReadOptions { batch_size, ..text() });
        whole.end.unwrap();
        assert_eq!(whole.read.vertices, [1, 2, 3]);
        assert_eq!(whole.read.edges, [edge(1, 2, Some(0.5), None)]);
        let progress = whole.reader.progress();
        assert_eq!((progress.done, progress.total), (14, Some(14)));
        assert!(whole.reader.position().path.ends_with("g.e"));
    }
    assert!(open("g.e", adjacency()).read.vertices.is_empty());

    write("g.v", "1\n2 x\n");
    let bad = bad(open("g.e", text()).end);
    assert!(bad.path.ends_with("g.v"));
    assert_eq!((bad.line, bad.column, bad.problem), (2, 3, Problem::NotOneVertex));

    let compressed = zstd::encode_all(&b"4\n5\n"[..], 1).unwrap();
    std::fs::write(folder.path().join("h.v.zst"), compressed).unwrap();
    write("h.e.gz", "4 5\n"); // the name promises what the bytes don't keep
    assert_eq!(open("h.e.gz", text()).read.vertices, [4, 5]);
    // The pair can be named by either file.
    let pair = open("h.v.zst", ReadOptions::default()).read;
    assert_eq!((pair.vertices, pair.edges), (vec![4, 5], vec![edge(4, 5, None, None)]));
    write("alone.v", "1\n");
    let missing = GraphReader::<u64>::open(folder.path().join("alone.v")).err().unwrap();
    assert!(missing.path().ends_with("alone.e"), "{missing}");
}
