//! The neighbors of a vertex whatever the direction of the edges.

use crate::ranges::split_mut;
use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Cursor, Topology, VertexId};
use std::ops::Range;

/// Rows are prefetched this far ahead, in vertices.
const AHEAD: usize = 8;

/// Reads the neighbors of a vertex as one ascending slice, whatever the order in the view.
pub(crate) struct SortedRows<'a, A: Adjacency + 'a> {
    cursor: A::Cursor<'a>,
    sorted: Vec<VertexId>,
}

impl<'a, A: Adjacency> SortedRows<'a, A> {
    pub(crate) fn new(adjacency: &'a A) -> Self {
        SortedRows { cursor: adjacency.cursor(), sorted: Vec::new() }
    }

    /// Prefetches the rows of vertices that will be read soon; the first of them is read now.
    #[inline]
    pub(crate) fn ask_ahead(&mut self, vertices: &[VertexId]) {
        if let Some(later) = vertices.get(2 * AHEAD) {
            self.cursor.prefetch_place(*later);
        }
        if let Some(later) = vertices.get(AHEAD) {
            self.cursor.prefetch(*later);
        }
    }

    /// The neighbors, ascending; parallel edges are adjacent.
    #[inline]
    pub(crate) fn of(&mut self, vertex: VertexId) -> Result<&[VertexId], KernelError> {
        let (neighbors, _) = self.cursor.gather(vertex)?;
        if A::SORTED {
            return Ok(neighbors);
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(neighbors);
        self.sorted.sort_unstable();
        Ok(&self.sorted)
    }
}

/// The distinct members of an ascending slice.
#[inline]
pub(crate) fn distinct(row: &[VertexId]) -> impl Iterator<Item = VertexId> {
    let mut last = None;
    row.iter().copied().filter(move |id| last.replace(*id) != Some(*id))
}

/// Reads out- and in-neighbors of a vertex; in an undirected graph, where they are equal, only
/// once.
pub(crate) struct BothWays<'a, O: Adjacency + 'a, I: Adjacency + 'a> {
    outgoing: SortedRows<'a, O>,
    incoming: Option<SortedRows<'a, I>>,
}

impl<'a, O: Adjacency, I: Adjacency> BothWays<'a, O, I> {
    pub(crate) fn new(topology: Topology, outgoing: &'a O, incoming: &'a I) -> Self {
        let incoming = (!topology.is_undirected()).then(|| SortedRows::new(incoming));
        BothWays { outgoing: SortedRows::new(outgoing), incoming }
    }

    /// The out-neighbors and the in-neighbors, each ascending; in an undirected graph, all
    /// neighbors and an empty row.
    #[inline]
    pub(crate) fn rows(&mut self, vertex: VertexId) -> Result<[&[VertexId]; 2], KernelError> {
        let incoming = match &mut self.incoming {
            Some(incoming) => incoming.of(vertex)?,
            None => &[],
        };
        Ok([self.outgoing.of(vertex)?, incoming])
    }

    /// Visits every neighbor except the vertex itself once, ascending, with the number of
    /// directions of the edges between them: 2 in an undirected graph.
    #[inline]
    pub(crate) fn each(
        &mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, u32),
    ) -> Result<(), KernelError> {
        let undirected = self.incoming.is_none();
        let [outgoing, incoming] = self.rows(vertex)?;
        if undirected {
            distinct(outgoing).filter(|id| *id != vertex).for_each(|id| visit(id, 2));
            return Ok(());
        }
        let (mut outgoing, mut incoming) = (distinct(outgoing).peekable(), distinct(incoming).peekable());
        while let Some(id) = outgoing.peek().into_iter().chain(incoming.peek()).min().copied() {
            let is_next = |other: &VertexId| *other == id;
            let ways = outgoing.next_if(is_next).into_iter().chain(incoming.next_if(is_next)).count();
            if id != vertex {
                visit(id, ways as u32);
            }
        }
        Ok(())
    }
}

/// The number of distinct neighbors of every id in either direction, without the vertex itself.
pub(crate) fn degrees<'a, O: Adjacency + 'a, I: Adjacency + 'a>(
    execution: Execution<'_>,
    vertex_bound: u32,
    ranges: &[Range<u32>],
    both_ways: impl Fn() -> BothWays<'a, O, I> + Sync,
) -> Result<Vec<u32>, KernelError> {
    let mut degrees = vec![0; vertex_bound as usize];
    let chunks = ranges.iter().zip(split_mut(&mut degrees, ranges)).collect();
    execution.map_chunks(chunks, |(range, degrees)| {
        let mut neighbors = both_ways();
        for (vertex, degree) in range.clone().map(VertexId::new).zip(degrees) {
            neighbors.each(vertex, |_, _| *degree += 1)?;
        }
        Ok(())
    })?;
    Ok(degrees)
}
