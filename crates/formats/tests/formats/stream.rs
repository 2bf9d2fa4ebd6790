//! Streams, which arrive in blocks.

use crate::common::{Whole, drain};
use hedgerow_formats::{
    Edge, FormatError, GraphFormat, GraphReader, ReadOptions, StreamBatch, StreamForm, StreamOptions,
    StreamParser, StreamPlace, VertexKey,
};
use hedgerow_testing::damage::{damage, seeds};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::fmt::Debug;

/// The edges and the end of a stream.
type Parsed<K> = (StreamBatch<K>, StreamParser<K>, Result<(), FormatError>);

/// Parses bytes that arrive `size` at a time, at most `most` edges at a time; after each batch the
/// parser begins anew at its place, as after a crash, once there were edges.
fn parse<K: VertexKey>(bytes: &[u8], size: usize, most: usize, options: StreamOptions) -> Parsed<K> {
    let mut parser = StreamParser::new("x", options, StreamPlace::default());
    let mut all = StreamBatch::new();
    for arrived in (0..).map(|block| (block * size).min(bytes.len())) {
        let is_end = arrived == bytes.len();
        loop {
            let (before, mut batch) = (parser.place(), StreamBatch::new());
            let start = before.bytes as usize;
            let parsed = parser.parse(&bytes[start..arrived], is_end, most, &mut batch);
            let deletions = batch.deletions.iter().map(|deletion| all.edges.len() + deletion);
            all.deletions.extend(deletions);
            all.edges.append(&mut batch.edges);
            if parsed.is_err() {
                return (all, parser, parsed);
            }
            if parser.place() == before {
                break;
            }
            if !(options.skip_bad_lines || all.edges.is_empty()) {
                parser = StreamParser::new("x", options, parser.place());
            }
        }
        if is_end {
            return (all, parser, Ok(()));
        }
    }
    unreachable!("the last block ends the stream")
}

/// Checks that a stream of this text has the edges and the error of a file.
fn assert_like_file<K: VertexKey + Debug>(text: &str, size: usize, most: usize, skip_bad_lines: bool) {
    let options = StreamOptions { skip_bad_lines, ..StreamOptions::default() };
    let (found, parser, end) = parse::<K>(text.as_bytes(), size, most, options);
    let options =
        ReadOptions { format: Some(GraphFormat::EdgeList), skip_bad_lines, ..ReadOptions::default() };
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    let reader = GraphReader::<K>::from_reader("x", bytes, options).expect("memory can be read");
    let Whole { read, reader, end: expected_end } = drain(reader);
    let expected_end = expected_end.map_err(|error| error.to_string());
    assert_eq!((found.edges, found.deletions), (read.edges, vec![]));
    assert_eq!(end.map_err(|error| error.to_string()), expected_end);
    assert_eq!(parser.skipped(), reader.skipped());
    if expected_end.is_ok() {
        let lines = text.trim_start_matches('\u{feff}').lines().count() as u64;
        assert_eq!(parser.place(), StreamPlace { bytes: text.len() as u64, lines });
    }
}

const LINES: &[&str] = &[
    "1 2",
    "31,4",
    "5\t6",
    "17 18",
    "12345678 9",
    "5 6 0.5",
    " 7 8 ",
    "",
    "# 1 2",
    "%",
    "12345678901234567 2",
    "123456789012345 3",
    "1 2\r",
    "\r",
];
const BAD_LINES: &[&str] = &["x 1", "7", "1,,2", "1 2 3 4 5", "-1 2", "99999999999999999999 1"];

proptest! {
    #[test]
    fn lines_are_those_of_a_file_however_they_arrive(
        mut lines in prop::collection::vec(prop::sample::select(LINES), 0..30),
        bad in prop::option::of((0..31usize, prop::sample::select(BAD_LINES))),
        header in prop::option::of(prop::sample::select(&["source,target", "# a\nfrom\tto"][..])),
        mark in prop::bool::ANY,
        has_end in prop::bool::ANY,
        size in 1usize..60,
        most in 1usize..8,
    ) {
        if let Some((place, bad)) = bad {
            lines.insert(place.min(lines.len()), bad);
        }
        lines.splice(0..0, header);
        let end = if has_end && !lines.is_empty() { "\n" } else { "" };
        let text = format!("{}{}{end}", if mark { "\u{feff}" } else { "" }, lines.join("\n"));
        assert_like_file::<u64>(&text, size, most, false);
        assert_like_file::<u64>(&text, size, most, true);
        assert_like_file::<Box<str>>(&text, size, most, false);
    }

    #[test]
    fn operations_put_and_delete_in_their_order(
        lines in prop::collection::vec(
            (prop::bool::ANY, 0..3000u64, prop::sample::select(&["", " ", ",", "\t", " , "][..]), prop::bool::weighted(0.9)),
            0..30,
        ),
        size in 1usize..60,
        most in 1usize..8,
    ) {
        let (mut text, mut expected) = (String::new(), StreamBatch::<u64>::new());
        for (number, (is_deleted, key, separator, is_plain)) in lines.iter().enumerate() {
            let sign = if *is_deleted { '-' } else { '+' };
            let end = if *is_plain { "" } else { " \r" };
            text += &format!("{sign}{separator}{key} {}{end}\n", key * key * key);
            expected.edges.push(Edge::new(*key, key * key * key));
            expected.deletions.extend(is_deleted.then_some(number));
        }
        let options = StreamOptions { form: StreamForm::Operations, ..StreamOptions::default() };
        let (found, _, end) = parse(text.as_bytes(), size, most, options);
        prop_assert!(end.is_ok());
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn pairs_are_read_however_they_arrive(
        pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 0..30),
        extra in 0usize..16,
        size in 1usize..60,
        most in 1usize..8,
    ) {
        let wide = |key: u32| u64::from(key) << 20;
        for (form, width) in [(StreamForm::Pairs32, 4), (StreamForm::Pairs64, 8)] {
            let key = |key: u32| if width == 4 { u64::from(key) } else { wide(key) };
            let numbers = pairs.iter().flat_map(|(from, to)| [key(*from), key(*to)]);
            let mut bytes: Vec<u8> = numbers.flat_map(|key| key.to_le_bytes()[..width].to_vec()).collect();
            let length = bytes.len();
            let extra = extra % (2 * width);
            bytes.resize(length + extra, 1);
            let options = StreamOptions { form, ..StreamOptions::default() };
            let (found, parser, end) = parse::<u64>(&bytes, size, most, options);
            let expected: Vec<_> = pairs.iter().map(|(from, to)| Edge::new(key(*from), key(*to))).collect();
            prop_assert_eq!(found.edges, expected);
            prop_assert_eq!(parser.place().bytes, length as u64);
            let end = end.map_err(|error| error.to_string());
            let cut = format!("x: byte {length}: found the end after {extra} bytes, expected a pair of {} bytes", 2 * width);
            prop_assert_eq!(end, if extra == 0 { Ok(()) } else { Err(cut) });
        }
    }
}

#[test]
fn edges_that_a_store_would_refuse_are_bad_where_they_stand() {
    let fails = |text: &[u8], options: StreamOptions, place: (u64, u64), part: &str| {
        let (_, parser, end) = parse::<u64>(text, 7, 5, options);
        assert_eq!((parser.place().bytes, parser.place().lines), place);
        let error = end.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let options = StreamOptions::default();
    let dense = StreamOptions { largest_key: Some(9), ..options };
    fails(
        b"1 2\n3 4\n9 10\n5 6\n",
        dense,
        (8, 2),
        "x:3:1: found \"9 10\", expected vertex keys of at most 9",
    );
    let pairs = StreamOptions { form: StreamForm::Pairs32, ..dense };
    fails(&[1, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0], pairs, (8, 0), "byte 8: found the pair 2 10");
    let weighted = StreamOptions { needs_weights: true, ..options };
    fails(b"1 2 0.5\n3 4\n", weighted, (8, 1), "x:2:1: found \"3 4\", expected a weight");
    let operations = StreamOptions { form: StreamForm::Operations, ..weighted };
    fails(b"- 1 2\n+ 1 2 7\n1 2 3\n", operations, (14, 2), "x:3:1: found \"1 2 3\", expected + or -");
    fails(b"- 1 2\n+ 1 x 7\n", operations, (6, 1), "x:2:5: found \"x\"");
    let mut long = b"1 2\n".to_vec();
    long.resize(2 << 20, b'7');
    let (found, parser, end) =
        parse::<u64>(&long, 1 << 16, 100, StreamOptions { skip_bad_lines: true, ..options });
    assert_eq!((found.edges.len(), parser.place()), (1, StreamPlace { bytes: 4, lines: 1 }));
    assert!(end.unwrap_err().to_string().contains("expected the line to end within"));
}

/// A short run of the fuzz target: its seeds, damaged at random, in every form.
#[test]
fn damage_reads_the_same_however_it_arrives() {
    fn compare<K: VertexKey + Debug>(bytes: &[u8], options: StreamOptions) -> bool {
        let ended =
            |(batch, parser, end): Parsed<K>| (batch, parser.place(), end.map_err(|error| error.to_string()));
        let whole = ended(parse(bytes, bytes.len().max(1), usize::MAX, options));
        assert_eq!(ended(parse(bytes, 7, 2, options)), whole, "{:?}", options.form);
        whole.2.is_ok()
    }
    let mut random = StdRng::seed_from_u64(7);
    let forms = [StreamForm::Lines, StreamForm::Operations, StreamForm::Pairs32, StreamForm::Pairs64];
    let (mut good, mut bad) = (0, 0);
    for seed in seeds("stream") {
        for case in 0..300 {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            for form in forms {
                let options =
                    StreamOptions { form, skip_bad_lines: case % 2 == 1, ..StreamOptions::default() };
                let is_good = compare::<u64>(&bytes, options);
                compare::<Box<str>>(&bytes, options);
                *if is_good { &mut good } else { &mut bad } += 1;
            }
        }
    }
    assert!(good > 100 && bad > 100, "the damage is of one kind only: {good} good, {bad} bad");
}
