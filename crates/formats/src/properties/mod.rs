//! Files whose lines carry properties: CSV with a header, and JSON lines.
//!
//! | file | what it does |
//! |---|---|
//! | `reader` | line by line into batches of vertices and edges |
//! | `csv`, `json` | from bytes to the cells of a line |
//! | `layout` | which cell is which end or property, by the names of columns |
//! | `value` | from a cell to a value |
//! | `writer` | the same files, written |

mod csv;
mod json;
mod layout;
mod reader;
mod value;
mod writer;

pub use layout::{is_name_of_ends, is_name_of_key};
pub use reader::PropertyReader;
pub use value::{property_of_text, timestamp_of_text};
pub use writer::PropertyWriter;

use crate::format::without_compression;
use hedgerow_model::{EdgeSchema, EdgeValue, Record, RecordSchema};
use std::fmt;
use std::path::Path;

/// A line with properties is at most this long, in bytes.
pub const MAX_PROPERTY_LINE: usize = 16 << 20;

/// The format of a file whose lines carry properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyFormat {
    /// Comma-separated values as in RFC 4180, with a first line of column names. An empty field without quotation marks is null.
    Csv,
    /// A JSON object per line, whose members are the properties. A member that is not there is null.
    JsonLines,
}

impl PropertyFormat {
    /// What the end of a file's name says, that of a compression left aside; `None` if it says nothing. A `.csv` may as well be an edge
    /// list without a header: that is for the caller to know. O(length of the name).
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

/// What the lines of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineSchema {
    /// A vertex each, with properties.
    Vertices(RecordSchema),
    /// An edge each, with what lies on it.
    Edges(EdgeSchema),
}

/// How a file with properties is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyOptions {
    /// The format.
    pub format: PropertyFormat,
    /// What a line is, and what may be on it.
    pub lines: LineSchema,
    /// The name of the column where an edge starts; by default `source`, `src` or `from`, or else the first column of a CSV file. A name
    /// that is that of a property is not taken by default.
    pub source_column: Option<String>,
    /// The name of the column where an edge ends; by default `destination`, `dst`, `target` or `to`, or else the second column.
    pub destination_column: Option<String>,
    /// How many vertices or edges a batch holds; 0 is taken as 1.
    pub batch_size: usize,
}

impl PropertyOptions {
    /// The usual names of columns, and batches of 65,536.
    #[must_use]
    pub fn new(format: PropertyFormat, lines: LineSchema) -> Self {
        let (source_column, destination_column) = (None, None);
        PropertyOptions { format, lines, source_column, destination_column, batch_size: 1 << 16 }
    }
}

/// An edge with what lies on it.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyEdge<K> {
    /// Where the edge starts.
    pub source: K,
    /// Where it ends.
    pub destination: K,
    /// The value, if edges carry values, as its column has it; the key of an edge that may be one of several parallel ones.
    pub value: EdgeValue,
    /// The properties, if edges have records, in the order of their schema; else the empty record.
    pub record: Record,
}

/// What a reader hands over in one go.
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

    /// How many vertices and edges it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len() + self.edges.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all, keeps the memory.
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
