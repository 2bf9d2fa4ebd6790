//! An engine that takes updates at the speed of an append (GraphOne): commits go into an
//! [edge log](crate::edge_log) in memory, and archiving moves them to an adjacency of chained
//! blocks, many at a time.
//!
//! - `edge_log/`: the log in front of the adjacency, and archiving from one to the other;
//! - `adjacency/`: the adjacency store, in versions, one per round of archiving;
//! - `tables.rs`: the adjacencies of all labels, and the counts that archiving keeps of their
//!   edges;
//! - `changes.rs`: turns the effects of a commit into runs of the log; `edge.rs`: appended edges;
//! - `graph.rs`, `engine.rs`: the graph, and its trait;
//! - `upkeep.rs`, `archiving.rs`: thresholds and state of archiving; archiving, and freeing memory
//!   that no view reads;
//! - `snapshot.rs`: a version of the adjacencies and the tail of the log after it; `tail_index.rs`,
//!   `id_filter.rs`: finding many rows of a tail;
//! - `view.rs`, `cursor.rs`: the state at a timestamp.
//!
//! A put or a deletion of an edge reads nothing, unless its label has records. So counts of edges
//! are bounds until archiving has met the edges. Vertices are versioned by timestamp, as in engine
//! `tel`, and do not go through the log: they are few compared with edges, and their existence is
//! checked for each edge.

mod adjacency;
mod archiving;
mod changes;
mod cursor;
mod edge;
pub mod edge_log;
mod engine;
mod graph;
mod id_filter;
mod snapshot;
mod tables;
mod tail_index;
mod upkeep;
mod view;

pub use adjacency::{
    AddedAndRemoved, BlockSizes, ChainReport, LoggedTable, ReplacedEntries, ReplacedInRow, RetainedVersion,
    RowAt, RowCopy, RowTable, find_merged,
};
pub use changes::HybridChanges;
pub use cursor::{HybridAdjacency, HybridCursor};
pub use graph::{Hybrid, HybridOptions};
pub use snapshot::HybridSnapshot;
pub use view::HybridView;
