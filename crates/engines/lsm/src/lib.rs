//! An engine for graphs larger than memory (LSMGraph): commits go into a MemGraph in memory, which
//! is flushed to [levels] of sorted edge files on disk.
//!
//! - `levels/`: sorted edges on disk: packed rows, blocks, edge files, flushes and compactions;
//! - `mem_graph/`: the versions of edges that are in no file yet, by vertex, readable without
//!   locks;
//! - `adjacency.rs`: the numbers of labels and directions, and of the vertices, in MemGraphs and
//!   files;
//! - `changes.rs`: turns the effects of a commit into versions; `edge.rs`: commits of
//!   one edge;
//! - `graph.rs`: the state of the engine; `engine.rs`, `flush.rs`: its trait, and moving MemGraphs
//!   to level 0;
//! - `first_state.rs`: the levels of a new store, written at once;
//! - `memory.rs`: memory use of the engine's parts, and its division among them;
//! - `pace.rs`: slows commits down while flushes and compactions are behind;
//! - `sources.rs`, `reader.rs`: the MemGraphs and the levels that a view reads; merging them row by
//!   row;
//! - `kept_rows.rs`: the rows that a snapshot keeps in the order of a scan;
//! - `view.rs`, `rows.rs`, `cursor.rs`: the state at a timestamp;
//! - `checks.rs`: checks of the files of a store.
//!
//! A put or a deletion of an edge reads nothing, so counts of edges are bounds. Vertices lie in an
//! adjacency of their own, in the same files. Adding a label adds two adjacencies, to the active
//! MemGraph and for the levels: older MemGraphs and the files have none of its edges.

mod adjacency;
mod changes;
mod checks;
mod cursor;
mod edge;
mod engine;
mod first_state;
mod flush;
mod graph;
mod kept_rows;
pub mod levels;
mod mem_graph;
mod memory;
mod pace;
mod reader;
mod rows;
mod sources;
#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests;
// The name by which integration tests, which share the engine under test, know the crate.
#[cfg(all(test, not(hedgerow_shuttle)))]
extern crate self as hedgerow_lsm;
mod view;

pub use changes::LsmChanges;
pub use cursor::{LsmAdjacency, LsmCursor};
pub use engine::{LsmSnapshot, LsmStaged};
pub use graph::LsmEngine;
pub use mem_graph::{MemContent, MemGraph, MemVersions};
pub use rows::LsmRows;
pub use view::LsmView;

use hedgerow_model::{Catalog, CompactionLimits, Topology};

/// Options of the engine: its content, and the sizes of its parts.
#[derive(Clone, Debug)]
pub struct LsmOptions {
    /// Directed edges, with or without their reverse, or undirected edges.
    pub topology: Topology,
    /// The labels and the schemas of their edges.
    pub catalog: Catalog,
    /// Bytes of changes in memory at which commits wait for a flush.
    pub mem_graph_bytes: usize,
    /// The number of files of an adjacency on level 0 at which they are merged into level 1; at
    /// least 1.
    pub level_0_files: usize,
    /// Maximum bytes of an adjacency on level 1.
    pub level_1_bytes: u64,
    /// Factor between the maximum sizes of consecutive levels; at least 2.
    pub fan_out: u64,
    /// Bytes of a segment below level 0, unless the edges of a single vertex take more.
    pub segment_bytes: u64,
    /// Bytes for blocks of files that are kept in memory.
    pub cache_bytes: usize,
    /// True if records in files are compressed where that saves space, given the feature
    /// `compression` of `hedgerow-log`. Files are read either way.
    pub compress_records: bool,
    /// Limits on the resources of compactions, ignored if commits would soon have to wait for them.
    pub compaction_limits: CompactionLimits,
}

impl LsmOptions {
    /// Usual sizes: 4 files on level 0, a fan-out of 10, the rest [within](LsmOptions::within) 128
    /// MiB. Records are compressed, compactions not limited.
    #[must_use]
    pub fn new(topology: Topology, catalog: Catalog) -> Self {
        let options = LsmOptions {
            topology,
            catalog,
            mem_graph_bytes: 0,
            level_0_files: 4,
            level_1_bytes: 0,
            fan_out: 10,
            segment_bytes: 0,
            cache_bytes: 0,
            compress_records: true,
            compaction_limits: CompactionLimits::default(),
        };
        options.within(128 << 20)
    }

    /// Sizes for this memory: half for changes; half for the indexes of files, a bit per vertex,
    /// and, with the rest, blocks. Level 1 has a quarter of the memory on disk, about ten times the
    /// output of a flush, so that a compaction of level 0 takes as long as a few flushes.
    #[must_use]
    pub fn within(self, memory_bytes: usize) -> Self {
        let part = |of: usize| (memory_bytes / of) as u64;
        LsmOptions {
            mem_graph_bytes: memory_bytes / 2,
            cache_bytes: memory_bytes / 2,
            level_1_bytes: part(4),
            segment_bytes: part(32).clamp(1 << 20, 32 << 20),
            ..self
        }
    }
}
