//! Reading neighbours through virtual calls.

use crate::batch::{Batch, Rows, as_bytes, from_bytes};
use hedgerow_model::{Adjacency, Column, Cursor, EdgeValue, Neighbours, NoCommitOrder, ReadError, VertexId};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// A run of at least this many neighbours is handed over as it lies; shorter ones are copied into a batch.
const LONG_RUN: usize = 64;

/// Neighbours, and the values beside them as bytes.
type RawNeighbours<'c> = (&'c [VertexId], &'c [u8]);

/// Takes a run, and says whether to go on.
type TakeRun<'f> = &'f mut dyn FnMut(&[VertexId], &[u8]) -> ControlFlow<()>;

/// [`Cursor`] with its types erased. Neighbours ascend.
pub(crate) trait AnyCursor {
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError>;

    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<EdgeValue>, ReadError>;

    fn neighbours(&mut self, vertex: VertexId, run: TakeRun<'_>) -> Result<(), ReadError>;

    fn scan(
        &mut self,
        range: Range<u32>,
        take: &mut dyn FnMut(Rows<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError>;

    fn prefetch_place(&self, vertex: VertexId);

    fn prefetch(&mut self, vertex: VertexId);

    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<RawNeighbours<'_>>, ReadError>;

    fn gather(&mut self, vertex: VertexId) -> Result<RawNeighbours<'_>, ReadError>;
}

/// The engine's side: the cursor whose type is erased, and the batch that it fills.
pub(crate) struct BatchingCursor<'a, A: Adjacency + 'a> {
    cursor: A::Cursor<'a>,
    batch: Batch<A::Value>,
}

impl<'a, A: Adjacency> BatchingCursor<'a, A> {
    pub(crate) fn new(adjacency: &'a A) -> Self {
        BatchingCursor { cursor: adjacency.cursor(), batch: Batch::new() }
    }

    /// The neighbours of `vertex`, sorted in the batch.
    fn sorted(&mut self, vertex: VertexId) -> Result<RawNeighbours<'_>, ReadError> {
        self.batch.clear();
        let (neighbours, values) = self.cursor.gather(vertex).map_err(Into::into)?;
        self.batch.push(vertex, neighbours, values);
        self.batch.sort_rows();
        let rows = self.batch.rows();
        Ok((rows.neighbours, rows.values))
    }
}

impl<A: Adjacency> AnyCursor for BatchingCursor<'_, A> {
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        self.cursor.degree(vertex).map_err(Into::into)
    }

    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<EdgeValue>, ReadError> {
        let found = self.cursor.find(vertex, neighbour).map_err(Into::into)?;
        Ok(found.map(Column::to_bits))
    }

    fn neighbours(&mut self, vertex: VertexId, run: TakeRun<'_>) -> Result<(), ReadError> {
        if A::SORTED {
            let walked =
                self.cursor.neighbours(vertex, |neighbours, values| run(neighbours, as_bytes(values)));
            return walked.map(drop).map_err(Into::into);
        }
        let (neighbours, values) = self.sorted(vertex)?;
        if !neighbours.is_empty() {
            let _ = run(neighbours, values);
        }
        Ok(())
    }

    fn scan(
        &mut self,
        range: Range<u32>,
        take: &mut dyn FnMut(Rows<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let batch = &mut self.batch;
        batch.clear();
        let scanned = self.cursor.scan(range, |owner, neighbours, values| {
            let is_long = A::SORTED && neighbours.len() >= LONG_RUN;
            // An unsorted row stays in one batch.
            if (is_long || batch.is_full()) && (A::SORTED || batch.last_owner() != Some(owner)) {
                hand_over::<A>(batch, take)?;
            }
            if is_long {
                let (owners, ends) = (&[owner], &[neighbours.len() as u32]);
                return take(Rows { owners, ends, neighbours, values: as_bytes(values) });
            }
            batch.push(owner, neighbours, values);
            ControlFlow::Continue(())
        });
        if scanned.map_err(Into::into)?.is_continue() {
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

    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<RawNeighbours<'_>>, ReadError> {
        if !A::SORTED {
            return Ok(None);
        }
        let run = self.cursor.contiguous(vertex).map_err(Into::into)?;
        Ok(run.map(|(neighbours, values)| (neighbours, as_bytes(values))))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<RawNeighbours<'_>, ReadError> {
        if !A::SORTED {
            return self.sorted(vertex);
        }
        let (neighbours, values) = self.cursor.gather(vertex).map_err(Into::into)?;
        Ok((neighbours, as_bytes(values)))
    }
}

/// Hands over the rows of a batch, if it has any, and empties it.
fn hand_over<A: Adjacency>(
    batch: &mut Batch<A::Value>,
    take: &mut dyn FnMut(Rows<'_>) -> ControlFlow<()>,
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

/// Reads neighbours, with values of type `W` beside them.
pub struct ErasedCursor<'a, W> {
    cursor: Box<dyn AnyCursor + 'a>,
    values: PhantomData<fn() -> W>,
}

impl<'a, W> ErasedCursor<'a, W> {
    pub(crate) fn new(cursor: Box<dyn AnyCursor + 'a>) -> Self {
        ErasedCursor { cursor, values: PhantomData }
    }
}

impl<W: Column> Cursor for ErasedCursor<'_, W> {
    type Value = W;
    type Error = ReadError;
    type Ordered = NoCommitOrder<W, ReadError>;

    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        self.cursor.degree(vertex)
    }

    #[inline]
    fn find(&mut self, vertex: VertexId, neighbour: VertexId) -> Result<Option<W>, ReadError> {
        Ok(self.cursor.find(vertex, neighbour)?.map(W::from_bits))
    }

    #[inline]
    fn neighbours<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flow = ControlFlow::Continue(());
        self.cursor.neighbours(vertex, &mut |neighbours, values| {
            flow = run(neighbours, from_bytes(values, neighbours.len()));
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
            let values = from_bytes::<W>(rows.values, rows.neighbours.len());
            let mut start = 0;
            for (owner, end) in rows.owners.iter().zip(rows.ends) {
                let row = start..*end as usize;
                start = row.end;
                flow = run(*owner, &rows.neighbours[row.clone()], &values[row]);
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
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbours<'_, W>>, ReadError> {
        let run = self.cursor.contiguous(vertex)?;
        Ok(run.map(|(neighbours, values)| (neighbours, from_bytes(values, neighbours.len()))))
    }

    #[inline]
    fn gather(&mut self, vertex: VertexId) -> Result<Neighbours<'_, W>, ReadError> {
        let (neighbours, values) = self.cursor.gather(vertex)?;
        Ok((neighbours, from_bytes(values, neighbours.len())))
    }
}
