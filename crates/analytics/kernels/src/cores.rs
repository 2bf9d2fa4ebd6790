//! Core numbers, by peeling.

use crate::both_ways::{BothWays, degrees};
use crate::incoming::with_incoming;
use crate::ranges::covering_ranges;
use crate::{Execution, Kernel, KernelError, Progress};
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId, Topology, VertexId};
use hedgerow_sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Removing fewer vertices than this is not worth waking other threads for.
const SMALL: usize = 1024;
/// Checking fewer degrees than this is not worth waking other threads for. There are many levels,
/// and after the first few not many vertices are left.
const SMALL_LOOK: usize = 1 << 14;
/// Fewer threads than this are slower together than one alone, because each lowers a degree by an
/// exchange: on two threads a Kronecker graph of scale 17 took 1.4 times as long as on one.
const FEWEST_THREADS: usize = 4;

/// Computes the core number of every vertex: its depth in the dense part of the graph.
///
/// The k-core is the largest part of the graph in which every vertex has at least k neighbors; the
/// core number of a vertex is the largest k whose core contains it. Direction is ignored, parallel
/// edges count as one, and self loops not at all.
///
/// Removes the vertices of the lowest degree until none is left, then continues with the lowest
/// degree of the rest. See "An O(m) Algorithm for Cores Decomposition of Networks"
/// (arXiv:cs/0310049). A thread continues with the vertices that its own removals leave with too
/// few neighbors, without waiting for other threads, as in "Parallel k-core Decomposition on
/// Multicore Platforms" (IPDPSW 2017), section III.
///
/// Needs in-neighbors: for a directed view that keeps none, a transposed copy is built first.
#[derive(Clone, Copy, Debug)]
pub struct Cores<'a> {
    /// The edges that count.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of [`Cores`]. All but the times is identical for any number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoresResult {
    /// The core number of each vertex id, or [`Cores::NO_VERTEX`].
    pub cores: Vec<u32>,
    /// The largest core number: the degeneracy of the graph.
    pub largest: u32,
    /// Number of distinct core numbers.
    pub iterations: u32,
    /// Total time.
    pub elapsed: Duration,
    /// Time to build the in-neighbors, part of `elapsed`; `None` if the view has them.
    pub transposed: Option<Duration>,
}

impl Cores<'_> {
    /// The core number of an id without a vertex.
    pub const NO_VERTEX: u32 = u32::MAX;
}

impl Default for Cores<'_> {
    /// Over the default label.
    fn default() -> Self {
        Cores { label: LabelId::DEFAULT, execution: Execution::default() }
    }
}

impl Kernel for Cores<'_> {
    type Output = CoresResult;

    /// O(vertices + edges), and each vertex is checked once per core number up to its own; 16 bytes
    /// per id, and the in-neighbors if they are built.
    fn run<V: GraphView>(self, view: &V) -> Result<CoresResult, KernelError> {
        let started = Instant::now();
        let bound = view.vertex_bound();
        self.execution.memory.check(u64::from(bound) * 16, bound, view.vertex_count())?;
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let mut vertices = Vec::with_capacity(view.vertex_count() as usize);
        view.each_vertex(0..bound, |vertex| vertices.push(vertex))?;
        let mut cores = vec![Cores::NO_VERTEX; bound as usize];
        let (iterations, transposed) = with_incoming!(view, self.label, self.execution, incoming => {
            let both_ways = || BothWays::new(view.topology(), &outgoing, &incoming);
            let ranges = covering_ranges(&outgoing, self.execution.parts(), bound)?;
            let degrees = degrees(self.execution, bound, &ranges, both_ways)?;
            let together = self.execution.threads() >= FEWEST_THREADS;
            let peeling = Peeling {
                execution: if together { self.execution } else { Execution { pool: None, ..self.execution } },
                topology: view.topology(),
                outgoing: &outgoing,
                incoming: &incoming,
                degrees: degrees.into_iter().map(AtomicU32::new).collect(),
                shared: together,
            };
            let iterations = peeling.run(&vertices)?;
            for vertex in &vertices {
                cores[vertex.index()] = peeling.degree(*vertex);
            }
            iterations
        });
        let largest = vertices.iter().map(|vertex| cores[vertex.index()]).max().unwrap_or(0);
        Ok(CoresResult { cores, largest, iterations, elapsed: started.elapsed(), transposed })
    }
}

/// A graph whose vertices are being removed.
struct Peeling<'a, O, I> {
    execution: Execution<'a>,
    topology: Topology,
    outgoing: &'a O,
    incoming: &'a I,
    /// The remaining neighbors of a vertex; its core number once it is removed. Relaxed: it only
    /// matters which decrement reaches the level, and threads are joined between two levels.
    degrees: Vec<AtomicU32>,
    /// True if several threads lower degrees concurrently. A single thread needs no exchange, which
    /// would wait for all earlier loads.
    shared: bool,
}

impl<O: Adjacency, I: Adjacency> Peeling<'_, O, I> {
    /// Peels all levels. Returns their number.
    fn run(&self, vertices: &[VertexId]) -> Result<u32, KernelError> {
        let (mut left, mut lowest) = self.those(vertices, |_| true)?;
        let mut levels = 0;
        while let Some(level) = lowest {
            let (taken, _) = self.those(&left, |degree| degree == level)?;
            let lowered =
                self.execution.map_chunks(self.chunks(&taken, SMALL), |chunk| self.peel(chunk, level))?;
            levels += 1;
            let neighbors = lowered.into_iter().sum();
            self.execution.report(Progress { iteration: levels, at_most: None, neighbors });
            (left, lowest) = self.those(&left, |degree| degree > level)?;
        }
        Ok(levels)
    }

    fn degree(&self, vertex: VertexId) -> u32 {
        self.degrees[vertex.index()].load(Ordering::Relaxed)
    }

    fn chunks<'v>(&self, vertices: &'v [VertexId], small: usize) -> Vec<&'v [VertexId]> {
        let parts = if vertices.len() < small { 1 } else { self.execution.parts() };
        vertices.chunks(vertices.len().div_ceil(parts).max(1)).collect()
    }

    /// Returns the vertices whose degree satisfies `such`, and their lowest degree.
    fn those(
        &self,
        vertices: &[VertexId],
        such: impl Fn(u32) -> bool + Sync,
    ) -> Result<(Vec<VertexId>, Option<u32>), KernelError> {
        let found = self.execution.map_chunks(self.chunks(vertices, SMALL_LOOK), |chunk| {
            let (mut found, mut lowest) = (Vec::new(), None);
            for vertex in chunk {
                let degree = self.degree(*vertex);
                if such(degree) {
                    found.push(*vertex);
                    lowest = Some(lowest.map_or(degree, |lowest: u32| lowest.min(degree)));
                }
            }
            Ok((found, lowest))
        })?;
        let (found, lowest): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Ok((found.concat(), lowest.into_iter().flatten().min()))
    }

    /// Removes vertices of degree `level`, and every vertex whose degree falls to `level` thereby.
    /// Returns the number of neighbors examined.
    fn peel(&self, vertices: &[VertexId], level: u32) -> Result<u64, KernelError> {
        let mut neighbors = BothWays::new(self.topology, self.outgoing, self.incoming);
        let (mut waiting, mut examined) = (Vec::new(), 0);
        for vertex in vertices {
            waiting.push(*vertex);
            while let Some(vertex) = waiting.pop() {
                self.execution.check_cancelled()?;
                neighbors.each(vertex, |neighbor, _| {
                    examined += 1;
                    if self.lower(neighbor, level) {
                        waiting.push(neighbor);
                    }
                })?;
            }
        }
        Ok(examined)
    }

    /// Lowers the degree of `vertex` by one if it is above `level`. Returns true if it becomes
    /// `level`.
    #[inline]
    fn lower(&self, vertex: VertexId, level: u32) -> bool {
        let degree = &self.degrees[vertex.index()];
        if !self.shared {
            let before = degree.load(Ordering::Relaxed);
            if before > level {
                degree.store(before - 1, Ordering::Relaxed);
            }
            return before == level + 1;
        }
        let lowered = |degree: u32| (degree > level).then(|| degree - 1);
        degree.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lowered) == Ok(level + 1)
    }
}
