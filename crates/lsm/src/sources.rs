//! What a view reads: the MemGraphs and the levels.

use crate::mem_graph::MemGraph;
use crate::recent_rows::{KeptRows, piece_of};
use hedgerow_levels::{LevelSet, MergedRow, RowContent, SeenEdge, SeenRow, SeenRows, put_record};
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

    /// The first of these owners that has a row in a MemGraph, or is about to get one.
    fn next_owner(&self, adjacency: u32, owners: &Range<u32>) -> Option<VertexId> {
        let next = |mem_graph: &Arc<MemGraph>| mem_graph.owners(adjacency, owners.clone()).next();
        self.mem_graphs.iter().filter_map(next).min()
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
    place: RowPlaces<'s>,
    /// What the snapshot keeps of the MemGraphs.
    kept: Option<&'s KeptRows>,
    row: MergedRow,
    /// The edges of a row in a MemGraph.
    edges: Vec<SeenEdge>,
    record: Vec<u8>,
    /// The rows of the MemGraphs that are scanned, unless they are kept, and their records.
    recent: SeenRows,
    records: Vec<u8>,
}

/// Where the rows of one adjacency lie, and what is read of them.
#[derive(Clone, Copy)]
struct RowPlaces<'s> {
    sources: &'s Sources,
    adjacency: u32,
    at: CommitTimestamp,
    content: RowContent,
}

impl<'s> RowReader<'s> {
    /// A reader of rows with this content of their edges.
    pub(crate) fn new(
        sources: &'s Sources,
        adjacency: u32,
        at: CommitTimestamp,
        content: RowContent,
    ) -> Self {
        RowReader {
            place: RowPlaces { sources, adjacency, at, content },
            kept: None,
            row: MergedRow::new(content),
            edges: Vec::new(),
            record: Vec::new(),
            recent: SeenRows::default(),
            records: Vec::new(),
        }
    }

    /// Reads what a snapshot keeps of the MemGraphs, and lets it keep what is scanned.
    pub(crate) fn keeping(self, kept: Option<&'s KeptRows>) -> Self {
        RowReader { kept, ..self }
    }

    /// The edges of a vertex.
    ///
    /// # Errors
    /// A file could not be read.
    pub(crate) fn read_row(&mut self, owner: VertexId) -> Result<SeenRow<'_>, ReadError> {
        let RowPlaces { sources, adjacency, at, .. } = self.place;
        self.row.clear();
        if let Some(kept) = self.kept.and_then(|kept| kept.get(owner)) {
            if let Some(edges) = kept.find(owner) {
                if let (true, Some(row)) = (sources.levels.is_empty(adjacency), edges.existing(&[])) {
                    return Ok(row);
                }
                self.row.add_row(edges, &[]);
            }
        } else {
            for mem_graph in &sources.mem_graphs {
                self.edges.clear();
                mem_graph.read_row(adjacency, owner, at, &mut self.edges);
                self.add_edges(mem_graph);
            }
        }
        sources.levels.read_row(adjacency, owner, at, &mut self.row)?;
        Ok(self.row.finish())
    }

    /// One edge of a vertex, if it has that.
    ///
    /// # Errors
    /// A file could not be read.
    pub(crate) fn read_edge(
        &mut self,
        owner: VertexId,
        neighbor: VertexId,
    ) -> Result<SeenRow<'_>, ReadError> {
        let RowPlaces { sources, adjacency, at, .. } = self.place;
        self.row.clear();
        for mem_graph in &sources.mem_graphs {
            if let Some(value) = mem_graph.find(adjacency, owner, neighbor, at) {
                self.edges.clear();
                self.edges.push((neighbor, value));
                self.add_edges(mem_graph);
                return Ok(self.row.finish());
            }
        }
        sources.levels.read_edge(adjacency, (owner, neighbor), at, &mut self.row)?;
        Ok(self.row.finish())
    }

    /// Visits the rows of these owners that have edges, or had some, ascending, until `visit` breaks or
    /// fails.
    ///
    /// # Errors
    /// A file could not be read, or `visit` failed.
    pub(crate) fn scan<B>(
        &mut self,
        owners: Range<u32>,
        mut visit: impl FnMut(VertexId, SeenRow<'_>) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let RowReader { place, kept, row, recent, records, .. } = self;
        let RowPlaces { sources, adjacency, at, content } = *place;
        let mut levels = sources.levels.rows(adjacency, owners.clone(), at, content)?;
        let mut left = owners.clone();
        while let Some(first) =
            sources.next_owner(adjacency, &left).into_iter().chain(levels.next_owner()).min()
        {
            let piece = piece_of(first);
            let piece = piece.start.max(owners.start)..piece.end.min(owners.end);
            left.start = piece.end;
            let read = |owners| place.recent_rows(owners, SeenRows::default(), &mut Vec::new());
            let recent = match kept.and_then(|kept| kept.get_or_read(&piece, read)) {
                Some(kept) => kept,
                None => {
                    records.clear();
                    *recent = place.recent_rows(piece.clone(), std::mem::take(recent), records);
                    &*recent
                }
            };
            let mut next = recent.first_from(piece.start);
            loop {
                let in_piece = |owner: &VertexId| owner.get() < piece.end;
                let in_memory = recent.owner(next).filter(in_piece);
                let in_levels = levels.next_owner().filter(in_piece);
                let Some(owner) = in_memory.into_iter().chain(in_levels).min() else { break };
                let edges = (in_memory == Some(owner)).then(|| recent.row(next));
                next += usize::from(edges.is_some());
                let alone = edges.filter(|_| in_levels != Some(owner));
                let flow = match alone.and_then(|edges| edges.existing(records)) {
                    Some(edges) => visit(owner, edges)?,
                    None => {
                        row.clear();
                        edges.into_iter().for_each(|edges| row.add_row(edges, records));
                        levels.read(owner, row)?;
                        visit(owner, row.finish())?
                    }
                };
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
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

impl RowPlaces<'_> {
    /// What the MemGraphs have of the rows of these owners, in the memory of `rows`. Appends their records.
    fn recent_rows(&self, owners: Range<u32>, mut rows: SeenRows, records: &mut Vec<u8>) -> SeenRows {
        let RowPlaces { sources, adjacency, at, content } = *self;
        let (mut record, mut older) = (Vec::new(), SeenRows::default());
        rows.clear();
        for mem_graph in &sources.mem_graphs {
            let is_first = rows.is_empty();
            let target = if is_first { &mut rows } else { &mut older };
            mem_graph.read_rows(adjacency, owners.clone(), at, |owner, edges| {
                if content == RowContent::Records {
                    for value in edges.iter_mut().filter_map(|(_, value)| value.as_mut()) {
                        record.clear();
                        mem_graph.record(*value, &mut record);
                        *value = put_record(records, &record);
                    }
                }
                target.push(owner, edges, content);
            });
            if !older.is_empty() {
                rows = rows.over(&older);
                older.clear();
            }
        }
        rows
    }
}
