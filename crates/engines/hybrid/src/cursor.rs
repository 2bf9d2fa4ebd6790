//! The neighbors of vertices in a view.

use crate::adjacency::{ReplacedInRow, RetainedVersion, RowAt, RowCopy};
use crate::edge_log::ChangeList;
use crate::graph::{Hybrid, check_lock};
use crate::snapshot::{HybridSnapshot, TailRows};
use crate::tables::AdjacencyTable;
use crate::tail_index::ChangedRow;
use hedgerow_in_memory::records::HandleCursor;
use hedgerow_model::{
    Adjacency, Column, Cursor, Neighbors, ReadError, RecordHandle, VertexId, ViewState, cuts_by_work,
};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// Granularity of [`Adjacency::cuts`] in vertices.
const TOGETHER: u32 = 64;

/// One label in one direction, with values of type `W`.
pub struct HybridAdjacency<'v, W> {
    engine: &'v Hybrid,
    snapshot: &'v HybridSnapshot,
    state: ViewState<'v>,
    number: u32,
    values: PhantomData<fn() -> W>,
}

impl<'v, W: Column> HybridAdjacency<'v, W> {
    pub(crate) fn new(
        engine: &'v Hybrid,
        snapshot: &'v HybridSnapshot,
        state: ViewState<'v>,
        number: u32,
    ) -> Self {
        HybridAdjacency { engine, snapshot, state, number, values: PhantomData }
    }

    fn table(&self) -> &'v AdjacencyTable {
        self.engine.tables.at(self.number)
    }

    fn version(&self) -> RetainedVersion<'v> {
        // SAFETY: the log of the engine, whose tail the snapshot holds, feeds its adjacencies, and
        // the engine passes on as retained the versions that the log lists.
        unsafe { RetainedVersion::new(self.snapshot.tail()) }
    }

    fn changes(&self) -> TailRows<'v> {
        let HybridAdjacency { engine, snapshot, state, number, .. } = *self;
        TailRows::new(snapshot, &engine.tables, self.version(), state.timestamp(), number)
    }

    /// Indexes the changes that are not archived, so that no read has to. O(n log n).
    pub(crate) fn index_changes(&self) {
        self.changes().index_all();
    }
}

impl<'v, W: Column> Adjacency for HybridAdjacency<'v, W> {
    type Value = W;
    type Cursor<'a>
        = HybridCursor<'v, W>
    where
        Self: 'a;

    /// Neighbors are in the order in which they were archived.
    const SORTED: bool = false;
    /// O(1) only for a row without changes in the log.
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> HybridCursor<'v, W> {
        let (table, version, changes, state) = (self.table(), self.version(), self.changes(), self.state);
        let (room, merged, replaced, deleted) = Default::default();
        HybridCursor { table, version, changes, state, room, merged, replaced, deleted }
    }

    /// The ranges cover all vertices below the bound, and each ends at a multiple of 64.
    /// O(vertices).
    ///
    /// The work of a vertex is the number of entries of its row, without changes in the log.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let bound = self.state.vertex_bound();
        let mut blocks: Vec<(u32, u64)> = Vec::new();
        let sizes = if parts > 1 { 0..bound } else { 0..0 };
        for (vertex, entries) in self.table().rows.sizes(sizes) {
            let end = (vertex.get() / TOGETHER + 1).saturating_mul(TOGETHER);
            match blocks.last_mut() {
                Some((last, sum)) if *last == end => *sum += entries as u64,
                _ => blocks.push((end, entries as u64)),
            }
        }
        Ok(cuts_by_work(bound, parts, &blocks))
    }
}

/// Reads neighbors: first in place, without the entries that changes in the log replace, then the
/// edges that the changes put.
pub struct HybridCursor<'v, W> {
    table: &'v AdjacencyTable,
    version: RetainedVersion<'v>,
    changes: TailRows<'v>,
    state: ViewState<'v>,
    /// Scratch memory for the changes of a row, for a copy of it, and for the positions of its
    /// replaced and its deleted entries.
    room: ChangeList,
    merged: RowCopy<W>,
    replaced: ReplacedInRow,
    deleted: Vec<u32>,
}

impl<'v, W: Column> HybridCursor<'v, W> {
    /// The row of a vertex in the version.
    #[inline]
    fn row(&mut self, vertex: VertexId) -> Option<RowAt<'v>> {
        check_read(self.state, vertex);
        if !self.state.may_have(vertex) {
            return None;
        }
        self.table.rows.row(vertex, self.version)
    }
}

/// Panics if the view reads only locked vertices, and this one is not locked.
#[inline]
fn check_read(state: ViewState<'_>, vertex: VertexId) {
    if let ViewState::Locked(locks) = state {
        check_lock(locks, vertex, "read");
    }
}

impl HandleCursor for HybridCursor<'_, RecordHandle> {
    const SORTED: bool = false;
}

impl<W: Column> Cursor for HybridCursor<'_, W> {
    type Value = W;

    /// O(1) for a row without changes in the log, and O(log deletions) if it has deletions;
    /// otherwise O(entries + changes), or O(changes) after a scan of all rows.
    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        let row = self.row(vertex);
        Ok(match self.changes.row(vertex, &mut self.room) {
            None => row.map_or(0, |row| row.degree()),
            Some(changed) => {
                let left =
                    row.map_or(0, |row| row.degree() - changed.replaced(row, &mut self.replaced).len());
                left + changed.changes.count_puts()
            }
        })
    }

    /// O(entries of the row).
    #[inline]
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let row = self.row(vertex);
        let found = match self.changes.find(vertex, neighbor) {
            Some(changed) => changed,
            None => row.and_then(|row| row.find(neighbor)),
        };
        Ok(found.map(W::from_bits))
    }

    #[inline]
    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let row = self.row(vertex);
        let changed = self.changes.row(vertex, &mut self.room);
        let HybridCursor { merged, replaced, deleted, .. } = self;
        Ok(visit(row, changed, (merged, replaced, deleted), &mut run))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let range = range.start..range.end.min(self.state.vertex_bound());
        let HybridCursor { table, version, changes, state, merged, replaced, deleted, .. } = self;
        let mut scan_row = |vertex, row: Option<RowAt<'_>>, changed: Option<ChangedRow<'_>>| {
            check_read(*state, vertex);
            let room = (&mut *merged, &mut *replaced, &mut *deleted);
            visit(row, changed, room, &mut |neighbors, values| run(vertex, neighbors, values))
        };
        let mut changed = changes.rows(range.clone()).peekable();
        for (vertex, row) in table.rows.rows(range, *version) {
            // Some vertices have changes but no row.
            while let Some(new) = changed.next_if(|changed| changed.changes.first_owner() < vertex) {
                let flow = scan_row(new.changes.first_owner(), None, Some(new));
                if flow.is_break() {
                    return Ok(flow);
                }
            }
            let changed = changed.next_if(|changed| changed.changes.first_owner() == vertex);
            let flow = scan_row(vertex, Some(row), changed);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(changed.try_for_each(|new| scan_row(new.changes.first_owner(), None, Some(new))))
    }

    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        self.table.rows.prefetch_row(vertex);
    }

    #[inline]
    fn prefetch(&mut self, vertex: VertexId) {
        self.table.rows.prefetch_block(vertex);
    }

    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, W>>, ReadError> {
        let row = self.row(vertex);
        if self.changes.row(vertex, &mut self.room).is_some() {
            return Ok(None);
        }
        Ok(row.map_or(Some((&[][..], &[][..])), |row| row.whole()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let row = self.row(vertex);
        match (row, self.changes.row(vertex, &mut self.room)) {
            (None, Some(changed)) => self.merged.copy_puts(changed.changes),
            (Some(row), Some(changed)) => {
                let replaced = changed.replaced(row, &mut self.replaced);
                self.merged.merge(row, replaced, changed.changes);
            }
            (None, None) => return Ok((&[], &[])),
            (Some(row), None) => match row.whole() {
                Some(whole) => return Ok(whole),
                None => self.merged.copy(row),
            },
        }
        Ok(self.merged.edges())
    }
}

/// Visits the neighbors of a row with changes after its version, in nonempty runs.
#[inline]
fn visit<W: Column, B>(
    row: Option<RowAt<'_>>,
    changed: Option<ChangedRow<'_>>,
    (merged, replaced, deleted): (&mut RowCopy<W>, &mut ReplacedInRow, &mut Vec<u32>),
    run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    match (row, changed) {
        (Some(row), None) => row.neighbors(deleted, run),
        (None, None) => ControlFlow::Continue(()),
        (row, Some(changed)) => {
            if let Some(row) = row {
                row.neighbors_without(changed.replaced(row, replaced), deleted, &mut *run)?;
            }
            merged.copy_puts(changed.changes);
            match merged.edges() {
                ([], _) => ControlFlow::Continue(()),
                (neighbors, values) => run(neighbors, values),
            }
        }
    }
}
