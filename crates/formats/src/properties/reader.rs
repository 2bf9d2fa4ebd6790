//! Reads files whose lines carry properties.

use super::layout::{LEFT_OUT, Layout};
use super::lines::Lines;
use super::value::{Cell, Kind};
use super::{PropertyBatch, PropertyEdge, PropertyOptions, Zone};
use crate::error::{BadProperty, Remedy, excerpt};
use crate::source::Source;
use crate::{FormatError, Progress, VertexKey};
use hedgerow_model::{EdgeValue, KeyKind, Record, Value};
use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;

/// Reads a file of vertices or edges with properties in batches, line by line on one thread.
///
/// Memory: the batch, and a line, of at most [`MAX_PROPERTY_LINE`](crate::MAX_PROPERTY_LINE) bytes.
pub struct PropertyReader<K> {
    lines: Lines,
    columns: Columns,
    batch_size: usize,
    has_started: bool,
    has_ended: bool,
    keys: PhantomData<K>,
}

/// The columns of a file.
struct Columns {
    layout: Layout,
    /// The names in the header of a CSV file, or in the last line of JSON.
    names: Vec<String>,
    /// The position of each name in the layout.
    places: Vec<usize>,
    zone: Zone,
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
            lines: Lines::new(source, options),
            columns: Columns { layout, names: Vec::new(), places: Vec::new(), zone },
            batch_size: options.batch_size.max(1),
            has_started: false,
            has_ended: false,
            keys: PhantomData,
        }
    }

    /// The progress of reading, for a progress bar. O(1).
    #[must_use]
    pub fn progress(&self) -> Progress {
        let source = self.lines.source();
        Progress { done: source.bytes_used(), total: source.size() }
    }

    /// Replaces the contents of `batch` with the next lines; false at the end.
    ///
    /// # Errors
    /// A bad line; or a file that cannot be read or decompressed, which is reported in preference
    /// to a bad line that it causes. `batch` then holds the lines before, and the reader is at its
    /// end.
    pub fn read_batch(&mut self, batch: &mut PropertyBatch<K>) -> Result<bool, FormatError> {
        batch.clear();
        while batch.len() < self.batch_size && !self.has_ended {
            let read = self.read_line(batch);
            self.has_ended = !matches!(read, Ok(true));
            read.map_err(|error| self.lines.cause_of(error))?;
        }
        Ok(!batch.is_empty())
    }

    /// Adds the next line to the batch; false if there is none.
    fn read_line(&mut self, batch: &mut PropertyBatch<K>) -> Result<bool, FormatError> {
        let Self { lines, columns, .. } = self;
        if !self.has_started {
            self.has_started = true;
            columns.read_header(lines, K::KIND)?;
        }
        if !lines.read()? {
            return Ok(false);
        }
        let cells = columns.cells(lines)?;
        columns.add(&cells, batch).map_err(|misfit| {
            let Misfit { place, expected, remedy } = misfit;
            let column = columns.column_of(place);
            let line = lines.line_of(column.unwrap_or(0));
            let name = column.and_then(|column| columns.names.get(column));
            let name = name.map(String::as_str).or_else(|| columns.layout.name_of(place));
            let found = excerpt(cells[place].shown().as_bytes());
            let column = name.map(str::to_owned);
            let bad = BadProperty::new(lines.source().path().into(), &expected);
            FormatError::from(BadProperty { line, column, found, remedy, ..bad })
        })?;
        Ok(true)
    }
}

impl Columns {
    /// Reads the names of the columns of a CSV file.
    fn read_header(&mut self, lines: &mut Lines, keys: KeyKind) -> Result<(), FormatError> {
        let is_given = lines.has_given_names();
        let Some(names) = lines.header()? else { return Ok(()) };
        let is_number = |name: &String| u64::parse(name.as_bytes()).is_ok();
        let may_be_values = match keys {
            KeyKind::String => self.layout.may_be_values(&names),
            KeyKind::Number | KeyKind::Dense => names.iter().take(self.layout.keys.len()).all(is_number),
        };
        if may_be_values && !is_given {
            let expected =
                format!("a first line of column names, not of values: {}", self.layout.usual_names());
            return Err(lines.bad(excerpt(names.join(",").as_bytes()), &expected));
        }
        self.places = self.layout.places(&names, true).map_err(|bad| lines.bad_columns(bad))?;
        self.names = names;
        Ok(())
    }

    /// The cells of the line, in the order of the layout.
    fn cells<'a>(&mut self, lines: &'a Lines) -> Result<Vec<Cell<'a>>, FormatError> {
        let (found, others) = lines.cells(&self.names)?;
        if let Some(names) = others {
            self.places = self.layout.places(&names, false).map_err(|bad| lines.bad_columns(bad))?;
            self.names = names;
        }
        let mut cells = vec![Cell::Null; self.layout.len()];
        for (cell, place) in found.into_iter().zip(&self.places).filter(|(_, place)| **place != LEFT_OUT) {
            cells[*place] = cell;
        }
        Ok(cells)
    }

    fn column_of(&self, place: usize) -> Option<usize> {
        self.places.iter().position(|other| *other == place)
    }

    /// Adds the vertex or the edge of these cells to the batch.
    fn add<K: VertexKey>(&self, cells: &[Cell<'_>], batch: &mut PropertyBatch<K>) -> Result<(), Misfit> {
        let is_text = |place: usize| cells[place].key::<Box<str>>().is_ok();
        let key = |place: usize| {
            let misfit =
                |expected| Misfit { place, expected, remedy: is_text(place).then_some(Remedy::TextKeys) };
            cells[place].key().map_err(misfit)
        };
        let source = key(0)?;
        if let [_] = self.layout.keys[..] {
            batch.vertices.push((source, self.lying_on(cells)?.1));
            return Ok(());
        }
        let destination = key(1)?;
        let (value, record) = self.lying_on(cells)?;
        batch.edges.push(PropertyEdge { source, destination, value, record });
        Ok(())
    }

    /// The value or the properties among these cells.
    fn lying_on(&self, cells: &[Cell<'_>]) -> Result<(Option<EdgeValue>, Record), Misfit> {
        let (mut value, mut record) = (None, Vec::new());
        for (place, field) in (self.layout.keys.len()..).zip(&self.layout.fields) {
            let expected = |note| format!("{}{note}", field.kind.expected());
            let misfit = |note| Misfit { place, expected: expected(note), remedy: None };
            match (field.kind, cells[place]) {
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
        Ok((value, Record::new(record)))
    }
}
