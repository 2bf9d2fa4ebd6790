//! Graph files: reading, writing, and generating them.
//!
//! [`GraphReader`] reads files of any size in batches, text on several threads; [`StreamParser`]
//! reads edges as they arrive; [`GraphWriter`] writes files; [`NewFile`] is a file that appears
//! only when it is complete. [`Kronecker`], [`Uniform`] and [`ChangeStream`] generate graphs,
//! identical on every machine.
//!
//! # Formats
//!
//! | format | a line, or the layout | names | [`GraphFormat`] |
//! |---|---|---|---|
//! | edge list (SNAP, TSV, CSV, GAP) | `source destination [weight] [timestamp]` | `.el`, `.wel`, `.tsv`, `.csv`, all others | `EdgeList`, `Tsv`, `Csv` |
//! | LDBC Graphalytics | an edge list in `x.e`, and `vertex` in `x.v` | `.e` | `Graphalytics` |
//! | adjacency (LDBC Graphalytics validation) | `vertex neighbor neighbor …` | `.adj` | `Adjacency` |
//! | Matrix Market | `row column [value]` | `.mtx`, `.mm` | `MatrixMarket` |
//! | GAP serialized graph | rows of neighbors in binary | `.sg`, with weights `.wsg` | `Serialized`, `WeightedSerialized` |
//!
//! The extension determines the format, unless [`ReadOptions::format`] or [`WriteOptions::format`]
//! overrides it; Matrix Market files are also recognized by their first line. Files compressed by
//! gzip or Zstandard are recognized by their first bytes, whatever their name; on writing, files
//! whose name ends in `.gz` or `.zst` are compressed.
//!
//! In all text files:
//!
//! - Fields are separated by a run of spaces and tabs, or by one comma with or without blanks
//!   around it. There is no quoting: a quotation mark is an ordinary character.
//! - A line whose first character is `#` or `%` is a comment. Comments and blank lines are skipped.
//!   Lines end in `\n` or `\r\n`, or in `\r` if the first does; the last may lack its end. A UTF-8
//!   byte order mark at the start is ignored.
//! - A key ([`VertexKey`]) is a decimal number of at most 64 bits (`u64`), or text in UTF-8 without
//!   blanks, commas and control characters (`Box<str>`).
//! - A weight is a finite decimal number. A timestamp is a signed whole number of 64 bits, in a
//!   unit that the file decides; a decimal fraction is rounded down. [`Columns`] defines the order
//!   of the columns.
//! - An edge list may start with a line of column names ([`Header`]).
//! - Lines are at most [`MAX_EDGE_LINE`] or [`MAX_ADJACENCY_LINE`] bytes long.
//!
//! A **Matrix Market** file is a `coordinate` matrix of the field `pattern`, `integer` or `real`
//! that is `general`, `symmetric` or `skew-symmetric`, and square. Every entry is an edge from its
//! row to its column, in a symmetric matrix one in each direction; rows are the keys, from 1, and
//! all of them are vertices, which come after the edges. The number of entries must match the
//! header, with at most 64 rows for each and 2^20 more.
//!
//! A **serialized graph** has the vertices 0 to n - 1, all of which are returned, and 32-bit
//! weights in `.wsg`. Its size must match its header, its offsets must not decrease, all ids must
//! be in range. Undirected edges come from both ends. Fields, little-endian and without gaps: 1
//! byte, 1 if directed; m, the number of neighbors, and n, 8 bytes each; n + 1 offsets of 8 bytes;
//! m neighbors of 4 bytes, each with its weight of 4 bytes in `.wsg`; and if directed offsets and
//! neighbors of the in-edges.
//!
//! # Properties
//!
//! [`PropertyReader`] and [`PropertyWriter`] handle files whose lines carry typed properties
//! ([`PropertyFormat`]): CSV as in RFC 4180 with a header and any delimiter, in which an empty
//! field without quotation marks is null, and JSON lines. The schema defines the properties
//! ([`LineSchema`]); a [`Survey`] finds the columns of a file and their types first.
//! Numbers are decimal; `NaN`, `Infinity` and `-Infinity` are text in JSON; bytes are hexadecimal
//! digits; timestamps are microseconds since 1970, or on reading dates and times, rounded down to
//! microseconds, those without an offset in a [`Zone`]. A text key may be any text.
//!
//! # Trust
//! Any bytes yield edges or a [`FormatError`] that names file, line and column, or file and byte,
//! and the found and the expected content. Memory is bounded, see [`GraphReader`]. With
//! [`skip_bad_lines`](ReadOptions::skip_bad_lines), invalid lines are counted and skipped; wrong
//! sizes, and a file that cannot be read or decompressed, always end the reading with an error.
//!
//! # Example
//!
//! ```
//! use hedgerow_formats::{Batch, Columns, Edge, GraphReader, ReadOptions};
//!
//! let text = "# who wrote to whom, and when\n1 2 1082040961\n3,4,1082155839.5\n";
//! let options = ReadOptions { columns: Columns::Timestamp, ..ReadOptions::default() };
//! let mut reader = GraphReader::<u64>::from_reader("messages", text.as_bytes(), options)?;
//!
//! let mut edges = Vec::new();
//! let mut batch = Batch::new();
//! while reader.read_batch(&mut batch)? {
//!     edges.extend(batch.edges.iter().copied());
//! }
//! assert_eq!(edges[1], Edge { source: 3, destination: 4, weight: None, timestamp: Some(1082155839) });
//! # Ok::<(), hedgerow_formats::FormatError>(())
//! ```
//!
//! # Files
//!
//! | file | content |
//! |---|---|
//! | `reader.rs`, `piece.rs`, `progress.rs` | the readers of applications; pieces of files, put into batches in their order; the progress of reading |
//! | `read_ahead.rs` | contents read or generated while those before them are visited |
//! | `stream.rs` | edges that arrive in blocks of bytes |
//! | `options.rs` | options for reading |
//! | `source.rs`, `format.rs` | decompressed bytes of a file; the detection of formats and of files that belong together |
//! | `text/chunk.rs`, `mod.rs` | lines cut into chunks; chunks parsed in parallel while the next are cut |
//! | `text/preamble.rs`, `matrix.rs` | the first lines: names of columns, the kind of a matrix |
//! | `text/lines.rs`, `plain.rs`, `parse.rs`, `fields.rs` | from a chunk to edges, from a line of two numbers or any line to an edge, from a field to a value |
//! | `key.rs`, `characters.rs` | vertex keys; the bytes that separate fields, and the bytes that no field contains |
//! | `serialized.rs` | reads the binary format of the GAP suite |
//! | `static_graph/` | whole files as static graphs; `numbering.rs`: ids of keys |
//! | `properties/` | CSV with a header and JSON lines, which carry properties: read (`reader.rs`, `csv.rs`, `json.rs`), the meaning of columns (`layout.rs`, `names.rs`), values (`value.rs`, `zone.rs`), inferred (`survey.rs`, `guess.rs`), written (`writer.rs`) |
//! | `write/mod.rs`, `edge_list.rs`, `whole.rs`, `rows.rs` | writes edge by edge, or the whole graph in the order of its keys, in a file for each format; `new_file.rs`: all or nothing |
//! | `generate/` | graphs that depend only on a seed |

mod batch;
mod characters;
mod error;
mod format;
mod generate;
mod key;
mod options;
mod piece;
mod progress;
mod properties;
mod read_ahead;
mod reader;
mod serialized;
mod source;
mod static_graph;
mod stream;
mod text;
mod write;

pub use batch::{Batch, Edge};
pub use error::{BadLine, BadProperty, ErrorKind, FormatError, Problem, Remedy};
pub use format::{GraphFormat, without_compression};
pub use generate::shuffle;
pub use generate::{
    Change, ChangeStream, ChangeStreamError, Kronecker, KroneckerError, Uniform, UniformError, Weights,
};
pub use key::VertexKey;
pub use options::{Columns, Header, ReadOptions};
pub use progress::{Position, Progress, SkippedLines};
pub use properties::{
    HasHeader, LineSchema, MAX_PROPERTY_LINE, PropertyBatch, PropertyEdge, PropertyFormat, PropertyOptions,
    PropertyReader, PropertyWriter, Row, RowText, Survey, SurveyColumn, Zone, csv_field, hints_at_end,
    is_name_of_ends, is_name_of_key, property_of_text, text_of_timestamp, timestamp_of_text,
};
pub use read_ahead::read_ahead;
pub use reader::GraphReader;
pub use static_graph::{StaticGraph, StaticGraphBuilder, StaticGraphError};
pub use stream::{StreamBatch, StreamForm, StreamOptions, StreamParser, StreamPlace};
pub use text::{MAX_ADJACENCY_LINE, MAX_EDGE_LINE};
pub use write::{
    CompleteFile, EdgeListWriter, GraphWriter, Lost, NewFile, Output, STANDARD_OUTPUT, VertexListWriter,
    WriteOptions, Written,
};
