//! A state of the graph: the contents of its sources at its timestamp.

use super::entry::{Content, Key, Table};
use super::graph::{ReferenceEngine, check_lock};
use super::sources::Sources;
use hedgerow_encoding::{EntryKey, ReadRows, RowAdjacency, RowRecords, decode_record, decode_vertex};
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Count, Direction, GraphView, LabelId, ReadError, Record, Topology,
    VertexId, ViewError, ViewState,
};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Range};

/// A table of a state of the graph: of a view the vertices, of an adjacency its edges.
#[derive(Clone)]
pub struct ReferenceView<'s> {
    pub(super) engine: &'s ReferenceEngine,
    pub(super) sources: Arc<Sources>,
    pub(super) state: ViewState<'s>,
    pub(super) table: Table,
}

impl ReferenceView<'_> {
    fn check_lock(&self, owner: u32) {
        if let ViewState::Locked(locks) = self.state {
            check_lock(locks, VertexId::new(owner), "read");
        }
    }

    pub(super) fn content(&self, key: Key) -> Result<Content, ReadError> {
        self.check_lock(key.entry.owner);
        let mut visible = self.sources.visible(key.alone(), self.state.timestamp());
        Ok(visible.next().transpose()?.map(|(_, content)| content))
    }

    /// Returns the edges of a label in a direction, and the type of their values.
    fn edges(&self, label: LabelId, direction: Direction) -> Result<(Self, ColumnType), ViewError> {
        let schema = self.engine.catalog.label(label).ok_or(ViewError::UnknownLabel(label))?;
        let stored = self.engine.options.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok((ReferenceView { table: Table::of(label, stored), ..self.clone() }, schema.edges.column()))
    }
}

impl GraphView for ReferenceView<'_> {
    type Adjacency<'v, W: Column>
        = RowAdjacency<ReferenceView<'v>, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = RowRecords<ReferenceView<'v>>
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.state.timestamp()
    }

    fn topology(&self) -> Topology {
        self.engine.options.topology
    }

    fn vertex_bound(&self) -> u32 {
        self.state.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.state.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> Count {
        self.state.edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        Ok(self.content(Key::vertex(vertex))?.is_some())
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.visit(EntryKey::rows(range), |entry, _| Ok(visit(VertexId::new(entry.owner))))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Self::Adjacency<'_, W>, ViewError> {
        self.edges(label, direction).and_then(|(edges, column)| RowAdjacency::new(edges, label, column))
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        let content = self.content(Key::vertex(vertex))?;
        let record = content.map(|content| decode_record(decode_vertex(&content)?.1)).transpose();
        record.map_err(|error| ReadError::new(format!("the record of vertex {vertex}"), error))
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.state.parallel_edge_count(label)
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError> {
        self.edges(label, direction).and_then(|(edges, column)| RowRecords::new(edges, label, column))
    }
}

impl ReadRows for ReferenceView<'_> {
    fn visit<B>(
        &self,
        keys: Range<EntryKey>,
        mut visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        // A vertex must be locked even if it has no entries.
        self.check_lock(keys.start.owner);
        for visible in self.sources.visible(self.table.keys(keys), self.state.timestamp()) {
            let (Key { entry, .. }, content) = visible?;
            self.check_lock(entry.owner);
            let flow = visit(entry, &content)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
