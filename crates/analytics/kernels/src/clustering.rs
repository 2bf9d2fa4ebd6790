//! Local clustering coefficients.

mod count;
mod oriented;

use crate::both_ways::{BothWays, degrees};
use crate::incoming::with_incoming;
use crate::ranges::covering_ranges;
use crate::triangles::oriented::names;
use crate::{Execution, Kernel, KernelError};
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId};
use oriented::Ways;
use std::time::{Duration, Instant};

/// Computes the local clustering coefficient of every vertex: the density of edges among its
/// neighbors.
///
/// As defined by the LDBC Graphalytics benchmark specification (algorithm LCC): of the d neighbors
/// of a vertex in either direction, the number of edges among them over d · (d - 1); 0 where d is
/// below 2. In a directed graph the edges among neighbors count by direction, in an undirected one
/// each counts from both ends. Parallel edges count as one, self loops not at all.
///
/// Every triangle is found once, in the order of [`TriangleOrder::ByDegree`](crate::TriangleOrder),
/// and counted at its three vertices. Needs in-neighbors: for a directed view that keeps none, a
/// transposed copy is built first.
#[derive(Clone, Copy, Debug)]
pub struct LocalClustering<'a> {
    /// The edges that count.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of [`LocalClustering`]. All but the times is identical for any number of threads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LocalClusteringResult {
    /// The coefficient of each vertex id, from 0 to 1; 0 for an id without a vertex.
    pub coefficients: Vec<f64>,
    /// The mean over all vertices; 0 if there are none.
    pub mean: f64,
    /// Total time.
    pub elapsed: Duration,
    /// Time to copy the edges by degree, part of `elapsed`.
    pub ordered: Duration,
    /// Time to build the in-neighbors, part of `elapsed`; `None` if the view has them.
    pub transposed: Option<Duration>,
}

impl Default for LocalClustering<'_> {
    /// Over the default label.
    fn default() -> Self {
        LocalClustering { label: LabelId::DEFAULT, execution: Execution::default() }
    }
}

impl Kernel for LocalClustering<'_> {
    type Output = LocalClusteringResult;

    /// O(edges^1.5); 32 bytes per id, 40 per edge, two bits per id and thread, and the in-neighbors
    /// if they are built.
    fn run<V: GraphView>(self, view: &V) -> Result<LocalClusteringResult, KernelError> {
        let started = Instant::now();
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let bound = view.vertex_bound();
        // Degrees, names, counts, their sums and the offsets of the copy; two sets of marks per
        // thread.
        let needed = u64::from(bound) * 32 + u64::from(bound) / 4 * self.execution.threads() as u64;
        self.execution.memory.check(needed, bound, view.vertex_count())?;
        let (result, transposed) = with_incoming!(view, self.label, self.execution, incoming => {
            if view.topology().is_undirected() {
                // Every edge goes both ways and needs no value.
                self.count::<V, ()>(view, &outgoing, &incoming)?
            } else {
                self.count::<V, u32>(view, &outgoing, &incoming)?
            }
        });
        Ok(LocalClusteringResult { transposed, elapsed: started.elapsed(), ..result })
    }
}

impl LocalClustering<'_> {
    fn count<V: GraphView, W: Ways>(
        &self,
        view: &V,
        outgoing: &impl Adjacency,
        incoming: &impl Adjacency,
    ) -> Result<LocalClusteringResult, KernelError> {
        let started = Instant::now();
        let (bound, topology) = (view.vertex_bound(), view.topology());
        let ranges = covering_ranges(outgoing, self.execution.parts(), bound)?;
        let both_ways = || BothWays::new(topology, outgoing, incoming);
        let degrees = degrees(self.execution, bound, &ranges, both_ways)?;
        let names = names(&degrees);
        let edges = view.edge_count(self.label).at_most();
        let lower =
            oriented::lower_neighbors::<_, _, W>(self.execution, view, edges, &ranges, &names, both_ways)?;
        let ordered = started.elapsed();
        let counts = count::edges_among_neighbors::<W>(&lower, self.execution)?;

        let mut coefficients = vec![0.0; bound as usize];
        for ((coefficient, degree), name) in coefficients.iter_mut().zip(degrees).zip(names) {
            if degree > 1 {
                let most = u64::from(degree) * u64::from(degree - 1);
                *coefficient = counts[name.index()] as f64 / most as f64;
            }
        }
        let mean = coefficients.iter().fold(0.0, |sum, coefficient| sum + coefficient)
            / view.vertex_count().max(1) as f64;
        let (elapsed, transposed) = (Duration::ZERO, None);
        Ok(LocalClusteringResult { coefficients, mean, elapsed, ordered, transposed })
    }
}
