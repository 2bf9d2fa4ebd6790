//! Reads the objects of a file of JSON lines with their members.

use super::MAX_PROPERTY_LINE;
use crate::FormatError;
use crate::error::{BadProperty, excerpt};
use crate::source::Source;
use crate::text::{Cutter, Lines};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// Minimum number of buffered bytes.
const CHUNK: usize = 64 << 10;

/// A file of JSON lines, read object by object.
pub(super) struct JsonLines {
    cutter: Cutter,
    /// Whole lines, and the start of the next one.
    chunk: Vec<u8>,
    next: usize,
    /// The line that was read.
    current: Range<usize>,
    /// Lines so far.
    line: u64,
}

/// The members of an object in their order, including those with equal names.
pub(super) struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl JsonLines {
    pub fn new(source: Source) -> Self {
        let cutter = Cutter::new(source, CHUNK, MAX_PROPERTY_LINE);
        JsonLines { cutter, chunk: Vec::new(), next: 0, current: 0..0, line: 0 }
    }

    pub fn source(&self) -> &Source {
        self.cutter.source()
    }

    /// The cause of a fault in a line: see [`Source::cause_of`].
    pub fn cause_of(&mut self, fault: FormatError) -> FormatError {
        self.cutter.source_mut().cause_of(fault)
    }

    /// The number of the last line that was read, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Advances to the next line that is not blank; false if there is none.
    pub fn read(&mut self) -> Result<bool, FormatError> {
        let line = self.next_line()?;
        self.current = line.clone().unwrap_or_default();
        Ok(line.is_some())
    }

    /// The members of the object in this line.
    pub fn members(&self) -> Result<Members<'_>, FormatError> {
        let line = &self.chunk[self.current.clone()];
        let bad = |expected: &str| self.bad(line, expected);
        let text = std::str::from_utf8(line).map_err(|_| bad("text in UTF-8"))?;
        serde_json::from_str(text).map_err(|error| {
            let (told, column) = (error.to_string(), error.column());
            let problem = told.rsplit_once(" at line ").map_or(&*told, |(problem, _)| problem);
            bad(&format!("one JSON object per line: at byte {column}, {problem}"))
        })
    }

    /// The next line that is not blank.
    fn next_line(&mut self) -> Result<Option<Range<usize>>, FormatError> {
        loop {
            let mut lines = Lines::new(&self.chunk, self.next);
            while let Some(line) = lines.next() {
                let start = self.next;
                self.next = lines.position();
                self.line += 1;
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(start..start + line.len()));
                }
            }
            let Some(chunk) = self.cutter.cut(std::mem::take(&mut self.chunk))? else { return Ok(None) };
            (self.chunk, self.next) = (chunk.bytes, chunk.start);
            if chunk.is_too_long {
                self.line += 1;
                return Err(self.bad(&self.chunk, &format!("a line of at most {MAX_PROPERTY_LINE} bytes")));
            }
        }
    }

    fn bad(&self, found: &[u8], expected: &str) -> FormatError {
        let path = self.source().path().to_owned();
        BadProperty { line: self.line, found: excerpt(found), ..BadProperty::new(path, expected) }.into()
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use std::path::Path;

    fn lines(text: &[u8]) -> JsonLines {
        let reader = Box::new(Cursor::new(text.to_vec()));
        JsonLines::new(Source::new(Path::new("x"), reader, None).unwrap())
    }

    /// The first error.
    fn fails(text: &[u8]) -> String {
        let mut lines = lines(text);
        loop {
            match lines.read() {
                Ok(true) => {}
                Ok(false) => panic!("no error"),
                Err(error) => return error.to_string(),
            }
            if let Err(error) = lines.members() {
                return error.to_string();
            }
        }
    }

    #[test]
    fn members_come_in_their_order_with_their_text() {
        let mut lines = lines(b"\n {\"a\": 1.50, \"b\" : \"x\\n\", \"a\":[1, 2]}\r\n \n{}");
        assert!(lines.read().unwrap());
        let members = lines.members().unwrap().0;
        let members: Vec<_> = members.iter().map(|(name, value)| (&**name, value.get())).collect();
        assert_eq!(members, [("a", "1.50"), ("b", "\"x\\n\""), ("a", "[1, 2]")]);
        assert_eq!(lines.line(), 2);
        assert!(lines.read().unwrap() && lines.members().unwrap().0.is_empty());
        assert_eq!(lines.line(), 4);
        assert!(!lines.read().unwrap());
    }

    #[test]
    fn lines_that_are_no_objects_are_reported() {
        for (text, part) in [
            ("{}\n[1]\n", "x:2: found \"[1]\", expected one JSON object per line"),
            ("{\"a\":}", "expected one JSON object per line: at byte 6, expected value"),
            ("{\"a\":1} {}", "trailing characters"),
            ("{\"a\":1", "EOF"),
        ] {
            let error = fails(text.as_bytes());
            assert!(error.contains(part), "{error}");
        }
        assert!(fails(b"{\"a\":\"\xff\"}").contains("UTF-8"));
        assert!(fails(&vec![b'{'; MAX_PROPERTY_LINE + 1]).contains("at most 16777216 bytes"));
    }
}
