//! A state of the graph.

use crate::adjacency::{ITSELF, VERTICES, number_of};
use crate::cursor::LsmAdjacency;
use crate::graph::LsmEngine;
use crate::kept_rows::KeptRows;
use crate::levels::RowContent;
use crate::rows::LsmRows;
use crate::sources::RowSources;
use hedgerow_encoding::{EntryKey, ReadRows as _, RowRecords, decode_record, decode_vertex};
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Count, Direction, GraphView, LabelId, ReadError, Record, Topology,
    VertexId, ViewError, ViewState,
};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, Range};

/// A state of the graph: at a registered timestamp, or the newest state of the locked vertices.
pub struct LsmView<'s> {
    pub(crate) engine: &'s LsmEngine,
    pub(crate) sources: Arc<RowSources>,
    /// The rows that the snapshot keeps, if the view is of a snapshot.
    pub(crate) kept: Option<&'s KeptRows>,
    pub(crate) state: ViewState<'s>,
}

impl LsmView<'_> {
    fn rows(&self, adjacency: u32, column: ColumnType) -> LsmRows<'_> {
        let LsmView { engine, sources, kept, state } = self;
        LsmRows { engine, sources, kept: *kept, state: *state, adjacency, column }
    }

    fn vertices(&self) -> LsmRows<'_> {
        self.rows(VERTICES, ColumnType::Record)
    }

    fn rows_of(&self, label: LabelId, direction: Direction) -> Result<LsmRows<'_>, ViewError> {
        let schema = self.engine.catalog.label(label).ok_or(ViewError::UnknownLabel(label))?;
        let stored = self.engine.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok(self.rows(number_of(label, stored), schema.edges.column()))
    }

    /// Returns the content of an entry as bytes, if it exists.
    pub(crate) fn content(
        &self,
        label: LabelId,
        stored: Direction,
        entry: EntryKey,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        let rows = self.rows(number_of(label, stored), ColumnType::Record);
        let found = rows.visit(entry.alone(), |_, content| Ok(ControlFlow::Break(content.to_vec())))?;
        Ok(found.break_value())
    }
}

impl GraphView for LsmView<'_> {
    type Adjacency<'v, W: Column>
        = LsmAdjacency<'v, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = RowRecords<LsmRows<'v>>
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.state.timestamp()
    }

    fn topology(&self) -> Topology {
        self.engine.topology
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
        let vertices = self.vertices();
        vertices.check_lock(vertex);
        if let ViewState::Locked(_) = self.state {
            return Ok(self.engine.vertices.contains(vertex));
        }
        let mut reader = vertices.reader(RowContent::Neighbors);
        Ok(!reader.read_edge(vertex, ITSELF)?.neighbors().is_empty())
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let vertices = self.vertices();
        if let ViewState::Locked(_) = self.state {
            let visited = self.engine.vertices.members(range).try_for_each(|vertex| {
                vertices.check_lock(vertex);
                visit(vertex)
            });
            return Ok(visited);
        }
        vertices.reader(RowContent::Neighbors).scan(range, |vertex, row| {
            vertices.check_lock(vertex);
            Ok(if row.neighbors().is_empty() { ControlFlow::Continue(()) } else { visit(vertex) })
        })
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<LsmAdjacency<'_, W>, ViewError> {
        let rows = self.rows_of(label, direction)?;
        ViewError::check_column::<W>(label, rows.column)?;
        match W::TYPE {
            ColumnType::Record => Err(ViewError::NoHandles(label)),
            _ => Ok(LsmAdjacency::new(rows)),
        }
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        let entry = EntryKey::new(vertex, ITSELF);
        let record_of = |bytes: &[u8]| decode_record(decode_vertex(bytes)?.1);
        let found =
            self.vertices().visit(entry.alone(), |_, bytes| Ok(ControlFlow::Break(record_of(bytes))))?;
        let record = found.break_value().transpose();
        record.map_err(|error| ReadError::new(format!("the record of vertex {vertex}"), error))
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.state.parallel_edge_count(label)
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError> {
        let rows = self.rows_of(label, direction)?;
        RowRecords::new(rows, label, rows.column)
    }
}
