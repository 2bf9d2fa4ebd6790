//! Views of the graph, and the adjacencies in them.

use super::cursor::FineGrainedCursor;
use super::entries::Entries;
use super::graph::{FineGrained, Table, unit_of};
use super::row::Row;
use super::version::Begin;
use super::vertex::VertexCell;
use hedgerow_in_memory::records::HeapCursor;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, CommitTimestamp, Count, Direction, GraphView, LabelId, ReadError, Record,
    RecordHandle, Topology, VertexId, ViewError, ViewState, cuts_by_work,
};
use hedgerow_sync::RwLock;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// Granularity of [`Adjacency::cuts`] in vertices.
const BLOCK: u32 = 64;

/// A view of the graph: at a registered timestamp, or the newest state of the locked vertices.
///
/// Making or copying one is free. Panics when a view of the newest state reads a vertex that is not
/// locked.
pub struct FineGrainedView<'s, E> {
    engine: &'s FineGrained<E>,
    state: ViewState<'s>,
}

impl<E> Clone for FineGrainedView<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for FineGrainedView<'_, E> {}

impl<'s, E: Entries> FineGrainedView<'s, E> {
    pub(super) fn registered(engine: &'s FineGrained<E>, at: &'s Registered) -> Self {
        FineGrainedView { engine, state: ViewState::Registered(at) }
    }

    pub(super) fn locked(engine: &'s FineGrained<E>, locks: &'s HeldLocks<'_>) -> Self {
        FineGrainedView { engine, state: ViewState::Locked(locks) }
    }

    /// Returns the timestamp that versions are compared with.
    fn at(&self) -> CommitTimestamp {
        match self.state {
            ViewState::Registered(at) => at.at(),
            ViewState::Locked(_) => Begin::END_OF_TIME,
        }
    }

    fn check_lock(&self, vertex: VertexId) {
        if let ViewState::Locked(locks) = self.state {
            assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is read without its lock");
        }
    }

    fn vertex(&self, vertex: VertexId) -> Option<&'s RwLock<VertexCell>> {
        if !self.state.may_have(vertex) {
            return None;
        }
        self.check_lock(vertex);
        self.engine.vertices.get(vertex)
    }
}

impl<'s, E: Entries> GraphView for FineGrainedView<'s, E> {
    type Adjacency<'v, W: Column>
        = FineGrainedAdjacency<'s, E, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = HeapCursor<FineGrainedCursor<'s, E, RecordHandle>>
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
        Ok(self.vertex(vertex).is_some_and(|cell| cell.read().record(self.at()).is_some()))
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let range = range.start..range.end.min(self.vertex_bound());
        for (vertex, cell) in self.engine.vertices.populated(range) {
            self.check_lock(vertex);
            let exists = cell.read().record(self.at()).is_some();
            if exists {
                let flow = visit(vertex);
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<FineGrainedAdjacency<'s, E, W>, ViewError> {
        let table = self.engine.table(label, direction)?;
        ViewError::check_column::<W>(label, table.column)?;
        Ok(FineGrainedAdjacency { view: *self, table, values: PhantomData })
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        Ok(self.vertex(vertex).and_then(|cell| cell.read().record(self.at()).cloned()))
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.state.parallel_edge_count(label)
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError> {
        self.engine.table(label, direction)?;
        if !self.engine.records.has_records(label) {
            return Err(ViewError::NoRecords(label));
        }
        let handles = self.adjacency::<RecordHandle>(label, direction)?.cursor();
        // SAFETY: the handles are those of this engine, in a view that lives for `'s`; it embeds
        // nothing.
        Ok(unsafe { HeapCursor::new(&self.engine.records, label, handles) })
    }
}

/// The adjacency of one label in one direction, with values of type `W` next to the neighbors.
pub struct FineGrainedAdjacency<'s, E, W> {
    view: FineGrainedView<'s, E>,
    table: &'s Table<E>,
    values: PhantomData<fn() -> W>,
}

impl<E, W> Clone for FineGrainedAdjacency<'_, E, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, W> Copy for FineGrainedAdjacency<'_, E, W> {}

impl<'s, E: Entries, W> FineGrainedAdjacency<'s, E, W> {
    pub(super) fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    /// Returns the timestamp that versions are compared with.
    pub(super) fn at(&self) -> CommitTimestamp {
        self.view.at()
    }

    /// Returns the row of a vertex below the bound.
    #[inline]
    pub(super) fn row(&self, vertex: VertexId) -> Option<&'s RwLock<Row<E>>> {
        self.view.check_lock(vertex);
        self.table.rows.get(vertex)
    }

    /// Returns the rows of a range of vertices, ascending.
    pub(super) fn rows(&self, range: Range<u32>) -> impl Iterator<Item = (VertexId, &'s RwLock<Row<E>>)> {
        let view = self.view;
        let rows = self.table.rows.populated(range.start..range.end.min(view.vertex_bound()));
        rows.inspect(move |(vertex, _)| view.check_lock(*vertex))
    }

    /// Blocks of vertices that have entries: the end of each block and its number of entries,
    /// ascending. O(vertices).
    fn blocks(&self) -> Vec<(u32, u64)> {
        let mut blocks: Vec<(u32, u64)> = Vec::new();
        for (vertex, row) in self.rows(0..self.vertex_bound()) {
            let end = (vertex.get() / BLOCK + 1).saturating_mul(BLOCK);
            let entries = row.read().entries.count() as u64;
            match blocks.last_mut() {
                _ if entries == 0 => {}
                Some((last, sum)) if *last == end => *sum += entries,
                _ => blocks.push((end, entries)),
            }
        }
        blocks
    }
}

impl<'s, E: Entries, W: Column> Adjacency for FineGrainedAdjacency<'s, E, W> {
    type Value = W;
    type Cursor<'a>
        = FineGrainedCursor<'s, E, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    /// Counting the visible entries of a row takes a check of every version.
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> FineGrainedCursor<'s, E, W> {
        FineGrainedCursor::new(*self)
    }

    /// The ranges cover all vertices below the bound, and each ends at a multiple of 64.
    /// O(vertices).
    ///
    /// Invisible entries count as work: they are checked, too.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        Ok(cuts_by_work(self.vertex_bound(), parts, &self.blocks()))
    }
}
