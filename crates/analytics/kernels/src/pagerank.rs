//! PageRank by synchronous iteration, each vertex collecting from its in-neighbors.
//!
//! As defined by the LDBC Graphalytics benchmark specification (algorithm PageRank):
//!
//! ```text
//! rank'(v) = (1 - d) / N + d * (sum of rank(u) / out_degree(u) over the in-neighbors u of v
//!                               + sum of rank(w) over the vertices w without out-edges / N)
//! ```

use crate::csr::{Csr, has_parallel_edges};
use crate::incoming::with_incoming;
use crate::ranges::{covering_ranges, split_mut};
use crate::{Execution, Kernel, KernelError, Progress};
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, RecordView, VertexId};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// Target size of a chunk, in vertices and neighbors, unless there would be too many chunks.
const CHUNK_WORK: u64 = 1 << 16;
const MOST_CHUNKS: u64 = 4096;

/// Ranks vertices by the ranks of their in-neighbors.
///
/// Each of several parallel edges counts: a label with parallel edges is copied first, at 4 bytes
/// per edge in each direction that the view keeps. Needs in-neighbors: for a directed view that
/// keeps none, a transposed copy is built first.
#[derive(Clone, Copy, Debug)]
pub struct PageRank<'a> {
    /// The share of a rank that follows edges; the rest is spread evenly. 0 to 1.
    pub damping: f64,
    /// Maximum number of iterations.
    pub iterations: u32,
    /// Stops when an iteration changes the ranks by less than this, summed over all vertices.
    pub tolerance: Option<f64>,
    /// The precision of the ranks passed along edges.
    pub precision: Precision,
    /// The edges that count.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The precision of the ranks passed along edges. Sums and ranks are `f64` in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// As `f64`.
    #[default]
    Double,
    /// As `f32`: half as many bytes to read at random, with a relative error of up to 1e-7 in the
    /// ranks. The GAP benchmark suite uses it throughout.
    Single,
}

/// The result of [`PageRank`]. The ranks do not depend on the number of threads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PageRankResult {
    /// The rank of each vertex id; 0 for an id without a vertex. The sum is 1.
    pub ranks: Vec<f64>,
    /// Iterations done.
    pub iterations: u32,
    /// The sum of the changes of all ranks in the last iteration; 0 if there was none.
    pub change: f64,
    /// Total time.
    pub elapsed: Duration,
    /// Time to copy parallel edges and to build the in-neighbors, part of `elapsed`; `None` if the
    /// view has the in-neighbors, and no parallel edges.
    pub transposed: Option<Duration>,
}

impl Default for PageRank<'_> {
    /// Damping 0.85, 10 iterations, no tolerance, double precision, the default label.
    fn default() -> Self {
        PageRank {
            damping: 0.85,
            iterations: 10,
            tolerance: None,
            precision: Precision::Double,
            label: LabelId::DEFAULT,
            execution: Execution::default(),
        }
    }
}

impl Kernel for PageRank<'_> {
    type Output = PageRankResult;

    /// O(iterations * (vertices + edges)); 32 bytes per id, the in-neighbors if they are built, and
    /// the edges if some are parallel.
    fn run<V: RecordView>(self, view: &V) -> Result<PageRankResult, KernelError> {
        let started = Instant::now();
        self.check()?;
        if !has_parallel_edges(view, self.label) {
            return self.rank(view, started);
        }
        let graph = Csr::from_view::<_, ()>(view, self.label, self.execution.build_options())?;
        let copied = started.elapsed();
        let result = PageRank { label: LabelId::DEFAULT, ..self }.rank(&graph, started)?;
        Ok(PageRankResult { transposed: Some(copied + result.transposed.unwrap_or_default()), ..result })
    }
}

impl PageRank<'_> {
    /// Ranks the vertices of a view whose neighbors are repeated where edges are parallel.
    fn rank<V: GraphView>(&self, view: &V, started: Instant) -> Result<PageRankResult, KernelError> {
        let needed = u64::from(view.vertex_bound()) * 4 * size_of::<f64>() as u64;
        self.execution.memory.check(needed, view.vertex_bound(), view.vertex_count())?;
        let (result, transposed) = with_incoming!(view, self.label, self.execution, incoming => {
            self.iterate_precisely(view, &incoming)?
        });
        Ok(PageRankResult { transposed, elapsed: started.elapsed(), ..result })
    }

    fn check(&self) -> Result<(), KernelError> {
        let invalid =
            |parameter, found, expected| Err(KernelError::InvalidParameter { parameter, found, expected });
        if !(0.0..=1.0).contains(&self.damping) {
            return invalid("damping", self.damping, "between 0 and 1");
        }
        match self.tolerance {
            Some(tolerance) if tolerance.is_nan() || tolerance < 0.0 => {
                invalid("tolerance", tolerance, "0 or more")
            }
            _ => Ok(()),
        }
    }

    fn iterate_precisely<V: GraphView>(
        &self,
        view: &V,
        incoming: &impl Adjacency,
    ) -> Result<PageRankResult, KernelError> {
        match self.precision {
            Precision::Double => self.iterate::<V, f64>(view, incoming),
            Precision::Single => self.iterate::<V, f32>(view, incoming),
        }
    }

    fn iterate<V: GraphView, C: Contribution>(
        &self,
        view: &V,
        incoming: &impl Adjacency,
    ) -> Result<PageRankResult, KernelError> {
        let vertices = view.vertex_count() as f64;
        // Fixed ranges, whatever the number of threads, so that sums are added in one order.
        let work = u64::from(view.vertex_bound()) + view.edge_count(self.label).at_most();
        let parts = work.div_ceil(CHUNK_WORK).min(MOST_CHUNKS) as usize;
        let ranges = covering_ranges(incoming, parts, view.vertex_bound())?;
        let (mut state, mut dangling) = self.start::<V, C>(view, &ranges)?;
        let (mut iterations, mut change) = (0, 0.0);
        while iterations < self.iterations {
            let base = (1.0 - self.damping) / vertices + self.damping * dangling / vertices;
            let sums = self.step(view, incoming, &ranges, &mut state, base)?;
            (iterations, change, dangling) = (iterations + 1, sums.change, sums.dangling);
            let neighbors = sums.neighbors;
            self.execution.report(Progress {
                iteration: iterations,
                at_most: Some(self.iterations),
                neighbors,
            });
            if self.tolerance.is_some_and(|tolerance| change < tolerance) {
                break;
            }
        }
        let (elapsed, transposed) = (Duration::ZERO, None);
        Ok(PageRankResult { ranks: state.ranks, iterations, change, elapsed, transposed })
    }

    /// The state before the first iteration, and the rank of vertices without out-edges.
    fn start<V: GraphView, C: Contribution>(
        &self,
        view: &V,
        ranges: &[Range<u32>],
    ) -> Result<(RankArrays<C>, f64), KernelError> {
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let mut state = RankArrays::zero(view.vertex_bound() as usize);
        let rank = 1.0 / view.vertex_count() as f64;
        let arrays = split_mut(&mut state.ranks, ranges).zip(split_mut(&mut state.contributions, ranges));
        let arrays = arrays.zip(split_mut(&mut state.shares, ranges));
        let chunks = ranges.iter().zip(arrays).collect();
        let dangling = self.execution.map_chunks(chunks, |(range, ((ranks, contributions), shares))| {
            count_degrees(&outgoing, range.clone(), shares)?;
            let mut dangling = 0.0;
            let visited = view.each_vertex(range.clone(), |vertex| {
                let position = (vertex.get() - range.start) as usize;
                ranks[position] = rank;
                if shares[position] == 0.0 {
                    dangling += rank;
                } else {
                    shares[position] = 1.0 / shares[position];
                    contributions[position] = C::of(rank * shares[position]);
                }
            });
            visited.map_err(KernelError::read)?;
            Ok(dangling)
        })?;
        Ok((state, dangling.into_iter().sum()))
    }

    /// One iteration.
    fn step<V: GraphView, C: Contribution>(
        &self,
        view: &V,
        incoming: &impl Adjacency,
        ranges: &[Range<u32>],
        state: &mut RankArrays<C>,
        base: f64,
    ) -> Result<Sums, KernelError> {
        let RankArrays { ranks, contributions, next, shares } = state;
        let arrays = split_mut(ranks, ranges).zip(split_mut(next, ranges));
        let chunks = ranges.iter().zip(arrays).collect();
        let sums = self.execution.map_chunks(chunks, |(range, (ranks, next))| {
            let mut collected = vec![0.0; range.len()];
            let neighbors = collect_contributions(incoming, range.clone(), contributions, &mut collected)?;
            let mut sums = Sums { neighbors, ..Sums::default() };
            let visited = view.each_vertex(range.clone(), |vertex| {
                let position = (vertex.get() - range.start) as usize;
                let rank = base + self.damping * collected[position];
                let share = shares[vertex.index()];
                sums.change += (rank - ranks[position]).abs();
                sums.dangling += if share == 0.0 { rank } else { 0.0 };
                ranks[position] = rank;
                next[position] = C::of(rank * share);
            });
            visited.map_err(KernelError::read)?;
            Ok(sums)
        })?;
        std::mem::swap(contributions, next);
        Ok(sums.into_iter().fold(Sums::default(), Sums::plus))
    }
}

/// The arrays over all ids. Everything is 0 where there is no vertex.
struct RankArrays<C> {
    ranks: Vec<f64>,
    /// The contribution of a vertex to each out-neighbor: its rank times its share.
    contributions: Vec<C>,
    /// The contributions of the next iteration.
    next: Vec<C>,
    /// 1 / out-degree; 0 without out-edges.
    shares: Vec<f64>,
}

impl<C: Contribution> RankArrays<C> {
    fn zero(length: usize) -> Self {
        RankArrays {
            ranks: vec![0.0; length],
            contributions: vec![C::default(); length],
            next: vec![C::default(); length],
            shares: vec![0.0; length],
        }
    }
}

/// A value passed along an edge.
trait Contribution: Copy + Default + Into<f64> + Send + Sync {
    fn of(exact: f64) -> Self;
}

impl Contribution for f64 {
    fn of(exact: f64) -> f64 {
        exact
    }
}

impl Contribution for f32 {
    fn of(exact: f64) -> f32 {
        exact as f32
    }
}

/// The sums over all vertices in an iteration.
#[derive(Clone, Copy, Default)]
struct Sums {
    change: f64,
    dangling: f64,
    neighbors: u64,
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            change: self.change + other.change,
            dangling: self.dangling + other.dangling,
            neighbors: self.neighbors + other.neighbors,
        }
    }
}

/// Writes the out-degrees of the vertices in `range` to `degrees`, whose entries are 0.
fn count_degrees<A: Adjacency>(
    outgoing: &A,
    range: Range<u32>,
    degrees: &mut [f64],
) -> Result<(), KernelError> {
    let mut cursor = outgoing.cursor();
    if A::DEGREE_IS_O1 {
        for (vertex, degree) in range.map(VertexId::new).zip(degrees) {
            *degree = cursor.degree(vertex).map_err(KernelError::read)? as f64;
        }
        return Ok(());
    }
    let first = range.start;
    let counted = cursor.scan(range, |vertex, neighbors, _| {
        degrees[(vertex.get() - first) as usize] += neighbors.len() as f64;
        ControlFlow::<()>::Continue(())
    });
    counted.map(|_| ()).map_err(KernelError::read)
}

/// Adds the contributions of the in-neighbors of the vertices in `range` to `sums`, whose entries
/// are 0. Returns the number of in-neighbors.
fn collect_contributions<C: Contribution>(
    incoming: &impl Adjacency,
    range: Range<u32>,
    contributions: &[C],
    sums: &mut [f64],
) -> Result<u64, KernelError> {
    let (first, mut count) = (range.start, 0);
    let collected = incoming.cursor().scan(range, |vertex, neighbors, _| {
        let sum = &mut sums[(vertex.get() - first) as usize];
        *sum = neighbors.iter().fold(*sum, |sum, neighbor| sum + contributions[neighbor.index()].into());
        count += neighbors.len() as u64;
        ControlFlow::<()>::Continue(())
    });
    collected.map(|_| count).map_err(KernelError::read)
}
