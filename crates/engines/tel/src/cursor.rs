//! Reading neighbors.

use crate::block::EntryLog;
use crate::directory::Slot;
use crate::index::BlockIndex;
use crate::scan::{count_valid, valid_from_the_end, valid_stretches};
use crate::view::TelAdjacency;
use hedgerow_in_memory::records::{HandleCursor, memory};
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Cursor, Neighbors, ReadError, RecordHandle, VertexId,
};
use hedgerow_sync::epoch::Guard;
use hedgerow_sync::prefetch;
use std::ops::{ControlFlow, Range};

/// Prefetch distance: in vertices for the blocks of a scan, in edges for records.
const AHEAD: usize = 8;

/// Bytes at the start of a block that are prefetched.
const AHEAD_BYTES: usize = 256;

/// Number of vertices after which a scan repins, so that retired memory can be freed.
const PINNED: usize = 64;

/// Reads neighbors, lending ranges of the logs themselves (LiveGraph, section 5, "sequential
/// scans").
///
/// A cursor keeps its thread pinned while it lives, and repins on every call: so a block replaced
/// during a cursor's life is freed once every such cursor was used again or dropped.
pub struct TelCursor<'s, W> {
    adjacency: TelAdjacency<'s, W>,
    guard: Guard<'s>,
    at: CommitTimestamp,
    bound: u32,
    /// Buffer of [`Cursor::gather`].
    gathered: (Vec<VertexId>, Vec<W>),
}

/// Prefetches the record that a value points to, if it is a handle.
#[inline]
fn prefetch_record<W: Column>(value: W) {
    if W::TYPE == ColumnType::Record {
        memory::prefetch(value.to_bits());
    }
}

/// Visits the valid entries of a log in runs.
#[inline]
fn runs<W: Column, B>(
    log: EntryLog<'_>,
    at: CommitTimestamp,
    mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let created = log.created_by(at);
    if created == 0 {
        return ControlFlow::Continue(());
    }
    let (ids, values) = (&log.ids()[..created], log.values::<W>(created));
    if log.is_whole(at) {
        return run(ids, values);
    }
    valid_stretches(&log.invalidations()[..created], at, |stretch| {
        run(&ids[stretch.clone()], &values[stretch])
    })
}

impl<'s, W: Column> TelCursor<'s, W> {
    pub(crate) fn new(adjacency: TelAdjacency<'s, W>) -> Self {
        let (at, bound) = (adjacency.at(), adjacency.vertex_bound());
        TelCursor {
            adjacency,
            guard: adjacency.domain().pin(),
            at,
            bound,
            gathered: (Vec::new(), Vec::new()),
        }
    }

    #[inline]
    fn slot(&self, vertex: VertexId) -> Option<&'s Slot> {
        if vertex.get() < self.bound { self.adjacency.index().directory.get(vertex.get()) } else { None }
    }

    /// The current log of a vertex.
    #[inline]
    fn log(&mut self, vertex: VertexId) -> Option<EntryLog<'_>> {
        let slot = self.slot(vertex)?;
        self.adjacency.check_lock(vertex);
        self.guard.repin();
        self.log_at(slot)
    }

    #[inline]
    fn log_at(&self, slot: &Slot) -> Option<EntryLog<'_>> {
        BlockIndex::log_at(slot, self.adjacency.table().label, &self.guard)
    }
}

impl HandleCursor for TelCursor<'_, RecordHandle> {
    const SORTED: bool = false;
}

impl<W: Column> Cursor for TelCursor<'_, W> {
    type Value = W;

    /// O(1) if nothing changed after the cursor's timestamp, as in the newest state, or if nothing
    /// was deleted; otherwise O(entries).
    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        let at = self.at;
        Ok(self.log(vertex).map_or(0, |log| count_valid(log, at)))
    }

    /// O(1) if the filter of a large log rules out the edge, otherwise O(entries).
    #[inline]
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let at = self.at;
        let Some(log) = self.log(vertex) else { return Ok(None) };
        Ok(log.find(neighbor, at).map(|position| W::from_bits(log.value(position))))
    }

    #[inline]
    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let at = self.at;
        Ok(self.log(vertex).map_or(ControlFlow::Continue(()), |log| runs(log, at, run)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let (at, index) = (self.at, self.adjacency.index());
        for (first, slots) in index.directory.stretches(range.start..range.end.min(self.bound)) {
            slots.iter().take(AHEAD).for_each(|slot| BlockIndex::prefetch_block(slot, AHEAD_BYTES));
            for (number, slot) in slots.iter().enumerate() {
                if let Some(later) = slots.get(number + AHEAD) {
                    BlockIndex::prefetch_block(later, AHEAD_BYTES);
                }
                // Below the bound.
                let vertex = VertexId::new(first + number as u32);
                self.adjacency.check_lock(vertex);
                if number.is_multiple_of(PINNED) {
                    self.guard.repin();
                }
                let Some(log) = self.log_at(slot) else { continue };
                let flow = runs(log, at, |ids, values| run(vertex, ids, values));
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn newest_first<B>(
        &mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, W, CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<Option<ControlFlow<B>>, ReadError> {
        let at = self.at;
        let Some(log) = self.log(vertex) else { return Ok(Some(ControlFlow::Continue(()))) };
        let created = log.created_by(at);
        let (ids, values, creations) =
            (&log.ids()[..created], log.values(created), &log.creations()[..created]);
        values.iter().rev().take(AHEAD).copied().for_each(prefetch_record);
        let visit = |position: usize| {
            position.checked_sub(AHEAD).into_iter().for_each(|further| prefetch_record(values[further]));
            visit(ids[position], values[position], creations[position])
        };
        Ok(Some(match log.is_whole(at) {
            true => (0..created).rev().try_for_each(visit),
            false => valid_from_the_end(&log.invalidations()[..created], at, visit),
        }))
    }

    /// Returns `None` if the edges' records have no time.
    #[inline]
    fn time_disorder(&mut self, vertex: VertexId) -> Result<Option<u64>, ReadError> {
        let has_times = self.adjacency.table().time.is_some();
        Ok(has_times.then(|| self.log(vertex).map_or(0, |log| log.lateness())))
    }

    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        if let Some(slot) = self.slot(vertex) {
            prefetch(slot, 1);
        }
    }

    #[inline]
    fn prefetch(&mut self, vertex: VertexId) {
        if let Some(slot) = self.slot(vertex) {
            BlockIndex::prefetch_block(slot, AHEAD_BYTES);
        }
    }

    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, W>>, ReadError> {
        let at = self.at;
        let Some(log) = self.log(vertex) else { return Ok(Some((&[], &[]))) };
        Ok(log.is_whole(at).then(|| {
            let created = log.created_by(at);
            (&log.ids()[..created], log.values(created))
        }))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let Some(slot) = self.slot(vertex) else { return Ok((&[], &[])) };
        self.adjacency.check_lock(vertex);
        self.guard.repin();
        let label = self.adjacency.table().label;
        let Some(log) = BlockIndex::log_at(slot, label, &self.guard) else { return Ok((&[], &[])) };
        if log.is_whole(self.at) {
            let created = log.created_by(self.at);
            return Ok((&log.ids()[..created], log.values(created)));
        }
        let (all_ids, all_values) = &mut self.gathered;
        all_ids.clear();
        all_values.clear();
        let flow = runs(log, self.at, |ids, values: &[W]| {
            all_ids.extend_from_slice(ids);
            all_values.extend_from_slice(values);
            ControlFlow::<()>::Continue(())
        });
        debug_assert!(flow.is_continue());
        Ok((&self.gathered.0, &self.gathered.1))
    }
}
