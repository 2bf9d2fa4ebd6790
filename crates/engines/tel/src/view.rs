//! Views of the graph, and the adjacencies in them.

use crate::block::END_OF_TIME;
use crate::cursor::TelCursor;
use crate::garbage::Vertex;
use crate::graph::{AdjacencyTable, Tel, unit_of};
use crate::index::BlockIndex;
use crate::layout::bytes_of;
use hedgerow_in_memory::records::HeapCursor;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, CommitTimestamp, Count, Direction, GraphView, LabelId, ReadError, Record,
    RecordHandle, Topology, VertexId, ViewError, ViewState, cuts_by_work,
};
use hedgerow_sync::epoch::Domain;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// Granularity of [`Adjacency::cuts`] in vertices.
const TOGETHER: u32 = 64;

/// A view of the graph: at a registered timestamp, or the newest state of the locked vertices.
///
/// Making or copying one is free. Panics when a view of the newest state reads a vertex that is not
/// locked.
#[derive(Clone, Copy)]
pub struct TelView<'s> {
    engine: &'s Tel,
    state: ViewState<'s>,
}

impl<'s> TelView<'s> {
    pub(crate) fn registered(engine: &'s Tel, at: &'s Registered) -> Self {
        TelView { engine, state: ViewState::Registered(at) }
    }

    pub(crate) fn locked(engine: &'s Tel, locks: &'s HeldLocks<'_>) -> Self {
        TelView { engine, state: ViewState::Locked(locks) }
    }

    /// The timestamp that entries are compared with.
    fn at(&self) -> CommitTimestamp {
        match self.state {
            ViewState::Registered(at) => at.at(),
            ViewState::Locked(_) => END_OF_TIME,
        }
    }

    #[inline]
    fn check_lock(&self, vertex: VertexId) {
        if let ViewState::Locked(locks) = self.state {
            assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is read without its lock");
        }
    }

    #[inline]
    fn vertex(&self, vertex: VertexId) -> Option<&'s Vertex> {
        if !self.state.may_have(vertex) {
            return None;
        }
        self.check_lock(vertex);
        self.engine.vertices.get(vertex.get())
    }
}

impl<'s> GraphView for TelView<'s> {
    type Adjacency<'v, W: Column>
        = TelAdjacency<'s, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = HeapCursor<TelCursor<'s, RecordHandle>>
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

    #[inline]
    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        Ok(self.vertex(vertex).is_some_and(|vertex| vertex.exists(self.at(), &self.engine.retired.domain)))
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let range = range.start..range.end.min(self.vertex_bound());
        let (at, domain) = (self.at(), &self.engine.retired.domain);
        for (number, vertex) in self.engine.vertices.entries(range) {
            let id = VertexId::new(number);
            self.check_lock(id);
            if vertex.exists(at, domain) {
                let flow = visit(id);
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
    ) -> Result<TelAdjacency<'s, W>, ViewError> {
        let table = self.engine.table(label, direction)?;
        ViewError::check_column::<W>(label, table.column)?;
        Ok(TelAdjacency { view: *self, table, values: PhantomData })
    }

    /// O(versions of the vertex newer than the view).
    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        Ok(self.vertex(vertex).and_then(|vertex| vertex.record(self.at(), &self.engine.retired.domain.pin())))
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
        // SAFETY: the handles belong to this engine, in a view that lives for `'s`. The cursor
        // keeps its thread pinned while it lives, and repins when it is called: so blocks, and the
        // records in them, stay until its next call.
        Ok(unsafe { HeapCursor::new(&self.engine.records, label, handles) })
    }
}

/// The adjacency of one label in one direction, with values of type `W` next to the neighbors.
pub struct TelAdjacency<'s, W> {
    view: TelView<'s>,
    table: AdjacencyTable,
    values: PhantomData<fn() -> W>,
}

impl<W> Clone for TelAdjacency<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for TelAdjacency<'_, W> {}

impl<'s, W> TelAdjacency<'s, W> {
    pub(crate) fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    /// The timestamp that entries are compared with.
    pub(crate) fn at(&self) -> CommitTimestamp {
        self.view.at()
    }

    /// Panics if the view is of locked vertices, and this vertex is not locked.
    #[inline]
    pub(crate) fn check_lock(&self, vertex: VertexId) {
        self.view.check_lock(vertex);
    }

    pub(crate) fn table(&self) -> AdjacencyTable {
        self.table
    }

    /// Returns the domain of the graph's readers.
    pub(crate) fn domain(&self) -> &'s Domain {
        &self.view.engine.retired.domain
    }

    pub(crate) fn index(&self) -> &'s BlockIndex {
        self.view.engine.index(self.table.direction)
    }

    /// Groups of vertices that have blocks: the end of each group and the bytes of its blocks,
    /// ascending. O(vertices), reads no block.
    fn stretches(&self) -> Vec<(u32, u64)> {
        let mut stretches: Vec<(u32, u64)> = Vec::new();
        let guard = self.domain().pin();
        for (vertex, slot) in self.index().directory.entries(0..self.vertex_bound()) {
            let Some(class) = BlockIndex::class_at(slot, self.table.label, &guard) else { continue };
            let end = (vertex / TOGETHER + 1).saturating_mul(TOGETHER);
            let bytes = bytes_of(class) as u64;
            match stretches.last_mut() {
                Some((last, sum)) if *last == end => *sum += bytes,
                _ => stretches.push((end, bytes)),
            }
        }
        stretches
    }
}

impl<'s, W: Column> Adjacency for TelAdjacency<'s, W> {
    type Value = W;
    type Cursor<'a>
        = TelCursor<'s, W>
    where
        Self: 'a;

    /// Neighbors are in order of creation.
    const SORTED: bool = false;
    /// O(1) only if nothing was ever deleted.
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> TelCursor<'s, W> {
        TelCursor::new(*self)
    }

    /// The ranges cover all vertices below the bound, and each ends at a multiple of 64.
    /// O(vertices).
    ///
    /// The work of a vertex is the size of its blocks, which the index contains.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let blocks = if parts <= 1 { Vec::new() } else { self.stretches() };
        Ok(cuts_by_work(self.vertex_bound(), parts, &blocks))
    }
}
