//! Work towards an engine that takes updates at the speed of an append (GraphOne): an [edge log](hedgerow_edge_log) before an
//! adjacency of chained blocks.
//!
//! So far this is the adjacency, in `adjacency/`; the engine is not written yet.

mod adjacency;

pub use adjacency::{
    AddedAndRemoved, BlockSizes, ChainReport, MergedRow, RetainedVersion, RowAt, RowTable, find_merged,
};
