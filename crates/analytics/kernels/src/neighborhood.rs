//! The vertices around some vertices.

use crate::bitmap::AtomicBitmap;
use crate::kernel::check_exists;
use crate::{Execution, Kernel, KernelError, Progress};
use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, VertexId};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Fewer vertices than this are not worth waking other threads for.
const SMALL: usize = 256;

/// Finds the vertices that can be reached from some vertices over a few edges.
///
/// Follows out-edges; in an undirected graph all edges.
#[derive(Clone, Copy, Debug)]
pub struct Neighborhood<'a> {
    /// The start vertices, 0 hops away.
    pub sources: &'a [VertexId],
    /// Maximum number of edges to follow.
    pub hops: u32,
    /// Maximum number of vertices to return: the nearest, the lowest ids of equally distant ones.
    pub limit: Option<usize>,
    /// The edges to follow.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The result of a [`Neighborhood`]. All but `elapsed` is identical for any number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NeighborhoodResult {
    /// The vertices, each once, by hops and then by id.
    pub vertices: Vec<VertexId>,
    /// The start of each distance in `vertices`: the vertices `h` hops away are
    /// `vertices[starts[h]..starts[h + 1]]`. One entry per number of hops, and one more.
    pub starts: Vec<usize>,
    /// True if the limit left vertices out.
    pub truncated: bool,
    /// Neighbors examined.
    pub edges_examined: u64,
    /// Total time.
    pub elapsed: Duration,
}

impl<'a> Neighborhood<'a> {
    /// Everything within `hops` hops over the default label.
    #[must_use]
    pub fn new(sources: &'a [VertexId], hops: u32) -> Self {
        let (label, execution) = (LabelId::DEFAULT, Execution::default());
        Neighborhood { sources, hops, limit: None, label, execution }
    }
}

impl NeighborhoodResult {
    /// The vertices that are `hops` edges away.
    #[must_use]
    pub fn at(&self, hops: u32) -> &[VertexId] {
        match self.starts.get(hops as usize..) {
            Some([start, end, ..]) => &self.vertices[*start..*end],
            _ => &[],
        }
    }

    /// Number of different distances: one more than the largest; 0 if there are no vertices.
    #[must_use]
    pub fn levels(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Every vertex with the number of hops to it, by hops and then by id.
    pub fn hops(&self) -> impl Iterator<Item = (VertexId, u32)> {
        (0..self.levels()).flat_map(|hops| self.at(hops).iter().map(move |vertex| (*vertex, hops)))
    }
}

impl Kernel for Neighborhood<'_> {
    type Output = NeighborhoodResult;

    /// O(ids / 64 + neighbors of the result); one bit per id, and the result.
    fn run<V: GraphView>(self, view: &V) -> Result<NeighborhoodResult, KernelError> {
        let started = Instant::now();
        self.sources.iter().try_for_each(|source| check_exists(view, *source))?;
        let bound = view.vertex_bound();
        self.execution.memory.check(u64::from(bound) / 8, bound, view.vertex_count())?;
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        let limit = self.limit.unwrap_or(usize::MAX);
        let seen = AtomicBitmap::new(bound);
        let mut level: Vec<_> = self.sources.iter().copied().filter(|source| seen.claim(*source)).collect();
        let mut result = NeighborhoodResult {
            vertices: Vec::new(),
            starts: vec![0],
            truncated: false,
            edges_examined: 0,
            elapsed: Duration::ZERO,
        };
        for hops in 0..=self.hops {
            level.sort_unstable();
            let room = limit - result.vertices.len();
            result.truncated = level.len() > room;
            level.truncate(room);
            if level.is_empty() {
                break;
            }
            result.vertices.extend_from_slice(&level);
            result.starts.push(result.vertices.len());
            if hops == self.hops || result.truncated {
                break;
            }
            let (next, examined) = self.next_level(&outgoing, &level, &seen)?;
            level = next;
            result.edges_examined += examined;
            let (iteration, at_most) = (hops + 1, Some(self.hops));
            self.execution.report(Progress { iteration, at_most, neighbors: examined });
        }
        result.elapsed = started.elapsed();
        Ok(result)
    }
}

impl Neighborhood<'_> {
    /// Returns the neighbors of a level that were not found before, and the number of neighbors
    /// examined.
    fn next_level(
        &self,
        outgoing: &impl Adjacency,
        level: &[VertexId],
        seen: &AtomicBitmap,
    ) -> Result<(Vec<VertexId>, u64), KernelError> {
        let parts = if level.len() < SMALL { 1 } else { self.execution.parts() };
        let chunks = level.chunks(level.len().div_ceil(parts)).collect();
        let found = self.execution.map_chunks(chunks, |chunk: &[VertexId]| {
            let (mut cursor, mut next, mut examined) = (outgoing.cursor(), Vec::new(), 0);
            for vertex in chunk {
                self.execution.check_cancelled()?;
                let walked = cursor.neighbors(*vertex, |neighbors, _| {
                    examined += neighbors.len() as u64;
                    next.extend(neighbors.iter().filter(|neighbor| seen.claim(**neighbor)));
                    ControlFlow::<()>::Continue(())
                });
                walked.map(|_| ())?;
            }
            Ok((next, examined))
        })?;
        let examined = found.iter().map(|(_, examined)| examined).sum();
        Ok((found.into_iter().flat_map(|(next, _)| next).collect(), examined))
    }
}
