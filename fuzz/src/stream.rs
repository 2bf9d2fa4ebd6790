//! Target of streams: arbitrary bytes in every form, with numbers and with text as keys, strictly
//! and skipping bad lines. Edges, place and error must not depend on the blocks that arrive.

use hedgerow_formats::{StreamBatch, StreamForm, StreamOptions, StreamParser, StreamPlace, VertexKey};
use std::fmt::Debug;

/// Parses the bytes in all ways.
pub fn parse_all(bytes: &[u8]) {
    for form in [StreamForm::Lines, StreamForm::Operations, StreamForm::Pairs32, StreamForm::Pairs64] {
        for skip_bad_lines in [false, true] {
            let options = StreamOptions { form, skip_bad_lines, ..StreamOptions::default() };
            compare::<u64>(bytes, options);
            compare::<Box<str>>(bytes, options);
        }
    }
}

fn compare<K: VertexKey + Debug>(bytes: &[u8], options: StreamOptions) {
    let whole = parse::<K>(bytes, bytes.len().max(1), usize::MAX, options);
    for (size, most) in [(1, usize::MAX), (7, 2)] {
        assert_eq!(parse::<K>(bytes, size, most, options), whole, "{size} bytes, {most} edges");
    }
}

/// The edges of bytes that arrive `size` at a time, up to `most` of them at once; the place after
/// them, the number of bad lines, and the error.
fn parse<K: VertexKey>(
    bytes: &[u8],
    size: usize,
    most: usize,
    options: StreamOptions,
) -> (StreamBatch<K>, StreamPlace, u64, Option<String>) {
    let mut parser = StreamParser::new("fuzz", options, StreamPlace::default());
    let mut all = StreamBatch::new();
    let mut arrived = 0;
    loop {
        let is_end = arrived == bytes.len();
        loop {
            let (before, limit) = (parser.place(), all.edges.len().saturating_add(most));
            let parsed = parser.parse(&bytes[before.bytes as usize..arrived], is_end, limit, &mut all);
            if let Err(error) = parsed {
                return (all, parser.place(), parser.skipped().count, Some(error.to_string()));
            }
            if parser.place() == before {
                break;
            }
        }
        if is_end {
            return (all, parser.place(), parser.skipped().count, None);
        }
        arrived = (arrived + size).min(bytes.len());
    }
}
