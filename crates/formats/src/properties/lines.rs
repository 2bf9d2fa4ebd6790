//! The lines of a file with properties, whatever the format.

use super::csv::CsvLines;
use super::json::{JsonLines, Members};
use super::layout::BadColumns;
use super::value::Cell;
use super::{PropertyFormat, PropertyOptions};
use crate::FormatError;
use crate::error::BadProperty;
use crate::source::Source;

/// A file with properties, read line by line.
pub(super) struct Lines {
    file: File,
    /// The names of the columns, if the file does not begin with them.
    given: Option<Vec<String>>,
    /// True if the line that was read is still to be returned.
    is_ahead: bool,
}

enum File {
    Csv(Box<CsvLines>),
    Json(Box<JsonLines>),
}

impl Lines {
    pub fn new(source: Source, options: &PropertyOptions) -> Self {
        let file = match options.format {
            PropertyFormat::Csv => File::Csv(Box::new(CsvLines::new(source, options.delimiter))),
            PropertyFormat::JsonLines => File::Json(Box::new(JsonLines::new(source))),
        };
        Lines { file, given: options.columns.clone(), is_ahead: false }
    }

    pub fn source(&self) -> &Source {
        match &self.file {
            File::Csv(lines) => lines.source(),
            File::Json(lines) => lines.source(),
        }
    }

    /// The cause of a fault in a line: see [`Source::cause_of`].
    pub fn cause_of(&mut self, fault: FormatError) -> FormatError {
        match &mut self.file {
            File::Csv(lines) => lines.cause_of(fault),
            File::Json(lines) => lines.cause_of(fault),
        }
    }

    /// The byte between the fields of a CSV file, once a line was read.
    pub fn delimiter(&self) -> Option<u8> {
        match &self.file {
            File::Csv(lines) => Some(lines.delimiter()),
            File::Json(_) => None,
        }
    }

    /// Returns true if the names of the columns were given, before [`Self::header`].
    pub fn has_given_names(&self) -> bool {
        self.given.is_some()
    }

    /// The names of the columns of a CSV file, from its first line unless they were given.
    pub fn header(&mut self) -> Result<Option<Vec<String>>, FormatError> {
        let File::Csv(lines) = &mut self.file else { return Ok(None) };
        let has_first = lines.read()?;
        let names = (0..lines.len()).map(|field| lines.cell(field).map(|cell| cell.shown().to_owned()));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let given = self.given.take();
        if let Some(given) = given {
            let is_header = names.len() == given.len()
                && names.iter().zip(&given).all(|(name, given)| name.eq_ignore_ascii_case(given));
            self.is_ahead = has_first && !is_header;
            return Ok(Some(given));
        }
        if !has_first {
            return Err(self.bad(String::new(), "a first line of column names"));
        }
        Ok(Some(names))
    }

    /// Reads the next line; false if there is none.
    pub fn read(&mut self) -> Result<bool, FormatError> {
        if std::mem::take(&mut self.is_ahead) {
            return Ok(true);
        }
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

    /// The cells of the line, and the names of its columns if they are others than `names`, as in
    /// JSON they may be.
    pub fn cells(&self, names: &[String]) -> Result<(Vec<Cell<'_>>, Option<Vec<String>>), FormatError> {
        match &self.file {
            File::Csv(lines) => {
                let (expected, found) = (names.len(), lines.len());
                if found != expected {
                    let expected = format!("{expected}, as in the header");
                    return Err(self.bad(format!("{found} fields"), &expected));
                }
                Ok(((0..found).map(|field| lines.cell(field)).collect::<Result<_, _>>()?, None))
            }
            File::Json(lines) => {
                let Members(members) = lines.members()?;
                let is_as_before = members.iter().map(|(name, _)| name).eq(names) && !members.is_empty();
                let cells = members.iter().map(|(_, value)| match value.get() {
                    "null" => Cell::Null,
                    value => Cell::Json(value),
                });
                let cells = cells.collect();
                let others = (!is_as_before).then(|| members.into_iter().map(|(name, _)| name).collect());
                Ok((cells, others))
            }
        }
    }

    pub fn bad(&self, found: String, expected: &str) -> FormatError {
        let bad = BadProperty::new(self.source().path().into(), expected);
        BadProperty { line: self.line_of(0), found, ..bad }.into()
    }

    pub fn bad_columns(&self, bad: BadColumns) -> FormatError {
        let BadColumns { column, found, expected, further, remedy } = bad;
        let bad = BadProperty::new(self.source().path().into(), &expected);
        BadProperty { line: self.line_of(0), column, found, undeclared: further, remedy, ..bad }.into()
    }
}
