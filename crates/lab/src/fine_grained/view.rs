//! A state of the graph, and the adjacencies in it.

use super::cursor::FineGrainedCursor;
use super::engine::{FineGrained, Table, unit_of};
use super::entries::Entries;
use super::row::Row;
use super::version::Begin;
use super::vertex::VertexCell;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, ColumnType, Counts, Direction, GraphView, LabelId, Record, Timestamp, Topology,
    VertexId, VertexRecords, ViewError,
};
use hedgerow_sync::RwLock;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

/// Vertices that [`Adjacency::cuts`] keeps together.
const BLOCK: u32 = 64;

/// A state of the graph: at a registered timestamp, or the newest of the locked vertices.
///
/// Costs nothing to make or copy. Reading a vertex that is not locked through a view of the newest
/// state panics.
pub struct FineGrainedView<'s, E> {
    engine: &'s FineGrained<E>,
    state: State<'s>,
}

impl<E> Clone for FineGrainedView<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for FineGrainedView<'_, E> {}

#[derive(Clone, Copy)]
enum State<'s> {
    Registered(&'s Registered),
    Locked(&'s HeldLocks<'s>),
}

impl<'s, E: Entries> FineGrainedView<'s, E> {
    pub(super) fn registered(engine: &'s FineGrained<E>, at: &'s Registered) -> Self {
        FineGrainedView { engine, state: State::Registered(at) }
    }

    pub(super) fn locked(engine: &'s FineGrained<E>, locks: &'s HeldLocks<'_>) -> Self {
        FineGrainedView { engine, state: State::Locked(locks) }
    }

    fn with_counts<R>(&self, read: impl FnOnce(&Counts) -> R) -> R {
        match self.state {
            State::Registered(at) => read(at.counts()),
            State::Locked(locks) => read(&locks.counts()),
        }
    }

    /// The timestamp that versions are compared with.
    fn at(&self) -> Timestamp {
        match self.state {
            State::Registered(at) => at.at(),
            State::Locked(_) => Begin::END_OF_TIME,
        }
    }

    fn check_lock(&self, vertex: VertexId) {
        if let State::Locked(locks) = self.state {
            assert!(locks.covers(unit_of(vertex)), "vertex {vertex} is read without its lock");
        }
    }

    fn vertex(&self, vertex: VertexId) -> Option<&'s RwLock<VertexCell>> {
        // The newest state has nothing at or above its bound.
        if let State::Registered(at) = self.state
            && vertex.get() >= at.counts().vertex_bound
        {
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

    fn contains_vertex(&self, vertex: VertexId) -> bool {
        self.vertex(vertex).is_some_and(|cell| cell.read().record(self.at()).is_some())
    }

    fn scan_vertices(&self, range: Range<u32>, mut visit: impl FnMut(VertexId)) {
        let range = range.start..range.end.min(self.vertex_bound());
        for (vertex, cell) in self.engine.vertices.populated(range) {
            self.check_lock(vertex);
            let exists = cell.read().record(self.at()).is_some();
            if exists {
                visit(vertex);
            }
        }
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<FineGrainedAdjacency<'s, E, W>, ViewError> {
        let table = self.engine.table(label, direction)?;
        let (declared, asked) = (table.column, W::TYPE);
        if asked != ColumnType::Unit && asked != declared {
            return Err(ViewError::WrongColumn { label, declared, asked });
        }
        Ok(FineGrainedAdjacency { view: *self, table, values: PhantomData })
    }
}

impl<E: Entries> VertexRecords for FineGrainedView<'_, E> {
    fn vertex_record(&self, vertex: VertexId) -> Option<Record> {
        self.vertex(vertex)?.read().record(self.at()).cloned()
    }
}

/// One label in one direction, with values of type `W` beside the neighbours.
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

    /// The timestamp that versions are compared with.
    pub(super) fn at(&self) -> Timestamp {
        self.view.at()
    }

    /// The row of a vertex below the bound.
    #[inline]
    pub(super) fn row(&self, vertex: VertexId) -> Option<&'s RwLock<Row<E>>> {
        self.view.check_lock(vertex);
        self.table.rows.get(vertex)
    }

    /// The rows of a range of vertices, ascending.
    pub(super) fn rows(&self, range: Range<u32>) -> impl Iterator<Item = (VertexId, &'s RwLock<Row<E>>)> {
        let view = self.view;
        let rows = self.table.rows.populated(range.start..range.end.min(view.vertex_bound()));
        rows.inspect(move |(vertex, _)| view.check_lock(*vertex))
    }

    /// The blocks of vertices that have entries, with the number of entries, ascending. O(vertices).
    fn blocks(&self) -> Vec<(u32, u128)> {
        let mut blocks: Vec<(u32, u128)> = Vec::new();
        for (vertex, row) in self.rows(0..self.vertex_bound()) {
            let (block, entries) = (vertex.get() / BLOCK, row.read().entries.count() as u128);
            match blocks.last_mut() {
                _ if entries == 0 => {}
                Some((last, sum)) if *last == block => *sum += entries,
                _ => blocks.push((block, entries)),
            }
        }
        blocks
    }
}

// SAFETY: owners are cut off at the vertex bound. Neighbours come from versions that began at or
// before the view's timestamp, or are in locked rows; the tokens promise counts of at least that
// state, whose bound is above every vertex in use.
unsafe impl<'s, E: Entries, W: Column> Adjacency for FineGrainedAdjacency<'s, E, W> {
    type Value = W;
    type Error = Infallible;
    type Cursor<'a>
        = FineGrainedCursor<'s, E, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    /// Only a look at every version of a row tells how many of its entries are visible.
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> FineGrainedCursor<'s, E, W> {
        FineGrainedCursor::new(*self)
    }

    /// Together the ranges are all vertices below the bound; each ends with a block of 64. O(vertices).
    ///
    /// Entries that are not visible count: they are looked at, too.
    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        let (bound, blocks) = (self.vertex_bound(), self.blocks());
        let total: u128 = blocks.iter().map(|(_, entries)| entries).sum();
        let parts = parts.max(1) as u128;
        let (mut cuts, mut start, mut passed) = (Vec::new(), 0, 0);
        for (block, entries) in blocks {
            passed += entries;
            let (end, full) = ((block + 1).saturating_mul(BLOCK).min(bound), cuts.len() as u128 + 1);
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
