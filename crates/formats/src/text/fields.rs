//! The fields of a line: keys, weights, timestamps.

use crate::VertexKey;
use crate::characters::{is_blank, is_control, is_separator};
use crate::error::{Fault, Problem};

/// Cuts a line at its separators: a run of blanks, or one comma with blanks around it.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    /// The start of the next field.
    position: usize,
    /// True if the last separator had a comma, so that another field must follow.
    after_comma: bool,
}

/// One field and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub bytes: &'a [u8],
    pub start: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub fn new(line: &'a [u8]) -> Self {
        Self::resume(line, 0)
    }

    /// The fields from `position` on, which [`offset`](Self::offset) returned.
    #[inline]
    pub fn resume(line: &'a [u8], position: usize) -> Self {
        let mut fields = Fields { line, position, after_comma: false };
        fields.skip_blanks();
        fields
    }

    /// The start of the next field; the length of the line if there is none.
    pub fn offset(&self) -> usize {
        self.position
    }

    /// The whole line.
    pub fn line(&self) -> &'a [u8] {
        self.line
    }

    /// Returns true if a comma separates fields anywhere in the line. O(length).
    pub fn has_comma(line: &[u8]) -> bool {
        memchr::memchr(b',', line).is_some()
    }

    /// A fault about the end of the line.
    pub fn fault_at_end(&self, problem: Problem) -> Fault {
        Fault { problem, start: self.line.len(), end: self.line.len() }
    }

    /// The next field as a key; `None` at the end of the line.
    #[inline]
    pub fn key<K: VertexKey>(&mut self) -> Result<Option<K>, Fault> {
        if let Some((key, length)) = K::scan(&self.line[self.position..]) {
            self.pass(length);
            return Ok(Some(key));
        }
        self.next().map(|field| field.parse_with(K::parse)).transpose()
    }

    /// Advances past a field of `length` bytes and the separator after it.
    #[inline]
    fn pass(&mut self, length: usize) {
        self.position += length;
        self.skip_blanks();
        self.after_comma = self.line.get(self.position) == Some(&b',');
        if self.after_comma {
            self.position += 1;
            self.skip_blanks();
        }
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while self.position < self.line.len() && is_blank(self.line[self.position]) {
            self.position += 1;
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        if self.position == self.line.len() && !self.after_comma {
            return None;
        }
        let start = self.position;
        let rest = &self.line[start..];
        let length = rest.iter().position(|byte| is_separator(*byte)).unwrap_or(rest.len());
        self.pass(length);
        Some(Field { bytes: &rest[..length], start })
    }
}

impl Field<'_> {
    /// The field's value, or a fault about the field.
    #[inline]
    pub fn parse_with<T>(self, parse: impl FnOnce(&[u8]) -> Result<T, Problem>) -> Result<T, Fault> {
        parse(self.bytes).map_err(|problem| {
            let problem = if self.bytes.is_empty() { Problem::EmptyField } else { problem };
            self.fault(problem)
        })
    }

    #[cold]
    pub fn fault(self, problem: Problem) -> Fault {
        Fault { problem, start: self.start, end: self.start + self.bytes.len() }
    }
}

/// Returns true if a line is blank, or a comment: its first byte that is not blank is `#` or `%`.
#[inline]
pub(crate) fn is_blank_or_comment(line: &[u8]) -> bool {
    match line.iter().find(|byte| !is_blank(**byte)) {
        None => true,
        Some(byte) => matches!(byte, b'#' | b'%'),
    }
}

/// Parses a finite decimal number.
pub(crate) fn parse_weight(field: &[u8]) -> Result<f64, Problem> {
    let text = std::str::from_utf8(field).map_err(|_| problem_of(field, Problem::NotAWeight))?;
    let weight: f64 = text.parse().map_err(|_| problem_of(field, Problem::NotAWeight))?;
    if weight.is_finite() { Ok(weight) } else { Err(Problem::WeightNotFinite) }
}

/// Parses a whole number, with an optional sign, as the nearest 64-bit float.
pub(crate) fn parse_whole_number(field: &[u8]) -> Result<f64, Problem> {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(problem_of(field, Problem::NotAWholeNumber));
    }
    parse_weight(field)
}

/// Parses a whole number, or one with a decimal fraction, which is rounded down.
pub(crate) fn parse_timestamp(field: &[u8]) -> Result<i64, Problem> {
    let (negative, digits) = match field.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, field),
    };
    let point = memchr::memchr(b'.', digits);
    let (whole, fraction) = match point {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &b"0"[..]),
    };
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !is_number(whole) || !is_number(fraction) {
        return Err(problem_of(field, Problem::NotATimestamp));
    }
    let push = |number: i64, byte: &u8| {
        let digit = i64::from(byte - b'0');
        number.checked_mul(10)?.checked_add(if negative { -digit } else { digit })
    };
    let rounded = if negative && fraction.iter().any(|byte| *byte != b'0') { -1 } else { 0 };
    let number = whole.iter().try_fold(0, push).and_then(|number| number.checked_add(rounded));
    number.ok_or(Problem::TimestampTooLarge)
}

/// Returns `otherwise`, unless the field is not even text.
fn problem_of(field: &[u8], otherwise: Problem) -> Problem {
    if field.iter().any(|byte| is_control(*byte)) { Problem::BinaryData } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(line: &str) -> Vec<&str> {
        Fields::new(line.as_bytes()).map(|field| std::str::from_utf8(field.bytes).unwrap()).collect()
    }

    #[test]
    fn blanks_and_single_commas_separate() {
        assert_eq!(fields("1 2"), ["1", "2"]);
        assert_eq!(fields("  1 \t 2\t"), ["1", "2"]);
        assert_eq!(fields("1,2"), ["1", "2"]);
        assert_eq!(fields("1 , 2,\t3 4"), ["1", "2", "3", "4"]);
        assert_eq!(fields("1,,2"), ["1", "", "2"]);
        assert_eq!(fields("1, ,2"), ["1", "", "2"]);
        assert_eq!(fields(",1"), ["", "1"]);
        assert_eq!(fields("1,"), ["1", ""]);
        assert_eq!(fields(" , "), ["", ""]);
        assert_eq!(fields(" \t"), [""; 0]);
    }

    #[test]
    fn fields_know_where_they_are_and_resume_there() {
        let mut whole = Fields::new(b" 10 ,20 30");
        assert_eq!(whole.next().map(|field| field.start), Some(1));
        let resumed = Fields::resume(b" 10 ,20 30", whole.offset());
        let starts: Vec<usize> = resumed.map(|field| field.start).collect();
        assert_eq!(starts, [5, 8]);
    }

    #[test]
    fn weights_are_finite_numbers() {
        assert_eq!(parse_weight(b"-2.5e1"), Ok(-25.0));
        assert_eq!(parse_weight(b"4"), Ok(4.0));
        for text in ["nan", "NaN", "inf", "-Infinity", "1e999"] {
            assert_eq!(parse_weight(text.as_bytes()), Err(Problem::WeightNotFinite), "{text}");
        }
        for text in ["", "x", "1,5", "0x1p3", "1.2.3"] {
            assert_eq!(parse_weight(text.as_bytes()), Err(Problem::NotAWeight), "{text}");
        }
        assert_eq!(parse_weight(b"\xff"), Err(Problem::NotAWeight));
        assert_eq!(parse_weight(b"1\0"), Err(Problem::BinaryData));
    }

    #[test]
    fn timestamps_round_down() {
        assert_eq!(parse_timestamp(b"1289241911.72836"), Ok(1_289_241_911));
        assert_eq!(parse_timestamp(b"-1.5"), Ok(-2));
        assert_eq!(parse_timestamp(b"-1.000"), Ok(-1));
        assert_eq!(parse_timestamp(b"-0.5"), Ok(-1));
        assert_eq!(parse_timestamp(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(parse_timestamp(b"9223372036854775807.9"), Ok(i64::MAX));
        for text in ["9223372036854775808", "-9223372036854775809", "-9223372036854775808.1"] {
            assert_eq!(parse_timestamp(text.as_bytes()), Err(Problem::TimestampTooLarge), "{text}");
        }
        for text in ["", "-", "1.", ".5", "1e9", "2004-04-15", "1.5.5", "NaN"] {
            assert_eq!(parse_timestamp(text.as_bytes()), Err(Problem::NotATimestamp), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_timestamps_come_back(timestamp: i64, fraction in "(\\.0{1,3})?") {
            prop_assert_eq!(parse_timestamp(format!("{timestamp}{fraction}").as_bytes()), Ok(timestamp));
        }

        #[test]
        fn weights_come_back(weight in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO) {
            prop_assert_eq!(parse_weight(format!("{weight:?}").as_bytes()).map(f64::to_bits), Ok(weight.to_bits()));
        }
    }
}
