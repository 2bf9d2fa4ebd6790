//! A state of the graph, and the adjacencies in it.

use crate::block::END_OF_TIME;
use crate::cursor::TelCursor;
use crate::engine::{Table, Tel, unit_of};
use crate::index::Index;
use crate::layout::bytes_of;
use crate::vertex::Vertex;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, ColumnType, Counts, Direction, GraphView, LabelId, Record, Timestamp, Topology,
    VertexId, VertexRecords, ViewError,
};
use hedgerow_sync::epoch;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

/// Vertices that [`Adjacency::cuts`] keeps together.
const TOGETHER: u32 = 64;

/// A state of the graph: at a registered timestamp, or the newest of the locked vertices.
///
/// Costs nothing to make or copy. Reading a vertex that is not locked through a view of the newest
/// state panics.
#[derive(Clone, Copy)]
pub struct TelView<'s> {
    engine: &'s Tel,
    state: State<'s>,
}

#[derive(Clone, Copy)]
enum State<'s> {
    Registered(&'s Registered),
    Locked(&'s HeldLocks<'s>),
}

impl<'s> TelView<'s> {
    pub(crate) fn registered(engine: &'s Tel, at: &'s Registered) -> Self {
        TelView { engine, state: State::Registered(at) }
    }

    pub(crate) fn locked(engine: &'s Tel, locks: &'s HeldLocks<'_>) -> Self {
        TelView { engine, state: State::Locked(locks) }
    }

    fn with_counts<R>(&self, read: impl FnOnce(&Counts) -> R) -> R {
        match self.state {
            State::Registered(at) => read(at.counts()),
            State::Locked(locks) => read(&locks.counts()),
        }
    }

    /// The timestamp that entries are compared with.
    fn at(&self) -> Timestamp {
        match self.state {
            State::Registered(at) => at.at(),
            State::Locked(_) => END_OF_TIME,
        }
    }

    #[inline]
    fn check_lock(&self, vertex: VertexId) {
        if let State::Locked(locks) = self.state {
            assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is read without its lock");
        }
    }

    #[inline]
    fn vertex(&self, vertex: VertexId) -> Option<Vertex<'s>> {
        // The newest state has nothing at or above its bound.
        if let State::Registered(at) = self.state
            && vertex.get() >= at.counts().vertex_bound
        {
            return None;
        }
        self.check_lock(vertex);
        self.engine.vertices.get(vertex).map(Vertex)
    }
}

impl<'s> GraphView for TelView<'s> {
    type Adjacency<'v, W: Column>
        = TelAdjacency<'s, W>
    where
        Self: 'v;

    /// The registered timestamp; for the newest state of locked vertices the largest number there is.
    fn timestamp(&self) -> Timestamp {
        match self.state {
            State::Registered(at) => at.at(),
            State::Locked(_) => Timestamp(u64::MAX),
        }
    }

    fn topology(&self) -> Topology {
        self.engine.topology
    }

    fn vertex_bound(&self) -> u32 {
        self.with_counts(|counts| counts.vertex_bound)
    }

    fn vertex_count(&self) -> u64 {
        self.with_counts(|counts| counts.vertices)
    }

    fn edge_count(&self, label: LabelId) -> u64 {
        self.with_counts(|counts| counts.edges_of(label))
    }

    #[inline]
    fn contains_vertex(&self, vertex: VertexId) -> bool {
        self.vertex(vertex).is_some_and(|vertex| vertex.exists(self.at(), &epoch::pin()))
    }

    fn scan_vertices(&self, range: Range<u32>, mut visit: impl FnMut(VertexId)) {
        let range = range.start..range.end.min(self.vertex_bound());
        let (at, mut guard) = (self.at(), epoch::pin());
        for (vertex, slot) in self.engine.vertices.slots(range) {
            self.check_lock(vertex);
            if Vertex(slot).exists(at, &guard) {
                visit(vertex);
            }
            if vertex.get().is_multiple_of(TOGETHER) {
                guard.repin();
            }
        }
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<TelAdjacency<'s, W>, ViewError> {
        let table = self.engine.tables[self.engine.table(label, direction)?];
        let schema = self.engine.catalogue().label(label).ok_or(ViewError::UnknownLabel(label))?;
        let (declared, asked) = (schema.edges.column(), W::TYPE);
        if asked != ColumnType::Unit && asked != declared {
            return Err(ViewError::WrongColumn { label, declared, asked });
        }
        Ok(TelAdjacency { view: *self, table, values: PhantomData })
    }
}

impl VertexRecords for TelView<'_> {
    /// O(versions of the vertex that are newer than the view).
    fn vertex_record(&self, vertex: VertexId) -> Option<Record> {
        self.vertex(vertex)?.record(self.at(), &epoch::pin())
    }
}

/// One label in one direction, with values of type `W` beside the neighbours.
pub struct TelAdjacency<'s, W> {
    view: TelView<'s>,
    table: Table,
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
    pub(crate) fn at(&self) -> Timestamp {
        self.view.at()
    }

    /// Panics if the state is that of locked vertices, and this is none of them.
    #[inline]
    pub(crate) fn check_lock(&self, vertex: VertexId) {
        self.view.check_lock(vertex);
    }

    pub(crate) fn table(&self) -> Table {
        self.table
    }

    pub(crate) fn index(&self) -> &'s Index {
        self.view.engine.index(self.table.direction)
    }

    /// The stretches of vertices that have blocks, with the bytes of those, ascending. O(vertices), without a look at a block.
    fn stretches(&self) -> Vec<(u32, u128)> {
        let mut stretches: Vec<(u32, u128)> = Vec::new();
        let guard = epoch::pin();
        for (vertex, slot) in self.index().directory.slots(0..self.vertex_bound()) {
            let Some(class) = Index::class_at(slot, self.table.label, &guard) else { continue };
            let (stretch, bytes) = (vertex.get() / TOGETHER, bytes_of(class) as u128);
            match stretches.last_mut() {
                Some((last, sum)) if *last == stretch => *sum += bytes,
                _ => stretches.push((stretch, bytes)),
            }
        }
        stretches
    }
}

// SAFETY: owners are cut off at the vertex bound. Neighbours come from entries that were created at or
// before the view's timestamp, or are in locked logs; the tokens promise counts of at least that
// state, whose bound is above every vertex in use.
unsafe impl<'s, W: Column> Adjacency for TelAdjacency<'s, W> {
    type Value = W;
    type Error = Infallible;
    type Cursor<'a>
        = TelCursor<'s, W>
    where
        Self: 'a;

    /// In the order of their creation.
    const SORTED: bool = false;
    /// Only where nothing was ever deleted.
    const DEGREE_IS_O1: bool = false;
    const KEEPS_COMMIT_ORDER: bool = true;

    fn cursor(&self) -> TelCursor<'s, W> {
        TelCursor::new(*self)
    }

    /// Together the ranges are all vertices below the bound; each ends with 64 vertices. O(vertices).
    ///
    /// Work is what blocks take, which is told by the index.
    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        let bound = self.vertex_bound();
        if parts <= 1 {
            return std::iter::once(0..bound).filter(|range| !range.is_empty()).collect();
        }
        let stretches = self.stretches();
        let total: u128 = stretches.iter().map(|(_, bytes)| bytes).sum();
        let parts = parts as u128;
        let (mut cuts, mut start, mut passed) = (Vec::new(), 0, 0);
        for (stretch, bytes) in stretches {
            passed += bytes;
            let (end, full) = ((stretch + 1).saturating_mul(TOGETHER).min(bound), cuts.len() as u128 + 1);
            if full < parts && passed * parts >= total * full && end < bound {
                cuts.push(start..end);
                start = end;
            }
        }
        if start < bound {
            cuts.push(start..bound);
        }
        cuts
    }
}
