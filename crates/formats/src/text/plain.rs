//! Lines of two numbers, as in most edge lists: read eight digits at a time.

use crate::characters::is_separator;
use crate::{Edge, VertexKey};
use hedgerow_model::KeyKind;

/// Powers of ten, by the number of digits.
const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Reads lines from the start of `bytes` while each is two numbers of at most 15 digits, one
/// separator and a line feed, and adds their edges, until there are `most`. Returns the length of
/// these lines. Stops early near the end of `bytes`, where fewer than eight bytes are left. Reads
/// nothing if keys are texts. O(length).
#[inline]
pub(crate) fn edges<K: VertexKey>(bytes: &[u8], most: usize, edges: &mut Vec<Edge<K>>) -> usize {
    let mut length = 0;
    if K::KIND != KeyKind::Number {
        return length;
    }
    while edges.len() < most
        && let Some((source, destination, end)) = line(bytes, length)
    {
        edges.push(Edge::new(K::of_number(source), K::of_number(destination)));
        length = end;
    }
    length
}

/// Like [`edges`], for lines that begin with `+` or `-` and at most one separator. Adds the
/// positions in `edges` of those with `-` to `deletions`.
#[inline]
pub(crate) fn operations<K: VertexKey>(
    bytes: &[u8],
    most: usize,
    edges: &mut Vec<Edge<K>>,
    deletions: &mut Vec<usize>,
) -> usize {
    let mut length = 0;
    if K::KIND != KeyKind::Number {
        return length;
    }
    while edges.len() < most
        && let Some([operation @ (b'+' | b'-'), next]) = bytes.get(length..length + 2)
        && let Some((source, destination, end)) = line(bytes, length + 1 + usize::from(is_separator(*next)))
    {
        if *operation == b'-' {
            deletions.push(edges.len());
        }
        edges.push(Edge::new(K::of_number(source), K::of_number(destination)));
        length = end;
    }
    length
}

/// The two numbers of the line at `start`, and the end of the line.
#[inline]
fn line(bytes: &[u8], start: usize) -> Option<(u64, u64, usize)> {
    let (source, separator) = number(bytes, start)?;
    let (destination, end) = number(bytes, separator + 1)?;
    (is_separator(bytes[separator]) && bytes[end] == b'\n').then_some((source, destination, end + 1))
}

/// The number at `start`, and its end, which is not the end of `bytes`.
#[inline]
fn number(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let (first, length) = digits(bytes, start)?;
    match length {
        0 => None,
        8 => {
            let (second, length) = digits(bytes, start + 8)?;
            (length < 8).then(|| (first * POWERS[length] + second, start + 8 + length))
        }
        _ => Some((first, start + length)),
    }
}

/// The number of up to eight digits at `start`, and how many they are. `None` near the end of
/// `bytes`.
#[inline]
fn digits(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*bytes.get(start..)?.first_chunk()?);
    // The first byte is the lowest. Digits become 0 to 9; of any other byte, the highest bit is set
    // in the sum, which carries into later bytes only.
    let values = word ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let length = others.trailing_zeros() as usize / 8;
    // The last digit moves into the highest byte; zeros lead.
    let digits = values.checked_shl(64 - 8 * length as u32).unwrap_or(0);
    // Pairs of digits, then fours, then all eight.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let upper = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let lower = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    Some((upper.wrapping_add(lower) >> 32, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes of lines, and others next to digits, to separators and to line feeds.
    const BYTES: &[u8] =
        b"0123456789012345678901234567890123456789   ,\t\n\n\n\r/:#a-\0\x70\x7f\x80\x8a\xb0\xf9\xff";

    proptest! {
        #[test]
        fn lines_of_two_numbers_are_read_up_to_the_first_other_line(
            lines in prop::collection::vec(("[0-9]{1,16}", "[ ,\t]", "[0-9]{1,16}", prop::bool::weighted(0.9)), 0..20),
        ) {
            let (mut text, mut expected, mut length) = (String::new(), Vec::new(), None);
            for (source, separator, destination, is_plain) in lines {
                if length.is_none() && (!is_plain || source.len().max(destination.len()) > 15) {
                    length = Some(text.len());
                }
                if length.is_none() {
                    expected.push(Edge::<u64>::new(source.parse().unwrap(), destination.parse().unwrap()));
                }
                let space = if is_plain { "" } else { " " };
                text += &format!("{source}{separator}{destination}{space}\n");
            }
            let length = length.unwrap_or(text.len());
            // Eight bytes are read at a time.
            text += "# end of the lines\n";
            let mut read = Vec::<Edge<u64>>::new();
            prop_assert_eq!(edges(text.as_bytes(), usize::MAX, &mut read), length);
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn any_bytes_are_read_as_the_general_parser_reads_them(
            text in prop::collection::vec(prop::sample::select(BYTES), 0..200),
        ) {
            let mut read = Vec::<Edge<u64>>::new();
            let length = edges(&text, usize::MAX, &mut read);
            let parse = |line: &[u8]| super::super::parse::edge(&line[..line.len() - 1], crate::Columns::Auto).unwrap();
            let lines = text[..length].split_inclusive(|byte| *byte == b'\n');
            prop_assert_eq!(read, lines.map(parse).collect::<Vec<_>>());
        }
    }

    #[test]
    fn texts_are_left_alone() {
        let mut read = Vec::<Edge<Box<str>>>::new();
        assert_eq!((edges(b"1 2\n3 4\n5 6\n", usize::MAX, &mut read), read.len()), (0, 0));
    }
}
