//! The edges that all stores get.

use anyhow::Result;
use hedgerow::VertexId;
use hedgerow_formats::Kronecker;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rayon::slice::ParallelSliceMut;

/// A directed edge.
pub type Edge = (VertexId, VertexId);

/// Number of edges to look up.
const PROBES: usize = 1 << 20;

/// An undirected graph without loops and repeated edges, as a shuffled stream of both directions of
/// every edge.
#[derive(Debug)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// The vertex bound: vertices are numbered from 0.
    pub vertices: u32,
    /// The edges in the order in which they are put.
    pub stream: Vec<Edge>,
    /// Edges to look up: half of them exist, the other half go from the source of an edge to a
    /// random vertex.
    pub probes: Vec<Edge>,
}

impl Graph {
    /// The Kronecker graph of the Graph 500 benchmark with 2^`scale` vertices and 16 edges per
    /// vertex.
    pub fn kronecker(scale: u32, seed: u64) -> Result<Self> {
        let kronecker = Kronecker::new(scale, 16, seed)?;
        let pack = |(source, destination): (u64, u64)| source << 32 | destination;
        let edges = (0..kronecker.edges()).map(|number| kronecker.edge(number));
        let both = edges.filter(|(source, destination)| source != destination);
        let mut packed: Vec<u64> = both.flat_map(|(a, b)| [pack((a, b)), pack((b, a))]).collect();
        packed.par_sort_unstable();
        packed.dedup();
        let unpack = |edge: u64| (VertexId::new((edge >> 32) as u32), VertexId::new(edge as u32));
        let mut stream: Vec<Edge> = packed.into_iter().map(unpack).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        stream.shuffle(&mut random);
        let vertices = kronecker.vertices() as u32;
        let mut probe = |position| {
            let (source, destination) = stream[random.random_range(0..stream.len())];
            let anywhere = VertexId::new(random.random_range(0..vertices));
            (source, if position % 2 == 0 { destination } else { anywhere })
        };
        let probes = (0..PROBES.min(4 * stream.len())).map(&mut probe).collect();
        Ok(Graph { name: format!("kron-{scale}"), vertices, stream, probes })
    }
}

/// Random edges between the vertices below a bound, with hardly any repetitions.
#[derive(Debug)]
pub struct FreshEdges {
    random: Xoshiro256PlusPlus,
    vertices: u32,
}

impl FreshEdges {
    /// A sequence of edges, different for every seed.
    pub fn new(seed: u64, vertices: u32) -> Self {
        FreshEdges { random: Xoshiro256PlusPlus::seed_from_u64(seed), vertices }
    }

    /// The next edge.
    pub fn next(&mut self) -> Edge {
        let mut vertex = || VertexId::new(self.random.random_range(0..self.vertices));
        (vertex(), vertex())
    }
}
