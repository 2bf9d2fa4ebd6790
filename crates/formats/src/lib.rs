//! Graph files: read, written, and made up.
//!
//! [`GraphReader`] reads text files of any size in batches, [`EdgeListWriter`] writes them (and
//! [`NewFile`] any file that is to be complete or not there), and [`Kronecker`] generates the graphs
//! of the Graph 500 benchmark.
//!
//! # Formats
//!
//! | format | a line | read by |
//! |---|---|---|
//! | edge list (SNAP, TSV, CSV, LDBC Graphalytics `.e`) | `source destination [weight] [timestamp]` | [`GraphFormat::EdgeList`] |
//! | adjacency (LDBC Graphalytics validation) | `vertex neighbour neighbour …` | [`GraphFormat::Adjacency`] |
//! | vertices (LDBC Graphalytics `.v`) | `vertex` | [`GraphReader::open_vertices`], and with an edge list `x.e` beside which lies `x.v` |
//!
//! In all of them:
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
//! - An edge list may be a Matrix Market coordinate file, which starts with `%%MatrixMarket`: its
//!   line of sizes is passed over. A symmetric matrix holds each undirected edge once.
//! - Lines are at most [`MAX_EDGE_LINE`] or [`MAX_ADJACENCY_LINE`] bytes long.
//! - Files compressed by gzip or Zstandard are recognised by their first bytes, whatever their name.
//!
//! # Trust
//!
//! Any bytes give edges or a [`FormatError`] that names file, line and column, what was found and
//! what was expected. Memory is bounded, see [`GraphReader`]. With
//! [`skip_bad_lines`](ReadOptions::skip_bad_lines), lines that make no sense are counted and passed
//! over; a file that cannot be read or decompressed always ends the reading with an error.
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

mod batch;
mod error;
mod format;
mod generate;
mod key;
mod options;
mod piece;
mod reader;
mod serialized;
mod source;
mod text;
mod write;

pub use batch::{Batch, Edge};
pub use error::{BadLine, ErrorKind, FormatError, Problem};
pub use format::GraphFormat;
pub use generate::{
    Change, ChangeStream, Kronecker, KroneckerError, StreamError, Uniform, UniformError, Weights,
};
pub use key::VertexKey;
pub use options::{Columns, Header, ReadOptions};
pub use reader::{GraphReader, Position, Progress, SkippedLines};
pub use text::{MAX_ADJACENCY_LINE, MAX_EDGE_LINE};
pub use write::{CompleteFile, EdgeListWriter, GraphWriter, Lost, NewFile, WriteOptions, Written};
