//! Communities by label propagation.

mod ballot;

use crate::bitmap::AtomicBitmap;
use crate::both_ways::{BothWays, distinct};
use crate::incoming::with_incoming;
use crate::ranges::{covering_ranges, split_mut};
use crate::workers::Workers;
use crate::{Execution, Kernel, KernelError, Progress};
use ballot::Ballot;
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId, Topology, VertexId};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The vertices affected by changes are collected only if the changed vertices have at most 1/FEW
/// of all votes; otherwise nearly all vertices are affected.
const FEW: u64 = 4;

/// Finds groups of vertices that are more connected to each other than to the rest.
///
/// As defined by the LDBC Graphalytics benchmark specification (algorithm CDLP): every vertex has a
/// label, and in each iteration all vertices simultaneously take the most frequent label among
/// their neighbors, the smallest of equally frequent ones. In a directed graph out-neighbors and
/// in-neighbors vote, so that edges in both directions are two votes. A vertex without neighbors
/// keeps its label. Parallel edges count as one; a vertex with a self loop votes for itself.
///
/// Needs in-neighbors: for a directed view that keeps none, a transposed copy is built first.
#[derive(Clone, Copy, Debug)]
pub struct Communities<'a> {
    /// Maximum number of iterations; the kernel stops earlier if an iteration changes nothing.
    pub iterations: u32,
    /// The initial label of each vertex id; `None` uses the ids. Since the smallest of equally
    /// frequent labels wins, labels that ascend with the keys give the results of Graphalytics,
    /// which uses the keys as labels.
    pub first_labels: Option<&'a [u32]>,
    /// The edges that connect neighbors.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of [`Communities`]. All but the times is identical for any number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CommunitiesResult {
    /// The label of each vertex id, or [`Communities::NO_VERTEX`].
    pub labels: Vec<u32>,
    /// Number of distinct labels.
    pub count: u64,
    /// Iterations done, including one that changed nothing.
    pub iterations: u32,
    /// Vertices that changed their label in the last iteration.
    pub changed: u64,
    /// Total time.
    pub elapsed: Duration,
    /// Time to build the in-neighbors, part of `elapsed`; `None` if the view has them.
    pub transposed: Option<Duration>,
}

impl Communities<'_> {
    /// The label of an id without a vertex.
    pub const NO_VERTEX: u32 = u32::MAX;
}

impl Default for Communities<'_> {
    /// At most 10 iterations, starting from the ids as labels, over the default label.
    fn default() -> Self {
        let (label, execution) = (LabelId::DEFAULT, Execution::default());
        Communities { iterations: 10, first_labels: None, label, execution }
    }
}

impl Kernel for Communities<'_> {
    type Output = CommunitiesResult;

    /// O(iterations · (vertices + edges)), and less when little changes; 12 bytes per id, and the
    /// in-neighbors if they are built.
    fn run<V: GraphView>(self, view: &V) -> Result<CommunitiesResult, KernelError> {
        let started = Instant::now();
        let bound = view.vertex_bound();
        let needed = u64::from(bound) * 12 + u64::from(bound) / 8;
        self.execution.memory.check(needed, bound, view.vertex_count())?;
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let labels = self.first_labels(view)?;
        let (result, transposed) = with_incoming!(view, self.label, self.execution, incoming => {
            let election = Election {
                parameters: self,
                topology: view.topology(),
                outgoing: &outgoing,
                incoming: &incoming,
                ranges: covering_ranges(&outgoing, self.execution.parts(), bound)?,
            };
            election.run(labels)?
        });
        Ok(CommunitiesResult { transposed, elapsed: started.elapsed(), ..result })
    }
}

impl Communities<'_> {
    fn first_labels(&self, view: &impl GraphView) -> Result<Vec<u32>, KernelError> {
        let bound = view.vertex_bound();
        let label_of =
            |vertex: VertexId| self.first_labels.map_or(vertex.get(), |labels| labels[vertex.index()]);
        if let Some(given) = self.first_labels
            && given.len() != bound as usize
        {
            let (parameter, found) = ("the number of labels", given.len() as f64);
            return Err(KernelError::InvalidParameter { parameter, found, expected: "the vertex bound" });
        }
        let mut labels = vec![Communities::NO_VERTEX; bound as usize];
        let visited = view.each_vertex(0..bound, |vertex| labels[vertex.index()] = label_of(vertex));
        visited?;
        Ok(labels)
    }
}

/// The iterations over one graph.
struct Election<'a, O, I> {
    parameters: Communities<'a>,
    topology: Topology,
    outgoing: &'a O,
    incoming: &'a I,
    ranges: Vec<Range<u32>>,
}

/// The result of an iteration for one range of vertices.
#[derive(Default)]
struct RangeOutcome {
    changed: Vec<VertexId>,
    /// Votes counted.
    votes: u64,
    /// Votes counted for the changed vertices.
    votes_of_changed: u64,
}

impl<O: Adjacency, I: Adjacency> Election<'_, O, I> {
    fn run(&self, mut labels: Vec<u32>) -> Result<CommunitiesResult, KernelError> {
        let bound = labels.len() as u32;
        let mut next = vec![Communities::NO_VERTEX; labels.len()];
        let (mut affected, mut iterations, mut changed, mut all_votes) = (None, 0, 0, 0);
        let ballots = Workers::new();
        while iterations < self.parameters.iterations {
            let outcomes = self.iterate(&labels, &mut next, affected.as_ref(), &ballots)?;
            std::mem::swap(&mut labels, &mut next);
            iterations += 1;
            let sum = |part: fn(&RangeOutcome) -> u64| outcomes.iter().map(part).sum::<u64>();
            changed = sum(|outcome| outcome.changed.len() as u64);
            let votes = sum(|outcome| outcome.votes);
            all_votes = votes.max(all_votes);
            let at_most = Some(self.parameters.iterations);
            let progress = Progress { iteration: iterations, at_most, neighbors: votes };
            self.parameters.execution.report(progress);
            if changed == 0 {
                break;
            }
            let few = sum(|outcome| outcome.votes_of_changed) <= all_votes / FEW;
            affected = few.then(|| self.affected(&outcomes, bound)).transpose()?;
        }
        let count = count_distinct(&labels);
        let (elapsed, transposed) = (Duration::ZERO, None);
        Ok(CommunitiesResult { labels, count, iterations, changed, elapsed, transposed })
    }

    fn both_ways(&self) -> BothWays<'_, O, I> {
        BothWays::new(self.topology, self.outgoing, self.incoming)
    }

    /// Lets the affected vertices, by default all, take the most frequent label of their neighbors.
    fn iterate(
        &self,
        labels: &[u32],
        next: &mut [u32],
        affected: Option<&AtomicBitmap>,
        ballots: &Workers<Ballot>,
    ) -> Result<Vec<RangeOutcome>, KernelError> {
        let chunks = self.ranges.iter().zip(split_mut(next, &self.ranges)).collect();
        self.parameters.execution.map_chunks(chunks, |(range, next)| {
            let own = &labels[range.start as usize..range.end as usize];
            next.copy_from_slice(own);
            let (mut neighbors, mut outcome) = (self.both_ways(), RangeOutcome::default());
            ballots.with(Ballot::new, |ballot| {
                for (vertex, label) in range.clone().map(VertexId::new).zip(next) {
                    if affected.is_some_and(|affected| !affected.contains(vertex)) {
                        continue;
                    }
                    self.parameters.execution.check_cancelled()?;
                    let rows = neighbors.rows(vertex)?;
                    let votes: u64 = rows.iter().map(|row| row.len() as u64).sum();
                    outcome.votes += votes;
                    let voters = rows.into_iter().flat_map(distinct);
                    let elected = ballot.elect(voters.map(|voter| labels[voter.index()]));
                    if let Some(elected) = elected.filter(|elected| elected != label) {
                        *label = elected;
                        outcome.changed.push(vertex);
                        outcome.votes_of_changed += votes;
                    }
                }
                Ok(outcome)
            })
        })
    }

    /// Returns the neighbors of the changed vertices: the votes for all others are unchanged.
    fn affected(&self, outcomes: &[RangeOutcome], vertex_bound: u32) -> Result<AtomicBitmap, KernelError> {
        let affected = AtomicBitmap::new(vertex_bound);
        self.parameters.execution.map_chunks(outcomes.iter().collect(), |outcome| {
            let mut neighbors = self.both_ways();
            for vertex in &outcome.changed {
                let voted_for = neighbors.rows(*vertex)?.into_iter().flatten();
                voted_for
                    .filter(|other| !affected.contains(**other))
                    .for_each(|other| affected.insert(*other));
            }
            Ok(())
        })?;
        Ok(affected)
    }
}

/// Number of distinct labels.
fn count_distinct(labels: &[u32]) -> u64 {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    labels.dedup();
    labels.into_iter().filter(|label| *label != Communities::NO_VERTEX).count() as u64
}
