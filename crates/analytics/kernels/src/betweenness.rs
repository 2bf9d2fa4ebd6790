//! Betweenness centrality.

mod search;
mod sources;

pub use sources::Sources;

use crate::incoming::with_incoming;
use crate::{Execution, Kernel, KernelError, Progress};
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId, VertexId};
use search::{PathSearch, SearchedGraph};
use std::time::{Duration, Instant};

/// Computes the betweenness centrality of every vertex: its share of the shortest paths.
///
/// The score of a vertex is the sum, over the sources s and all vertices t, of the share of the
/// shortest paths from s to t that pass through it; paths do not pass through their ends. Pairs are
/// ordered: in an undirected graph with all vertices as sources, scores are twice the scores over
/// unordered pairs. Scores are not normalized: the scores of k sampled sources, times vertices / k,
/// estimate the scores of all sources.
///
/// Follows out-edges, parallel ones as one. See "A Faster Algorithm for Betweenness Centrality" (J.
/// Math. Sociology 25, 2001), and "Approximating Betweenness Centrality" (WAW 2007) for sampling.
/// Sums are taken in a fixed order, so scores do not depend on the number of threads.
///
/// Needs in-neighbors: for a directed view that keeps none, a transposed copy is built first.
#[derive(Clone, Copy, Debug)]
pub struct Betweenness<'a> {
    /// The vertices where the paths start.
    pub sources: Sources<'a>,
    /// The edges to follow.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of [`Betweenness`]. All but the times and `edges_examined` is identical, to the bit,
/// for any number of threads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BetweennessResult {
    /// The score of each vertex id; 0 for an id without a vertex.
    pub scores: Vec<f64>,
    /// The sources: as given, or ascending.
    pub sources: Vec<VertexId>,
    /// Searches done: one per source.
    pub iterations: u32,
    /// Neighbors examined.
    pub edges_examined: u64,
    /// Total time.
    pub elapsed: Duration,
    /// Time to build the in-neighbors, part of `elapsed`; `None` if the view has them.
    pub transposed: Option<Duration>,
}

impl<'a> Betweenness<'a> {
    /// Counts the paths from these sources over the default label.
    #[must_use]
    pub fn new(sources: Sources<'a>) -> Self {
        Betweenness { sources, label: LabelId::DEFAULT, execution: Execution::default() }
    }
}

impl Kernel for Betweenness<'_> {
    type Output = BetweennessResult;

    /// O(sources · (vertices + edges)); 40 bytes per id, or 8 and 32 per thread with many sources,
    /// and the in-neighbors if they are built.
    ///
    /// Fails with [`KernelError::TooManyPaths`] if there are more paths than a float can count.
    fn run<V: GraphView>(self, view: &V) -> Result<BetweennessResult, KernelError> {
        let started = Instant::now();
        let sources = self.sources.vertices(view)?;
        let (bound, count) = (view.vertex_bound(), view.vertex_count());
        let check = |searches: usize| {
            let needed = u64::from(bound) * (8 + 32 * searches as u64);
            self.execution.memory.check(needed, bound, count)
        };
        check(1)?;
        // Parallel searches wait for each other less than threads on one search.
        let threads = self.execution.threads();
        let searches = if sources.len() >= threads && check(threads).is_ok() { threads } else { 1 };
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let ends = if view.topology().is_undirected() { 2 } else { 1 };
        let entries = view.edge_count(self.label).at_most() * ends;
        let ((scores, edges_examined), transposed) = with_incoming!(view, self.label, self.execution, incoming => {
            let edges = SearchedGraph { outgoing: &outgoing, incoming: &incoming, entries, vertex_count: count };
            let searches = (0..searches).map(|_| PathSearch::new(bound)).collect();
            self.accumulate(&edges, &sources, searches)?
        });
        let (iterations, elapsed) = (sources.len() as u32, started.elapsed());
        Ok(BetweennessResult { scores, sources, iterations, edges_examined, elapsed, transposed })
    }
}

impl Betweenness<'_> {
    /// The scores, and the number of neighbors examined.
    fn accumulate<O: Adjacency, I: Adjacency>(
        &self,
        edges: &SearchedGraph<'_, O, I>,
        sources: &[VertexId],
        mut searches: Vec<PathSearch>,
    ) -> Result<(Vec<f64>, u64), KernelError> {
        let mut scores = vec![0.0; searches[0].vertex_bound() as usize];
        let (mut done, mut examined) = (0, 0);
        let within = match searches.len() {
            1 => self.execution,
            _ => Execution { pool: None, progress: None, ..self.execution },
        };
        for together in sources.chunks(searches.len()) {
            let chunks = searches.iter_mut().zip(together).collect();
            let looked = self.execution.map_chunks(chunks, |(search, source): (&mut PathSearch, _)| {
                search.run(*source, edges, within)
            })?;
            // In the order of the sources, whichever search finished first.
            for search in &searches[..together.len()] {
                search.add_to(&mut scores);
            }
            let neighbors = looked.into_iter().sum();
            examined += neighbors;
            done += together.len() as u32;
            let at_most = Some(sources.len() as u32);
            self.execution.report(Progress { iteration: done, at_most, neighbors });
        }
        Ok((scores, examined))
    }
}
