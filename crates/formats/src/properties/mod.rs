//! Files whose lines carry properties: CSV with a header, and JSON lines.
//!
//! | file | purpose |
//! |---|---|
//! | `reader` | reads lines into batches of vertices and edges |
//! | `parts` | cuts a file into parts, which threads parse |
//! | `csv`, `json` | from bytes to the cells of a line |
//! | `lines` | the lines of either format |
//! | `survey` | finds the columns of a file and their types |
//! | `guess` | the type of a column, from its cells |
//! | `names` | the usual names of the columns of keys |
//! | `layout` | maps cells to ends or properties, by the names of columns |
//! | `value`, `zone` | from a cell to a value; times, and their time zones |
//! | `writer` | writes these files |

mod csv;
mod guess;
mod json;
mod layout;
mod lines;
mod names;
mod parts;
mod reader;
mod survey;
mod value;
mod writer;
mod zone;

pub(crate) use names::is_source_and_destination;
pub use names::{hints_at_end, is_name_of_ends, is_name_of_key};
pub use reader::PropertyReader;
pub use survey::{HasHeader, Row, RowText, Survey, SurveyColumn};
pub use value::{csv_field, property_of_text, timestamp_of_text};
pub use writer::PropertyWriter;
pub use zone::{Zone, text_of_timestamp};

use crate::format::without_compression;
use hedgerow_model::{EdgeSchema, EdgeValue, Record, RecordSchema};
use std::fmt;
use std::path::Path;

/// The maximum length of a line with properties, in bytes.
pub const MAX_PROPERTY_LINE: usize = 16 << 20;

/// The format of a file whose lines carry properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyFormat {
    /// Values separated by commas, as in RFC 4180, or by another delimiter, with a first line of
    /// column names. An empty field without quotation marks is null.
    Csv,
    /// A JSON object per line, whose members are the properties. A missing member is null.
    JsonLines,
}

impl PropertyFormat {
    /// Returns the format for the extension of a file name, ignoring `.gz` and `.zst`; `None` if
    /// the extension has no meaning. A `.csv` may also be an edge list without a header: the caller
    /// has to know. O(length of the name).
    #[must_use]
    pub fn of_name(path: impl AsRef<Path>) -> Option<Self> {
        match without_compression(path.as_ref()).extension()?.to_str()? {
            "csv" => Some(PropertyFormat::Csv),
            "jsonl" | "ndjson" => Some(PropertyFormat::JsonLines),
            _ => None,
        }
    }
}

impl fmt::Display for PropertyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PropertyFormat::Csv => "CSV with a header",
            PropertyFormat::JsonLines => "JSON lines",
        })
    }
}

/// The kind of lines in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineSchema {
    /// Each line is a vertex with properties.
    Vertices(RecordSchema),
    /// Each line is an edge with its value or properties.
    Edges(EdgeSchema),
}

/// Options for reading a file with properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyOptions {
    /// The format.
    pub format: PropertyFormat,
    /// The kind of lines, and their schema.
    pub lines: LineSchema,
    /// The name of the column where an edge starts; by default `source`, `src` or `from`, or else
    /// the first column of a CSV file. The name of a property is not taken by default.
    pub source_column: Option<String>,
    /// The name of the column where an edge ends; by default `destination`, `dst`, `target` or
    /// `to`, or else the second column.
    pub destination_column: Option<String>,
    /// The name of the column with the numbers of parallel edges; by default their name in the
    /// schema. It may hold times after 1970, whose microseconds are the numbers.
    pub number_column: Option<String>,
    /// True if parallel edges may lack a number, for the caller to give them one.
    pub numbers_are_optional: bool,
    /// True if keys are numbers: a [`Survey`] then takes `007` and `7` for one.
    pub has_number_keys: bool,
    /// The byte between the fields of a CSV file; by default the one of comma, tab, semicolon and
    /// vertical bar that the first line has most of.
    pub delimiter: Option<u8>,
    /// The names of the columns of a CSV file without a first line of names. A first line with just
    /// these names is skipped.
    pub columns: Option<Vec<String>>,
    /// The names of columns to leave out.
    pub ignored: Vec<String>,
    /// The time zone of times without an offset.
    pub zone: Zone,
    /// Number of vertices or edges per batch; 0 is taken as 1.
    pub batch_size: usize,
}

impl PropertyOptions {
    /// Options with the usual names of columns, times in UTC, and batches of 65,536.
    #[must_use]
    pub fn new(format: PropertyFormat, lines: LineSchema) -> Self {
        PropertyOptions {
            format,
            lines,
            source_column: None,
            destination_column: None,
            number_column: None,
            numbers_are_optional: false,
            has_number_keys: false,
            delimiter: None,
            columns: None,
            ignored: Vec::new(),
            zone: Zone::default(),
            batch_size: 1 << 16,
        }
    }
}

/// An edge with its value or properties.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyEdge<K> {
    /// The vertex where the edge starts.
    pub source: K,
    /// The vertex where the edge ends.
    pub destination: K,
    /// The value, if edges carry values, in the form of its column; or the number of a parallel
    /// edge, `None` if it has none.
    pub value: Option<EdgeValue>,
    /// The properties, if edges have records, in the order of their schema; else the empty record.
    pub record: Record,
}

/// A batch of vertices or edges from a reader.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyBatch<K> {
    /// Vertices with their properties, in the order of their schema.
    pub vertices: Vec<(K, Record)>,
    /// Edges.
    pub edges: Vec<PropertyEdge<K>>,
}

impl<K> PropertyBatch<K> {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        PropertyBatch { vertices: Vec::new(), edges: Vec::new() }
    }

    /// The number of vertices and edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len() + self.edges.len()
    }

    /// Returns true if the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves up to `most` vertices and edges from the start of another batch to the end.
    fn take(&mut self, other: &mut Self, most: usize) {
        if self.is_empty() && other.len() <= most {
            std::mem::swap(self, other);
            return;
        }
        let vertices = most.min(other.vertices.len());
        self.vertices.extend(other.vertices.drain(..vertices));
        let edges = (most - vertices).min(other.edges.len());
        self.edges.extend(other.edges.drain(..edges));
    }

    /// Removes everything, keeps the memory.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.edges.clear();
    }
}

impl<K> Default for PropertyBatch<K> {
    fn default() -> Self {
        PropertyBatch::new()
    }
}
