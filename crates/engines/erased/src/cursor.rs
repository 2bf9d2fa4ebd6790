//! Reading neighbors through virtual calls.

use crate::Inline;
use crate::batch::{BatchRows, RowBatch, as_bytes, from_bytes};
use hedgerow_model::{Adjacency, Column, Cursor, EdgeValue, Neighbors, ReadError, VertexId};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// Minimum length of a run that is passed without a copy; shorter runs are copied into a batch.
const LONG_RUN: usize = 64;

/// Neighbors, and their values as bytes.
type RawNeighbors<'c> = (&'c [VertexId], &'c [u8]);

/// Receives a run, and continues or stops.
type TakeRun<'f> = &'f mut dyn FnMut(&[VertexId], &[u8]) -> ControlFlow<()>;

/// [`Cursor`] with its types erased. Neighbors ascend.
pub(crate) trait AnyCursor {
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError>;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<EdgeValue>, ReadError>;

    fn neighbors(&mut self, vertex: VertexId, run: TakeRun<'_>) -> Result<(), ReadError>;

    fn scan(
        &mut self,
        range: Range<u32>,
        take: &mut dyn FnMut(BatchRows<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError>;

    fn prefetch_place(&self, vertex: VertexId);

    fn prefetch(&mut self, vertex: VertexId);

    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<RawNeighbors<'_>>, ReadError>;

    fn gather(&mut self, vertex: VertexId) -> Result<RawNeighbors<'_>, ReadError>;
}

/// The engine's side: the cursor whose type is erased, and its batch.
pub(crate) struct BatchingCursor<'a, A: Adjacency + 'a> {
    cursor: A::Cursor<'a>,
    /// Allocated by the first call that needs it.
    batch: Option<Box<RowBatch<A::Value>>>,
}

impl<'a, A: Adjacency> BatchingCursor<'a, A> {
    pub(crate) fn new(adjacency: &'a A) -> Self {
        BatchingCursor { cursor: adjacency.cursor(), batch: None }
    }

    /// The neighbors of `vertex`, sorted in the batch.
    fn sorted(&mut self, vertex: VertexId) -> Result<RawNeighbors<'_>, ReadError> {
        let batch = self.batch.get_or_insert_default();
        batch.clear();
        let (neighbors, values) = self.cursor.gather(vertex)?;
        batch.push(vertex, neighbors, values);
        batch.sort_rows();
        let rows = batch.rows();
        Ok((rows.neighbors, rows.values))
    }
}

impl<A: Adjacency> AnyCursor for BatchingCursor<'_, A> {
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        self.cursor.degree(vertex)
    }

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<EdgeValue>, ReadError> {
        let found = self.cursor.find(vertex, neighbor)?;
        Ok(found.map(Column::to_bits))
    }

    fn neighbors(&mut self, vertex: VertexId, run: TakeRun<'_>) -> Result<(), ReadError> {
        if A::SORTED {
            let walked = self.cursor.neighbors(vertex, |neighbors, values| run(neighbors, as_bytes(values)));
            return walked.map(drop);
        }
        let (neighbors, values) = self.sorted(vertex)?;
        if !neighbors.is_empty() {
            let _ = run(neighbors, values);
        }
        Ok(())
    }

    fn scan(
        &mut self,
        range: Range<u32>,
        take: &mut dyn FnMut(BatchRows<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let batch = self.batch.get_or_insert_default();
        batch.clear();
        let scanned = self.cursor.scan(range, |owner, neighbors, values| {
            let is_long = A::SORTED && neighbors.len() >= LONG_RUN;
            // An unsorted row stays in one batch.
            if (is_long || batch.is_full()) && (A::SORTED || batch.last_owner() != Some(owner)) {
                hand_over::<A>(batch, take)?;
            }
            if is_long {
                let (owners, ends) = (&[owner], &[neighbors.len() as u32]);
                return take(BatchRows { owners, ends, neighbors, values: as_bytes(values) });
            }
            batch.push(owner, neighbors, values);
            ControlFlow::Continue(())
        });
        if scanned?.is_continue() {
            let _ = hand_over::<A>(batch, take);
        }
        Ok(())
    }

    fn prefetch_place(&self, vertex: VertexId) {
        self.cursor.prefetch_place(vertex);
    }

    fn prefetch(&mut self, vertex: VertexId) {
        self.cursor.prefetch(vertex);
    }

    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<RawNeighbors<'_>>, ReadError> {
        if !A::SORTED {
            return Ok(None);
        }
        let run = self.cursor.contiguous(vertex)?;
        Ok(run.map(|(neighbors, values)| (neighbors, as_bytes(values))))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<RawNeighbors<'_>, ReadError> {
        if !A::SORTED {
            return self.sorted(vertex);
        }
        let (neighbors, values) = self.cursor.gather(vertex)?;
        Ok((neighbors, as_bytes(values)))
    }
}

/// Passes on the rows of a batch, if any, and empties it.
fn hand_over<A: Adjacency>(
    batch: &mut RowBatch<A::Value>,
    take: &mut dyn FnMut(BatchRows<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if batch.last_owner().is_none() {
        return ControlFlow::Continue(());
    }
    if !A::SORTED {
        batch.sort_rows();
    }
    let flow = take(batch.rows());
    batch.clear();
    flow
}

/// Reads neighbors, with values of type `W` next to them.
pub struct ErasedCursor<'a, W> {
    cursor: Inline<dyn AnyCursor + 'a>,
    values: PhantomData<fn() -> W>,
}

impl<'a, W> ErasedCursor<'a, W> {
    pub(crate) fn new(cursor: Inline<dyn AnyCursor + 'a>) -> Self {
        ErasedCursor { cursor, values: PhantomData }
    }
}

impl<W: Column> Cursor for ErasedCursor<'_, W> {
    type Value = W;

    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        self.cursor.degree(vertex)
    }

    #[inline]
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        Ok(self.cursor.find(vertex, neighbor)?.map(W::from_bits))
    }

    #[inline]
    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flow = ControlFlow::Continue(());
        self.cursor.neighbors(vertex, &mut |neighbors, values| {
            flow = run(neighbors, from_bytes(values, neighbors.len()));
            if flow.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(flow)
    }

    #[inline]
    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flow = ControlFlow::Continue(());
        self.cursor.scan(range, &mut |rows| {
            let values = from_bytes::<W>(rows.values, rows.neighbors.len());
            let mut start = 0;
            for (owner, end) in rows.owners.iter().zip(rows.ends) {
                let row = start..*end as usize;
                start = row.end;
                flow = run(*owner, &rows.neighbors[row.clone()], &values[row]);
                if flow.is_break() {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(flow)
    }

    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        self.cursor.prefetch_place(vertex);
    }

    #[inline]
    fn prefetch(&mut self, vertex: VertexId) {
        self.cursor.prefetch(vertex);
    }

    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, W>>, ReadError> {
        let run = self.cursor.contiguous(vertex)?;
        Ok(run.map(|(neighbors, values)| (neighbors, from_bytes(values, neighbors.len()))))
    }

    #[inline]
    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let (neighbors, values) = self.cursor.gather(vertex)?;
        Ok((neighbors, from_bytes(values, neighbors.len())))
    }
}
