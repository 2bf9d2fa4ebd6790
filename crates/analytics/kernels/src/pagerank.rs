//! PageRank by synchronous iteration, each vertex collecting from its in-neighbors.
//!
//! As defined by the LDBC Graphalytics benchmark specification (algorithm PageRank):
//!
//! ```text
//! rank'(v) = (1 - d) / N + d * (sum of rank(u) / out_degree(u) over the in-neighbors u of v
//!                               + sum of rank(w) over the vertices w without out-edges / N)
//! ```
//!
//! With weights, an edge carries its weight over the sum of the weights of its source's out-edges
//! instead of 1 / out_degree(u); a personalization replaces 1 / N. Both as in NetworkX.

use crate::csr::{Csr, ParallelWeight, has_parallel_edges};
use crate::incoming::with_incoming;
use crate::kernel::check_exists;
use crate::ranges::{covering_ranges, split_mut};
use crate::{Execution, Kernel, KernelError, Progress};
use hedgerow_encoding::EdgeWeight;
use hedgerow_model::{Adjacency, Column, ColumnType, Cursor, Direction, GraphView, LabelId, VertexId};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::time::{Duration, Instant};

/// Target size of a chunk, in vertices and neighbors, unless there would be too many chunks.
const CHUNK_WORK: u64 = 1 << 16;
const MOST_CHUNKS: u64 = 4096;
/// The sums of weights whose shares of ranks keep their digits.
const WEIGHT_SUMS: RangeInclusive<f64> = 1e-200..=1e200;

/// Ranks vertices by the ranks of their in-neighbors.
///
/// Each of several parallel edges counts: a label with parallel edges is copied first, at 4 bytes
/// per edge in each direction that the view keeps. Needs in-neighbors: for a directed view that
/// keeps none, a transposed copy is built first.
///
/// With a [`weight`](PageRank::weight), the label is first copied with its weights, at 12 bytes per
/// edge in each direction; of parallel edges the sum counts. A vertex whose weights are all 0
/// counts as one without out-edges.
#[derive(Clone, Copy, Debug)]
pub struct PageRank<'a> {
    /// The share of a rank that follows edges; the rest is spread over all vertices, or by the
    /// personalization. 0 to 1.
    pub damping: f64,
    /// Maximum number of iterations.
    pub iterations: u32,
    /// Stops when an iteration changes the ranks by less than this, summed over all vertices.
    pub tolerance: Option<f64>,
    /// The precision of the ranks passed along edges; double with weights.
    pub precision: Precision,
    /// The weights of edges; `None` is 1.
    pub weight: Option<EdgeWeight>,
    /// The vertices that get the rest of all ranks, and the ranks of vertices without out-edges, in
    /// proportion to these shares; `None` is all vertices, evenly. Repeated vertices add up.
    pub personalization: Option<&'a [(VertexId, f64)]>,
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
    /// Time to copy weights or parallel edges and to build the in-neighbors, part of `elapsed`;
    /// `None` if the view has the in-neighbors, and nothing was copied.
    pub transposed: Option<Duration>,
}

impl Default for PageRank<'_> {
    /// Damping 0.85, 10 iterations, no tolerance, double precision, no weights, all vertices, the
    /// default label.
    fn default() -> Self {
        PageRank {
            damping: 0.85,
            iterations: 10,
            tolerance: None,
            precision: Precision::Double,
            weight: None,
            personalization: None,
            label: LabelId::DEFAULT,
            execution: Execution::default(),
        }
    }
}

impl Kernel for PageRank<'_> {
    type Output = PageRankResult;

    /// O(iterations * (vertices + edges)); 32 bytes per id, the in-neighbors if they are built, and
    /// the edges if they have weights or some are parallel.
    fn run<V: GraphView>(self, view: &V) -> Result<PageRankResult, KernelError> {
        let started = Instant::now();
        self.check()?;
        let teleports = self.teleports(view)?;
        let options = self.execution.build_options();
        if let Some(weight) = self.weight {
            let graph = Csr::weighted(view, self.label, weight, ParallelWeight::Sum, options)?;
            return self.rank_copy::<f64>(&graph, &teleports, started);
        }
        if !has_parallel_edges(view, self.label) {
            return self.rank::<V, ()>(view, &teleports, started);
        }
        self.rank_copy::<()>(&Csr::from_view::<_, ()>(view, self.label, options)?, &teleports, started)
    }
}

impl<'a> PageRank<'a> {
    /// Weighs edges.
    #[must_use]
    pub fn weight(mut self, weight: EdgeWeight) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Spreads the rest of all ranks over these vertices, in proportion to their shares: see
    /// [`personalization`](PageRank::personalization).
    #[must_use]
    pub fn personalized(mut self, shares: &'a [(VertexId, f64)]) -> Self {
        self.personalization = Some(shares);
        self
    }
}

impl PageRank<'_> {
    /// Returns the personalization, ascending by vertex, with shares that sum to 1; empty if there
    /// is none.
    fn teleports(&self, view: &impl GraphView) -> Result<Vec<(VertexId, f64)>, KernelError> {
        let Some(given) = self.personalization else { return Ok(Vec::new()) };
        let mut teleports = given.to_vec();
        teleports.sort_by_key(|(vertex, _)| *vertex);
        teleports.dedup_by(|(vertex, share), (kept, sum)| {
            let is_same = vertex == kept;
            *sum += if is_same { *share } else { 0.0 };
            is_same
        });
        let total: f64 = teleports.iter().map(|(_, share)| share).sum();
        let invalid = given
            .iter()
            .map(|(_, share)| *share)
            .find(|share| *share < 0.0 || share.is_nan())
            .unwrap_or(total);
        if !(invalid > 0.0 && total.is_finite()) {
            let (parameter, expected) = ("personalization", "shares of 0 or more with a finite sum above 0");
            return Err(KernelError::InvalidParameter { parameter, found: invalid, expected });
        }
        for (vertex, share) in &mut teleports {
            check_exists(view, *vertex)?;
            *share /= total;
        }
        Ok(teleports)
    }

    /// Ranks the vertices of a copy that has taken the time since `started`.
    fn rank_copy<W: Factor>(
        &self,
        graph: &Csr,
        teleports: &[(VertexId, f64)],
        started: Instant,
    ) -> Result<PageRankResult, KernelError> {
        let copied = started.elapsed();
        let kernel = PageRank { label: LabelId::DEFAULT, ..*self };
        let result = kernel.rank::<_, W>(graph, teleports, started)?;
        Ok(PageRankResult { transposed: Some(copied + result.transposed.unwrap_or_default()), ..result })
    }

    /// Ranks the vertices of a view whose neighbors are repeated where edges are parallel.
    fn rank<V: GraphView, W: Factor>(
        &self,
        view: &V,
        teleports: &[(VertexId, f64)],
        started: Instant,
    ) -> Result<PageRankResult, KernelError> {
        let needed = u64::from(view.vertex_bound()) * 4 * size_of::<f64>() as u64;
        self.execution.memory.check(needed, view.vertex_bound(), view.vertex_count())?;
        let (result, transposed) = with_incoming!(<W> view, self.label, self.execution, incoming => {
            self.iterate_precisely::<V, W>(view, &incoming, teleports)?
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

    fn iterate_precisely<V: GraphView, W: Factor>(
        &self,
        view: &V,
        incoming: &impl Adjacency<Value = W>,
        teleports: &[(VertexId, f64)],
    ) -> Result<PageRankResult, KernelError> {
        match self.precision {
            Precision::Single if W::TYPE == ColumnType::Unit => {
                self.iterate::<V, f32, W>(view, incoming, teleports)
            }
            _ => self.iterate::<V, f64, W>(view, incoming, teleports),
        }
    }

    fn iterate<V: GraphView, C: Contribution, W: Factor>(
        &self,
        view: &V,
        incoming: &impl Adjacency<Value = W>,
        teleports: &[(VertexId, f64)],
    ) -> Result<PageRankResult, KernelError> {
        let vertices = view.vertex_count() as f64;
        // Fixed ranges, whatever the number of threads, so that sums are added in one order.
        let work = u64::from(view.vertex_bound()) + view.edge_count(self.label).at_most();
        let parts = work.div_ceil(CHUNK_WORK).min(MOST_CHUNKS) as usize;
        let ranges = covering_ranges(incoming, parts, view.vertex_bound())?;
        let (mut state, mut dangling) = self.start::<V, C, W>(view, &ranges)?;
        let (mut iterations, mut change) = (0, 0.0);
        while iterations < self.iterations {
            let everywhere = (1.0 - self.damping) / vertices + self.damping * dangling / vertices;
            let base = match self.personalization {
                None => Base { everywhere, teleports, share: 0.0 },
                Some(_) => Base { everywhere: 0.0, teleports, share: everywhere * vertices },
            };
            let sums = self.step(view, incoming, &ranges, &mut state, &base)?;
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
    fn start<V: GraphView, C: Contribution, W: Factor>(
        &self,
        view: &V,
        ranges: &[Range<u32>],
    ) -> Result<(RankArrays<C>, f64), KernelError> {
        let outgoing = view.adjacency::<W>(self.label, Direction::Out)?;
        let mut state = RankArrays::zero(view.vertex_bound() as usize);
        let rank = 1.0 / view.vertex_count() as f64;
        let arrays = split_mut(&mut state.ranks, ranges).zip(split_mut(&mut state.contributions, ranges));
        let arrays = arrays.zip(split_mut(&mut state.shares, ranges));
        let chunks = ranges.iter().zip(arrays).collect();
        let dangling = self.execution.map_chunks(chunks, |(range, ((ranks, contributions), shares))| {
            add_weights(&outgoing, range.clone(), shares)?;
            let (mut dangling, mut wrong) = (0.0, None);
            let visited = view.each_vertex(range.clone(), |vertex| {
                let position = (vertex.get() - range.start) as usize;
                ranks[position] = rank;
                if shares[position] == 0.0 {
                    dangling += rank;
                } else {
                    if !WEIGHT_SUMS.contains(&shares[position]) {
                        wrong = wrong.or(Some((vertex, shares[position])));
                    }
                    shares[position] = 1.0 / shares[position];
                    contributions[position] = C::of(rank * shares[position]);
                }
            });
            visited?;
            match wrong {
                None => Ok(dangling),
                Some((vertex, sum)) => Err(KernelError::WeightSum { vertex, sum }),
            }
        })?;
        Ok((state, dangling.into_iter().sum()))
    }

    /// One iteration.
    fn step<V: GraphView, C: Contribution, W: Factor>(
        &self,
        view: &V,
        incoming: &impl Adjacency<Value = W>,
        ranges: &[Range<u32>],
        state: &mut RankArrays<C>,
        base: &Base<'_>,
    ) -> Result<Sums, KernelError> {
        let RankArrays { ranks, contributions, next, shares } = state;
        let arrays = split_mut(ranks, ranges).zip(split_mut(next, ranges));
        let chunks = ranges.iter().zip(arrays).collect();
        let sums = self.execution.map_chunks(chunks, |(range, (ranks, next))| {
            let mut collected = vec![0.0; range.len()];
            let neighbors = collect_contributions(incoming, range.clone(), contributions, &mut collected)?;
            let mut sums = Sums { neighbors, ..Sums::default() };
            let mut teleports = base.teleports_from(range.start).iter().peekable();
            let visited = view.each_vertex(range.clone(), |vertex| {
                let position = (vertex.get() - range.start) as usize;
                let base = match teleports.next_if(|(to, _)| *to == vertex) {
                    Some((_, share)) => base.share * share,
                    None => base.everywhere,
                };
                let rank = base + self.damping * collected[position];
                let share = shares[vertex.index()];
                sums.change += (rank - ranks[position]).abs();
                sums.dangling += if share == 0.0 { rank } else { 0.0 };
                ranks[position] = rank;
                next[position] = C::of(rank * share);
            });
            visited?;
            Ok(sums)
        })?;
        std::mem::swap(contributions, next);
        Ok(sums.into_iter().fold(Sums::default(), Sums::plus))
    }
}

/// The ranks that do not come along edges, in an iteration.
struct Base<'t> {
    /// The rank of each vertex without a share.
    everywhere: f64,
    /// Some vertices, ascending, with their shares.
    teleports: &'t [(VertexId, f64)],
    /// The rank that is divided among them.
    share: f64,
}

impl<'t> Base<'t> {
    /// The vertices with shares, from a vertex on.
    fn teleports_from(&self, first: u32) -> &'t [(VertexId, f64)] {
        &self.teleports[self.teleports.partition_point(|(vertex, _)| vertex.get() < first)..]
    }
}

/// The arrays over all ids. Everything is 0 where there is no vertex.
struct RankArrays<C> {
    ranks: Vec<f64>,
    /// The contribution of a vertex to each out-neighbor: its rank times its share.
    contributions: Vec<C>,
    /// The contributions of the next iteration.
    next: Vec<C>,
    /// 1 / out-degree, or the sum of the weights; 0 without out-edges.
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

/// The weight of an edge, as the value of an adjacency: `()` is 1.
trait Factor: Column {
    fn times(self, contribution: f64) -> f64;

    fn sum(weights: &[Self]) -> f64;
}

impl Factor for () {
    #[inline(always)]
    fn times(self, contribution: f64) -> f64 {
        contribution
    }

    fn sum(weights: &[()]) -> f64 {
        weights.len() as f64
    }
}

impl Factor for f64 {
    #[inline(always)]
    fn times(self, contribution: f64) -> f64 {
        self * contribution
    }

    fn sum(weights: &[f64]) -> f64 {
        weights.iter().sum()
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

/// Writes the sums of the weights of the vertices in `range` to `sums`, whose entries are 0.
fn add_weights<W: Factor, A: Adjacency<Value = W>>(
    outgoing: &A,
    range: Range<u32>,
    sums: &mut [f64],
) -> Result<(), KernelError> {
    let mut cursor = outgoing.cursor();
    if A::DEGREE_IS_O1 && W::TYPE == ColumnType::Unit {
        for (vertex, degree) in range.map(VertexId::new).zip(sums) {
            *degree = cursor.degree(vertex)? as f64;
        }
        return Ok(());
    }
    let first = range.start;
    let added = cursor.scan(range, |vertex, _, weights| {
        sums[(vertex.get() - first) as usize] += W::sum(weights);
        ControlFlow::<()>::Continue(())
    });
    Ok(added.map(|_| ())?)
}

/// Adds the contributions of the in-neighbors of the vertices in `range` to `sums`, whose entries
/// are 0. Returns the number of in-neighbors.
fn collect_contributions<C: Contribution, W: Factor>(
    incoming: &impl Adjacency<Value = W>,
    range: Range<u32>,
    contributions: &[C],
    sums: &mut [f64],
) -> Result<u64, KernelError> {
    let (first, mut count) = (range.start, 0);
    let collected = incoming.cursor().scan(range, |vertex, neighbors, weights| {
        let sum = &mut sums[(vertex.get() - first) as usize];
        *sum = neighbors
            .iter()
            .zip(weights)
            .fold(*sum, |sum, (neighbor, weight)| sum + weight.times(contributions[neighbor.index()].into()));
        count += neighbors.len() as u64;
        ControlFlow::<()>::Continue(())
    });
    Ok(collected.map(|_| count)?)
}
