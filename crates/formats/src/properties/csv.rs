//! Finds the records of a CSV file with their fields, as in RFC 4180.

use super::MAX_PROPERTY_LINE;
use super::value::Cell;
use crate::FormatError;
use crate::error::{BadProperty, excerpt};
use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr2_iter, memchr3};
use std::ops::Range;
use std::path::Path;

/// The bytes that separate fields in files whose delimiter is not given.
const DELIMITERS: [u8; 4] = *b",\t;|";

/// A part of a CSV file, read record by record.
pub(super) struct CsvLines<'b> {
    path: &'b Path,
    bytes: &'b [u8],
    delimiter: u8,
    /// True if nothing follows the bytes in the file.
    is_last: bool,
    /// The position of the next byte, and its line in the file, from 1.
    next: usize,
    line: u64,
    /// The position and the line of a record that does not end in this part.
    cut: Option<(usize, u64)>,
    fields: Vec<Field>,
    /// True if the fields are in `text`: their record has quotation marks.
    is_unquoted: bool,
    text: Vec<u8>,
    core: Reader,
}

/// A field of the record.
struct Field {
    start: usize,
    end: usize,
    is_quoted: bool,
    /// The line of the file on which the field starts.
    line: u64,
}

/// The form of a field in the file.
#[derive(Default)]
struct Raw {
    first: Option<u8>,
    last: Option<u8>,
    quotes: usize,
    length: usize,
}

impl<'b> CsvLines<'b> {
    /// The records from `start` on, the start of a line with the number `line`.
    pub fn new(path: &'b Path, bytes: &'b [u8], (start, line): (usize, u64), delimiter: u8) -> Self {
        let mut core = ReaderBuilder::new().delimiter(delimiter).build();
        // Otherwise it would skip a byte order mark at the start of the first record that it gets.
        core.read_field(b"\n", &mut []);
        CsvLines {
            path,
            bytes,
            delimiter,
            is_last: false,
            next: start,
            line,
            cut: None,
            fields: Vec::new(),
            is_unquoted: false,
            text: Vec::new(),
            core,
        }
    }

    /// With `is_last`, the last records of the file: a record that goes on is an error.
    pub fn ending(self, is_last: bool) -> Self {
        CsvLines { is_last, ..self }
    }

    /// Reads the next record; false if there is none that ends in this part. Skips empty lines.
    pub fn read(&mut self) -> Result<bool, FormatError> {
        self.fields.clear();
        while self.next < self.bytes.len() && b"\r\n".contains(&self.bytes[self.next]) {
            self.pass(1);
        }
        let rest = &self.bytes[self.next..];
        if rest.is_empty() {
            return Ok(false);
        }
        match memchr3(b'\r', b'\n', b'"', rest) {
            Some(quote) if rest[quote] == b'"' => self.read_quoted(),
            end => self.split(end.unwrap_or(rest.len())).map(|()| true),
        }
    }

    /// The position and the line after the last record.
    pub fn position(&self) -> (usize, u64) {
        (self.next, self.line)
    }

    /// The position and the line of a record at the end that goes on in the next part.
    pub fn cut(&self) -> Option<(usize, u64)> {
        self.cut
    }

    /// The number of fields of the record.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// The line in which a field starts.
    pub fn line_of(&self, field: usize) -> u64 {
        self.fields.get(field).map_or(self.line, |field| field.line)
    }

    /// A field of the record. An empty one without quotation marks is null.
    pub fn cell(&self, field: usize) -> Result<Cell<'_>, FormatError> {
        let Field { start, end, is_quoted, line } = self.fields[field];
        let bytes = if self.is_unquoted { &self.text[start..end] } else { &self.bytes[start..end] };
        let text = std::str::from_utf8(bytes).map_err(|_| self.bad(line, bytes, "text in UTF-8"))?;
        Ok(if text.is_empty() && !is_quoted { Cell::Null } else { Cell::Text(text) })
    }

    /// Splits a record of this length without quotation marks.
    fn split(&mut self, length: usize) -> Result<(), FormatError> {
        let (mut start, end, line) = (self.next, self.next + length, self.line);
        let record = &self.bytes[start..end];
        if length > MAX_PROPERTY_LINE {
            return Err(self.too_long(line, record));
        }
        self.is_unquoted = false;
        for delimiter in memchr_iter(self.delimiter, record) {
            let end = self.next + delimiter;
            self.fields.push(Field { start, end, is_quoted: false, line });
            start = end + 1;
        }
        self.fields.push(Field { start, end, is_quoted: false, line });
        self.next = end;
        Ok(())
    }

    /// Reads a record with quotation marks; false if it goes on in the next part.
    fn read_quoted(&mut self) -> Result<bool, FormatError> {
        let start = (self.next, self.line);
        self.is_unquoted = true;
        loop {
            match self.read_field()? {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => {
                    self.cut = Some(start);
                    self.fields.clear();
                    return Ok(false);
                }
            }
        }
    }

    /// Reads a field; true if it is the last of its record, `None` if it goes on in the next part.
    fn read_field(&mut self) -> Result<Option<bool>, FormatError> {
        let (line, start, mut raw) =
            (self.line, self.fields.last().map_or(0, |field| field.end), Raw::default());
        let mut length = start;
        loop {
            let input = &self.bytes[self.next..];
            if input.is_empty() && !self.is_last {
                return Ok(None);
            }
            // An empty input tells the parser that the file ends.
            let (result, read, written) = self.core.read_field(input, &mut self.text[length..]);
            let (consumed, is_end) = (&input[..read], matches!(result, ReadFieldResult::Field { .. }));
            raw.pass(if is_end { &consumed[..read.saturating_sub(1)] } else { consumed });
            self.pass(read);
            length += written;
            if length > MAX_PROPERTY_LINE {
                return Err(self.too_long(line, &self.text[start..length]));
            }
            match result {
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.text.resize((2 * self.text.len()).max(1 << 10), 0),
                ReadFieldResult::End => return Ok(Some(true)),
                ReadFieldResult::Field { record_end } => {
                    if !raw.is_well_quoted(length - start) {
                        let expected = "a closing quotation mark before the next field or the end of the line, and marks within doubled";
                        return Err(self.bad(line, &self.text[start..length], expected));
                    }
                    self.fields.push(Field { start, end: length, is_quoted: raw.is_quoted(), line });
                    return Ok(Some(record_end));
                }
            }
        }
    }

    /// Advances, and counts the lines, which end in a line feed, a carriage return, or both.
    fn pass(&mut self, length: usize) {
        self.line += lines_in(self.bytes, self.next..self.next + length);
        self.next += length;
    }

    fn too_long(&self, line: u64, found: &[u8]) -> FormatError {
        let expected =
            format!("a record of at most {MAX_PROPERTY_LINE} bytes; is a quotation mark not closed?");
        self.bad(line, found, &expected)
    }

    fn bad(&self, line: u64, found: &[u8], expected: &str) -> FormatError {
        BadProperty { line, found: excerpt(found), ..BadProperty::new(self.path.into(), expected) }.into()
    }
}

/// The number of lines that end in this range: in a line feed, a carriage return, or both.
pub(super) fn lines_in(bytes: &[u8], range: Range<usize>) -> u64 {
    let passed = &bytes[range.clone()];
    if memchr(b'\r', passed).is_none() && (range.start == 0 || bytes[range.start - 1] != b'\r') {
        return memchr_iter(b'\n', passed).count() as u64;
    }
    let follows_return = |end: usize| range.start + end > 0 && bytes[range.start + end - 1] == b'\r';
    let ends = memchr2_iter(b'\r', b'\n', passed);
    ends.filter(|end| passed[*end] == b'\r' || !follows_return(*end)).count() as u64
}

/// The delimiter that the first line has most of, outside of quotation marks.
pub(super) fn most_frequent(bytes: &[u8]) -> u8 {
    let (mut counts, mut is_quoted, mut is_empty) = ([0; DELIMITERS.len()], false, true);
    for byte in bytes {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\r' | b'\n' if !is_quoted && !is_empty => break,
            _ => {}
        }
        is_empty &= b"\r\n".contains(byte);
        if let (false, Some(position)) = (is_quoted, DELIMITERS.iter().position(|usual| usual == byte)) {
            counts[position] += 1;
        }
    }
    // Of equals the first.
    let position = (0..counts.len()).rev().max_by_key(|position| counts[*position]);
    DELIMITERS[position.unwrap_or(0)]
}

impl Raw {
    fn pass(&mut self, bytes: &[u8]) {
        self.first = self.first.or(bytes.first().copied());
        self.last = bytes.last().copied().or(self.last);
        self.quotes += memchr_iter(b'"', bytes).count();
        self.length += bytes.len();
    }

    fn is_quoted(&self) -> bool {
        self.first == Some(b'"')
    }

    /// Returns true if the quotation marks are balanced: a field that starts with one ends with one
    /// and has only doubled ones in between. `length` is the length of the field's text.
    fn is_well_quoted(&self, length: usize) -> bool {
        let is_closed = self.quotes >= 2 && self.quotes.is_multiple_of(2) && self.last == Some(b'"');
        !self.is_quoted() || is_closed && self.length == 2 + (self.quotes - 2) / 2 + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Record = (u64, Vec<Option<String>>);

    /// The records before `cut`, then all others: a record that goes on is read again.
    fn read(text: &[u8], cut: usize) -> Result<Vec<Record>, FormatError> {
        let (path, delimiter) = (Path::new("x"), most_frequent(text));
        let mut records = Vec::new();
        let part = &text[..cut.min(text.len())];
        let end = part.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = CsvLines::new(path, &part[..end], (0, 1), delimiter);
        read_all(&mut lines, &mut records)?;
        let start = lines.cut().unwrap_or((end, 1 + lines_in(text, 0..end)));
        let mut lines = CsvLines::new(path, text, start, delimiter).ending(true);
        read_all(&mut lines, &mut records)?;
        Ok(records)
    }

    fn read_all(lines: &mut CsvLines<'_>, records: &mut Vec<Record>) -> Result<(), FormatError> {
        while lines.read()? {
            let cell = |field| {
                Ok(match lines.cell(field)? {
                    Cell::Text(text) => Some(text.to_owned()),
                    _ => None,
                })
            };
            let fields = (0..lines.len()).map(cell).collect::<Result<_, FormatError>>()?;
            records.push((lines.line_of(0), fields));
        }
        Ok(())
    }

    fn records(text: &str) -> Vec<Record> {
        read(text.as_bytes(), 0).unwrap()
    }

    fn record(line: u64, fields: &[&str]) -> Record {
        (line, fields.iter().map(|field| Some((*field).to_owned())).collect())
    }

    #[test]
    fn records_are_read_as_the_standard_has_them() {
        assert_eq!(records("a,b\nc,d\n"), [record(1, &["a", "b"]), record(2, &["c", "d"])]);
        assert_eq!(records("a,b\r\n\r\nc,d"), [record(1, &["a", "b"]), record(3, &["c", "d"])]);
        assert_eq!(records("\"a,\"\"\nb\",c\nd"), [record(1, &["a,\"\nb", "c"]), record(3, &["d"])]);
        assert_eq!(
            records("a,b\rc,d\r\re,f"),
            [record(1, &["a", "b"]), record(2, &["c", "d"]), record(4, &["e", "f"])]
        );
        assert_eq!(records("5\",b\"c\n"), [record(1, &["5\"", "b\"c"])]);
        let empty = [Some(String::new()), None, Some("\"".into()), None];
        assert_eq!(records("\"\",,\"\"\"\",\n"), [(1, empty.to_vec())]);
        assert_eq!(records("\n\r\n\n"), []);
    }

    #[test]
    fn the_first_line_tells_the_delimiter() {
        for (text, fields) in [
            ("a;b\n1,5;2\n", ["1,5", "2"]),
            ("\"a,b,c\"|d\n1|2\n", ["1", "2"]),
            ("\na\tb\r1\t2", ["1", "2"]),
            ("a,b\n1,\"2;3;4\"", ["1", "2;3;4"]),
        ] {
            for cut in [0, 3, 100] {
                let rows = read(text.as_bytes(), cut).unwrap();
                let values: Vec<_> = rows[1].1.iter().flatten().collect();
                assert_eq!(values, fields, "{text:?}");
            }
        }
    }

    #[test]
    fn unclosed_quotation_marks_are_reported() {
        for (text, line) in
            [("a\n\"b", 2), ("\"a\"b,c\n", 1), ("\"a\"b\"c\"\n", 1), ("a,\"", 1), ("\"\"\"", 1)]
        {
            for cut in [0, 3, 100] {
                let error = read(text.as_bytes(), cut).unwrap_err().to_string();
                assert!(
                    error.starts_with(&format!("x:{line}: ")) && error.contains("quotation mark"),
                    "{error}"
                );
            }
        }
        assert!(read(b"a,\xff\n", 9).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn a_record_has_an_end() {
        let mut text = vec![b'x'; MAX_PROPERTY_LINE + (1 << 17)];
        text[0] = b'"';
        assert!(read(&text, 0).unwrap_err().to_string().contains("at most 16777216 bytes"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_wherever_a_part_ends(
            fields in prop::collection::vec(prop::collection::vec(prop::option::of("[a,\"\r\nü ]{0,5}"), 1..4), 0..6),
            cut in 0..60_usize,
        ) {
            let mut text = b"x\n".to_vec();
            for record in &fields {
                // After another field, because a record of one null would be an empty line.
                text.push(b'x');
                for field in record {
                    text.push(b',');
                    let style = super::super::value::Style { json: false, raw_times: false };
                    field.iter().for_each(|field| style.push_text(field, &mut text));
                }
                text.push(b'\n');
            }
            let read: Vec<_> = read(&text, cut).unwrap().into_iter().map(|(_, fields)| fields).collect();
            let expected = fields.into_iter().map(|record| [vec![Some("x".to_owned())], record].concat());
            let expected: Vec<_> = [vec![Some("x".to_owned())]].into_iter().chain(expected).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
