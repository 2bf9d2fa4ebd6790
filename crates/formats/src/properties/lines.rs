//! The lines of a part of a file with properties, whatever the format.

use super::csv::CsvLines;
use super::json::JsonLines;
use super::layout::BadColumns;
use super::value::Cell;
use crate::FormatError;
use crate::error::BadProperty;
use std::path::Path;

/// A part of a file, read line by line.
pub(super) struct Lines<'b> {
    pub path: &'b Path,
    pub file: File<'b>,
    /// The most lines that there may be.
    pub most: usize,
}

pub(super) enum File<'b> {
    Csv(Box<CsvLines<'b>>),
    Json(JsonLines<'b>),
}

impl Lines<'_> {
    /// Reads the next line; false if there is none that ends in this part.
    pub fn read(&mut self) -> Result<bool, FormatError> {
        match &mut self.file {
            File::Csv(lines) => lines.read(),
            File::Json(lines) => lines.read(),
        }
    }

    /// The line in which a field starts.
    pub fn line_of(&self, field: usize) -> u64 {
        match &self.file {
            File::Csv(lines) => lines.line_of(field),
            File::Json(lines) => lines.line(),
        }
    }

    /// The position and the line of a record at the end that goes on in the next part.
    pub fn cut(&self) -> Option<(usize, u64)> {
        match &self.file {
            File::Csv(lines) => lines.cut(),
            File::Json(_) => None,
        }
    }

    /// Checks that the line has a cell for each of these columns. Returns the names of its columns
    /// if they are others, as in JSON they may be.
    pub fn check(&mut self, names: &[String]) -> Result<Option<Vec<String>>, FormatError> {
        match &mut self.file {
            File::Csv(lines) => {
                let (expected, found) = (names.len(), lines.len());
                if found != expected {
                    let expected = format!("{expected}, as in the header");
                    return Err(self.bad(format!("{found} fields"), &expected));
                }
                Ok(None)
            }
            File::Json(lines) => {
                let found: Vec<_> = lines.parse()?.collect();
                let is_as_before = found.iter().copied().eq(names) && !found.is_empty();
                Ok((!is_as_before).then(|| found.into_iter().cloned().collect()))
            }
        }
    }

    /// The cell of a column of the line, which was [checked](Self::check).
    #[inline]
    pub fn cell(&self, column: usize) -> Result<Cell<'_>, FormatError> {
        match &self.file {
            File::Csv(lines) => lines.cell(column),
            File::Json(lines) => Ok(lines.cell(column)),
        }
    }

    /// The fields of a CSV file, as text.
    pub fn texts(&self) -> Result<Vec<String>, FormatError> {
        let File::Csv(lines) = &self.file else { return Ok(Vec::new()) };
        (0..lines.len()).map(|field| Ok(lines.cell(field)?.shown().to_owned())).collect()
    }

    /// The position and the line after the last line that was read, in a CSV file.
    pub fn position(&self) -> Option<(usize, u64)> {
        match &self.file {
            File::Csv(lines) => Some(lines.position()),
            File::Json(_) => None,
        }
    }

    pub fn bad(&self, found: String, expected: &str) -> FormatError {
        let bad = BadProperty::new(self.path.into(), expected);
        BadProperty { line: self.line_of(0), found, ..bad }.into()
    }

    pub fn bad_columns(&self, bad: BadColumns) -> FormatError {
        let BadColumns { column, found, expected, further, remedy } = bad;
        let bad = BadProperty::new(self.path.into(), &expected);
        BadProperty { line: self.line_of(0), column, found, undeclared: further, remedy, ..bad }.into()
    }
}
