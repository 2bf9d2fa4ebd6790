//! Finds out what the columns of a file hold, before anything is declared.

use super::guess::Guess;
use super::layout::{BadColumns, Layout, check_names};
use super::lines::Lines;
use super::value::{Cell, Kind};
use super::{PropertyFormat, PropertyOptions, Zone};
use crate::error::{BadProperty, excerpt};
use crate::source::Source;
use crate::{FormatError, Progress};
use foldhash::fast::FixedState;
use hedgerow_model::ValueType;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::path::Path;

/// Reads a file with properties without a schema, row by row: the names of its columns, the types
/// that fit all their cells, and digests of its rows.
///
/// Of [`PropertyOptions::lines`] only the kind counts, not the schema.
pub struct Survey {
    lines: Lines,
    table: Table,
    is_csv: bool,
    /// True if the names of the columns are no part of the file.
    is_given: bool,
    has_started: bool,
}

/// The columns of a file, and their order in the last line.
struct Table {
    layout: Layout,
    number_column: Option<String>,
    has_number_keys: bool,
    zone: Zone,
    /// The names in the header, or in the last line of JSON.
    names: Vec<String>,
    /// The position in `columns` of each of these names.
    positions: Vec<usize>,
    /// The columns of the last line with the keys.
    keys: Vec<usize>,
    columns: Vec<SurveyColumn>,
}

/// A column of a [`Survey`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurveyColumn {
    name: String,
    guess: Guess,
    has_nulls: bool,
    /// True if a value of JSON was neither null nor a string.
    has_other_than_strings: bool,
    /// The line of the first value of JSON, from 1; 0 if there is none.
    first_line: u64,
    /// The first value of JSON that has no type in common with those before.
    misfit: Option<Box<BadProperty>>,
    /// The position among the keys.
    key: Option<usize>,
}

/// A row of a [`Survey`]: digests, which are equal for equal cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line where the row starts, from 1.
    pub line: u64,
    /// The digests of the keys: where an edge starts and where it ends; a vertex has one key.
    pub keys: [u64; 2],
    /// The digest of the number of a parallel edge, in [`PropertyOptions::number_column`]; `None`
    /// without one.
    pub number: Option<u64>,
    /// The digest of all other cells with the names of their columns.
    pub content: u64,
}

/// Does a file begin with the names of its columns?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HasHeader {
    /// It does, or they were given, or each line has its own.
    Yes,
    /// It begins with values.
    No,
    /// Names or values, as in a file of text alone.
    Unclear,
}

impl Survey {
    /// Opens a file, plain or compressed.
    ///
    /// # Errors
    /// It cannot be opened, or is a directory.
    pub fn open(path: impl AsRef<Path>, options: &PropertyOptions) -> Result<Self, FormatError> {
        let table = Table {
            layout: Layout::new(options),
            number_column: options.number_column.clone(),
            has_number_keys: options.has_number_keys,
            zone: options.zone.clone(),
            names: Vec::new(),
            positions: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
        };
        Ok(Survey {
            lines: Lines::new(Source::open(path.as_ref())?, options),
            table,
            is_csv: options.format == PropertyFormat::Csv,
            is_given: options.columns.is_some(),
            has_started: false,
        })
    }

    /// The progress of reading. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress {
        let source = self.lines.source();
        Progress { done: source.bytes_used(), total: source.size() }
    }

    /// Reads the next row; `None` at the end. O(length).
    ///
    /// # Errors
    /// The line is no row, or its columns name no keys, or two have one name; or the file cannot be
    /// read.
    pub fn read(&mut self) -> Result<Option<Row>, FormatError> {
        self.read_row().map_err(|error| self.lines.cause_of(error))
    }

    /// The cells of the row that was read last, as they are written.
    ///
    /// # Errors
    /// None after a row that [`Survey::read`] returned.
    pub fn cells(&self) -> Result<Vec<String>, FormatError> {
        let (cells, _) = self.lines.cells(&self.table.names)?;
        Ok(cells.iter().map(|cell| cell.shown().to_owned()).collect())
    }

    /// The keys of the row that was read last, equal for equal keys.
    ///
    /// # Errors
    /// None after a row that [`Survey::read`] returned.
    pub fn keys(&self) -> Result<Vec<String>, FormatError> {
        let (cells, _) = self.lines.cells(&self.table.names)?;
        Ok(self.table.keys.iter().map(|column| self.table.key(&cells[*column]).into_owned()).collect())
    }

    /// The columns so far, in the order of the file, except those that are left out.
    pub fn columns(&self) -> impl Iterator<Item = &SurveyColumn> {
        self.table.columns.iter().filter(|column| !self.table.layout.leaves_out(&column.name))
    }

    /// The byte between fields of a CSV file, once a row was read.
    #[must_use]
    pub fn delimiter(&self) -> Option<u8> {
        self.lines.delimiter()
    }

    /// Returns true if the names of columns say where edges start and end, or which is the key.
    #[must_use]
    pub fn names_keys(&self) -> bool {
        self.table.layout.usual_columns(&self.table.names).is_some()
    }

    /// Judges the first line, by the usual names of columns and by the rows so far.
    #[must_use]
    pub fn has_header(&self) -> HasHeader {
        let Table { layout, names, columns, .. } = &self.table;
        if !self.is_csv || self.is_given || layout.usual_columns(names).is_some() {
            return HasHeader::Yes;
        }
        if names.len() < 2 && layout.keys.len() == 2 {
            return HasHeader::No;
        }
        let is_text = |guess: Guess| matches!(guess, Guess::Text | Guess::Unknown);
        if names.iter().any(|name| !is_text(Guess::of_text(name))) {
            HasHeader::No
        } else if columns.iter().any(|column| !is_text(column.guess)) {
            HasHeader::Yes
        } else {
            HasHeader::Unclear
        }
    }

    fn read_row(&mut self) -> Result<Option<Row>, FormatError> {
        let Survey { lines, table, is_csv, has_started, .. } = self;
        if !std::mem::replace(has_started, true)
            && let Some(names) = lines.header()?
        {
            table.arrange(names, *is_csv).map_err(|bad| lines.bad_columns(bad))?;
        }
        if !lines.read()? {
            return Ok(None);
        }
        let (cells, others) = lines.cells(&table.names)?;
        if let Some(names) = others {
            table.arrange(names, *is_csv).map_err(|bad| lines.bad_columns(bad))?;
        }
        Ok(Some(table.see(lines.source().path(), lines.line_of(0), &cells)))
    }
}

impl Table {
    /// The text of a key, equal for equal keys.
    fn key<'c>(&self, cell: &'c Cell<'_>) -> Cow<'c, str> {
        let text = cell.text();
        match text.strip_prefix('0') {
            Some(rest) if self.has_number_keys => rest.trim_start_matches('0').to_owned().into(),
            _ => text,
        }
    }

    /// Takes a row into account.
    fn see(&mut self, path: &Path, line: u64, cells: &[Cell<'_>]) -> Row {
        let mut row = Row { line, keys: [0; 2], number: None, content: 0 };
        for (column, (cell, position)) in cells.iter().zip(&self.positions).enumerate() {
            let seen = &mut self.columns[*position];
            seen.see(path, line, *cell);
            if let Some(key) = self.keys.iter().position(|key| *key == column) {
                row.keys[key] = digest(self.key(cell));
            } else if self.number_column.as_ref() == Some(&seen.name) {
                let number =
                    || cell.number(&self.zone).map_or_else(|| digest(cell.text()), |number| digest(number.0));
                row.number = (*cell != Cell::Null).then(number);
            } else if *cell != Cell::Null && !self.layout.leaves_out(&seen.name) {
                // A sum, because the members of JSON come in any order.
                row.content = row.content.wrapping_add(digest((&seen.name, cell.shown())));
            }
        }
        row
    }

    /// Takes over the names of the columns of the lines that follow.
    fn arrange(&mut self, names: Vec<String>, is_csv: bool) -> Result<(), BadColumns> {
        self.names = names;
        check_names(&self.names)?;
        self.keys = self.layout.key_columns(&self.names, is_csv)?;
        let place = |name: &String| {
            let name = name.trim();
            let known = self.columns.iter().position(|column| column.name == name);
            known.unwrap_or_else(|| {
                self.columns.push(SurveyColumn { name: name.to_owned(), ..SurveyColumn::default() });
                self.columns.len() - 1
            })
        };
        self.positions = self.names.iter().map(place).collect();
        for (key, column) in self.keys.iter().enumerate() {
            self.columns[self.positions[*column]].key = Some(key);
        }
        Ok(())
    }
}

impl SurveyColumn {
    /// Takes a cell into account.
    fn see(&mut self, path: &Path, line: u64, cell: Cell<'_>) {
        let (before, were_strings) = (self.guess, !self.has_other_than_strings);
        self.guess.see(cell);
        self.has_nulls |= cell == Cell::Null;
        let Cell::Json(text) = cell else { return };
        let is_string = text.starts_with('"');
        self.has_other_than_strings |= !is_string;
        if before == Guess::Unknown {
            self.first_line = line;
            return;
        }
        let has_type = |guess: Guess| guess.value_type() != ValueType::String;
        let fits = has_type(self.guess) || is_string && were_strings;
        // Else the first value has no type itself, and the reader refuses that one.
        let is_first_typed = has_type(before) || were_strings;
        if self.misfit.is_none() && !fits && is_first_typed {
            let type_before = Kind::Property(before.value_type()).expected();
            let expected = format!("{type_before}, as in line {}", self.first_line);
            let (column, found) = (Some(self.name.clone()), excerpt(text.as_bytes()));
            let bad = BadProperty { line, column, found, ..BadProperty::new(path.into(), &expected) };
            self.misfit = Some(Box::new(bad));
        }
    }

    /// The error for the first value that has no type in common with those before, if values have
    /// types, as in JSON.
    #[must_use]
    pub fn misfit(&self) -> Option<&BadProperty> {
        self.misfit.as_deref()
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The end of an edge whose key the column has, 0 for its source and 1 for its destination, or
    /// 0 for the key of a vertex; `None` if the column has no key.
    #[must_use]
    pub fn key(&self) -> Option<usize> {
        self.key
    }

    /// Returns true if a cell is null.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    /// The narrowest type of properties that holds all cells without loss.
    #[must_use]
    pub fn value_type(&self) -> ValueType {
        self.guess.value_type()
    }

    /// Returns true if all cells can be keys that are numbers.
    #[must_use]
    pub fn holds_number_keys(&self) -> bool {
        self.guess.is_number_key()
    }

    /// Returns true if 64-bit floats hold all cells, which are numbers.
    #[must_use]
    pub fn fits_float(&self) -> bool {
        self.guess.fits_float()
    }

    /// Returns true if the cells look like keys: text or whole numbers.
    #[must_use]
    pub fn looks_like_keys(&self) -> bool {
        self.guess.may_be_key()
    }

    /// Returns true if all cells are times, some without an offset.
    #[must_use]
    pub fn needs_zone(&self) -> bool {
        self.guess == Guess::Time { needs_zone: true }
    }

    /// Takes the cells of the same column of another file into account.
    pub fn join(&mut self, other: &SurveyColumn) {
        self.guess = self.guess.join(other.guess);
        self.has_nulls |= other.has_nulls;
    }
}

fn digest(value: impl std::hash::Hash) -> u64 {
    FixedState::default().hash_one(value)
}
