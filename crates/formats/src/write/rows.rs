//! The neighbors of every vertex, row by row.

use crate::static_graph::IdPair;
use hedgerow_kernels::MemoryBudget;
use hedgerow_kernels::csr::{BuildOptions, Csr, CsrBuilder};
use hedgerow_model::{Column, Topology, VertexId, unit_slice};
use rayon::ThreadPool;
use std::ops::Range;

/// Edges that are added to a graph at a time.
const CHUNK: usize = if cfg!(test) { 2 } else { 1 << 19 };

/// The direction of the edges in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Out,
    In,
    Both,
}

/// The neighbors of every vertex, ascending, each once, with the weight that came last.
#[derive(Debug)]
pub(crate) struct Rows {
    graph: Csr,
    has_weights: bool,
}

impl Rows {
    /// Sorts edges into rows. O(edges · log(largest degree) + vertices).
    pub fn new(
        vertices: u32,
        edges: &[IdPair],
        weights: Option<&[f64]>,
        direction: Direction,
        pool: Option<&ThreadPool>,
    ) -> Self {
        let graph = match weights {
            None => build(vertices, edges, unit_slice(edges.len()), direction, pool),
            Some(weights) => build(vertices, edges, weights, direction, pool),
        };
        Rows { graph, has_weights: weights.is_some() }
    }

    /// The end of every row among all neighbors.
    pub fn ends(&self) -> &[u64] {
        &self.graph.offsets()[1..]
    }

    /// All neighbors, row by row.
    pub fn neighbors(&self) -> &[VertexId] {
        self.graph.neighbors()
    }

    /// The weight of every neighbor, if edges have weights.
    pub fn weights(&self) -> Option<&[f64]> {
        self.has_weights.then(|| self.graph.values())
    }

    /// Iterates over rows: the vertex, its neighbors, and their range among all neighbors.
    pub fn iter(&self) -> impl Iterator<Item = (VertexId, &[VertexId], Range<usize>)> {
        let rows = self.graph.offsets().windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let row = |(vertex, places): (u32, Range<usize>)| {
            (VertexId::new(vertex), &self.neighbors()[places.clone()], places)
        };
        (0..).zip(rows).map(row)
    }
}

fn build<W: Column>(
    vertices: u32,
    edges: &[IdPair],
    weights: &[W],
    direction: Direction,
    pool: Option<&ThreadPool>,
) -> Csr {
    let is_undirected = direction == Direction::Both;
    let topology = if is_undirected { Topology::Undirected } else { Topology::Directed };
    let (mut builder, mut chunk) = (CsrBuilder::new(topology).on(pool), Vec::new());
    for (edges, weights) in edges.chunks(CHUNK).zip(weights.chunks(CHUNK)) {
        let turn = |(source, destination): IdPair| match direction {
            Direction::In => (destination, source),
            _ => (source, destination),
        };
        chunk.extend(edges.iter().copied().map(turn));
        chunk = builder.add(chunk, weights.to_vec());
    }
    let options = BuildOptions { pool, memory: MemoryBudget::bytes(u64::MAX), ..BuildOptions::default() };
    let built = builder.finish(vertices, vertices.into(), options);
    built.expect("a build without a limit and without a way to cancel it does not fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_the_last_weight_of_an_edge_counts() {
        let edges = [(2, 0), (0, 2), (0, 1), (1, 1), (0, 2)];
        let edges = edges.map(|(source, destination)| (VertexId::new(source), VertexId::new(destination)));
        let weights = [1.0, 2.0, 3.0, 4.0, 5.0];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let rows = |direction| {
            let rows = Rows::new(4, &edges, Some(&weights), direction, Some(&pool));
            let weights = rows.weights().unwrap();
            let row = |(_, neighbors, places): (VertexId, &[VertexId], Range<usize>)| {
                let neighbors = neighbors.iter().map(|neighbor| neighbor.get());
                neighbors.zip(weights[places].iter().copied()).collect::<Vec<_>>()
            };
            rows.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(rows(Direction::Out), [vec![(1, 3.0), (2, 5.0)], vec![(1, 4.0)], vec![(0, 1.0)], vec![]]);
        assert_eq!(rows(Direction::In), [vec![(2, 1.0)], vec![(0, 3.0), (1, 4.0)], vec![(0, 5.0)], vec![]]);
        let both = [vec![(1, 3.0), (2, 5.0)], vec![(0, 3.0), (1, 4.0)], vec![(0, 5.0)], vec![]];
        assert_eq!(rows(Direction::Both), both);
        assert_eq!(Rows::new(0, &[], None, Direction::Both, None).iter().count(), 0);
    }
}
