//! A state of the graph: what its sources have at its timestamp.

use super::DiskOptions;
use super::engine::check_lock;
use super::entry::{Content, Key, Table};
use super::sources::{Sources, Visible};
use hedgerow_encoding::{ParallelList, decode_record, list_of_record};
use hedgerow_model::{
    Adjacency, Column, ColumnType, Count, Cursor, Direction, EdgeValue, GraphView, LabelId, Neighbours,
    NoCommitOrder, ReadError, Record, RecordCursor, RecordView, Timestamp, Topology, VertexId, ViewError,
    ViewState, cuts_by_work,
};
use hedgerow_sync::Arc;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// A state of the graph: at a registered timestamp, or the newest of the locked vertices.
pub struct DiskView<'s> {
    pub(super) options: &'s DiskOptions,
    pub(super) sources: Arc<Sources>,
    pub(super) state: ViewState<'s>,
}

/// The neighbours of all vertices in one table.
pub struct DiskAdjacency<'v, W> {
    view: &'v DiskView<'v>,
    table: Table,
    values: PhantomData<W>,
}

/// Reads what one table has. Has a row until its next call: with values, or with records.
pub struct DiskCursor<'v, W> {
    view: &'v DiskView<'v>,
    table: Table,
    neighbours: Vec<VertexId>,
    values: Vec<W>,
    records: Vec<(VertexId, Arc<[u8]>)>,
}

/// Reads the records of edges.
pub type DiskRecords<'v> = DiskCursor<'v, ()>;

/// Something was read whole, and is not what was written.
pub(super) fn malformed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ReadError {
    ReadError::new("an entry of a sorted file", error)
}

impl DiskView<'_> {
    fn check_lock(&self, owner: u32) {
        if let ViewState::Locked(locks) = self.state {
            check_lock(locks, VertexId::new(owner), "read");
        }
    }

    /// What exists of these keys.
    fn visible(&self, keys: Range<Key>) -> impl Iterator<Item = Result<Visible, ReadError>> {
        let visible = self.sources.visible(keys, self.state.timestamp());
        visible.inspect(|found| found.iter().for_each(|(key, _)| self.check_lock(key.owner)))
    }

    /// Visits what exists of these keys, until `visit` breaks.
    fn visit<B>(
        &self,
        keys: Range<Key>,
        mut visit: impl FnMut(Key, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError> {
        for visible in self.visible(keys) {
            let (key, content) = visible?;
            let flow = visit(key, &content)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn content(&self, key: Key) -> Result<Content, ReadError> {
        self.check_lock(key.owner);
        Ok(self.visible(key.alone()).next().transpose()?.map(|(_, content)| content))
    }

    /// What exists of one vertex in a table.
    fn row(&self, table: Table, owner: VertexId) -> impl Iterator<Item = Result<Visible, ReadError>> {
        self.check_lock(owner.get());
        self.visible(Key::owned(table, owner.get()..owner.get() + 1))
    }

    /// The table of a label and a direction, and what its edges carry.
    fn table(&self, label: LabelId, direction: Direction) -> Result<(Table, ColumnType), ViewError> {
        let schema = self.options.catalogue.label(label).ok_or(ViewError::UnknownLabel(label))?;
        let stored = self.options.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok((Table::of(label, stored), schema.edges.column()))
    }
}

impl GraphView for DiskView<'_> {
    type Error = ReadError;
    type Adjacency<'v, W: Column>
        = DiskAdjacency<'v, W>
    where
        Self: 'v;

    fn timestamp(&self) -> Timestamp {
        self.state.timestamp()
    }

    fn topology(&self) -> Topology {
        self.options.topology
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
        self.visit(Key::owned(Table::VERTICES, range), |key, _| Ok(visit(VertexId::new(key.owner))))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<DiskAdjacency<'_, W>, ViewError> {
        let (table, declared) = self.table(label, direction)?;
        let asked = W::TYPE;
        // There are no handles of records here: they are read as bytes.
        if asked != ColumnType::Unit && (asked != declared || asked == ColumnType::Record) {
            return Err(ViewError::WrongColumn { label, declared, asked });
        }
        Ok(DiskAdjacency { view: self, table, values: PhantomData })
    }
}

impl RecordView for DiskView<'_> {
    type EdgeRecords<'v>
        = DiskRecords<'v>
    where
        Self: 'v;

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        let content = self.content(Key::vertex(vertex))?;
        content.map(|content| decode_record(&content).map_err(malformed)).transpose()
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<DiskRecords<'_>, ViewError> {
        match self.table(label, direction)? {
            (table, ColumnType::Record) => Ok(DiskCursor::new(self, table)),
            _ => Err(ViewError::NoRecords(label)),
        }
    }
}

impl<W: Column> Adjacency for DiskAdjacency<'_, W> {
    type Value = W;
    type Error = ReadError;
    type Cursor<'a>
        = DiskCursor<'a, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> DiskCursor<'_, W> {
        DiskCursor::new(self.view, self.table)
    }

    /// By the blocks, of which the indexes tell without a read, and the recent entries.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let (sources, keys) = (&self.view.sources, Key::owned(self.table, 0..u32::MAX));
        let recent = sources.recent.lock().entries(&keys);
        let recent = recent.into_iter().map(|entry| (entry.version.key, 1));
        let blocks = sources.files.iter().flat_map(|file| &file.blocks);
        let blocks = blocks.filter(|(key, _)| keys.contains(key)).map(|(key, _)| (*key, 100));
        let mut work = BTreeMap::<u32, u64>::new();
        recent.chain(blocks).for_each(|(key, more)| *work.entry(key.owner + 1).or_default() += more);
        Ok(cuts_by_work(self.view.vertex_bound(), parts, &work.into_iter().collect::<Vec<_>>()))
    }
}

impl<'v, W> DiskCursor<'v, W> {
    fn new(view: &'v DiskView<'v>, table: Table) -> Self {
        DiskCursor { view, table, neighbours: Vec::new(), values: Vec::new(), records: Vec::new() }
    }

    /// Keeps the records of a vertex, until the next call.
    fn keep(&mut self, vertex: VertexId) -> Result<(), ReadError> {
        let row = self.view.row(self.table, vertex);
        let row = row.map(|visible| visible.map(|(key, content)| (VertexId::new(key.neighbour), content)));
        self.records = row.collect::<Result<_, _>>()?;
        Ok(())
    }
}

fn value_of<W: Column>(content: &[u8]) -> Result<W, ReadError> {
    if W::TYPE == ColumnType::Unit {
        return Ok(W::default());
    }
    let bits = content.try_into().map_err(|_| malformed("a value has not eight bytes"))?;
    Ok(W::from_bits(EdgeValue(u64::from_le_bytes(bits))))
}

impl<W: Column> Cursor for DiskCursor<'_, W> {
    type Value = W;
    type Error = ReadError;
    type Ordered = NoCommitOrder<W, ReadError>;

    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        Ok(self.gather(vertex)?.0.len())
    }

    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<W>, ReadError> {
        let content = self.view.content(Key::edge(self.table, vertex, neighbour))?;
        content.map(|content| value_of(&content)).transpose()
    }

    fn neighbours<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        Ok(match self.gather(vertex)? {
            ([], _) => ControlFlow::Continue(()),
            (neighbours, values) => run(neighbours, values),
        })
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.view.visit(Key::owned(self.table, range), |key, content| {
            let (owner, neighbour) = (VertexId::new(key.owner), VertexId::new(key.neighbour));
            Ok(run(owner, &[neighbour], &[value_of(content)?]))
        })
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbours<'_, W>, ReadError> {
        self.neighbours.clear();
        self.values.clear();
        for visible in self.view.row(self.table, vertex) {
            let (key, content) = visible?;
            self.neighbours.push(VertexId::new(key.neighbour));
            self.values.push(value_of(&content)?);
        }
        Ok((&self.neighbours, &self.values))
    }
}

impl RecordCursor for DiskRecords<'_> {
    type Error = ReadError;
    type Parallel<'c>
        = ParallelList<'c>
    where
        Self: 'c;
    type Ordered<'c>
        = NoCommitOrder<(), ReadError>
    where
        Self: 'c;

    const SORTED: bool = true;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError> {
        let content = self.view.content(Key::edge(self.table, vertex, neighbor))?;
        self.records = content.into_iter().map(|content| (neighbor, content)).collect();
        Ok(self.records.first().map(|(_, record)| &**record))
    }

    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.keep(vertex)?;
        Ok(self.records.iter().try_for_each(|(neighbor, record)| visit(*neighbor, record)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.view.visit(Key::owned(self.table, range), |key, record| {
            Ok(visit(VertexId::new(key.owner), VertexId::new(key.neighbour), record))
        })
    }

    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<ParallelList<'_>>, ReadError> {
        RecordCursor::find(self, vertex, neighbor)?.map(list).transpose()
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, ParallelList<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.keep(vertex)?;
        for (neighbor, record) in &self.records {
            let flow = visit(*neighbor, list(record)?);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn list(record: &[u8]) -> Result<ParallelList<'_>, ReadError> {
    list_of_record(record).map(ParallelList::new).map_err(malformed)
}
