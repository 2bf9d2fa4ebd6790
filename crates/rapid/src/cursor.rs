//! Reading neighbours.

use crate::block::{AdjacencyBlock, Row};
use crate::large_set::LargeSet;
use crate::partition::{partition_of, partitions_of, slot_of, slots_of, slots_within, vertex_at};
use crate::view::RapidAdjacency;
use hedgerow_model::{Column, Cursor, Neighbours, VertexId};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

/// Not the number of a partition.
const NONE: u32 = u32::MAX;

/// Reads neighbours, and remembers the partition that it read last: its version is resolved once.
pub struct RapidCursor<'s, W> {
    adjacency: RapidAdjacency<'s, W>,
    bound: u32,
    /// The partition that was read last.
    partition: u32,
    block: Option<BlockRows<'s, W>>,
    /// What [`Cursor::gather`] copied.
    gathered: (Vec<VertexId>, Vec<W>),
}

/// A block, and its small rows as slices.
#[derive(Clone, Copy)]
struct BlockRows<'s, W> {
    block: &'s AdjacencyBlock,
    neighbours: &'s [VertexId],
    values: &'s [W],
}

/// The neighbours of a vertex: one run, or one per leaf.
enum Runs<'s, W> {
    One(Neighbours<'s, W>),
    Leaves(&'s LargeSet),
}

impl<'s, W: Column> BlockRows<'s, W> {
    #[inline]
    fn new(block: &'s AdjacencyBlock) -> Self {
        BlockRows { block, neighbours: &block.rows.neighbours, values: block.rows.values() }
    }

    #[inline]
    fn runs(self, slot: usize) -> Runs<'s, W> {
        match self.block.row(slot) {
            Row::Small(stretch) => Runs::One((&self.neighbours[stretch.clone()], &self.values[stretch])),
            Row::Large(set) => Runs::Leaves(set),
        }
    }
}

impl<W: Column> Runs<'_, W> {
    /// Hands over the runs that are not empty.
    #[inline]
    fn visit<B>(self, mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>) -> ControlFlow<B> {
        match self {
            Runs::One(([], _)) => ControlFlow::Continue(()),
            Runs::One((neighbours, values)) => run(neighbours, values),
            Runs::Leaves(set) => set.leaves().try_for_each(|leaf| run(&leaf.neighbours, leaf.values())),
        }
    }
}

impl<'s, W: Column> RapidCursor<'s, W> {
    pub(crate) fn new(adjacency: RapidAdjacency<'s, W>) -> Self {
        let bound = adjacency.vertex_bound();
        RapidCursor { adjacency, bound, partition: NONE, block: None, gathered: (Vec::new(), Vec::new()) }
    }

    /// The block of a vertex, if there is one, and the vertex's slot in it.
    #[inline]
    fn locate(&mut self, vertex: VertexId) -> Option<(BlockRows<'s, W>, usize)> {
        if vertex.get() >= self.bound {
            return None;
        }
        let partition = partition_of(vertex);
        if partition != self.partition {
            self.block = self.adjacency.block(partition).map(BlockRows::new);
            self.partition = partition;
        }
        self.block.map(|block| (block, slot_of(vertex)))
    }
}

impl<W: Column> Cursor for RapidCursor<'_, W> {
    type Value = W;
    type Error = Infallible;

    /// O(1).
    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, Infallible> {
        Ok(self.locate(vertex).map_or(0, |(rows, slot)| rows.block.degree(slot)))
    }

    /// O(log degree).
    #[inline]
    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<W>, Infallible> {
        let Some((rows, slot)) = self.locate(vertex) else { return Ok(None) };
        Ok(match rows.block.row(slot) {
            Row::Small(stretch) => {
                rows.block.rows.find(stretch, neighbour).map(|position| rows.values[position])
            }
            Row::Large(set) => set.find(neighbour).map(W::from_bits),
        })
    }

    #[inline]
    fn neighbours<B>(
        &mut self,
        vertex: VertexId,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        let Some((rows, slot)) = self.locate(vertex) else { return Ok(ControlFlow::Continue(())) };
        Ok(rows.runs(slot).visit(run))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        let range = range.start..range.end.min(self.bound);
        for (partition, block) in self.adjacency.blocks(partitions_of(&range)) {
            let rows = BlockRows::new(block);
            for slot in slots_of(block.occupied() & slots_within(partition, &range)) {
                let vertex = vertex_at(partition, slot);
                let flow = rows.runs(slot).visit(|neighbours, values| run(vertex, neighbours, values));
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbours<'_, W>, Infallible> {
        let Some((rows, slot)) = self.locate(vertex) else { return Ok((&[], &[])) };
        let set = match rows.runs(slot) {
            Runs::One(neighbours) => return Ok(neighbours),
            Runs::Leaves(set) => set,
        };
        let (neighbours, values) = &mut self.gathered;
        neighbours.clear();
        values.clear();
        for leaf in set.leaves() {
            neighbours.extend_from_slice(&leaf.neighbours);
            values.extend_from_slice(leaf.values());
        }
        Ok((neighbours, values))
    }
}
