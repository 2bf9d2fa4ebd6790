//! Counting triangles.

pub(crate) mod count;
pub(crate) mod oriented;

use crate::{Execution, Kernel, KernelError};
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId};
use std::time::{Duration, Instant};

/// How many sets of three vertices are connected each with each.
///
/// Parallel edges count as one, self loops not at all. Directed edges count without their direction:
/// a directed graph has the triangles of the undirected graph with the same edges.
///
/// Every triangle is counted at its largest vertex, in the neighbors that are smaller. What is
/// larger is a matter of choice: by degree, hubs are small, and no vertex has many smaller
/// neighbors. See "The GAP Benchmark Suite" (arXiv:1508.03619), section 3.6, and "Main-memory
/// triangle computations for very large (sparse (power-law)) graphs" (TCS 407, 2008), section 3.
#[derive(Clone, Copy, Debug)]
pub struct TriangleCount<'a> {
    /// The edges of the triangles.
    pub label: LabelId,
    /// Which of two vertices is the larger.
    pub order: TriangleOrder,
    /// How it runs.
    pub execution: Execution<'a>,
}

/// Which of two vertices is the larger. The result is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TriangleOrder {
    /// By degree where a sample of the degrees says that it pays, else by id.
    #[default]
    Auto,
    /// The one with the larger id: the view is read as it is. Views that are directed, or whose
    /// neighbors are not sorted, are read by degree all the same.
    ById,
    /// The one with fewer neighbors: each edge is copied once.
    ByDegree,
}

/// What [`TriangleCount`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriangleCountResult {
    /// Triangles.
    pub triangles: u64,
    /// How long it took altogether.
    pub elapsed: Duration,
    /// How long copying the edges by degree took, part of `elapsed`; `None` if they were not.
    pub ordered: Option<Duration>,
}

impl Default for TriangleCount<'_> {
    /// Over the default label, in the order that pays.
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
