//! A state of the graph, and the adjacencies in it.

use crate::block::AdjacencyBlock;
use crate::chain::{Chain, Content};
use crate::cursor::RapidCursor;
use crate::engine::{AdjacencyTable, Rapid};
use crate::partition::{
    partition_end, partition_of, partitions_of, slot_of, slots_of, slots_within, unit_of, vertex_at,
};
use crate::vertex_block::VertexBlock;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, ColumnType, Counts, Direction, GraphView, LabelId, Record, Timestamp, Topology,
    VertexId, VertexRecords, ViewError,
};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

/// A state of the graph: at a registered timestamp, or the newest of the locked partitions.
///
/// Costs nothing to make or copy. Reading a partition that is not locked through a view of the
/// newest state panics.
#[derive(Clone, Copy)]
pub struct RapidView<'s> {
    engine: &'s Rapid,
    state: State<'s>,
}

#[derive(Clone, Copy)]
enum State<'s> {
    Registered(&'s Registered),
    Locked(&'s HeldLocks<'s>),
}

impl<'s> RapidView<'s> {
    pub(crate) fn registered(engine: &'s Rapid, at: &'s Registered) -> Self {
        RapidView { engine, state: State::Registered(at) }
    }

    pub(crate) fn locked(engine: &'s Rapid, locks: &'s HeldLocks<'_>) -> Self {
        RapidView { engine, state: State::Locked(locks) }
    }

    fn counts(&self) -> &'s Counts {
        match self.state {
            State::Registered(at) => at.counts(),
            State::Locked(locks) => locks.counts(),
        }
    }

    /// The block of a partition in this state. Walks versions newer than it; takes no lock.
    #[inline]
    fn resolve<T: Content>(&self, chain: &'s Chain<T>, partition: u32) -> Option<&'s T> {
        match self.state {
            State::Registered(at) => chain.at(at),
            State::Locked(locks) => chain.newest(locks, unit_of(partition)),
        }
    }

    /// The block and the slot of a vertex.
    fn locate(&self, vertex: VertexId) -> Option<(&'s VertexBlock, usize)> {
        if vertex.get() >= self.vertex_bound() {
            return None;
        }
        let partition = partition_of(vertex);
        let block = self.resolve(self.engine.vertices.get(partition)?, partition)?;
        Some((block, slot_of(vertex)))
    }
}

impl<'s> GraphView for RapidView<'s> {
    type Adjacency<'v, W: Column>
        = RapidAdjacency<'s, W>
    where
        Self: 'v;

    /// The registered timestamp; for the newest state of locked partitions the largest number there is.
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
        self.counts().vertex_bound
    }

    fn vertex_count(&self) -> u64 {
        self.counts().vertices
    }

    fn edge_count(&self, label: LabelId) -> u64 {
        self.counts().edges_of(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> bool {
        self.locate(vertex).is_some_and(|(block, slot)| block.exists(slot))
    }

    fn scan_vertices(&self, range: Range<u32>, mut visit: impl FnMut(VertexId)) {
        let range = range.start..range.end.min(self.vertex_bound());
        for (partition, chain) in self.engine.vertices.populated(partitions_of(&range)) {
            let Some(block) = self.resolve(chain, partition) else { continue };
            let present = block.present() & slots_within(partition, &range);
            slots_of(present).for_each(|slot| visit(vertex_at(partition, slot)));
        }
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<RapidAdjacency<'s, W>, ViewError> {
        let table = &self.engine.adjacencies[self.engine.table(label, direction)?];
        let (declared, asked) = (table.column, W::TYPE);
        if asked != ColumnType::Unit && asked != declared {
            return Err(ViewError::WrongColumn { label, declared, asked });
        }
        Ok(RapidAdjacency { view: *self, table, values: PhantomData })
    }
}

impl VertexRecords for RapidView<'_> {
    fn vertex_record(&self, vertex: VertexId) -> Option<Record> {
        let (block, slot) = self.locate(vertex)?;
        block.exists(slot).then(|| block.record(slot).clone())
    }
}

/// One label in one direction, with values of type `W` beside the neighbours.
pub struct RapidAdjacency<'s, W> {
    view: RapidView<'s>,
    table: &'s AdjacencyTable,
    values: PhantomData<fn() -> W>,
}

impl<W> Clone for RapidAdjacency<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for RapidAdjacency<'_, W> {}

impl<'s, W> RapidAdjacency<'s, W> {
    pub(crate) fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound()
    }

    /// The block of a partition.
    #[inline]
    pub(crate) fn block(&self, partition: u32) -> Option<&'s AdjacencyBlock> {
        self.view.resolve(self.table.chains.get(partition)?, partition)
    }

    /// The blocks of a range of partitions, ascending.
    #[inline]
    pub(crate) fn blocks(&self, partitions: Range<u32>) -> impl Iterator<Item = (u32, &'s AdjacencyBlock)> {
        let view = self.view;
        let chains = self.table.chains.populated(partitions);
        chains.filter_map(move |(partition, chain)| Some((partition, view.resolve(chain, partition)?)))
    }
}

// SAFETY: owners are cut off at the vertex bound. Neighbours come from effects that were applied at
// or before the view's timestamp, or are in locked partitions; the tokens promise counts of at
// least that state, whose bound is above every vertex in use.
unsafe impl<'s, W: Column> Adjacency for RapidAdjacency<'s, W> {
    type Value = W;
    type Error = Infallible;
    type Cursor<'a>
        = RapidCursor<'s, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = true;

    fn cursor(&self) -> RapidCursor<'s, W> {
        RapidCursor::new(*self)
    }

    /// Together the ranges are all vertices below the bound; each ends with a partition. O(partitions).
    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        let bound = self.vertex_bound();
        let entries = || {
            let blocks = self.blocks(partitions_of(&(0..bound)));
            blocks.map(|(partition, block)| (partition, block.entries() as u128))
        };
        let total: u128 = entries().map(|(_, entries)| entries).sum();
        let parts = parts.max(1) as u128;
        let (mut cuts, mut start, mut passed) = (Vec::new(), 0, 0);
        for (partition, entries) in entries() {
            passed += entries;
            let (end, full) = (partition_end(partition).min(bound), cuts.len() as u128 + 1);
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
