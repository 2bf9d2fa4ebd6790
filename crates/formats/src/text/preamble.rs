//! The lines before the data: the names of columns, or the kind of a matrix and its sizes.

use super::chunk::{Chunk, Lines};
use super::fields::{Fields, is_blank_or_comment};
use super::layout::Layout;
use super::lines::describe;
use super::matrix::{BANNER, Matrix};
use crate::error::{Fault, FormatError, Problem};
use crate::options::Header;
use crate::properties::{is_name_of_ends, is_source_and_destination};
use hedgerow_model::KeyKind;
use std::path::Path;

/// Processes the first lines of a file of edges.
pub(crate) struct Preamble {
    next: Next,
    header: Header,
    keys: KeyKind,
    /// Number of lines so far.
    lines: u64,
}

/// The next line to expect.
enum Next {
    /// The very first line, which may, or must, start a matrix.
    First { must_be_matrix: bool },
    /// The names of the columns, or the first edge.
    Header,
    /// The sizes of a matrix.
    Sizes(Matrix),
}

/// The role of a line.
enum Line {
    /// The line comes before the data.
    Passed,
    /// The data start after the line.
    Last(Layout),
    /// The data start with the line.
    Data(Layout),
}

impl Preamble {
    /// Expects a matrix or an edge list; by default the first line decides.
    pub fn new(is_matrix: Option<bool>, header: Header, keys: KeyKind) -> Self {
        let next = match is_matrix {
            Some(false) => Next::Header,
            _ => Next::First { must_be_matrix: is_matrix.is_some() },
        };
        Preamble { next, header, keys, lines: 0 }
    }

    /// Processes lines at the start of a chunk; returns the layout of the data as soon as it is
    /// clear.
    pub fn pass(&mut self, chunk: &mut Chunk, path: &Path) -> Result<Option<Layout>, FormatError> {
        if chunk.is_too_long {
            return Ok(None);
        }
        let mut lines = Lines::new(&chunk.bytes, chunk.start);
        let layout = loop {
            let Some(line) = lines.next() else { break None };
            let number = self.lines + 1;
            let is = self.line(line).map_err(|fault| {
                let column_offset = if number == 1 { chunk.mark } else { 0 };
                FormatError::from(Box::new(describe(fault, line, number, column_offset, path)))
            })?;
            if let Line::Data(layout) = is {
                break Some(layout);
            }
            self.lines = number;
            chunk.lines_passed += 1;
            chunk.start = lines.position();
            if let Line::Last(layout) = is {
                break Some(layout);
            }
        };
        Ok(layout)
    }

    /// The problem if the file ends here.
    pub fn problem_at_end(&self) -> Option<Problem> {
        match self.next {
            Next::First { must_be_matrix: true } => Some(Problem::NotAMatrix),
            Next::Sizes(_) => Some(Problem::NotSizes),
            Next::First { .. } | Next::Header => None,
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<Line, Fault> {
        if let Next::First { must_be_matrix } = self.next {
            if must_be_matrix || line.get(..BANNER.len()).is_some_and(|s| s.eq_ignore_ascii_case(BANNER)) {
                self.next = Next::Sizes(Matrix::of_banner(line)?);
                return Ok(Line::Passed);
            }
            self.next = Next::Header;
        }
        if is_blank_or_comment(line) {
            return Ok(Line::Passed);
        }
        Ok(match self.next {
            Next::Sizes(matrix) => Line::Last(Layout::Entries(matrix.with_sizes(line)?)),
            _ if self.is_header(line) => Line::Last(Layout::Edges),
            _ => Line::Data(Layout::Edges),
        })
    }

    /// Returns true if the first line of an edge list names its columns.
    pub fn is_header(&self, line: &[u8]) -> bool {
        // A quoted number is a bad key, not a name to skip.
        let is_name = |bytes: &[u8]| match bytes.strip_prefix(b"\"").unwrap_or(bytes).first() {
            Some(first) => !first.is_ascii_digit() && !matches!(first, b'-' | b'+' | b'.') && *first >= b' ',
            None => false,
        };
        let has_delimiter = || Fields::has_comma(line) || memchr::memchr(b'\t', line).is_some();
        match self.header {
            Header::Present => true,
            Header::Auto if self.keys == KeyKind::String => {
                has_delimiter() && names_ends(line, is_source_and_destination)
            }
            Header::Auto if names_ends(line, is_name_of_ends) => true,
            Header::Auto => {
                has_delimiter()
                    && Fields::new(line).count() >= 2
                    && Fields::new(line).all(|field| is_name(field.bytes))
            }
        }
    }
}

/// Returns true if a line begins with the usual names of columns where an edge starts and ends.
fn names_ends(line: &[u8], is_name_of_ends: fn(&str, &str) -> bool) -> bool {
    let mut fields = Fields::new(line).filter_map(|field| {
        let text = std::str::from_utf8(field.bytes).ok()?;
        Some(text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text))
    });
    let ends = fields.next().zip(fields.next());
    ends.is_some_and(|(source, destination)| is_name_of_ends(source, destination))
}
