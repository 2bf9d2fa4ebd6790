//! Reading neighbors.

use crate::subgraphs::container::Container;
use crate::subgraphs::partition::{partition_of, partitions_of, slot_of, slots_within, vertex_at};
use crate::subgraphs::view::SubgraphAdjacency;
use hedgerow_in_memory::records::HandleCursor;
use hedgerow_model::search::Spread;
use hedgerow_model::{Column, Cursor, Neighbors, ReadError, RecordHandle, VertexId};
use std::ops::{ControlFlow, Range};

/// Sentinel for no partition.
const NONE: u32 = u32::MAX;

/// Reads neighbors. Caches the partitions that it read and prefetched last, so that their versions
/// are resolved once.
pub struct SubgraphCursor<'s, C: Container, W> {
    adjacency: SubgraphAdjacency<'s, C, W>,
    bound: u32,
    /// The partition read last.
    read: ResolvedPartition<'s, C>,
    /// The partition prefetched last.
    ahead: ResolvedPartition<'s, C>,
    /// Buffer of [`Cursor::gather`].
    gathered: (Vec<VertexId>, Vec<W>),
}

/// A partition as the cursor's view sees it.
struct ResolvedPartition<'s, C> {
    partition: u32,
    container: Option<&'s C>,
    /// Slots of the partition that have neighbors.
    occupied: u64,
}

impl<C> Clone for ResolvedPartition<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for ResolvedPartition<'_, C> {}

impl<'s, C> ResolvedPartition<'s, C> {
    const NOTHING: Self = ResolvedPartition { partition: NONE, container: None, occupied: 0 };

    /// The container and slot of a vertex of this partition; `None` if it has no neighbors.
    #[inline]
    fn locate(&self, vertex: VertexId) -> Option<(&'s C, usize)> {
        let slot = slot_of(vertex);
        if self.occupied >> slot & 1 == 0 {
            return None;
        }
        self.container.map(|container| (container, slot))
    }
}

impl<'s, C: Container, W: Column> SubgraphCursor<'s, C, W> {
    pub(crate) fn new(adjacency: SubgraphAdjacency<'s, C, W>) -> Self {
        let bound = adjacency.vertex_bound();
        SubgraphCursor {
            adjacency,
            bound,
            read: ResolvedPartition::NOTHING,
            ahead: ResolvedPartition::NOTHING,
            gathered: (Vec::new(), Vec::new()),
        }
    }

    /// The container and slot of a vertex; `None` if it has no neighbors.
    #[inline]
    fn locate(&mut self, vertex: VertexId) -> Option<(&'s C, usize)> {
        if vertex.get() >= self.bound {
            return None;
        }
        let partition = partition_of(vertex);
        if partition != self.read.partition {
            let was_asked_for = partition == self.ahead.partition;
            self.read = if was_asked_for { self.ahead } else { self.resolve(partition) };
        }
        self.read.locate(vertex)
    }

    #[inline]
    fn resolve(&self, partition: u32) -> ResolvedPartition<'s, C> {
        let (container, occupied) = self.adjacency.container(partition);
        ResolvedPartition { partition, container, occupied }
    }
}

impl<C: Container> HandleCursor for SubgraphCursor<'_, C, RecordHandle> {
    const SORTED: bool = true;
}

impl<C: Container, W: Column> Cursor for SubgraphCursor<'_, C, W> {
    type Value = W;

    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        Ok(self.locate(vertex).map_or(0, |(container, slot)| container.degree(slot)))
    }

    #[inline]
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let Some((container, slot)) = self.locate(vertex) else { return Ok(None) };
        let spread = Spread::up_to(VertexId::new(self.bound.saturating_sub(1)));
        Ok(container.find(slot, spread, neighbor))
    }

    #[inline]
    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let Some((container, slot)) = self.locate(vertex) else { return Ok(ControlFlow::Continue(())) };
        Ok(container.visit(slot, run))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let range = range.start..range.end.min(self.bound);
        for (partition, container) in self.adjacency.containers(partitions_of(&range)) {
            let slots = container.occupied() & slots_within(partition, &range);
            let flow = container
                .scan(slots, |slot, neighbors, values| run(vertex_at(partition, slot), neighbors, values));
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, W>>, ReadError> {
        Ok(self.locate(vertex).and_then(|(container, slot)| container.run(slot)))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let Some((container, slot)) = self.locate(vertex) else { return Ok((&[], &[])) };
        if let Some(run) = container.run(slot) {
            return Ok(run);
        }
        let (neighbors, values) = &mut self.gathered;
        neighbors.clear();
        values.clear();
        let _ = container.visit(slot, |more_neighbors, more_values| {
            neighbors.extend_from_slice(more_neighbors);
            values.extend_from_slice(more_values);
            ControlFlow::<()>::Continue(())
        });
        Ok((neighbors, values))
    }

    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        if let Some(chain) = self.adjacency.chain(partition_of(vertex)) {
            C::prefetch_place(chain.hint(), slot_of(vertex));
        }
    }

    #[inline]
    fn prefetch(&mut self, vertex: VertexId) {
        if vertex.get() >= self.bound {
            return;
        }
        let partition = partition_of(vertex);
        if partition != self.ahead.partition {
            self.ahead = self.resolve(partition);
        }
        if let Some((container, slot)) = self.ahead.locate(vertex) {
            container.prefetch_row::<W>(slot);
        }
    }
}
