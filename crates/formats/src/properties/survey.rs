//! Finds out what the columns of a file hold, before anything is declared.

use super::guess::Guess;
use super::layout::{BadColumns, Layout, check_names};
use super::lines::Lines;
use super::parts::Parts;
use super::value::{Cell, Kind};
use super::{PropertyFormat, PropertyOptions, Zone};
use crate::error::{BadProperty, excerpt};
use crate::source::Source;
use crate::{FormatError, Progress};
use foldhash::fast::FixedState;
use hedgerow_model::ValueType;
use rayon::ThreadPool;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::path::Path;

/// The number of rows whose cells are kept to be shown.
const SHOWN: usize = 5;

/// Reads a file with properties without a schema: the names of its columns, the types that fit all
/// their cells, and digests of its rows.
///
/// Of [`PropertyOptions::lines`] only the kind counts, not the schema.
pub struct Survey {
    parts: Parts,
    table: Table,
    is_csv: bool,
}

/// The columns of a file, and their order in the last line.
#[derive(Clone)]
struct Table {
    layout: Layout,
    number_column: Option<String>,
    has_number_keys: bool,
    zone: Zone,
    /// The names in the header, or in the last line of JSON.
    names: Vec<String>,
    /// The place of the cells under each of these names.
    places: Vec<Place>,
    /// The columns of the last line with the keys.
    keys: Vec<usize>,
    columns: Vec<SurveyColumn>,
    rows: u64,
    /// The cells of the first rows.
    first: Vec<Vec<String>>,
}

/// The place of a cell of a row.
#[derive(Clone, Copy)]
struct Place {
    /// The position in the columns.
    column: usize,
    role: Role,
}

/// The part of a cell in the digests of its row.
#[derive(Clone, Copy)]
enum Role {
    Key(usize),
    Number,
    /// Content, with the digest of the column's name.
    Content(u64),
    LeftOut,
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

/// A row of a [`Survey`] with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowText {
    /// The row.
    pub row: Row,
    /// The keys, equal for equal keys.
    pub keys: Vec<String>,
    /// The cells, as they are written.
    pub cells: Vec<String>,
}

/// The choice of the rows that are returned with their text.
type Wanted<'w> = &'w (dyn Fn(&Row) -> bool + Sync);

/// The rows that were read of a part.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    texts: Vec<RowText>,
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
            places: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
            rows: 0,
            first: Vec::new(),
        };
        Ok(Survey {
            parts: Parts::new(Source::open(path.as_ref())?, options),
            table,
            is_csv: options.format == PropertyFormat::Csv,
        })
    }

    /// The progress of reading. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.parts.progress()
    }

    /// Reads the first rows, up to `most`, and perhaps passes over others after them.
    ///
    /// # Errors
    /// See [`Survey::read_on`].
    pub fn sample(&mut self, most: usize) -> Result<(), FormatError> {
        let mut rows = 0;
        while rows < most
            && let Some(found) = self.read(None, most - rows, None)?
        {
            rows += found.rows.len();
        }
        Ok(())
    }

    /// Reads the next rows, on the threads of `pool` or on this one; `None` at the end. O(bytes).
    ///
    /// # Errors
    /// A line is no row, or its columns name no keys, or two have one name; or the file cannot be
    /// read.
    pub fn read_on(&mut self, pool: Option<&ThreadPool>) -> Result<Option<Vec<Row>>, FormatError> {
        Ok(self.read(pool, usize::MAX, None)?.map(|found| found.rows))
    }

    /// Like [`read_on`](Self::read_on), for the `wanted` rows only, with their text.
    ///
    /// # Errors
    /// See [`read_on`](Self::read_on).
    pub fn find_on(
        &mut self,
        pool: Option<&ThreadPool>,
        wanted: &(dyn Fn(&Row) -> bool + Sync),
    ) -> Result<Option<Vec<RowText>>, FormatError> {
        Ok(self.read(pool, usize::MAX, Some(wanted))?.map(|found| found.texts))
    }

    /// Reads up to `most` of the next rows of each part: the wanted ones with their text, or all.
    fn read(
        &mut self,
        pool: Option<&ThreadPool>,
        most: usize,
        wanted: Option<Wanted<'_>>,
    ) -> Result<Option<Found>, FormatError> {
        let Survey { parts, table, is_csv } = self;
        parts.header(|line, names| table.arrange(names, true).map_err(|bad| line.bad_columns(bad)))?;
        // The values of JSON have types, so that one may not fit those before.
        let pool = pool.filter(|_| *is_csv);
        let before = if *is_csv { table.without_rows() } else { table.clone() };
        let parsed = parts.parse_on(pool, |lines| {
            let (mut table, mut found) = (before.clone(), Found::default());
            let error = table.read(lines, most, wanted, &mut found).err();
            ((table, found), error)
        })?;
        let mut all: Option<Found> = None;
        for (part, found) in parsed {
            match *is_csv {
                true => table.join(part),
                false => *table = part,
            }
            let Found { rows, texts } = all.get_or_insert_default();
            rows.extend(found.rows);
            texts.extend(found.texts);
        }
        Ok(all)
    }

    /// The number of rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.table.rows
    }

    /// The cells of the first rows, as they are written.
    #[must_use]
    pub fn first(&self) -> &[Vec<String>] {
        &self.table.first
    }

    /// The columns so far, in the order of the file, except those that are left out.
    pub fn columns(&self) -> impl Iterator<Item = &SurveyColumn> {
        self.table.columns.iter().filter(|column| !self.table.layout.leaves_out(&column.name))
    }

    /// The byte between fields of a CSV file, once a row was read.
    #[must_use]
    pub fn delimiter(&self) -> Option<u8> {
        self.parts.delimiter()
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
        if !self.is_csv || self.parts.has_given_names() || layout.usual_columns(names).is_some() {
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
}

impl Table {
    /// The columns before their rows.
    fn without_rows(&self) -> Self {
        let bare = |column: &SurveyColumn| SurveyColumn {
            name: column.name.clone(),
            key: column.key,
            ..SurveyColumn::default()
        };
        Table { columns: self.columns.iter().map(bare).collect(), rows: 0, first: Vec::new(), ..self.clone() }
    }

    /// Adds the rows of the next part, whose columns are the same.
    fn join(&mut self, next: Table) {
        self.columns.iter_mut().zip(&next.columns).for_each(|(column, next)| column.join(next));
        self.rows += next.rows;
        let room = SHOWN - self.first.len();
        self.first.extend(next.first.into_iter().take(room));
    }

    /// Reads up to `most` rows of a part.
    fn read(
        &mut self,
        lines: &mut Lines<'_>,
        most: usize,
        wanted: Option<Wanted<'_>>,
        found: &mut Found,
    ) -> Result<(), FormatError> {
        if wanted.is_none() {
            found.rows.reserve_exact(most.min(lines.most));
        }
        for _ in 0..most {
            if !lines.read()? {
                break;
            }
            if let Some(names) = lines.check(&self.names)? {
                self.arrange(names, false).map_err(|bad| lines.bad_columns(bad))?;
            }
            self.rows += 1;
            let row = self.see(lines)?;
            if self.first.len() < SHOWN {
                self.first.push(self.shown(lines)?);
            }
            match wanted {
                None => found.rows.push(row),
                Some(is_wanted) if is_wanted(&row) => found.texts.push(self.text_of(row, lines)?),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The cells of a line, as they are written.
    fn shown(&self, lines: &Lines<'_>) -> Result<Vec<String>, FormatError> {
        (0..self.places.len()).map(|column| Ok(lines.cell(column)?.shown().to_owned())).collect()
    }

    fn text_of(&self, row: Row, lines: &Lines<'_>) -> Result<RowText, FormatError> {
        let key = |column: &usize| Ok(self.key(&lines.cell(*column)?).into_owned());
        let keys = self.keys.iter().map(key).collect::<Result<_, FormatError>>()?;
        Ok(RowText { row, keys, cells: self.shown(lines)? })
    }

    /// The text of a key, equal for equal keys.
    fn key<'c>(&self, cell: &'c Cell<'_>) -> Cow<'c, str> {
        let text = cell.text();
        match self.has_number_keys && text.starts_with('0') {
            true => text.trim_start_matches('0').to_owned().into(),
            false => text,
        }
    }

    /// Takes a row into account.
    fn see(&mut self, lines: &Lines<'_>) -> Result<Row, FormatError> {
        let line = lines.line_of(0);
        let mut row = Row { line, keys: [0; 2], number: None, content: 0 };
        for (column, place) in self.places.iter().enumerate() {
            let cell = &lines.cell(column)?;
            let Place { column, role } = place;
            self.columns[*column].see(lines.path, line, *cell);
            match role {
                Role::Key(key) => row.keys[*key] = digest(self.key(cell)),
                Role::Content(_) | Role::Number if *cell == Cell::Null => {}
                Role::Number => {
                    let number = cell.number(&self.zone);
                    row.number = Some(number.map_or_else(|| digest(cell.text()), |number| digest(number.0)));
                }
                // A sum, because the members of JSON come in any order.
                Role::Content(name) => row.content = row.content.wrapping_add(digest((name, cell.shown()))),
                Role::LeftOut => {}
            }
        }
        Ok(row)
    }

    /// Takes over the names of the columns of the lines that follow.
    fn arrange(&mut self, names: Vec<String>, is_csv: bool) -> Result<(), BadColumns> {
        self.names = names;
        check_names(&self.names)?;
        self.keys = self.layout.key_columns(&self.names, is_csv)?;
        let mut column_of = |name: &str| {
            let known = self.columns.iter().position(|column| column.name == name);
            known.unwrap_or_else(|| {
                self.columns.push(SurveyColumn { name: name.to_owned(), ..SurveyColumn::default() });
                self.columns.len() - 1
            })
        };
        let place = |(cell, name): (usize, &String)| {
            let name = name.trim();
            let role = match self.keys.iter().position(|key| *key == cell) {
                Some(key) => Role::Key(key),
                None if self.number_column.as_deref() == Some(name) => Role::Number,
                None if self.layout.leaves_out(name) => Role::LeftOut,
                None => Role::Content(digest(name)),
            };
            Place { column: column_of(name), role }
        };
        self.places = self.names.iter().enumerate().map(place).collect();
        for Place { column, role } in &self.places {
            if let Role::Key(key) = role {
                self.columns[*column].key = Some(*key);
            }
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
