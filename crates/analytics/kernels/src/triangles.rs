//! Counting triangles.

pub(crate) mod count;
pub(crate) mod oriented;

use crate::{Execution, Kernel, KernelError};
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId};
use std::time::{Duration, Instant};

/// Counts the sets of three vertices that are all connected to each other.
///
/// Parallel edges count as one, self loops not at all. Direction is ignored: a directed graph has
/// the triangles of the undirected graph with the same edges.
///
/// Every triangle is counted at its largest vertex, among its smaller neighbors. The order of
/// vertices can be chosen: by degree, hubs are small, and no vertex has many smaller neighbors. See
/// "The GAP Benchmark Suite" (arXiv:1508.03619), section 3.6, and "Main-memory triangle
/// computations for very large (sparse (power-law)) graphs" (TCS 407, 2008), section 3.
#[derive(Clone, Copy, Debug)]
pub struct TriangleCount<'a> {
    /// The edges of the triangles.
    pub label: LabelId,
    /// The order of vertices.
    pub order: TriangleOrder,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The order of vertices. It does not affect the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TriangleOrder {
    /// By degree where a sample of the degrees shows that it pays, else by id.
    #[default]
    Auto,
    /// The larger id is the larger vertex: the view is read as it is. Views that are directed, or
    /// whose neighbors are not sorted, are read by degree in any case.
    ById,
    /// The vertex with fewer neighbors is the larger: each edge is copied once.
    ByDegree,
}

/// The result of [`TriangleCount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TriangleCountResult {
    /// Number of triangles.
    pub triangles: u64,
    /// Total time.
    pub elapsed: Duration,
    /// Time to copy the edges by degree, part of `elapsed`; `None` if they were not copied.
    pub ordered: Option<Duration>,
}

impl Default for TriangleCount<'_> {
    /// Counts over the default label, in the faster order.
    fn default() -> Self {
        let (label, execution) = (LabelId::DEFAULT, Execution::default());
        TriangleCount { label, order: TriangleOrder::Auto, execution }
    }
}

impl Kernel for TriangleCount<'_> {
    type Output = TriangleCountResult;

    /// O(edges^1.5) by degree, O(edges * largest degree) by id; one bit per id and thread, and by
    /// degree 8 bytes per id and 40 per edge.
    fn run<V: GraphView>(self, view: &V) -> Result<TriangleCountResult, KernelError> {
        let started = Instant::now();
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let bound = view.vertex_bound();
        let marks = u64::from(bound) / 8 * self.execution.threads() as u64;
        self.execution.memory.check(marks, bound, view.vertex_count())?;
        if self.reads_in_place(view, &outgoing)? {
            let triangles = count::triangles(&outgoing, bound, self.execution)?;
            return Ok(TriangleCountResult { triangles, elapsed: started.elapsed(), ordered: None });
        }
        let graph = oriented::by_degree(view, &outgoing, self.label, self.execution)?;
        let ordered = Some(started.elapsed());
        let lower = graph.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let triangles = count::triangles(&lower, bound, self.execution)?;
        Ok(TriangleCountResult { triangles, elapsed: started.elapsed(), ordered })
    }
}

impl TriangleCount<'_> {
    fn reads_in_place<A: Adjacency>(&self, view: &impl GraphView, outgoing: &A) -> Result<bool, KernelError> {
        let can = view.topology().is_undirected() && A::SORTED;
        Ok(can
            && match self.order {
                TriangleOrder::ById => true,
                TriangleOrder::ByDegree => false,
                TriangleOrder::Auto => !oriented::pays(view, outgoing, self.label)?,
            })
    }
}
