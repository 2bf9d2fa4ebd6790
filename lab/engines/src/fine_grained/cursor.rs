//! Reading neighbors.

use super::entries::Entries;
use super::row::Row;
use super::view::FineGrainedAdjacency;
use hedgerow_in_memory::records::HandleCursor;
use hedgerow_model::{Column, CommitTimestamp, Cursor, Neighbors, ReadError, RecordHandle, VertexId};
use hedgerow_sync::RwLock;
use std::ops::{ControlFlow, Range};

/// Reads neighbors: copies the visible ones under the shared lock of their row, and passes the copy
/// on after releasing it.
///
/// No lock is held while the caller's code runs, which may read the same row again or write to it.
pub struct FineGrainedCursor<'s, E, W> {
    adjacency: FineGrainedAdjacency<'s, E, W>,
    at: CommitTimestamp,
    bound: u32,
    /// The copy of the last row read.
    neighbors: Vec<VertexId>,
    values: Vec<W>,
}

impl<'s, E: Entries, W: Column> FineGrainedCursor<'s, E, W> {
    pub(super) fn new(adjacency: FineGrainedAdjacency<'s, E, W>) -> Self {
        let (at, bound) = (adjacency.at(), adjacency.vertex_bound());
        FineGrainedCursor { adjacency, at, bound, neighbors: Vec::new(), values: Vec::new() }
    }

    #[inline]
    fn row(&self, vertex: VertexId) -> Option<&'s RwLock<Row<E>>> {
        if vertex.get() < self.bound { self.adjacency.row(vertex) } else { None }
    }

    /// Copies the visible neighbors of a row.
    #[inline]
    fn copy(&mut self, row: Option<&RwLock<Row<E>>>) -> Neighbors<'_, W> {
        self.neighbors.clear();
        self.values.clear();
        if let Some(row) = row {
            row.read().copy_visible(self.at, &mut self.neighbors, &mut self.values);
        }
        (&self.neighbors, &self.values)
    }
}

impl<E: Entries> HandleCursor for FineGrainedCursor<'_, E, RecordHandle> {
    const SORTED: bool = true;
}

impl<E: Entries, W: Column> Cursor for FineGrainedCursor<'_, E, W> {
    type Value = W;

    /// O(entries of the row).
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        Ok(self.row(vertex).map_or(0, |row| row.read().degree(self.at)))
    }

    /// O(search + versions of the edge newer than the view).
    #[inline]
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let found = self.row(vertex).and_then(|row| row.read().find(neighbor, self.at));
        Ok(found.map(W::from_bits))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let adjacency = self.adjacency;
        for (vertex, row) in adjacency.rows(range) {
            let flow = match self.copy(Some(row)) {
                ([], _) => continue,
                (neighbors, values) => run(vertex, neighbors, values),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        Ok(self.copy(self.row(vertex)))
    }
}
