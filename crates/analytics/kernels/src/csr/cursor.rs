//! Reads the rows through the traits of the data model.

use super::rows::Rows;
use hedgerow_model::{Adjacency, Column, Cursor, Neighbors, ReadError, VertexId, search};
use hedgerow_sync::prefetch;
use std::ops::{ControlFlow, Range};

/// The rows of one direction.
#[derive(Clone, Copy, Debug)]
pub struct CsrAdjacency<'a, W> {
    offsets: &'a [u64],
    neighbors: &'a [VertexId],
    values: &'a [W],
}

impl<'a, W: Column> CsrAdjacency<'a, W> {
    pub(super) fn new(rows: &'a Rows) -> Self {
        let values = W::slice(rows.values(), 0..rows.neighbors().len());
        CsrAdjacency { offsets: rows.offsets(), neighbors: rows.neighbors(), values }
    }

    /// The offsets of the rows: the row of `v` is at `offsets[v]..offsets[v + 1]`.
    #[must_use]
    pub fn offsets(&self) -> &'a [u64] {
        self.offsets
    }

    /// The neighbors of all vertices, row after row.
    #[must_use]
    pub fn neighbors(&self) -> &'a [VertexId] {
        self.neighbors
    }

    /// The values of the neighbors.
    #[must_use]
    pub fn values(&self) -> &'a [W] {
        self.values
    }

    fn vertex_bound(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    fn row(&self, vertex: VertexId) -> Neighbors<'a, W> {
        match self.offsets.get(vertex.index()..vertex.index() + 2) {
            Some(ends) => self.slices(ends[0], ends[1]),
            None => (&[], &[]),
        }
    }

    #[inline]
    fn slices(&self, start: u64, end: u64) -> Neighbors<'a, W> {
        let range = start as usize..end as usize;
        (&self.neighbors[range.clone()], &self.values[range])
    }
}

impl<W: Column> Adjacency for CsrAdjacency<'_, W> {
    type Value = W;
    type Cursor<'c>
        = CsrCursor<'c, W>
    where
        Self: 'c;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = true;

    fn cursor(&self) -> CsrCursor<'_, W> {
        CsrCursor { rows: *self }
    }

    /// A vertex counts as much work as a neighbor.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let bound = self.vertex_bound();
        let work_before = |vertex: usize| self.offsets[vertex] + vertex as u64;
        let (parts, total) = (parts.max(1) as u64, work_before(bound));
        let mut cuts = Vec::new();
        let mut start = 0;
        for part in 1..=parts {
            if start == bound {
                break;
            }
            let target = (u128::from(total) * u128::from(part)).div_ceil(u128::from(parts)) as u64;
            let end = first_at_least(start..bound, target, work_before);
            if start < end {
                cuts.push(start as u32..end as u32);
                start = end;
            }
        }
        Ok(cuts)
    }
}

/// The first vertex of `range` preceded by at least `target` work, else its end.
fn first_at_least(range: Range<usize>, target: u64, work_before: impl Fn(usize) -> u64) -> usize {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start + (end - start) / 2;
        if work_before(middle) < target {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

/// Reads the rows of one direction. Every row is one run.
#[derive(Clone, Copy, Debug)]
pub struct CsrCursor<'a, W> {
    rows: CsrAdjacency<'a, W>,
}

impl<W: Column> Cursor for CsrCursor<'_, W> {
    type Value = W;

    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        Ok(self.rows.row(vertex).0.len())
    }

    /// Finds by binary search, as published studies do in the static array.
    #[inline]
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let (neighbors, values) = self.rows.row(vertex);
        Ok(search::position_by_halving(neighbors, neighbor).map(|position| values[position]))
    }

    #[inline]
    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let (neighbors, values) = self.rows.row(vertex);
        if neighbors.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        Ok(run(neighbors, values))
    }

    #[inline]
    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let end = (range.end as usize).min(self.rows.vertex_bound());
        let start = (range.start as usize).min(end);
        let ends = &self.rows.offsets[start..=end];
        for (vertex, ends) in (start as u32..).zip(ends.windows(2)) {
            if ends[0] == ends[1] {
                continue;
            }
            let (neighbors, values) = self.rows.slices(ends[0], ends[1]);
            if let ControlFlow::Break(value) = run(VertexId::new(vertex), neighbors, values) {
                return Ok(ControlFlow::Break(value));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        prefetch(self.rows.offsets.as_ptr().wrapping_add(vertex.index()), 2 * size_of::<u64>());
    }

    /// Prefetches the first cache line of the row.
    #[inline]
    fn prefetch(&mut self, vertex: VertexId) {
        let (neighbors, values) = self.rows.row(vertex);
        prefetch(neighbors.as_ptr(), 1);
        prefetch(values.as_ptr(), size_of::<W>());
    }

    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, W>>, ReadError> {
        Ok(Some(self.rows.row(vertex)))
    }

    #[inline]
    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        Ok(self.rows.row(vertex))
    }
}
