//! Random graphs, and views of them that are less helpful than the static graph.

pub mod rearranged;

use hedgerow_kernels::Execution;
use hedgerow_kernels::csr::{BuildOptions, Csr};
use hedgerow_model::{Column, Topology, VertexId};
use proptest::prelude::*;
use rayon::ThreadPool;
pub use rearranged::{Doubled, Unhelpful};
use std::collections::{BTreeMap, BTreeSet};

pub const TOPOLOGIES: [Topology; 3] =
    [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

pub fn id(index: u32) -> VertexId {
    VertexId::new(index)
}

/// A graph as sets: every vertex with its out-neighbors, or all neighbors in an undirected graph.
pub type Sets = BTreeMap<u32, BTreeSet<u32>>;

/// A random graph: some ids below a bound exist, with edges between them.
#[derive(Clone, Debug)]
pub struct Graph {
    pub topology: Topology,
    pub bound: u32,
    pub vertices: BTreeSet<u32>,
    pub edges: Vec<(u32, u32)>,
}

impl Graph {
    pub fn csr(&self) -> Csr {
        let edges: Vec<_> = self.edges.iter().map(|(source, to)| (id(*source), id(*to))).collect();
        let csr = Csr::from_edges(self.bound, self.topology, &edges, BuildOptions::default());
        let holes = (0..self.bound).filter(|index| !self.vertices.contains(index)).map(id);
        csr.and_then(|csr| csr.without_vertices(holes)).expect("edges join vertices")
    }

    /// The graph with a weight on every edge that depends only on its two ends.
    pub fn weighted_csr<W: Column>(&self, weight: impl Fn(u32, u32) -> W) -> Csr {
        let edges = self.edges.iter().map(|(source, to)| (id(*source), id(*to), weight(*source, *to)));
        let edges: Vec<_> = edges.collect();
        let csr = Csr::from_valued_edges(self.bound, self.topology, &edges, BuildOptions::default());
        let holes = (0..self.bound).filter(|index| !self.vertices.contains(index)).map(id);
        csr.and_then(|csr| csr.without_vertices(holes)).expect("edges join vertices")
    }

    /// The neighbors of every vertex in either direction.
    pub fn undirected_sets(&self) -> Sets {
        Graph { topology: Topology::Undirected, ..self.clone() }.sets()
    }

    pub fn sets(&self) -> Sets {
        let mut sets: Sets = self.vertices.iter().map(|vertex| (*vertex, BTreeSet::new())).collect();
        for (source, destination) in &self.edges {
            sets.entry(*source).or_default().insert(*destination);
            if self.topology.is_undirected() {
                sets.entry(*destination).or_default().insert(*source);
            }
        }
        sets
    }
}

/// Graphs with holes, self loops, duplicates, and vertices without edges.
pub fn graphs() -> impl Strategy<Value = Graph> {
    let vertices = prop::collection::btree_set(0..100_u32, 1..60);
    (prop::sample::select(&TOPOLOGIES), vertices, 0..5_u32).prop_flat_map(|(topology, vertices, unused)| {
        let bound = vertices.last().expect("there is at least one vertex") + 1 + unused;
        let ends = prop::sample::select(vertices.iter().copied().collect::<Vec<_>>());
        let edges = prop::collection::vec((ends.clone(), ends), 0..150);
        edges.prop_map(move |edges| Graph { topology, bound, vertices: vertices.clone(), edges })
    })
}

/// Graphs with few vertices, so that many edges make triangles.
pub fn dense_graphs() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((0..20_u32, 0..20_u32), 0..200);
    (prop::sample::select(&TOPOLOGIES), edges).prop_map(|(topology, edges)| Graph {
        topology,
        bound: 20,
        vertices: (0..20).collect(),
        edges,
    })
}

/// A graph that is large enough for many chunks: a few hubs, a long path, holes, dangling vertices.
pub fn large_graph(topology: Topology) -> Graph {
    let mut edges: Vec<_> = (0..200_000_u64)
        .map(|edge| {
            let (source, to) = (scrambled(2 * edge) % 20_000, scrambled(2 * edge + 1) % 20_000);
            (source / (1 + source % 50), to)
        })
        .collect();
    edges.extend((19_990..20_500).map(|step| (step, step + 1)));
    let vertices = edges.iter().flat_map(|(source, to)| [*source, *to]).collect();
    Graph { topology, bound: 21_000, vertices, edges }
}

/// A pseudorandom number, identical in every run.
pub fn scrambled(number: u64) -> u32 {
    let once = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((once ^ (once >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) as u32
}

/// A pool of `threads` threads; 0 is the calling thread.
pub fn pool(threads: usize) -> Option<ThreadPool> {
    (threads > 0)
        .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start"))
}

pub fn execution(pool: Option<&ThreadPool>) -> Execution<'_> {
    Execution { pool, ..Execution::default() }
}
