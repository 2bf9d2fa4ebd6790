//! Finds the objects of a file of JSON lines with their members.

use super::MAX_PROPERTY_LINE;
use super::value::Cell;
use crate::FormatError;
use crate::error::{BadProperty, excerpt};
use crate::text;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;
use std::path::Path;

/// A part of a file of JSON lines, read object by object.
pub(super) struct JsonLines<'b> {
    path: &'b Path,
    lines: text::Lines<'b>,
    /// The line that was read.
    current: &'b [u8],
    /// Its number in the file, from 1.
    line: u64,
    /// Its members, once they are parsed.
    members: Members<'b>,
}

/// The members of an object in their order, including those with equal names.
#[derive(Default)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'b> JsonLines<'b> {
    /// The lines from `start` on, which has the number `line`.
    pub fn new(path: &'b Path, bytes: &'b [u8], (start, line): (usize, u64)) -> Self {
        JsonLines {
            path,
            lines: text::Lines::new(bytes, start),
            current: b"",
            line: line - 1,
            members: Members::default(),
        }
    }

    /// The number of the last line that was read, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Advances to the next line that is not blank; false if there is none.
    pub fn read(&mut self) -> Result<bool, FormatError> {
        for line in self.lines.by_ref() {
            self.line += 1;
            if line.len() > MAX_PROPERTY_LINE {
                return Err(self.bad(line, &format!("a line of at most {MAX_PROPERTY_LINE} bytes")));
            }
            if !line.trim_ascii().is_empty() {
                self.current = line;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Parses the object in this line; returns the names of its members.
    pub fn parse(&mut self) -> Result<impl Iterator<Item = &String>, FormatError> {
        let bad = |expected: &str| self.bad(self.current, expected);
        let text = std::str::from_utf8(self.current).map_err(|_| bad("text in UTF-8"))?;
        let members = serde_json::from_str(text).map_err(|error| {
            let (told, column) = (error.to_string(), error.column());
            let problem = told.rsplit_once(" at line ").map_or(&*told, |(problem, _)| problem);
            bad(&format!("one JSON object per line: at byte {column}, {problem}"))
        })?;
        self.members = members;
        Ok(self.members.0.iter().map(|(name, _)| name))
    }

    /// The value of a member of the object that was parsed.
    pub fn cell(&self, member: usize) -> Cell<'b> {
        match self.members.0[member].1.get() {
            "null" => Cell::Null,
            value => Cell::Json(value),
        }
    }

    fn bad(&self, found: &[u8], expected: &str) -> FormatError {
        let (line, path) = (self.line, self.path.into());
        BadProperty { line, found: excerpt(found), ..BadProperty::new(path, expected) }.into()
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

    fn lines(text: &[u8]) -> JsonLines<'_> {
        JsonLines::new(Path::new("x"), text, (0, 1))
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
            if let Err(error) = lines.parse() {
                return error.to_string();
            }
        }
    }

    #[test]
    fn members_come_in_their_order_with_their_text() {
        let mut lines = lines(b"\n {\"a\": 1.50, \"b\" : \"x\\n\", \"a\":[1, 2]}\r\n \n{}");
        assert!(lines.read().unwrap());
        let names: Vec<_> = lines.parse().unwrap().cloned().collect();
        assert_eq!(names, ["a", "b", "a"]);
        let cells = [0, 1, 2].map(|member| lines.cell(member));
        assert_eq!(cells, ["1.50", "\"x\\n\"", "[1, 2]"].map(Cell::Json));
        assert_eq!(lines.line(), 2);
        assert!(lines.read().unwrap() && lines.parse().unwrap().next().is_none());
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
