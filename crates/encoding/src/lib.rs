//! Records and lists of parallel edges as bytes: in effects, in the log, in checkpoints, and wherever an engine keeps them.
//!
//! - [`encode_record`], [`decode_record`], [`RecordValues`]: the values of a record, of a vertex or of an edge;
//! - [`EdgeList`], [`EdgeListWriter`]: the parallel edges between two vertices, which are one record to an engine;
//! - [`MergedEdges`]: what a commit makes of them;
//! - [`ReadRows`], [`RowAdjacency`], [`RowRecords`]: cursors for engines that read entries by copying, over contents in these encodings;
//! - [`changed_entries`]: those contents, as a commit changes them;
//! - [`wire`]: the numbers that records and lists are made of.
//!
//! Every decoder is total: any bytes give a value or a [`DecodeError`]. `docs/format.md` has the layout byte by byte.

mod changes;
mod list;
mod merge;
mod record;
mod rows;
pub mod wire;

pub use changes::changed_entries;
pub use list::{EdgeList, EdgeListWriter, ParallelList, list_as_record, list_of_record};
pub use merge::{EdgeDifference, ListedEdge, MergedEdges, differences_of_record, list_of_edges};
pub use record::{
    BYTES, RecordValues, decode_record, decode_record_value, decode_values, encode_record, encode_value,
};
pub use rows::{EntryKey, ReadRows, RowAdjacency, RowCursor, RowRecords};
pub use wire::DecodeError;
