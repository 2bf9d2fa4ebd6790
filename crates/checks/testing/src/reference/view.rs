//! A state of the graph: the contents of its sources at its timestamp.

use super::entry::{Content, Key, Table};
use super::graph::{ReferenceEngine, check_lock};
use super::sources::Sources;
use hedgerow_encoding::{EntryKey, ReadRows, RowAdjacency, RowRecords, decode_record, decode_vertex};
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Count, Direction, GraphView, LabelId, ReadError, Record, Topology,
    VertexId, ViewError, ViewState, cuts_by_work,
};
use hedgerow_sync::Arc;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// A state of the graph: at a registered timestamp, or the newest of the locked vertices.
pub struct ReferenceView<'s> {
    pub(super) engine: &'s ReferenceEngine,
    pub(super) sources: Arc<Sources>,
    pub(super) state: ViewState<'s>,
}

/// The rows of one table in a view.
#[derive(Clone, Copy)]
pub struct ReferenceRows<'v> {
    view: &'v ReferenceView<'v>,
    table: Table,
}

impl ReferenceView<'_> {
    fn check_lock(&self, owner: u32) {
        if let ViewState::Locked(locks) = self.state {
            check_lock(locks, VertexId::new(owner), "read");
        }
    }

    /// Visits the objects with these keys, until `visit` breaks.
    fn visit<B>(
        &self,
        keys: Range<Key>,
        mut visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let (first, end) = (keys.start.entry.owner, keys.end.entry.owner);
        if end.saturating_sub(first) <= 1 {
            // Reads one vertex, which must be locked even if it has no entries.
            self.check_lock(first);
        }
        for visible in self.sources.visible(keys, self.state.timestamp()) {
            let (Key { entry, .. }, content) = visible?;
            self.check_lock(entry.owner);
            let flow = visit(entry, &content)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn content(&self, key: Key) -> Result<Content, ReadError> {
        self.check_lock(key.entry.owner);
        let mut visible = self.sources.visible(key.alone(), self.state.timestamp());
        Ok(visible.next().transpose()?.map(|(_, content)| content))
    }

    /// Returns the rows of a label in a direction, and the type of its values.
    fn rows(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<(ReferenceRows<'_>, ColumnType), ViewError> {
        let schema = self.engine.catalog.label(label).ok_or(ViewError::UnknownLabel(label))?;
        let stored = self.engine.options.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok((ReferenceRows { view: self, table: Table::of(label, stored) }, schema.edges.column()))
    }
}

impl GraphView for ReferenceView<'_> {
    type Adjacency<'v, W: Column>
        = RowAdjacency<ReferenceRows<'v>, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = RowRecords<ReferenceRows<'v>>
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
        let keys = Table::VERTICES.keys(EntryKey::rows(range));
        self.visit(keys, |entry, _| Ok(visit(VertexId::new(entry.owner))))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<RowAdjacency<ReferenceRows<'_>, W>, ViewError> {
        let (rows, declared) = self.rows(label, direction)?;
        RowAdjacency::new(rows, label, declared)
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
        let (rows, declared) = self.rows(label, direction)?;
        RowRecords::new(rows, label, declared)
    }
}

impl ReadRows for ReferenceRows<'_> {
    fn visit<B>(
        &self,
        keys: Range<EntryKey>,
        visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.view.visit(self.table.keys(keys), visit)
    }

    /// Cuts by the blocks, whose index is in memory, and by the recent entries.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let (sources, keys) = (&self.view.sources, self.table.keys(EntryKey::rows(0..u32::MAX)));
        let recent = sources.recent.lock().entries(&keys);
        let recent = recent.into_iter().map(|entry| (entry.version.key, 1));
        let blocks = sources.files.iter().flat_map(|file| &file.blocks);
        let blocks = blocks.filter(|(key, _)| keys.contains(key)).map(|(key, _)| (*key, 100));
        let mut work = BTreeMap::<u32, u64>::new();
        recent.chain(blocks).for_each(|(key, more)| *work.entry(key.entry.owner + 1).or_default() += more);
        Ok(cuts_by_work(self.view.vertex_bound(), parts, &work.into_iter().collect::<Vec<_>>()))
    }
}
