//! Graph files: read, written, and made up.
//!
//! [`GraphReader`] reads files of any size in batches, text on several threads; [`GraphWriter`] writes them;
//! [`NewFile`] is any file that is to be complete or not there. [`Kronecker`], [`Uniform`] and [`ChangeStream`]
//! generate graphs, the same on every machine; [`link_bench`] requests to a store of a social graph.
//!
//! # Formats
//!
//! | format | a line, or the layout | names | [`GraphFormat`] |
//! |---|---|---|---|
//! | edge list (SNAP, TSV, CSV, GAP) | `source destination [weight] [timestamp]` | `.el`, `.wel`, `.tsv`, `.csv`, all others | `EdgeList`, `Tsv`, `Csv` |
//! | LDBC Graphalytics | the same in `x.e`, and `vertex` in `x.v` | `.e` | `Graphalytics` |
//! | adjacency (LDBC Graphalytics validation) | `vertex neighbor neighbor …` | `.adj` | `Adjacency` |
//! | Matrix Market | `row column [value]` | `.mtx`, `.mm` | `MatrixMarket` |
//! | GAP serialized graph | rows of neighbors in binary | `.sg`, with weights `.wsg` | `Serialized`, `WeightedSerialized` |
//!
//! The end of a name tells the format, [`ReadOptions::format`] or [`WriteOptions::format`] overrides it; a file that
//! starts as a Matrix Market file does is recognized by that. In the same way files compressed by gzip or Zstandard
//! are recognized by their first bytes, whatever their name; written are those whose name ends in `.gz` or `.zst`.
//!
//! In all text files:
//!
//! - Fields are separated by a run of spaces and tabs, or by one comma with or without blanks
//!   around it. There is no quoting: a quotation mark is a character like any other.
//! - A line whose first character is `#` or `%` is a comment. Comments and blank lines are passed
//!   over. Lines end in `\n` or `\r\n`; the last may lack its end. A byte order mark of UTF-8 at
//!   the start is ignored.
//! - A key ([`VertexKey`]) is a decimal number of at most 64 bits (`u64`), or text in UTF-8 without
//!   blanks, commas and control characters (`Box<str>`).
//! - A weight is a finite decimal number. A timestamp is a whole number of 64 bits with a sign, in
//!   a unit that the file decides; a decimal fraction is rounded down. [`Columns`] says which
//!   column is which.
//! - A comma separated edge list may start with a line of column names ([`Header`]).
//! - Lines are at most [`MAX_EDGE_LINE`] or [`MAX_ADJACENCY_LINE`] bytes long.
//!
//! A **Matrix Market** file is a `coordinate` matrix of the field `pattern`, `integer` or `real` that is `general`,
//! `symmetric` or `skew-symmetric`, and square. Every entry is an edge from its row to its column, one of a symmetric
//! matrix in both directions; rows are the keys, from 1, and all of them are vertices, which come after the edges. There
//! must be as many entries as the file says, and at most 64 rows for each and 2^20 more.
//!
//! A **serialized graph** has the vertices 0 to n - 1, all of which are handed over, and 32-bit weights in `.wsg`. Its
//! size must be what its header says, its offsets must not fall, all ids must be in range. Undirected edges come from
//! both ends. Fields, little-endian and without gaps: 1 byte, 1 if directed; m, the number of neighbors, and n, 8 bytes
//! each; n + 1 offsets of 8 bytes; m neighbors of 4 bytes, each with its weight of 4 bytes in `.wsg`; and if directed
//! offsets and neighbors of the in-edges.
//!
//! # Properties
//!
//! [`PropertyReader`] and [`PropertyWriter`] know files whose lines carry typed properties ([`PropertyFormat`]): CSV as in RFC 4180 with
//! a header, in which an empty field without quotation marks is null, and JSON lines. The schema says which properties there are
//! ([`LineSchema`]). Numbers are decimal; `NaN`, `Infinity` and `-Infinity` are text in JSON; bytes are hexadecimal digits; timestamps are
//! microseconds since 1970, or read as RFC 3339 has them, what is finer rounded down. A text key may be any text.
//!
//! # Trust
//!
//! Any bytes give edges or a [`FormatError`] that names file, line and column, or file and byte, what was found and
//! what was expected. Memory is bounded, see [`GraphReader`]. With
//! [`skip_bad_lines`](ReadOptions::skip_bad_lines), lines that make no sense are counted and passed
//! over; sizes that are wrong, and a file that cannot be read or decompressed, always end the reading with an error.
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
//! # Where things are
//!
//! | file | what |
//! |---|---|
//! | `reader.rs`, `piece.rs`, `progress.rs` | what applications read with; pieces of files, put into batches in their order; how far the reading has come |
//! | `options.rs` | how a file is read |
//! | `source.rs`, `format.rs` | bytes out of a file, decompressed; which format it is, and which files belong together |
//! | `text/chunk.rs`, `mod.rs` | lines cut into chunks; chunks parsed in parallel while the next are cut |
//! | `text/preamble.rs`, `matrix.rs` | the first lines: names of columns, what sort of matrix it is |
//! | `text/lines.rs`, `parse.rs`, `fields.rs` | from a chunk to edges, from a line to an edge, from a field to a value |
//! | `key.rs`, `characters.rs` | vertex keys; the bytes that separate fields, and those that are in none |
//! | `serialized.rs` | the binary format of the GAP suite, read |
//! | `properties/` | CSV with a header and JSON lines, which carry properties: read (`reader.rs`, `csv.rs`, `json.rs`), which column is what (`layout.rs`), values (`value.rs`), written (`writer.rs`) |
//! | `write/mod.rs`, `edge_list.rs`, `whole.rs`, `rows.rs` | edge by edge, or the whole graph in the order of its keys, in a file for each format; `new_file.rs`: all or nothing |
//! | `generate/` | graphs that depend on a seed alone; `link_bench/`: requests to a store of a social graph |

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
mod reader;
mod serialized;
mod source;
mod text;
mod write;

pub use batch::{Batch, Edge};
pub use error::{BadLine, BadProperty, ErrorKind, FormatError, Problem, Remedy};
pub use format::GraphFormat;
pub use generate::link_bench;
pub use generate::{
    Change, ChangeStream, Kronecker, KroneckerError, StreamError, Uniform, UniformError, Weights,
};
pub use key::VertexKey;
pub use options::{Columns, Header, ReadOptions};
pub use progress::{Position, Progress, SkippedLines};
pub use properties::{
    LineSchema, MAX_PROPERTY_LINE, PropertyBatch, PropertyEdge, PropertyFormat, PropertyOptions,
    PropertyReader, PropertyWriter, is_name_of_ends, is_name_of_key, property_of_text, timestamp_of_text,
};
pub use reader::GraphReader;
pub use text::{MAX_ADJACENCY_LINE, MAX_EDGE_LINE};
pub use write::{
    CompleteFile, EdgeListWriter, GraphWriter, Lost, NewFile, Output, VertexListWriter, WriteOptions, Written,
};
