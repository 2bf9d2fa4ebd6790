//! The sources of a view: the MemGraphs and the levels.

use crate::levels::LevelSet;
use crate::mem_graph::MemGraph;
use hedgerow_model::VertexId;
use hedgerow_sync::Arc;
use std::ops::Range;

/// The MemGraphs and the levels that views read. A flush or a compaction makes new ones; readers of
/// the old ones continue.
///
/// Sources are ordered newest first: a version of an edge in a MemGraph is at least as new as the
/// versions of the edge in the MemGraphs after it and in the levels.
#[derive(Debug)]
pub(crate) struct RowSources {
    /// Newest first. Only the first one takes commits.
    pub(crate) mem_graphs: Vec<Arc<MemGraph>>,
    pub(crate) levels: Arc<LevelSet>,
}

impl RowSources {
    /// The MemGraph that takes commits.
    pub(crate) fn active(&self) -> &MemGraph {
        &self.mem_graphs[0]
    }

    /// Returns the first owner of a range that has a row in a MemGraph, or is about to get one.
    pub(crate) fn next_owner(&self, adjacency: u32, owners: &Range<u32>) -> Option<VertexId> {
        let next = |mem_graph: &Arc<MemGraph>| mem_graph.owners(adjacency, owners.clone()).next();
        self.mem_graphs.iter().filter_map(next).min()
    }

    /// Returns the bytes of the versions in memory. O(MemGraphs).
    pub(crate) fn used_bytes(&self) -> usize {
        self.mem_graphs.iter().map(|mem_graph| mem_graph.used_bytes()).sum()
    }

    /// Returns the bytes of all MemGraphs, including their free room. O(MemGraphs).
    pub(crate) fn mem_graph_bytes(&self) -> usize {
        self.mem_graphs.iter().map(|mem_graph| mem_graph.bytes()).sum()
    }
}
