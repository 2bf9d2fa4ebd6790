//! The graph with vertices renamed by descending degree and edges pointing to smaller names. The
//! value of an edge stores its original directions.

use crate::both_ways::BothWays;
use crate::csr::Csr;
use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Column, GraphView, Topology, VertexId};
use std::ops::Range;

/// The directions of the edges between two neighbors: `u32`, or `()` if always both.
pub(super) trait Ways: Column {
    /// True if some edges go one way only.
    const VARY: bool;

    fn of(count: u32) -> Self;
    fn count(self) -> u64;
}

impl Ways for () {
    const VARY: bool = false;

    fn of(_: u32) {}

    #[inline(always)]
    fn count(self) -> u64 {
        2
    }
}

impl Ways for u32 {
    const VARY: bool = true;

    fn of(count: u32) -> u32 {
        count
    }

    #[inline(always)]
    fn count(self) -> u64 {
        u64::from(self)
    }
}

/// Every pair of neighbors once, from the larger name to the smaller.
pub(super) fn lower_neighbors<'a, O: Adjacency + 'a, I: Adjacency + 'a, W: Ways>(
    execution: Execution<'_>,
    view: &impl GraphView,
    edges: u64,
    ranges: &[Range<u32>],
    names: &[VertexId],
    both_ways: impl Fn() -> BothWays<'a, O, I> + Sync,
) -> Result<Csr, KernelError> {
    let bound = view.vertex_bound();
    // The list of edges, in parts and whole; the build itself checks the memory for sorting.
    let needed = 2 * edges * size_of::<(VertexId, VertexId, W)>() as u64;
    execution.memory.check(needed, bound, view.vertex_count())?;
    let parts = execution.map_chunks(ranges.to_vec(), |range| {
        let (mut neighbors, mut edges) = (both_ways(), Vec::new());
        for vertex in range.map(VertexId::new) {
            let name = names[vertex.index()];
            neighbors.each(vertex, |neighbor, ways| {
                let neighbor = names[neighbor.index()];
                if neighbor < name {
                    edges.push((name, neighbor, W::of(ways)));
                }
            })?;
        }
        Ok(edges)
    })?;
    let edges = parts.concat();
    Ok(Csr::from_valued_edges(bound, Topology::Directed, &edges, execution.build_options())?)
}
