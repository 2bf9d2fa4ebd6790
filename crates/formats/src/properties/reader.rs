//! Reads files whose lines carry properties.

use super::layout::{LEFT_OUT, Layout};
use super::lines::Lines;
use super::parts::Parts;
use super::value::{Cell, Kind};
use super::{PropertyBatch, PropertyEdge, PropertyOptions, Zone};
use crate::error::{BadProperty, Remedy, excerpt};
use crate::source::Source;
use crate::{FormatError, Progress, VertexKey};
use hedgerow_model::{EdgeValue, KeyKind, Record, Value};
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;

/// Reads a file of vertices or edges with properties in batches, on one thread or several.
///
/// Memory: the batch, and up to eight parts of the file per thread, half of them as rows. A part
/// has at most 256 KiB, or one line of at most
/// [`MAX_PROPERTY_LINE`](crate::MAX_PROPERTY_LINE) bytes.
pub struct PropertyReader<K> {
    parts: Parts,
    columns: Columns,
    batch_size: usize,
    has_ended: bool,
    /// Parsed parts.
    parsed: VecDeque<PropertyBatch<K>>,
}

/// The columns of a file.
#[derive(Clone)]
struct Columns {
    layout: Layout,
    /// The names in the header of a CSV file, or in the last line of JSON.
    names: Vec<String>,
    /// The column with each place of the layout.
    columns: Vec<Option<usize>>,
    zone: Zone,
    /// Memory for the values of a record.
    record: Vec<Value>,
}

/// The fault of a line.
enum Fault {
    Line(FormatError),
    Cell(Misfit),
}

/// A cell of the wrong type.
struct Misfit {
    place: usize,
    expected: String,
    remedy: Option<Remedy>,
}

impl<K: VertexKey> PropertyReader<K> {
    /// Opens a file, plain or compressed by gzip or Zstandard.
    ///
    /// # Errors
    /// It cannot be opened, or is a directory.
    pub fn open(path: impl AsRef<Path>, options: &PropertyOptions) -> Result<Self, FormatError> {
        Ok(Self::of(Source::open(path.as_ref())?, options))
    }

    /// Reads from any reader, such as standard input; errors use `name` as the file name.
    ///
    /// # Errors
    /// Its first bytes cannot be read.
    pub fn from_reader(
        name: impl AsRef<Path>,
        reader: impl Read + Send + 'static,
        options: &PropertyOptions,
    ) -> Result<Self, FormatError> {
        Ok(Self::of(Source::new(name.as_ref(), Box::new(reader), None)?, options))
    }

    fn of(source: Source, options: &PropertyOptions) -> Self {
        let (layout, zone) = (Layout::new(options), options.zone.clone());
        PropertyReader {
            parts: Parts::new(source, options),
            columns: Columns { layout, names: Vec::new(), columns: Vec::new(), zone, record: Vec::new() },
            batch_size: options.batch_size.max(1),
            has_ended: false,
            parsed: VecDeque::new(),
        }
    }

    /// The progress of reading, for a progress bar. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.parts.progress()
    }

    /// Replaces the contents of `batch` with the next lines, parsed on this thread; false at the
    /// end.
    ///
    /// # Errors
    /// A bad line; or a file that cannot be read or decompressed, which is reported in preference
    /// to a bad line that it causes. `batch` then holds the lines before, and the reader is at its
    /// end.
    pub fn read_batch(&mut self, batch: &mut PropertyBatch<K>) -> Result<bool, FormatError> {
        self.read_batch_on(None, batch)
    }

    /// Like [`read_batch`](Self::read_batch), parsed on the threads of `pool`, if there is one.
    ///
    /// # Errors
    /// See [`read_batch`](Self::read_batch).
    pub fn read_batch_on(
        &mut self,
        pool: Option<&ThreadPool>,
        batch: &mut PropertyBatch<K>,
    ) -> Result<bool, FormatError> {
        batch.clear();
        while batch.len() < self.batch_size && self.parse_on(pool)? {
            if let Some(part) = self.parsed.front_mut() {
                batch.take(part, self.batch_size - batch.len());
            }
            if self.parsed.front().is_some_and(PropertyBatch::is_empty) {
                self.parsed.pop_front();
            }
        }
        Ok(!batch.is_empty())
    }

    /// Replaces `pieces` with the next pieces of the file, of any size, which were parsed together
    /// on the threads of `pool`, or on this one; false at the end.
    ///
    /// # Errors
    /// See [`read_batch`](Self::read_batch); the pieces before the one with the error were returned
    /// before.
    pub fn read_pieces_on(
        &mut self,
        pool: Option<&ThreadPool>,
        pieces: &mut Vec<PropertyBatch<K>>,
    ) -> Result<bool, FormatError> {
        pieces.clear();
        let is_read = self.parse_on(pool)?;
        if self.parts.ends_at_bad_line() {
            self.parsed.pop_back();
        }
        pieces.extend(self.parsed.drain(..).filter(|piece| !piece.is_empty()));
        Ok(is_read)
    }

    /// Parses parts of the file unless some are left; false at the end.
    fn parse_on(&mut self, pool: Option<&ThreadPool>) -> Result<bool, FormatError> {
        while self.parsed.is_empty() && !self.has_ended {
            // An error is the end.
            self.has_ended = true;
            let (columns, is_given) = (&mut self.columns, self.parts.has_given_names());
            self.parts.header(|line, names| columns.take(line, names, K::KIND, is_given))?;
            let columns = &self.columns;
            let parsed = self.parts.parse_on(pool, |lines| columns.clone().read(lines))?;
            self.has_ended = parsed.is_empty();
            self.parsed.extend(parsed);
        }
        Ok(!self.parsed.is_empty())
    }
}

impl Columns {
    /// Takes over the names of the columns of a CSV file, from its first line or `is_given`.
    fn take(
        &mut self,
        line: &Lines<'_>,
        names: Vec<String>,
        keys: KeyKind,
        is_given: bool,
    ) -> Result<(), FormatError> {
        let is_number = |name: &String| u64::parse(name.as_bytes()).is_ok();
        let may_be_values = match keys {
            KeyKind::String => self.layout.may_be_values(&names),
            KeyKind::Number | KeyKind::Dense => names.iter().take(self.layout.keys.len()).all(is_number),
        };
        if may_be_values && !is_given {
            let expected =
                format!("a first line of column names, not of values: {}", self.layout.usual_names());
            return Err(line.bad(excerpt(names.join(",").as_bytes()), &expected));
        }
        let places = self.layout.places(&names, true).map_err(|bad| line.bad_columns(bad))?;
        self.arrange(names, &places);
        Ok(())
    }

    /// Reads lines up to their end, or to an error.
    fn read<K: VertexKey>(mut self, lines: &mut Lines<'_>) -> (PropertyBatch<K>, Option<FormatError>) {
        let mut batch = PropertyBatch::new();
        match self.layout.keys[..] {
            [_] => batch.vertices.reserve_exact(lines.most),
            _ => batch.edges.reserve_exact(lines.most),
        }
        loop {
            match self.read_line(lines, &mut batch) {
                Ok(true) => {}
                Ok(false) => return (batch, None),
                Err(error) => return (batch, Some(error)),
            }
        }
    }

    /// Adds the next line to the batch; false if there is none.
    fn read_line<K: VertexKey>(
        &mut self,
        lines: &mut Lines<'_>,
        batch: &mut PropertyBatch<K>,
    ) -> Result<bool, FormatError> {
        if !lines.read()? {
            return Ok(false);
        }
        if let Some(names) = lines.check(&self.names)? {
            let places = self.layout.places(&names, false).map_err(|bad| lines.bad_columns(bad))?;
            self.arrange(names, &places);
        }
        self.add(lines, batch).map_err(|fault| match fault {
            Fault::Line(error) => error,
            Fault::Cell(misfit) => self.bad(misfit, lines),
        })?;
        Ok(true)
    }

    /// Takes over the names of the columns, and their places in the layout.
    fn arrange(&mut self, names: Vec<String>, places: &[usize]) {
        self.columns.clear();
        self.columns.resize(self.layout.len(), None);
        for (column, place) in places.iter().enumerate().filter(|(_, place)| **place != LEFT_OUT) {
            self.columns[*place] = Some(column);
        }
        self.names = names;
    }

    /// The cell at a place of the layout.
    #[inline]
    fn cell<'a>(&self, lines: &'a Lines<'_>, place: usize) -> Result<Cell<'a>, FormatError> {
        self.columns[place].map_or(Ok(Cell::Null), |column| lines.cell(column))
    }

    /// Adds the vertex or the edge in this line to the batch.
    fn add<K: VertexKey>(&mut self, lines: &Lines<'_>, batch: &mut PropertyBatch<K>) -> Result<(), Fault> {
        let source = self.key(lines, 0)?;
        if let [_] = self.layout.keys[..] {
            batch.vertices.push((source, self.lying_on(lines)?.1));
            return Ok(());
        }
        let destination = self.key(lines, 1)?;
        let (value, record) = self.lying_on(lines)?;
        batch.edges.push(PropertyEdge { source, destination, value, record });
        Ok(())
    }

    fn key<K: VertexKey>(&self, lines: &Lines<'_>, place: usize) -> Result<K, Fault> {
        let cell = self.cell(lines, place)?;
        cell.key().map_err(|expected| {
            let remedy = cell.key::<Box<str>>().is_ok().then_some(Remedy::TextKeys);
            Fault::Cell(Misfit { place, expected, remedy })
        })
    }

    /// The value or the properties in this line.
    fn lying_on(&mut self, lines: &Lines<'_>) -> Result<(Option<EdgeValue>, Record), Fault> {
        let (mut value, mut record) = (None, std::mem::take(&mut self.record));
        for (place, field) in (self.layout.keys.len()..).zip(&self.layout.fields) {
            let expected = |note| format!("{}{note}", field.kind.expected());
            let misfit = |note| Fault::Cell(Misfit { place, expected: expected(note), remedy: None });
            match (field.kind, self.cell(lines, place)?) {
                (_, Cell::Null) if !field.nullable => return Err(misfit(", which must be there")),
                (Kind::Property(_), Cell::Null) => record.push(Value::Null),
                (_, Cell::Null) => {}
                (Kind::Property(value_type), cell) => {
                    record.push(cell.property(value_type, &self.zone).ok_or_else(|| misfit(""))?);
                }
                (Kind::Number, cell) => {
                    value = Some(cell.number(&self.zone).ok_or_else(|| misfit(""))?);
                }
                (Kind::Value(column), cell) => {
                    value = Some(cell.edge_value(column).ok_or_else(|| misfit(""))?);
                }
            }
        }
        let values = Record::of(&mut record);
        self.record = record;
        Ok((value, values))
    }

    /// The error for a cell of the wrong type.
    fn bad(&self, misfit: Misfit, lines: &Lines<'_>) -> FormatError {
        let Misfit { place, expected, remedy } = misfit;
        let column = self.columns[place];
        let line = lines.line_of(column.unwrap_or(0));
        let name = column.and_then(|column| self.names.get(column));
        let name = name.map(String::as_str).or_else(|| self.layout.name_of(place));
        let found = self.cell(lines, place).map_or(String::new(), |cell| excerpt(cell.shown().as_bytes()));
        let column = name.map(str::to_owned);
        let bad = BadProperty::new(lines.path.into(), &expected);
        BadProperty { line, column, found, remedy, ..bad }.into()
    }
}

impl From<FormatError> for Fault {
    fn from(error: FormatError) -> Self {
        Fault::Line(error)
    }
}
