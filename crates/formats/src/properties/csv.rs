//! Reads the records of a CSV file with their fields, as in RFC 4180.

use super::MAX_PROPERTY_LINE;
use super::value::Cell;
use crate::FormatError;
use crate::error::{BadProperty, excerpt};
use crate::source::Source;
use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use memchr::{memchr_iter, memchr2_iter};

/// Bytes are read in pieces of this size.
const BUFFER: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes that separate fields in files whose delimiter is not given.
const DELIMITERS: [u8; 4] = *b",\t;|";

/// A CSV file, read record by record.
pub(super) struct CsvLines {
    source: Source,
    /// The byte between fields; `None` until the first line tells.
    delimiter: Option<u8>,
    core: Reader,
    /// The bytes that were read from the file, and the position of the next byte.
    input: Vec<u8>,
    next: usize,
    is_first: bool,
    /// The line of the next byte, from 1.
    line: u64,
    /// The concatenated fields of the record, and some spare room.
    text: Vec<u8>,
    length: usize,
    fields: Vec<Field>,
    /// The last byte that was passed.
    last: u8,
}

/// A field of the record.
struct Field {
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

impl CsvLines {
    /// Reads a file whose fields this byte separates; by default, the one of the usual delimiters
    /// that the first line has most of.
    pub fn new(source: Source, delimiter: Option<u8>) -> Self {
        CsvLines {
            source,
            delimiter,
            core: Reader::new(),
            input: Vec::new(),
            next: 0,
            is_first: true,
            line: 1,
            text: vec![0; 1 << 10],
            length: 0,
            fields: Vec::new(),
            last: b' ',
        }
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The byte between fields, once a record was read.
    pub fn delimiter(&self) -> u8 {
        self.delimiter.unwrap_or(DELIMITERS[0])
    }

    /// The cause of a fault in a record: see [`Source::cause_of`].
    pub fn cause_of(&mut self, fault: FormatError) -> FormatError {
        self.source.cause_of(fault)
    }

    /// Reads the next record; false if there is none. Skips empty lines.
    pub fn read(&mut self) -> Result<bool, FormatError> {
        self.fields.clear();
        self.length = 0;
        if !self.pass_line_ends()? {
            return Ok(false);
        }
        while !self.read_field()? {}
        Ok(true)
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
        let start = field.checked_sub(1).map_or(0, |before| self.fields[before].end);
        let Field { end, is_quoted, line } = self.fields[field];
        let bytes = &self.text[start..end];
        let text = std::str::from_utf8(bytes).map_err(|_| self.bad(line, bytes, "text in UTF-8"))?;
        Ok(if text.is_empty() && !is_quoted { Cell::Null } else { Cell::Text(text) })
    }

    /// Skips line ends; false if nothing follows.
    fn pass_line_ends(&mut self) -> Result<bool, FormatError> {
        loop {
            if self.next == self.input.len() && !self.fill()? {
                return Ok(false);
            }
            if !b"\r\n".contains(&self.input[self.next]) {
                return Ok(true);
            }
            self.pass(1);
        }
    }

    /// Reads a field; true if it is the last of its record.
    fn read_field(&mut self) -> Result<bool, FormatError> {
        let (line, start, mut raw) = (self.line, self.length, Raw::default());
        loop {
            if self.next == self.input.len() {
                // An empty input tells the parser that the file ends.
                self.fill()?;
            }
            let input = &self.input[self.next..];
            let (result, read, written) = self.core.read_field(input, &mut self.text[self.length..]);
            let (consumed, is_end) = (&input[..read], matches!(result, ReadFieldResult::Field { .. }));
            raw.pass(if is_end { &consumed[..read.saturating_sub(1)] } else { consumed });
            self.pass(read);
            self.length += written;
            if self.length > MAX_PROPERTY_LINE {
                let expected =
                    format!("a record of at most {MAX_PROPERTY_LINE} bytes; is a quotation mark not closed?");
                return Err(self.bad(line, &self.text[start..self.length], &expected));
            }
            match result {
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadFieldResult::End => return Ok(true),
                ReadFieldResult::Field { record_end } => {
                    if !raw.is_well_quoted(self.length - start) {
                        let expected = "a closing quotation mark before the next field or the end of the line, and marks within doubled";
                        return Err(self.bad(line, &self.text[start..self.length], expected));
                    }
                    self.fields.push(Field { end: self.length, is_quoted: raw.is_quoted(), line });
                    return Ok(record_end);
                }
            }
        }
    }

    /// Advances, and counts the lines, which end in a line feed, a carriage return, or both.
    fn pass(&mut self, length: usize) {
        let passed = &self.input[self.next..self.next + length];
        let ends = memchr2_iter(b'\r', b'\n', passed);
        let before = |end: usize| end.checked_sub(1).map_or(self.last, |before| passed[before]);
        self.line += ends.filter(|end| passed[*end] == b'\r' || before(*end) != b'\r').count() as u64;
        self.last = passed.last().copied().unwrap_or(self.last);
        self.next += length;
    }

    /// Replaces the used input by more of the file; false at its end.
    fn fill(&mut self) -> Result<bool, FormatError> {
        self.input.resize(BUFFER, 0);
        let mut length = 0;
        // At first enough to detect a byte order mark and the delimiter.
        while length == 0 || self.is_first && length < BUFFER && !has_line(&self.input[..length]) {
            match self.source.read(&mut self.input[length..])? {
                0 => break,
                read => length += read,
            }
        }
        self.input.truncate(length);
        if self.is_first {
            let delimiter = *self.delimiter.get_or_insert_with(|| most_frequent(&self.input));
            self.core = ReaderBuilder::new().delimiter(delimiter).build();
        }
        let has_mark = self.is_first && self.input.starts_with(BYTE_ORDER_MARK);
        self.next = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
        self.is_first = false;
        Ok(self.next < length)
    }

    fn bad(&self, line: u64, found: &[u8], expected: &str) -> FormatError {
        let path = self.source.path().to_owned();
        BadProperty { line, found: excerpt(found), ..BadProperty::new(path, expected) }.into()
    }
}

/// Returns true if the bytes have the end of a line that is not empty.
fn has_line(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte));
    start.is_some_and(|start| memchr::memchr2(b'\r', b'\n', &bytes[start..]).is_some())
}

/// The delimiter that the first line has most of, outside of quotation marks.
fn most_frequent(bytes: &[u8]) -> u8 {
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
    use std::io::{Cursor, Read};
    use std::path::Path;

    /// Returns at most `.1` bytes per read.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    type Record = (u64, Vec<Option<String>>);

    fn read(text: &[u8], trickle: usize) -> Result<Vec<Record>, FormatError> {
        let reader = Trickle(Cursor::new(text.to_vec()), trickle);
        let mut lines = CsvLines::new(Source::new(Path::new("x"), Box::new(reader), None).unwrap(), None);
        let mut records = Vec::new();
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
        Ok(records)
    }

    fn records(text: &str) -> Vec<Record> {
        read(text.as_bytes(), 7).unwrap()
    }

    fn record(line: u64, fields: &[&str]) -> Record {
        (line, fields.iter().map(|field| Some((*field).to_owned())).collect())
    }

    #[test]
    fn records_are_read_as_the_standard_has_them() {
        assert_eq!(records("a,b\nc,d\n"), [record(1, &["a", "b"]), record(2, &["c", "d"])]);
        assert_eq!(records("\u{feff}a,b\r\n\r\nc,d"), [record(1, &["a", "b"]), record(3, &["c", "d"])]);
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
            for trickle in [1, 3, 100] {
                let rows = read(text.as_bytes(), trickle).unwrap();
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
            for trickle in [1, 2, 100] {
                let error = read(text.as_bytes(), trickle).unwrap_err().to_string();
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
        assert!(read(&text, usize::MAX).unwrap_err().to_string().contains("at most 16777216 bytes"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_however_the_bytes_arrive(
            fields in prop::collection::vec(prop::collection::vec(prop::option::of("[a,\"\r\nü ]{0,5}"), 1..4), 0..6),
            trickle in 1usize..20,
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
            let read: Vec<_> = read(&text, trickle).unwrap().into_iter().map(|(_, fields)| fields).collect();
            let expected = fields.into_iter().map(|record| [vec![Some("x".to_owned())], record].concat());
            let expected: Vec<_> = [vec![Some("x".to_owned())]].into_iter().chain(expected).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
