//! Vertex keys in files.

use crate::characters::is_control;
use crate::error::Problem;
use hedgerow_model::{AsKey, KeyKind};
use std::fmt::Debug;
use std::hash::Hash;

pub(crate) mod scan {
    use crate::Batch;
    use crate::characters::is_separator;
    use crate::static_graph::{IdPair, Numbering, StaticGraphError};
    use hedgerow_model::KeyRef;

    /// A shortcut internal to this crate, which also seals the trait.
    pub trait Scan: Sized {
        /// The key at the start of `line`, and its length, if a fast single pass can find and parse
        /// it.
        fn scan(line: &[u8]) -> Option<(Self, usize)>;

        /// The key of a vertex that the file identifies by a number.
        fn of_number(number: u64) -> Self;

        /// The key for a whole field; text may contain any characters.
        fn of_text(text: &str) -> Result<Self, super::Problem>;

        /// Converts a key of a numbering of such keys.
        fn of_key(key: KeyRef<'_>) -> Self;

        /// The key, if it is a number.
        fn as_number(&self) -> Option<u64>;

        /// Assigns ids to the vertices of a batch, and to the ends of its edges.
        fn assign_ids(
            batch: &Batch<Self>,
            numbering: &mut Numbering,
            ends: &mut Vec<IdPair>,
        ) -> Result<(), StaticGraphError>;
    }

    impl Scan for u64 {
        #[inline]
        fn scan(line: &[u8]) -> Option<(Self, usize)> {
            let mut number = 0;
            for (length, byte) in line.iter().take(super::SAFE_DIGITS).enumerate() {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    return (length > 0 && is_separator(*byte)).then_some((number, length));
                }
                number = number * 10 + u64::from(digit);
            }
            (!line.is_empty() && line.len() <= super::SAFE_DIGITS).then_some((number, line.len()))
        }

        #[inline]
        fn of_number(number: u64) -> Self {
            number
        }

        fn of_text(text: &str) -> Result<Self, super::Problem> {
            super::VertexKey::parse(text.as_bytes())
        }

        fn of_key(key: KeyRef<'_>) -> Self {
            match key {
                KeyRef::Number(number) => number,
                KeyRef::Text(_) | KeyRef::Negative(_) => unreachable!("{key} is not such a number"),
            }
        }

        #[inline]
        fn as_number(&self) -> Option<u64> {
            Some(*self)
        }

        fn assign_ids(
            batch: &Batch<Self>,
            numbering: &mut Numbering,
            ends: &mut Vec<IdPair>,
        ) -> Result<(), StaticGraphError> {
            numbering.assign_to_numbers(batch, ends)
        }
    }

    impl Scan for Box<str> {
        #[inline]
        fn scan(_line: &[u8]) -> Option<(Self, usize)> {
            None
        }

        fn of_number(number: u64) -> Self {
            itoa::Buffer::new().format(number).into()
        }

        fn of_text(text: &str) -> Result<Self, super::Problem> {
            Ok(text.into())
        }

        fn of_key(key: KeyRef<'_>) -> Self {
            key.to_string().into()
        }

        fn as_number(&self) -> Option<u64> {
            None
        }

        fn assign_ids(
            batch: &Batch<Self>,
            numbering: &mut Numbering,
            ends: &mut Vec<IdPair>,
        ) -> Result<(), StaticGraphError> {
            numbering.assign_to_texts(batch, ends)
        }
    }
}

/// The number of decimal digits that always fit in 64 bits.
const SAFE_DIGITS: usize = 19;

/// A type of vertex keys in files: `u64` or `Box<str>`.
pub trait VertexKey: AsKey + Clone + Debug + Ord + Hash + Send + Sync + 'static + scan::Scan {
    /// The kind of graph that has such keys; numbers are also used for dense ids.
    const KIND: KeyKind;

    /// Parses the key in one field of a line. O(length).
    ///
    /// # Errors
    /// The field is not such a key.
    fn parse(field: &[u8]) -> Result<Self, Problem>;
}

impl VertexKey for u64 {
    const KIND: KeyKind = KeyKind::Number;

    #[inline]
    fn parse(field: &[u8]) -> Result<Self, Problem> {
        match scan::Scan::scan(field) {
            Some((number, length)) if length == field.len() => Ok(number),
            _ => parse_any_number(field),
        }
    }
}

/// Parses unusual numbers: many digits, or other characters.
#[cold]
fn parse_any_number(field: &[u8]) -> Result<u64, Problem> {
    let (negative, digits) = match field.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, field),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        let binary = field.iter().any(|byte| is_control(*byte));
        return Err(if binary { Problem::BinaryData } else { Problem::NotANumber });
    }
    if negative {
        return Err(Problem::NegativeNumber);
    }
    let push = |number: u64, byte: &u8| number.checked_mul(10)?.checked_add(u64::from(byte - b'0'));
    digits.iter().try_fold(0, push).ok_or(Problem::NumberTooLarge)
}

impl VertexKey for Box<str> {
    const KIND: KeyKind = KeyKind::String;

    fn parse(field: &[u8]) -> Result<Self, Problem> {
        if field.is_empty() {
            return Err(Problem::EmptyField);
        }
        if field.iter().any(|byte| is_control(*byte)) {
            return Err(Problem::BinaryData);
        }
        std::str::from_utf8(field).map(Box::from).map_err(|_| Problem::NotUtf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_the_full_range_and_nothing_else() {
        let parse = |text: &str| u64::parse(text.as_bytes());
        assert_eq!(parse("0"), Ok(0));
        assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse("00000000000000000000000000000000000007"), Ok(7));
        assert_eq!(parse("18446744073709551616"), Err(Problem::NumberTooLarge));
        assert_eq!(parse("99999999999999999999999"), Err(Problem::NumberTooLarge));
        assert_eq!(parse("-1"), Err(Problem::NegativeNumber));
        assert_eq!(parse("-99999999999999999999999"), Err(Problem::NegativeNumber));
        for text in ["", "-", "--1", "+1", "1.0", "1e3", "0x10", "a", "1a", "１", "1234567890123456789O1"] {
            assert_eq!(parse(text), Err(Problem::NotANumber), "{text}");
        }
        assert_eq!(u64::parse(b"1\0"), Err(Problem::BinaryData));
    }

    #[test]
    fn text_is_utf8_without_control_characters() {
        let parse = |field: &[u8]| <Box<str>>::parse(field);
        assert_eq!(parse("Zürich".as_bytes()).as_deref(), Ok("Zürich"));
        assert_eq!(parse(b"caf\xe9"), Err(Problem::NotUtf8));
        assert_eq!(parse(b"a\0"), Err(Problem::BinaryData));
        assert_eq!(parse(b""), Err(Problem::EmptyField));
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_the_standard_library_reads_them(text in "[0-9]{1,22}|[0-9a-z-]{0,5}") {
            let expected = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
            prop_assert_eq!(u64::parse(text.as_bytes()).ok(), expected);
        }
    }
}
