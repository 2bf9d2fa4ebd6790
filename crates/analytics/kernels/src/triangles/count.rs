//! Counts the triangles of a graph with sorted neighbors.

use crate::marks::Marks;
use crate::ranges::covering_ranges;
use crate::{Execution, KernelError, Progress};
use hedgerow_model::{Adjacency, Cursor, VertexId};
use std::ops::ControlFlow;

/// The number of chunks per thread: some cost much more than others.
pub(crate) const CHUNKS_PER_THREAD: usize = 256;
/// A set is searched instead of merged if it is larger than the other by more than this factor.
/// Larger than [`PROBE_FROM`](hedgerow_model::intersect::PROBE_FROM), because checking a mark costs
/// less than a step of a merge.
pub(crate) const SKEW: usize = 32;
const _: () = assert!(SKEW >= hedgerow_model::intersect::PROBE_FROM);

/// Counts every triangle u > v > w at `u`. Neighbors above their vertex are skipped.
pub(super) fn triangles<A: Adjacency>(
    adjacency: &A,
    vertex_bound: u32,
    execution: Execution<'_>,
) -> Result<u64, KernelError> {
    let ranges = covering_ranges(adjacency, CHUNKS_PER_THREAD * execution.threads(), vertex_bound)?;
    let counts = execution.map_chunks(ranges, |range| {
        let mut counter = Counter::<A> {
            outer: adjacency.cursor(),
            inner: adjacency.cursor(),
            marks: Marks::new(vertex_bound),
            lower: Vec::new(),
        };
        range.map(VertexId::new).try_fold(0, |count, vertex| {
            execution.check_cancelled()?;
            Ok(count + counter.at(vertex)?)
        })
    })?;
    let triangles = counts.into_iter().sum();
    execution.report(Progress { iteration: 1, at_most: Some(1), neighbors: triangles });
    Ok(triangles)
}

/// Counts triangles, with one thread's working memory.
struct Counter<'a, A: Adjacency + 'a> {
    outer: A::Cursor<'a>,
    inner: A::Cursor<'a>,
    marks: Marks,
    /// The distinct neighbors below the vertex, ascending.
    lower: Vec<VertexId>,
}

impl<A: Adjacency> Counter<'_, A> {
    /// Counts the triangles whose largest vertex is `vertex`.
    fn at(&mut self, vertex: VertexId) -> Result<u64, KernelError> {
        self.lower.clear();
        let lower = &mut self.lower;
        let walked = self.outer.neighbors(vertex, |neighbors, _| {
            below(neighbors, vertex, |run| {
                lower.extend_from_slice(run);
            })
        });
        walked.map(|_| ())?;
        if self.lower.len() < 2 {
            return Ok(0);
        }
        self.lower.dedup();
        self.lower.iter().for_each(|vertex| self.marks.set(*vertex));
        let mut count = 0;
        for position in 1..self.lower.len() {
            count += self.common(position)?;
        }
        self.marks.clear(&self.lower);
        Ok(count)
    }

    /// Counts the lower neighbors before `position` that are neighbors of the vertex at `position`.
    #[inline]
    fn common(&mut self, position: usize) -> Result<u64, KernelError> {
        let middle = self.lower[position];
        let candidates = &self.lower[..position];
        if A::DEGREE_IS_O1 {
            let degree = self.inner.degree(middle)?;
            if degree / SKEW > candidates.len() {
                let mut count = 0;
                let probed = A::intersect(&mut self.inner, middle, candidates, |_| count += 1);
                return Ok(probed.map(|()| count)?);
            }
        }
        let (mut count, mut last, marks) = (0, None, &self.marks);
        let walked = self.inner.neighbors(middle, |neighbors, _| {
            below(neighbors, middle, |run| {
                count += counted(marks, run, last);
                last = run.last().copied();
            })
        });
        Ok(walked.map(|_| count)?)
    }
}

/// Passes the part of an ascending run that is below `vertex` to `part`; breaks if more follows.
#[inline(always)]
fn below(neighbors: &[VertexId], vertex: VertexId, part: impl FnOnce(&[VertexId])) -> ControlFlow<()> {
    if neighbors.last().is_none_or(|last| *last < vertex) {
        part(neighbors);
        return ControlFlow::Continue(());
    }
    part(&neighbors[..neighbors.partition_point(|neighbor| *neighbor < vertex)]);
    ControlFlow::Break(())
}

/// The number of distinct vertices of an ascending run in the set. Skips parallel edges: vertices
/// equal to their predecessor, which is `last` for the first one.
#[inline(always)]
fn counted(marks: &Marks, run: &[VertexId], mut last: Option<VertexId>) -> u64 {
    let ones = run.iter().map(|vertex| {
        let is_new = last.replace(*vertex) != Some(*vertex);
        marks.get(*vertex) & u64::from(is_new)
    });
    ones.sum()
}
