//! What a view reads: the MemGraphs and the levels.

use crate::mem_graph::MemGraph;
use hedgerow_levels::{LevelSet, MergedRow, RowContent, SeenEdge};
use hedgerow_model::{CommitTimestamp, ReadError, VertexId};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Range};

/// The MemGraphs and the levels that views read. A flush or a compaction makes new ones; those who
/// read the old ones continue.
///
/// Of each edge, what is in a MemGraph is newer than what is in those after it and in the levels,
/// or the same.
#[derive(Debug)]
pub(crate) struct Sources {
    /// The newest first. Only the first one takes commits.
    pub(crate) mem_graphs: Vec<Arc<MemGraph>>,
    pub(crate) levels: Arc<LevelSet>,
}

impl Sources {
    /// The MemGraph that takes commits.
    pub(crate) fn active(&self) -> &MemGraph {
        &self.mem_graphs[0]
    }

    /// Bytes of the versions in memory. O(MemGraphs).
    pub(crate) fn used_bytes(&self) -> usize {
        self.mem_graphs.iter().map(|mem_graph| mem_graph.used_bytes()).sum()
    }

    /// Bytes of all MemGraphs, with what is free in them. O(MemGraphs).
    pub(crate) fn mem_graph_bytes(&self) -> usize {
        self.mem_graphs.iter().map(|mem_graph| mem_graph.bytes()).sum()
    }
}

/// Reads rows of one adjacency at one timestamp. Keeps its memory from row to row.
pub(crate) struct RowReader<'s> {
    sources: &'s Sources,
    adjacency: u32,
    at: CommitTimestamp,
    row: MergedRow,
    /// What a MemGraph has of the row.
    edges: Vec<SeenEdge>,
    record: Vec<u8>,
}

impl<'s> RowReader<'s> {
    /// A reader of rows with this content of their edges.
    pub(crate) fn new(
        sources: &'s Sources,
        adjacency: u32,
        at: CommitTimestamp,
        content: RowContent,
    ) -> Self {
        let row = MergedRow::new(content);
        RowReader { sources, adjacency, at, row, edges: Vec::new(), record: Vec::new() }
    }

    /// The edges of a vertex.
    ///
    /// # Errors
    /// A file could not be read.
    pub(crate) fn read_row(&mut self, owner: VertexId) -> Result<&MergedRow, ReadError> {
        self.row.clear();
        for mem_graph in &self.sources.mem_graphs {
            self.add_mem_graph(mem_graph, owner);
        }
        self.sources.levels.read_row(self.adjacency, owner, self.at, &mut self.row)?;
        self.row.finish();
        Ok(&self.row)
    }

    /// One edge of a vertex, if it has that.
    ///
    /// # Errors
    /// A file could not be read.
    pub(crate) fn read_edge(&mut self, owner: VertexId, neighbor: VertexId) -> Result<&MergedRow, ReadError> {
        self.row.clear();
        for mem_graph in &self.sources.mem_graphs {
            if let Some(value) = mem_graph.find(self.adjacency, owner, neighbor, self.at) {
                self.edges.clear();
                self.edges.push((neighbor, value));
                self.add_edges(mem_graph);
                self.row.finish();
                return Ok(&self.row);
            }
        }
        self.sources.levels.read_edge(self.adjacency, (owner, neighbor), self.at, &mut self.row)?;
        self.row.finish();
        Ok(&self.row)
    }

    /// Visits the rows of these owners that have edges, or had some, ascending, until `visit` breaks or
    /// fails.
    ///
    /// # Errors
    /// A file could not be read, or `visit` failed.
    pub(crate) fn scan<B>(
        &mut self,
        owners: Range<u32>,
        mut visit: impl FnMut(VertexId, &MergedRow) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut levels =
            self.sources.levels.rows(self.adjacency, owners.clone(), self.at, self.row.content())?;
        let (sources, adjacency) = (self.sources, self.adjacency);
        let owners_in = |mem_graph: &'s Arc<MemGraph>| mem_graph.owners(adjacency, owners.clone()).peekable();
        let mut in_memory: Vec<_> = sources.mem_graphs.iter().map(owners_in).collect();
        loop {
            let in_levels = levels.next_owner();
            let next_in_memory = in_memory.iter_mut().filter_map(|owners| owners.peek().copied());
            let Some(owner) = next_in_memory.chain(in_levels).min() else {
                return Ok(ControlFlow::Continue(()));
            };
            self.row.clear();
            for (owners, mem_graph) in in_memory.iter_mut().zip(&sources.mem_graphs) {
                if owners.next_if_eq(&owner).is_some() {
                    self.add_mem_graph(mem_graph, owner);
                }
            }
            levels.read(owner, &mut self.row)?;
            self.row.finish();
            let flow = visit(owner, &self.row)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
    }

    fn add_mem_graph(&mut self, mem_graph: &MemGraph, owner: VertexId) {
        self.edges.clear();
        mem_graph.read_row(self.adjacency, owner, self.at, &mut self.edges);
        self.add_edges(mem_graph);
    }

    /// Adds the edges that were read from a MemGraph.
    fn add_edges(&mut self, mem_graph: &MemGraph) {
        if self.row.content() == RowContent::Records {
            for (_, value) in &mut self.edges {
                if let Some(value) = value {
                    self.record.clear();
                    mem_graph.record(*value, &mut self.record);
                    *value = self.row.put_record(&self.record);
                }
            }
        }
        self.row.add_edges(&self.edges);
    }
}
