//! Reading neighbours.

use crate::container::Container;
use crate::partition::{partition_of, partitions_of, slot_of, slots_of, slots_within, vertex_at};
use crate::view::SubgraphAdjacency;
use hedgerow_model::search::Spread;
use hedgerow_model::{Column, Cursor, Neighbours, VertexId};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

/// Not the number of a partition.
const NONE: u32 = u32::MAX;

/// Reads neighbours, and remembers the partition that it read last: its version is resolved once.
pub struct SubgraphCursor<'s, C: Container, W> {
    adjacency: SubgraphAdjacency<'s, C, W>,
    bound: u32,
    /// The partition that was read last.
    partition: u32,
    /// Its container, and which of its slots have neighbours.
    container: Option<&'s C>,
    occupied: u64,
    /// What [`Cursor::gather`] copied.
    gathered: (Vec<VertexId>, Vec<W>),
}

impl<'s, C: Container, W: Column> SubgraphCursor<'s, C, W> {
    pub(crate) fn new(adjacency: SubgraphAdjacency<'s, C, W>) -> Self {
        let bound = adjacency.vertex_bound();
        SubgraphCursor {
            adjacency,
            bound,
            partition: NONE,
            container: None,
            occupied: 0,
            gathered: (Vec::new(), Vec::new()),
        }
    }

    /// The container of a vertex that has neighbours, and the vertex's slot in it.
    #[inline]
    fn locate(&mut self, vertex: VertexId) -> Option<(&'s C, usize)> {
        if vertex.get() >= self.bound {
            return None;
        }
        let partition = partition_of(vertex);
        if partition != self.partition {
            (self.container, self.occupied) = self.adjacency.container(partition);
            self.partition = partition;
        }
        let slot = slot_of(vertex);
        if self.occupied >> slot & 1 == 0 {
            return None;
        }
        self.container.map(|container| (container, slot))
    }
}

impl<C: Container, W: Column> Cursor for SubgraphCursor<'_, C, W> {
    type Value = W;
    type Error = Infallible;

    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, Infallible> {
        Ok(self.locate(vertex).map_or(0, |(container, slot)| container.degree(slot)))
    }

    #[inline]
    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<W>, Infallible> {
        let Some((container, slot)) = self.locate(vertex) else { return Ok(None) };
        let spread = Spread::up_to(VertexId::new(self.bound.saturating_sub(1)));
        Ok(container.find(slot, spread, neighbour))
    }

    #[inline]
    fn neighbours<B>(
        &mut self,
        vertex: VertexId,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        let Some((container, slot)) = self.locate(vertex) else { return Ok(ControlFlow::Continue(())) };
        Ok(container.visit(slot, run))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        let range = range.start..range.end.min(self.bound);
        for (partition, container) in self.adjacency.containers(partitions_of(&range)) {
            for slot in slots_of(container.occupied() & slots_within(partition, &range)) {
                let vertex = vertex_at(partition, slot);
                container.prefetch_behind(slot);
                let flow = container.visit(slot, |neighbours, values| run(vertex, neighbours, values));
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbours<'_, W>>, Infallible> {
        Ok(self.locate(vertex).and_then(|(container, slot)| container.run(slot)))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbours<'_, W>, Infallible> {
        let Some((container, slot)) = self.locate(vertex) else { return Ok((&[], &[])) };
        if let Some(run) = container.run(slot) {
            return Ok(run);
        }
        let (neighbours, values) = &mut self.gathered;
        neighbours.clear();
        values.clear();
        let _ = container.visit(slot, |more_neighbours, more_values| {
            neighbours.extend_from_slice(more_neighbours);
            values.extend_from_slice(more_values);
            ControlFlow::<()>::Continue(())
        });
        Ok((neighbours, values))
    }

    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        if let Some(chain) = self.adjacency.chain(partition_of(vertex)) {
            C::prefetch_place(chain.hint(), slot_of(vertex));
        }
    }

    #[inline]
    fn prefetch(&self, vertex: VertexId) {
        if vertex.get() >= self.bound {
            return;
        }
        if let (Some(container), occupied) = self.adjacency.container(partition_of(vertex))
            && occupied >> slot_of(vertex) & 1 == 1
        {
            container.prefetch_first::<W>(slot_of(vertex));
        }
    }
}
