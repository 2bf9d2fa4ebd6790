//! Encodings of records and of lists of parallel edges: in effects, in the log, in checkpoints, and
//! in engines.
//!
//! - [`encode_record`], [`decode_record`], [`RecordValues`]: the values of a record of a vertex or
//!   an edge;
//! - [`encode_vertex`], [`decode_vertex`]: a vertex with its key and its record;
//! - [`EdgeList`], [`EdgeListWriter`]: the parallel edges between two vertices, which an engine
//!   stores as one record;
//! - [`MergedEdges`]: parallel edges after a commit has changed them;
//! - [`ReadRows`], [`RowAdjacency`], [`RowRecords`]: cursors over contents in these encodings, for
//!   engines that read entries by copying;
//! - [`changed_entries`]: the contents after the changes of a commit;
//! - [`EdgeWeight`]: the weights of edges, from their values or a property of their records;
//! - [`wire`]: the numbers in the encodings of records and lists.
//!
//! Every decoder is total: it returns a value or a [`DecodeError`] for any bytes. `docs/format.md`
//! describes the layout byte by byte.

mod changes;
mod list;
mod merge;
mod record;
mod rows;
mod vertex;
mod weight;
pub mod wire;

pub use changes::changed_entries;
pub use list::{EdgeList, EdgeListWriter, ParallelList, list_as_record, list_of_record};
pub use merge::{EdgeDifference, ListedEdge, MergedEdges, differences_of_record, list_of_edges};
pub use record::{
    BYTES, RecordValues, decode_record, decode_record_value, decode_values, encode_record, encode_value,
    put_values,
};
pub use rows::{EntryKey, ReadRows, RowAdjacency, RowCursor, RowRecords};
pub use vertex::{decode_vertex, encode_vertex};
pub use weight::EdgeWeight;
pub use wire::DecodeError;
