//! Views of the graph, and the adjacencies in them.

use crate::subgraphs::chain::Chain;
use crate::subgraphs::container::Container;
use crate::subgraphs::cursor::SubgraphCursor;
use crate::subgraphs::graph::{AdjacencyTable, Subgraphs};
use crate::subgraphs::owned::Content;
use crate::subgraphs::partition::{
    partition_end, partition_of, partitions_of, slot_of, slots_of, slots_within, unit_of, vertex_at,
};
use crate::subgraphs::vertex_block::VertexBlock;
use hedgerow_in_memory::records::HeapCursor;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, CommitTimestamp, Count, Direction, GraphView, LabelId, ReadError, Record,
    RecordHandle, Topology, VertexId, ViewError, ViewState, cuts_by_work,
};
use hedgerow_sync::prefetch;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// A view of the graph: at a registered timestamp, or the newest state of the locked partitions.
///
/// Making or copying one is free. Panics when a view of the newest state reads a partition that is
/// not locked.
pub struct SubgraphView<'s, C: Container> {
    engine: &'s Subgraphs<C>,
    state: ViewState<'s>,
}

impl<C: Container> Clone for SubgraphView<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Container> Copy for SubgraphView<'_, C> {}

impl<'s, C: Container> SubgraphView<'s, C> {
    pub(crate) fn registered(engine: &'s Subgraphs<C>, at: &'s Registered) -> Self {
        SubgraphView { engine, state: ViewState::Registered(at) }
    }

    pub(crate) fn locked(engine: &'s Subgraphs<C>, locks: &'s HeldLocks<'_>) -> Self {
        SubgraphView { engine, state: ViewState::Locked(locks) }
    }

    /// The version of a partition that this view sees. Takes no lock.
    #[inline]
    fn resolve<T: Content>(&self, chain: &'s Chain<T>, partition: u32) -> Option<&'s T> {
        match self.state {
            ViewState::Registered(at) => chain.at(at, &self.engine.domain),
            ViewState::Locked(locks) => chain.newest(locks, unit_of(partition)),
        }
    }

    /// The occupied slots of a partition in this view.
    #[inline]
    fn occupied<T: Content>(&self, chain: &Chain<T>, partition: u32) -> u64 {
        match self.state {
            ViewState::Registered(at) => chain.occupied_at(at, &self.engine.domain),
            ViewState::Locked(locks) => {
                assert!(locks.covers(unit_of(partition)), "partition {partition} is read without its lock");
                chain.newest_occupied()
            }
        }
    }

    /// The block and the slot of a vertex.
    #[inline]
    fn locate(&self, vertex: VertexId) -> Option<(&'s VertexBlock, usize)> {
        if !self.state.may_have(vertex) {
            return None;
        }
        let partition = partition_of(vertex);
        let block = self.resolve(self.engine.vertices.get(partition)?, partition)?;
        Some((block, slot_of(vertex)))
    }
}

impl<'s, C: Container> GraphView for SubgraphView<'s, C> {
    type Adjacency<'v, W: Column>
        = SubgraphAdjacency<'s, C, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = HeapCursor<SubgraphCursor<'s, C, RecordHandle>>
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
        let partition = partition_of(vertex);
        let occupied = |chain| self.occupied(chain, partition) >> slot_of(vertex) & 1 == 1;
        Ok(self.state.may_have(vertex) && self.engine.vertices.get(partition).is_some_and(occupied))
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let range = range.start..range.end.min(self.vertex_bound());
        for (partition, chain) in self.engine.vertices.entries(partitions_of(&range)) {
            let present = self.occupied(chain, partition) & slots_within(partition, &range);
            let flow = slots_of(present).try_for_each(|slot| visit(vertex_at(partition, slot)));
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    // Returned by a call, it would be copied before its stores are visible to wider loads: a
    // look-up of a degree took 1.4 times as long.
    #[inline(always)]
    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<SubgraphAdjacency<'s, C, W>, ViewError> {
        let table = self.engine.table(label, direction)?;
        ViewError::check_column::<W>(label, table.column)?;
        Ok(SubgraphAdjacency { view: *self, table, values: PhantomData })
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        let located = self.locate(vertex).filter(|(block, slot)| block.exists(*slot));
        Ok(located.map(|(block, slot)| block.record(slot).clone()))
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
        // SAFETY: the handles belong to this engine, in a view that lives for `'s`; the engine
        // embeds nothing.
        Ok(unsafe { HeapCursor::new(&self.engine.records, label, handles) })
    }
}

/// Prefetch distance for containers while counting entries, in partitions.
const ENTRIES_AHEAD: u32 = 16;

/// Prefetch distance for superseded versions during a scan, in partitions.
const RECORDS_AHEAD: u32 = 6;

/// The adjacency of one label in one direction, with values of type `W` next to the neighbors.
pub struct SubgraphAdjacency<'s, C: Container, W> {
    view: SubgraphView<'s, C>,
    table: &'s AdjacencyTable<C>,
    values: PhantomData<fn() -> W>,
}

impl<C: Container, W> Clone for SubgraphAdjacency<'_, C, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Container, W> Copy for SubgraphAdjacency<'_, C, W> {}

impl<'s, C: Container, W> SubgraphAdjacency<'s, C, W> {
    pub(crate) fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    /// The chain of a partition, if it was ever used.
    #[inline]
    pub(crate) fn chain(&self, partition: u32) -> Option<&'s Chain<C>> {
        self.table.chains.get(partition)
    }

    /// The container of a partition, and its slots that have neighbors.
    #[inline]
    pub(crate) fn container(&self, partition: u32) -> (Option<&'s C>, u64) {
        let Some(chain) = self.table.chains.get(partition) else { return (None, 0) };
        match self.view.state {
            ViewState::Registered(at) => chain.at_with_occupied(at, &self.view.engine.domain),
            ViewState::Locked(_) => {
                let container = self.view.resolve(chain, partition);
                (container, container.map_or(0, C::occupied))
            }
        }
    }

    /// The end and the number of entries of each partition in a range. Prefetches the headers of
    /// later containers.
    fn blocks(&self, partitions: Range<u32>) -> Vec<(u32, u64)> {
        let (view, chains) = (self.view, &self.table.chains);
        let blocks = chains.entries(partitions).filter_map(move |(partition, chain)| {
            if let Some(later) = chains.get(partition.wrapping_add(ENTRIES_AHEAD)) {
                prefetch(later.hint(), 1);
            }
            Some((partition_end(partition), view.resolve(chain, partition)?.entries() as u64))
        });
        blocks.collect()
    }

    /// The containers of a range of partitions, ascending. Prefetches the following ones.
    #[inline]
    pub(crate) fn containers(&self, partitions: Range<u32>) -> impl Iterator<Item = (u32, &'s C)> {
        let (view, chains) = (self.view, &self.table.chains);
        let mut resolved = chains.entries(partitions).filter_map(move |(partition, chain)| {
            if let (ViewState::Registered(at), Some(later)) =
                (view.state, chains.get(partition.wrapping_add(RECORDS_AHEAD)))
            {
                later.prefetch_superseded(at);
            }
            let container = view.resolve(chain, partition)?;
            prefetch(container, C::FETCHED_AHEAD);
            Some((partition, container))
        });
        // Partitions that are not locked are not resolved ahead: the caller may stop before them.
        let looks_ahead = matches!(view.state, ViewState::Registered(_));
        let mut coming = if looks_ahead { [resolved.next(), resolved.next()] } else { [None, None] };
        std::iter::from_fn(move || {
            if !looks_ahead {
                return resolved.next();
            }
            let current = coming[0];
            coming = [coming[1], resolved.next()];
            current
        })
    }
}

impl<'s, C: Container, W: Column> Adjacency for SubgraphAdjacency<'s, C, W> {
    type Value = W;
    type Cursor<'a>
        = SubgraphCursor<'s, C, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = true;

    fn cursor(&self) -> SubgraphCursor<'s, C, W> {
        SubgraphCursor::new(*self)
    }

    /// The ranges cover all vertices below the bound, and each ends at a partition boundary.
    /// O(partitions).
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let bound = self.vertex_bound();
        let blocks = if parts <= 1 { Vec::new() } else { self.blocks(partitions_of(&(0..bound))) };
        Ok(cuts_by_work(bound, parts, &blocks))
    }
}
