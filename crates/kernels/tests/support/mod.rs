//! Random graphs, and a view that is as unhelpful as the traits allow.
// Each test binary uses a part of this.
#![allow(dead_code, unused_imports)]

mod doubled;

pub use doubled::Doubled;
use hedgerow_kernels::Execution;
use hedgerow_lab::{BuildOptions, Csr, CsrAdjacency, CsrCursor};
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, LabelId, Neighbours, Timestamp, Topology, VertexId,
    ViewError,
};
use proptest::prelude::*;
use rayon::ThreadPool;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

pub const TOPOLOGIES: [Topology; 3] =
    [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

pub fn id(index: u32) -> VertexId {
    VertexId::new(index)
}

/// A graph as sets: every vertex with its out-neighbours, in an undirected graph with all neighbours.
pub type Sets = BTreeMap<u32, BTreeSet<u32>>;

/// A random graph: the ids below a bound, some of them holes, and edges between the others.
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

    /// The same with a weight on every edge, which depends on its two ends alone.
    pub fn weighted_csr<W: Column>(&self, weight: impl Fn(u32, u32) -> W) -> Csr {
        let edges = self.edges.iter().map(|(source, to)| (id(*source), id(*to), weight(*source, *to)));
        let edges: Vec<_> = edges.collect();
        let csr = Csr::from_valued_edges(self.bound, self.topology, &edges, BuildOptions::default());
        let holes = (0..self.bound).filter(|index| !self.vertices.contains(index)).map(id);
        csr.and_then(|csr| csr.without_vertices(holes)).expect("edges join vertices")
    }

    /// The neighbours of every vertex in either direction.
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

/// A number that looks random and is the same in every run.
pub fn scrambled(number: u64) -> u32 {
    let once = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((once ^ (once >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) as u32
}

/// `threads` 0 is the calling thread.
pub fn pool(threads: usize) -> Option<ThreadPool> {
    (threads > 0)
        .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start"))
}

pub fn execution(pool: Option<&ThreadPool>) -> Execution<'_> {
    Execution { pool, ..Execution::default() }
}

/// A graph whose neighbours come one by one, descending, whose degrees have to be counted, whose
/// cuts leave out what has no neighbours, and whose bound may be far above its vertices.
pub struct Unhelpful {
    pub csr: Csr,
    pub bound: u32,
}

impl Unhelpful {
    pub fn new(csr: Csr) -> Self {
        let bound = csr.vertex_bound();
        Unhelpful { csr, bound }
    }
}

impl GraphView for Unhelpful {
    type Adjacency<'v, W: Column> = UnhelpfulAdjacency<'v, W>;

    fn timestamp(&self) -> Timestamp {
        self.csr.timestamp()
    }

    fn topology(&self) -> Topology {
        self.csr.topology()
    }

    fn vertex_bound(&self) -> u32 {
        self.bound
    }

    fn vertex_count(&self) -> u64 {
        self.csr.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> u64 {
        self.csr.edge_count(label)
    }

    fn contains_vertex(&self, vertex: VertexId) -> bool {
        self.csr.contains_vertex(vertex)
    }

    fn scan_vertices(&self, range: Range<u32>, visit: impl FnMut(VertexId)) {
        self.csr.scan_vertices(range, visit);
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<UnhelpfulAdjacency<'_, W>, ViewError> {
        self.csr.adjacency(label, direction).map(UnhelpfulAdjacency)
    }
}

pub struct UnhelpfulAdjacency<'v, W>(CsrAdjacency<'v, W>);

// SAFETY: the ids are those of a `Csr`, whose bound is not above this view's.
unsafe impl<W: Column> Adjacency for UnhelpfulAdjacency<'_, W> {
    type Value = W;
    type Error = Infallible;
    type Cursor<'a>
        = UnhelpfulCursor<'a, W>
    where
        Self: 'a;

    const SORTED: bool = false;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> UnhelpfulCursor<'_, W> {
        UnhelpfulCursor { csr: self.0.cursor() }
    }

    fn cuts(&self, parts: usize) -> Vec<Range<u32>> {
        let with_neighbours = |vertex: &u32| self.0.cursor().degree(id(*vertex)) != Ok(0);
        let trimmed = self.0.cuts(parts).into_iter().filter_map(|cut| {
            let start = cut.clone().find(with_neighbours)?;
            let end = cut.rev().find(with_neighbours)?;
            Some(start..end + 1)
        });
        trimmed.collect()
    }
}

pub struct UnhelpfulCursor<'a, W> {
    csr: CsrCursor<'a, W>,
}

impl<W: Column> Cursor for UnhelpfulCursor<'_, W> {
    type Value = W;
    type Error = Infallible;

    fn degree(&mut self, vertex: VertexId) -> Result<usize, Infallible> {
        self.csr.degree(vertex)
    }

    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<W>, Infallible> {
        self.csr.find(vertex, neighbour)
    }

    fn neighbours<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        let (neighbours, values) = self.csr.gather(vertex)?;
        let mut runs = neighbours.chunks(1).zip(values.chunks(1)).rev();
        Ok(runs.try_for_each(|(neighbour, value)| run(neighbour, value)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Infallible> {
        for owner in range.map(id) {
            if let ControlFlow::Break(value) =
                self.neighbours(owner, |ids, values| run(owner, ids, values))?
            {
                return Ok(ControlFlow::Break(value));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbours<'_, W>, Infallible> {
        self.csr.gather(vertex)
    }
}
