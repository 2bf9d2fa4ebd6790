//! Reading rows: merged from the sources of a view, or from the rows that a snapshot keeps.

use crate::graph::LsmEngine;
use crate::kept_rows::{KeptTable, piece_of};
use crate::levels::{LevelRows, MergedRow, RowContent, SeenEdge, SeenRow, SeenRows, put_record};
use crate::mem_graph::MemGraph;
use crate::sources::RowSources;
use hedgerow_model::{CommitTimestamp, ReadError, VertexId};
use std::ops::{ControlFlow, Range};

/// Reads rows of one adjacency at one timestamp. Keeps its memory from row to row.
pub(crate) struct RowReader<'s> {
    place: RowPlaces<'s>,
    kept: Option<Keeper<'s>>,
    row: MergedRow,
    /// The edges of a row in a MemGraph.
    edges: Vec<SeenEdge>,
    record: Vec<u8>,
}

/// The rows that a snapshot keeps, and the engine, whose memory they take.
#[derive(Clone, Copy)]
pub(crate) struct Keeper<'s> {
    pub(crate) table: KeptTable<'s>,
    pub(crate) engine: &'s LsmEngine,
}

/// Location of the rows of one adjacency, and the content to read.
#[derive(Clone, Copy)]
struct RowPlaces<'s> {
    sources: &'s RowSources,
    adjacency: u32,
    at: CommitTimestamp,
    content: RowContent,
}

impl<'s> RowReader<'s> {
    /// Creates a reader of rows with this content of their edges.
    pub(crate) fn new(
        sources: &'s RowSources,
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
        }
    }

    /// Reads the rows that a snapshot keeps, and makes it keep the rows that are scanned.
    pub(crate) fn keeping(self, kept: Option<Keeper<'s>>) -> Self {
        RowReader { kept, ..self }
    }

    /// Reads the edges of a vertex.
    ///
    /// # Errors
    /// A file could not be read.
    pub(crate) fn read_row(&mut self, owner: VertexId) -> Result<SeenRow<'_>, ReadError> {
        let RowPlaces { sources, adjacency, at, .. } = self.place;
        if let Some(piece) = self.kept.and_then(|kept| kept.table.piece(owner)) {
            return Ok(piece.find(owner).unwrap_or_default());
        }
        self.row.clear();
        for mem_graph in &sources.mem_graphs {
            self.edges.clear();
            mem_graph.read_row(adjacency, owner, at, &mut self.edges);
            self.add_edges(mem_graph);
        }
        sources.levels.read_row(adjacency, owner, at, &mut self.row)?;
        Ok(self.row.finish())
    }

    /// Reads one edge of a vertex, if it exists.
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

    /// Visits the rows of a range of owners that have edges, ascending, until `visit` breaks or
    /// fails. May visit rows that had edges.
    ///
    /// # Errors
    /// A file could not be read, or `visit` failed.
    pub(crate) fn scan<B>(
        &mut self,
        owners: Range<u32>,
        mut visit: impl FnMut(VertexId, SeenRow<'_>) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let RowReader { place, kept, row, .. } = self;
        let widened = kept.map_or_else(|| owners.clone(), |kept| kept.table.widened(&owners));
        let mut left = widened.clone();
        let mut scan =
            Scan { place: *place, row, recent: SeenRows::default(), records: Vec::new(), levels: None };
        while !left.is_empty() {
            let first = VertexId::new(left.start);
            if let Some(piece) = kept.and_then(|kept| kept.table.piece(first)) {
                left.start = piece.empty_until();
                for (owner, row) in piece.rows(owners.clone()) {
                    let flow = visit(owner, row)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
                continue;
            }
            let Some(next) = scan.next_owner(&left)? else { break };
            let piece = piece_of(next);
            let part = piece.start.max(left.start)..piece.end.min(left.end);
            left.start = part.start;
            if kept.is_some_and(|kept| kept.table.piece(next).is_some()) {
                continue;
            }
            match kept.filter(|kept| kept.table.takes(&part)) {
                Some(kept) => {
                    let mut rows = SeenRows::default();
                    let _: ControlFlow<()> = scan.visit(part.clone(), |owner, row| {
                        rows.push_row(owner, row);
                        Ok(ControlFlow::Continue(()))
                    })?;
                    let behind = scan.next_owner(&(part.end..left.end))?;
                    // The piece may extend beyond the vertices of the snapshot.
                    let empty_until = behind.map_or(left.end, |next| piece_of(next).start).max(piece.end);
                    kept.table.keep(&part, rows, empty_until);
                    kept.engine.share_memory_if_due();
                }
                None => {
                    let flow =
                        scan.visit(part.clone(), |owner, row| match owners.contains(&owner.get()) {
                            true => visit(owner, row),
                            false => Ok(ControlFlow::Continue(())),
                        })?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                    left.start = part.end;
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

/// A forward scan of rows that are not kept.
struct Scan<'r, 's> {
    place: RowPlaces<'s>,
    row: &'r mut MergedRow,
    /// Rows of a part of the owners in the MemGraphs and, in `records`, their records.
    recent: SeenRows,
    records: Vec<u8>,
    levels: Option<LevelRows>,
}

impl Scan<'_, '_> {
    /// Returns the first owner of a range that has a row, or is about to get one.
    fn next_owner(&mut self, owners: &Range<u32>) -> Result<Option<VertexId>, ReadError> {
        let RowPlaces { sources, adjacency, at, content } = self.place;
        let is_before =
            |levels: &LevelRows| levels.next_owner().is_some_and(|next| next.get() < owners.start);
        // The rows in between were kept, and not read here.
        let levels = match self.levels.take().filter(|levels| !is_before(levels)) {
            Some(levels) => levels,
            None => sources.levels.rows(adjacency, owners.clone(), at, content)?,
        };
        let next = sources.next_owner(adjacency, owners).into_iter().chain(levels.next_owner()).min();
        self.levels = Some(levels);
        Ok(next)
    }

    /// Visits the rows of a range of owners, which begins at or before the [next](Scan::next_owner)
    /// one.
    fn visit<B>(
        &mut self,
        owners: Range<u32>,
        mut visit: impl FnMut(VertexId, SeenRow<'_>) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let Scan { place, row, recent, records, levels } = self;
        records.clear();
        place.read_recent(owners.clone(), recent, records);
        let mut next = 0;
        loop {
            let is_wanted = |owner: &VertexId| owners.contains(&owner.get());
            let in_memory = recent.owner(next);
            let in_levels = levels.as_ref().and_then(LevelRows::next_owner).filter(is_wanted);
            let Some(owner) = in_memory.into_iter().chain(in_levels).min() else {
                return Ok(ControlFlow::Continue(()));
            };
            let edges = (in_memory == Some(owner)).then(|| recent.row(next));
            next += usize::from(edges.is_some());
            row.clear();
            let alone = match (edges, levels.as_mut()) {
                (None, Some(levels)) => levels.row_alone(owner),
                (edges, _) => edges.filter(|_| in_levels != Some(owner)),
            };
            let existing = match alone {
                Some(edges) => edges.existing(records).unwrap_or_else(|| {
                    row.add_row(edges, records);
                    row.finish()
                }),
                None => {
                    edges.into_iter().for_each(|edges| row.add_row(edges, records));
                    levels.as_mut().map_or(Ok(()), |levels| levels.read(owner, row))?;
                    row.finish()
                }
            };
            let flow = visit(owner, existing)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
    }
}

impl RowPlaces<'_> {
    /// Reads the rows of a range of owners in the MemGraphs. Appends their records.
    fn read_recent(&self, owners: Range<u32>, rows: &mut SeenRows, records: &mut Vec<u8>) {
        let RowPlaces { sources, adjacency, at, content } = *self;
        let (mut record, mut older) = (Vec::new(), SeenRows::default());
        rows.clear();
        for mem_graph in &sources.mem_graphs {
            let is_first = rows.is_empty();
            let target = if is_first { &mut *rows } else { &mut older };
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
                *rows = rows.over(&older);
                older.clear();
            }
        }
    }
}
