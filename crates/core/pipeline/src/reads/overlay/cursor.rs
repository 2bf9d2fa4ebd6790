//! Neighbors with staged changes.

use super::changes::StagedRows;
use hedgerow_model::{Adjacency, Column, Cursor, Neighbors, ReadError, VertexId};
use std::ops::{ControlFlow, Range};

/// An adjacency with staged changes over it.
pub struct OverlayAdjacency<'t, A> {
    stored: A,
    rows: StagedRows<'t>,
    vertex_bound: u32,
}

impl<'t, A: Adjacency> OverlayAdjacency<'t, A> {
    pub(super) fn new(stored: A, rows: StagedRows<'t>, vertex_bound: u32) -> Self {
        const { assert!(A::SORTED, "rows are merged by neighbor") };
        OverlayAdjacency { stored, rows, vertex_bound }
    }
}

impl<A: Adjacency> Adjacency for OverlayAdjacency<'_, A> {
    type Value = A::Value;
    type Cursor<'a>
        = OverlayCursor<'a, A::Cursor<'a>>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> Self::Cursor<'_> {
        let (neighbors, values) = (Vec::new(), Vec::new());
        OverlayCursor { stored: self.stored.cursor(), rows: self.rows, neighbors, values }
    }

    fn reads_blocks(&self) -> bool {
        self.stored.reads_blocks()
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        // Staged edges may belong to vertices between the ranges, or behind them.
        let mut starts: Vec<u32> = self.stored.cuts(parts)?.iter().map(|range| range.start).collect();
        match starts.first_mut() {
            Some(first) => *first = 0,
            None => starts.push(0),
        }
        let ends = starts[1..].iter().copied().chain([self.vertex_bound]);
        Ok(starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect())
    }
}

/// Reads neighbors with staged changes.
pub struct OverlayCursor<'a, C: Cursor> {
    stored: C,
    rows: StagedRows<'a>,
    neighbors: Vec<VertexId>,
    values: Vec<C::Value>,
}

impl<C: Cursor> OverlayCursor<'_, C> {
    /// The row of a vertex with its changes, in the buffers.
    fn merged(&mut self, vertex: VertexId) -> Result<Neighbors<'_, C::Value>, ReadError> {
        let OverlayCursor { stored, rows, neighbors, values } = self;
        neighbors.clear();
        values.clear();
        let mut push = |neighbor: VertexId, value: C::Value| {
            neighbors.push(neighbor);
            values.push(value);
        };
        let mut staged = rows.row(vertex).peekable();
        if !rows.changes.is_cleared(vertex) {
            let (kept, kept_values) = stored.gather(vertex)?;
            for (neighbor, value) in kept.iter().zip(kept_values) {
                while let Some((before, edge)) = staged.next_if(|(staged, _)| staged < neighbor) {
                    edge.value().into_iter().for_each(|bits| push(before, C::Value::from_bits(bits)));
                }
                match staged.next_if(|(staged, _)| staged == neighbor) {
                    Some((_, edge)) => {
                        edge.value().into_iter().for_each(|bits| push(*neighbor, C::Value::from_bits(bits)));
                    }
                    None if rows.changes.is_cleared(*neighbor) => {}
                    None => push(*neighbor, *value),
                }
            }
        }
        for (neighbor, edge) in staged {
            edge.value().into_iter().for_each(|bits| push(neighbor, C::Value::from_bits(bits)));
        }
        Ok((&self.neighbors, &self.values))
    }

    /// Scans vertices of which no edge is staged.
    fn scan_stored<B>(
        &mut self,
        range: Range<u32>,
        run: &mut impl FnMut(VertexId, &[VertexId], &[C::Value]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let OverlayCursor { stored, rows, neighbors, values } = self;
        let changes = rows.changes;
        if !changes.any_cleared() {
            return stored.scan(range, run);
        }
        stored.scan(range, |owner, kept, kept_values| {
            if changes.is_cleared(owner) {
                return ControlFlow::Continue(());
            }
            neighbors.clear();
            values.clear();
            for (neighbor, value) in kept.iter().zip(kept_values) {
                if !changes.is_cleared(*neighbor) {
                    neighbors.push(*neighbor);
                    values.push(*value);
                }
            }
            if neighbors.is_empty() { ControlFlow::Continue(()) } else { run(owner, neighbors, values) }
        })
    }
}

impl<C: Cursor> Cursor for OverlayCursor<'_, C> {
    type Value = C::Value;

    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        match self.rows.is_unchanged(vertex) {
            true => self.stored.degree(vertex),
            false => Ok(self.merged(vertex)?.0.len()),
        }
    }

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<C::Value>, ReadError> {
        match self.rows.find(vertex, neighbor) {
            Some(edge) => Ok(edge.value().map(C::Value::from_bits)),
            None if self.rows.hides(vertex, neighbor) => Ok(None),
            None => self.stored.find(vertex, neighbor),
        }
    }

    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[C::Value]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        if self.rows.is_unchanged(vertex) {
            return self.stored.neighbors(vertex, run);
        }
        Ok(match self.merged(vertex)? {
            ([], _) => ControlFlow::Continue(()),
            (neighbors, values) => run(neighbors, values),
        })
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[C::Value]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut next = range.start;
        while next < range.end {
            let changed = self.rows.next_owner(next..range.end);
            let until = changed.map_or(range.end, VertexId::get);
            if next < until
                && let ControlFlow::Break(stopped) = self.scan_stored(next..until, &mut run)?
            {
                return Ok(ControlFlow::Break(stopped));
            }
            next = until;
            if let Some(vertex) = changed {
                let (neighbors, values) = self.merged(vertex)?;
                if !neighbors.is_empty()
                    && let ControlFlow::Break(stopped) = run(vertex, neighbors, values)
                {
                    return Ok(ControlFlow::Break(stopped));
                }
                next += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn prefetch_place(&self, vertex: VertexId) {
        self.stored.prefetch_place(vertex);
    }

    fn prefetch(&mut self, vertex: VertexId) {
        self.stored.prefetch(vertex);
    }

    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, C::Value>>, ReadError> {
        match self.rows.is_unchanged(vertex) {
            true => self.stored.contiguous(vertex),
            false => self.merged(vertex).map(Some),
        }
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, C::Value>, ReadError> {
        match self.rows.is_unchanged(vertex) {
            true => self.stored.gather(vertex),
            false => self.merged(vertex),
        }
    }
}
