//! Weakly connected components.

mod forest;

use crate::ranges::covering_ranges;
use crate::{Execution, Kernel, KernelError, Progress};
use forest::Forest;
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, VertexId};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// Neighbors per vertex that are joined before the largest component is estimated.
const SAMPLED_NEIGHBORS: usize = 2;
/// The number of the first pass after the sampling passes, counted from 1.
const JOINING: u32 = SAMPLED_NEIGHBORS as u32 + 1;
/// Vertices sampled to estimate the largest component.
const SAMPLED_VERTICES: u64 = 1024;

/// Finds the vertices that are connected by edges, whatever their direction.
#[derive(Clone, Copy, Debug)]
pub struct Wcc<'a> {
    /// The edges that connect.
    pub label: LabelId,
    /// The algorithm. It does not affect the result.
    pub method: WccMethod,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The algorithm that finds components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WccMethod {
    /// Joins a few neighbors of every vertex, which nearly completes the largest component, and
    /// then all neighbors only of the vertices outside it: most edges are never read. "Optimizing
    /// Parallel Graph Connectivity Computation via Subgraph Sampling" (IPDPS 2018), section IV.
    ///
    /// In a directed view without reverse adjacency every edge is read, since an edge into the
    /// largest component can only be seen from outside it.
    #[default]
    Sampling,
    /// Hooks the larger of two labels below the smaller over all edges, and shortens all paths,
    /// until nothing changes. "An O(log n) Parallel Connectivity Algorithm" (J. Algorithms 3,
    /// 1982).
    Plain,
}

/// The result of [`Wcc`]. The components are identical for any method and number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WccResult {
    /// The smallest id of the component of each vertex id, or [`Wcc::NO_VERTEX`].
    pub components: Vec<u32>,
    /// Number of components, including components of a single vertex.
    pub count: u64,
    /// Passes over edges: all of them, or some of each vertex.
    pub iterations: u32,
    /// Total time.
    pub elapsed: Duration,
}

impl Wcc<'_> {
    /// The component of an id without a vertex.
    pub const NO_VERTEX: u32 = u32::MAX;
}

impl Default for Wcc<'_> {
    /// Uses sampling, over the default label.
    fn default() -> Self {
        Wcc { label: LabelId::DEFAULT, method: WccMethod::Sampling, execution: Execution::default() }
    }
}

impl Kernel for Wcc<'_> {
    type Output = WccResult;

    /// O(vertices + edges) in practice; 8 bytes per id.
    fn run<V: GraphView>(self, view: &V) -> Result<WccResult, KernelError> {
        let started = Instant::now();
        let bound = view.vertex_bound();
        self.execution.memory.check(u64::from(bound) * 8, bound, view.vertex_count())?;
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let passes = Passes {
            execution: self.execution,
            ranges: covering_ranges(&outgoing, self.execution.parts(), bound)?,
            forest: Forest::new(bound, self.execution.threads() > 1),
        };
        let iterations = match self.method {
            WccMethod::Plain => passes.hook_until_stable(&outgoing)?,
            WccMethod::Sampling => {
                passes.join_samples(&outgoing)?;
                let largest = passes.frequent_root(view);
                match view.topology().stored(Direction::In) {
                    None => passes.join_all(&outgoing, None, JOINING)?,
                    Some(Direction::Out) => passes.join_all(&outgoing, largest, JOINING)?,
                    Some(Direction::In) => {
                        passes.join_all(&outgoing, largest, JOINING)?;
                        let incoming = view.adjacency::<()>(self.label, Direction::In)?;
                        passes.join_all(&incoming, largest, JOINING + 1)?
                    }
                }
            }
        };
        let (components, count) = labels(view, passes.forest)?;
        Ok(WccResult { components, count, iterations, elapsed: started.elapsed() })
    }
}

/// Passes over all vertices, which join trees of a forest.
struct Passes<'a> {
    execution: Execution<'a>,
    ranges: Vec<Range<u32>>,
    forest: Forest,
}

impl Passes<'_> {
    /// Joins every vertex to its first neighbors, one per round.
    fn join_samples(&self, outgoing: &impl Adjacency) -> Result<(), KernelError> {
        for round in 0..SAMPLED_NEIGHBORS {
            self.each_range(round as u32 + 1, |range| {
                // For a vertex in several runs, each run gives one neighbor: more than requested do
                // no harm.
                let joined = outgoing.cursor().scan(range, |vertex, neighbors, _| {
                    if let Some(neighbor) = neighbors.get(round) {
                        self.forest.join(vertex, *neighbor);
                    }
                    ControlFlow::<()>::Continue(())
                });
                Ok(joined.map(|_| 0)?)
            })?;
            self.flatten()?;
        }
        Ok(())
    }

    /// The most frequent root among sampled vertices: very likely the root of the largest
    /// component.
    fn frequent_root(&self, view: &impl GraphView) -> Option<VertexId> {
        let bound = u64::from(view.vertex_bound());
        let step = (bound / SAMPLED_VERTICES).max(1) as usize;
        let sampled = (0..view.vertex_bound()).step_by(step).map(VertexId::new);
        let mut roots: Vec<_> = sampled.map(|vertex| self.forest.parent(vertex)).collect();
        roots.sort_unstable();
        roots.chunk_by(|one, other| one == other).max_by_key(|equal| equal.len()).map(|equal| equal[0])
    }

    /// Joins the vertices whose root is not `but` to all their neighbors, in one pass. Returns the
    /// number of the pass.
    fn join_all<A: Adjacency>(
        &self,
        adjacency: &A,
        but: Option<VertexId>,
        pass: u32,
    ) -> Result<u32, KernelError> {
        self.each_range(pass, |range| {
            let (mut cursor, mut examined) = (adjacency.cursor(), 0);
            for vertex in range.map(VertexId::new) {
                if but == Some(self.forest.parent(vertex)) {
                    continue;
                }
                let walked = cursor.neighbors(vertex, |neighbors, _| {
                    neighbors.iter().for_each(|neighbor| self.forest.join(vertex, *neighbor));
                    examined += neighbors.len() as u64;
                    ControlFlow::<()>::Continue(())
                });
                walked.map(|_| ())?;
            }
            Ok(examined)
        })?;
        self.flatten()?;
        Ok(pass)
    }

    /// Hooks until nothing changes. Returns the number of passes.
    fn hook_until_stable(&self, outgoing: &impl Adjacency) -> Result<u32, KernelError> {
        let mut pass = 0;
        loop {
            pass += 1;
            let changed = self.each_range(pass, |range| {
                let mut changed = 0;
                let hooked = outgoing.cursor().scan(range, |vertex, neighbors, _| {
                    changed += self.forest.hook(vertex, neighbors);
                    ControlFlow::<()>::Continue(())
                });
                Ok(hooked.map(|_| changed)?)
            })?;
            self.flatten()?;
            if changed == 0 {
                return Ok(pass);
            }
        }
    }

    fn flatten(&self) -> Result<(), KernelError> {
        self.execution.map_chunks(self.ranges.clone(), |range| {
            range.map(VertexId::new).for_each(|vertex| self.forest.flatten(vertex));
            Ok(())
        })?;
        Ok(())
    }

    /// Runs a pass over all ranges and returns the sum of what it counts.
    fn each_range(
        &self,
        pass: u32,
        work: impl Fn(Range<u32>) -> Result<u64, KernelError> + Sync,
    ) -> Result<u64, KernelError> {
        let counted = self.execution.map_chunks(self.ranges.clone(), work)?.into_iter().sum();
        self.execution.report(Progress { iteration: pass, at_most: None, neighbors: counted });
        Ok(counted)
    }
}

/// The component of every vertex, and the number of components. A root is the smallest id of its
/// component, because paths descend.
fn labels(view: &impl GraphView, forest: Forest) -> Result<(Vec<u32>, u64), KernelError> {
    let mut components = forest.into_parents();
    if view.vertex_count() < u64::from(view.vertex_bound()) {
        let mut next = 0;
        let visited = view.each_vertex(0..view.vertex_bound(), |vertex| {
            components[next..vertex.index()].fill(Wcc::NO_VERTEX);
            next = vertex.index() + 1;
        });
        visited?;
        components[next..].fill(Wcc::NO_VERTEX);
    }
    let roots = (0..).zip(&components).filter(|(id, component)| id == *component).count() as u64;
    Ok((components, roots))
}
