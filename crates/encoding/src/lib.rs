//! Records and lists of parallel edges as bytes: in effects, in the log, in checkpoints, and wherever an engine keeps them.
//!
//! - [`encode_record`], [`decode_record`], [`RecordValues`]: the values of a record, of a vertex or of an edge;
//! - [`EdgeList`], [`EdgeListWriter`]: the parallel edges between two vertices, which are one record to an engine;
//! - [`wire`]: the numbers that both are made of.
//!
//! Every decoder is total: any bytes give a value or a [`DecodeError`]. `docs/format.md` has the layout byte by byte.

mod list;
mod record;
pub mod wire;

pub use list::{EdgeList, EdgeListWriter, ParallelList, list_as_record, list_of_record};
pub use record::{
    BYTES, RecordValues, decode_record, decode_record_value, decode_values, encode_record, encode_value,
};
pub use wire::DecodeError;
