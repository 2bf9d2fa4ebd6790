//! Prints edges as they come, and writes them to files.

use super::cell::printed;
use super::filter::read_failed;
use super::layout::{Kind, Layout, Place, Row};
use super::select::{Selection, failed, key};
use crate::console::Console;
use crate::error::CliError;
use crate::keys::JsonKey;
use crate::listing::{Form, Listing, NoFields};
use crate::stored::number::EdgeNumber;
use crate::stored::properties::Properties;
use hedgerow::{ColumnType, EdgeSchema, Key, RecordSchema, Value, ValueRef, ValueType, VertexId};
use hedgerow_encoding::decode_record;
use hedgerow_formats::{LineSchema, NewFile, PropertyFormat, PropertyWriter, STANDARD_OUTPUT};
use hedgerow_model::{ReadError, Record};
use serde::Serialize;
use std::path::Path;

/// Edges on standard output, or in a file.
pub struct EdgePrinter<'a> {
    selection: &'a Selection<'a>,
    sink: Sink,
    raw_times: bool,
    /// The source of the last edge, which the next one may have, too.
    source: Option<(VertexId, Key)>,
    /// The number of edges.
    pub count: u64,
}

/// The form of edges.
enum Sink {
    /// Lines for people, or JSON.
    List(Listing),
    /// Lines that an import reads; with these columns if there are several labels.
    Lines(PropertyWriter, Option<Vec<String>>),
}

/// An edge in JSON.
#[derive(Serialize)]
struct PrintedEdge<'a> {
    source: JsonKey,
    destination: JsonKey,
    label: &'a str,
    #[serde(skip_serializing_if = "is_none")]
    value: EdgeNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
}

fn is_none(value: &EdgeNumber) -> bool {
    *value == EdgeNumber::None
}

impl PrintedEdge<'_> {
    /// The edge as a line for people, with its label if there are several.
    fn line(&self, names_label: bool) -> String {
        let PrintedEdge { source, destination, label, value, properties } = self;
        let label = if names_label { format!(" {label}") } else { String::new() };
        match (value, properties) {
            (EdgeNumber::None, None) => format!("{source} {destination}{label}"),
            (EdgeNumber::None, Some(properties)) => format!("{source} {destination}{label} {properties}"),
            (value, _) => format!("{source} {destination}{label} {value}"),
        }
    }
}

impl<'a> EdgePrinter<'a> {
    /// Prints lines, or a JSON object that has the edges as its last member, after those of
    /// `header`.
    pub fn printing(
        selection: &'a Selection<'a>,
        header: &impl Serialize,
        console: &Console,
        raw_times: bool,
    ) -> Result<Self, CliError> {
        let form = Form::of_console(console, "edges");
        let sink = Sink::List(Listing::begin(Path::new(STANDARD_OUTPUT), form, header)?);
        Ok(EdgePrinter { selection, sink, raw_times, source: None, count: 0 })
    }

    /// Writes to a file, in the form that its name says.
    pub fn writing(selection: &'a Selection<'a>, path: &Path, raw_times: bool) -> Result<Self, CliError> {
        let sink = match PropertyFormat::of_name(path) {
            Some(format) => {
                let (schema, columns) = schema_of_lines(selection);
                let writer = PropertyWriter::create(path, format, &LineSchema::Edges(schema));
                let writer = writer.map_err(CliError::Output)?.with_raw_times(raw_times);
                Sink::Lines(writer, columns)
            }
            None => Sink::List(Listing::begin(path, Form::of_file(path), &NoFields {})?),
        };
        Ok(EdgePrinter { selection, sink, raw_times, source: None, count: 0 })
    }

    /// Prints an edge.
    pub fn print(&mut self, layout: &Layout, row: &Row<'_>) -> Result<(), CliError> {
        let is_same = self.source.as_ref().is_some_and(|(vertex, _)| *vertex == row.source);
        if !is_same {
            let source = key(self.selection.snapshot, row.source).map_err(failed)?;
            self.source = Some((row.source, source));
        }
        let Some((_, source)) = &self.source else { return Ok(()) };
        let destination = key(self.selection.snapshot, row.destination).map_err(failed)?;
        self.count += 1;
        match &mut self.sink {
            Sink::Lines(writer, columns) => {
                let columns = columns.as_deref();
                write_line(writer, (source, &destination), (layout, columns), row)
            }
            Sink::List(listing) => {
                let (value, properties) = edge(layout, row, self.raw_times)?;
                let [source, destination] = [source.clone(), destination].map(JsonKey::from);
                let edge = PrintedEdge { source, destination, label: &layout.name, value, properties };
                listing.item(&edge, || edge.line(self.selection.labels.len() > 1))
            }
        }
    }

    /// Ends the output; a file gets its name.
    pub fn finish(self) -> Result<(), CliError> {
        match self.sink {
            Sink::List(listing) => listing.finish(&NoFields {}),
            Sink::Lines(writer, _) => writer.complete().and_then(NewFile::finish).map_err(CliError::Output),
        }
    }
}

/// The value of an edge, and its properties.
fn edge(
    layout: &Layout,
    row: &Row<'_>,
    raw_times: bool,
) -> Result<(EdgeNumber, Option<Properties>), CliError> {
    let record = || record(row).map(hedgerow::Record::from);
    let properties = match &layout.edges {
        EdgeSchema::Topology | EdgeSchema::Value(_) => return Ok((number(layout, row), None)),
        EdgeSchema::Record(schema) => Properties::of(schema, &record()?),
        EdgeSchema::Parallel(schema) => Properties::of_parallel(schema, key_of(row), &record()?),
    };
    Ok((EdgeNumber::None, Some(properties.with_raw_times(raw_times))))
}

fn number(layout: &Layout, row: &Row<'_>) -> EdgeNumber {
    let is_single = layout.edges.column() == ColumnType::F32;
    match row.number {
        ValueRef::U64(number) => EdgeNumber::U64(number),
        ValueRef::I64(number) => EdgeNumber::I64(number),
        ValueRef::F64(number) if is_single => EdgeNumber::F32(number as f32),
        ValueRef::F64(number) => EdgeNumber::F64(number),
        _ => EdgeNumber::None,
    }
}

/// The number of a parallel edge.
fn key_of(row: &Row<'_>) -> u64 {
    if let ValueRef::U64(key) = row.number { key } else { 0 }
}

fn record(row: &Row<'_>) -> Result<Record, CliError> {
    let record = decode_record(row.record);
    record.map_err(|error| unreadable(ReadError::new("the record of an edge", error)))
}

fn unreadable(error: ReadError) -> CliError {
    failed(read_failed(error))
}

/// The schema of a file of edges: that of the label, or, for several labels, the label and all
/// their columns, which are returned by name.
fn schema_of_lines(selection: &Selection<'_>) -> (EdgeSchema, Option<Vec<String>>) {
    if let [selected] = selection.labels.as_slice() {
        return (selected.layout.edges.clone(), None);
    }
    let mut columns: Vec<String> = Vec::new();
    for (name, ..) in selection.labels.iter().flat_map(|selected| selected.layout.columns()) {
        if !columns.iter().any(|column| column == name) {
            columns.push(name.to_owned());
        }
    }
    let schema = RecordSchema::new().nullable("label", ValueType::String);
    // The type of a column is in no file.
    let schema = columns.iter().fold(schema, |schema, column| schema.nullable(column, ValueType::String));
    (EdgeSchema::Record(schema), Some(columns))
}

/// Writes a line of a file with properties.
fn write_line(
    writer: &mut PropertyWriter,
    (source, destination): (&Key, &Key),
    (layout, columns): (&Layout, Option<&[String]>),
    row: &Row<'_>,
) -> Result<(), CliError> {
    let written = match (columns, &layout.edges) {
        (Some(columns), _) => {
            let mut values = vec![Value::from(layout.name.as_str())];
            for name in columns {
                let (place, kind) = layout.column(name).unwrap_or((Place::Null, Kind::Bool));
                values.push(printed(row.get(place).map_err(unreadable)?, kind == Kind::Single, false));
            }
            writer.write_edge_record(source, destination, &Record::new(values))
        }
        (None, EdgeSchema::Record(_)) => writer.write_edge_record(source, destination, &record(row)?),
        (None, EdgeSchema::Parallel(_)) => {
            writer.write_parallel_edge(source, destination, key_of(row), &record(row)?)
        }
        (None, EdgeSchema::Topology | EdgeSchema::Value(_)) => {
            writer.write_edge(source, destination, number(layout, row).bits())
        }
    };
    written.map_err(CliError::Output)
}
