//! Encoded records, returned by views.

use crate::{CommitTimestamp, ReadError, VertexId};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range, RangeInclusive};

/// Reads the encoded records of edges, and lends them until its next call.
///
/// A label has one record on each edge, or [parallel](crate::EdgeSchema::Parallel) edges, which
/// have their own methods. A vertex that does not exist has no neighbors.
pub trait RecordCursor {
    /// The parallel edges from one vertex to another.
    type Parallel<'c>: ParallelEdges<'c>
    where
        Self: 'c;

    /// True if neighbors ascend.
    const SORTED: bool;

    /// The record of the edge from `vertex` to `neighbor`, if there is one.
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError>;

    /// Visits the neighbors of `vertex`, each with the record of its edge.
    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// Visits the edges of every vertex in `range`, ascending by vertex, each with its record,
    /// which is valid during the call. All parallel edges between two vertices come as one record,
    /// their list.
    fn scan<B>(
        &mut self,
        range: Range<u32>,
        visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// Like [`Cursor::newest_first`](crate::Cursor::newest_first), with the record of each edge.
    #[inline]
    fn newest_first<'c, B>(
        &'c mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, &'c [u8], CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<Option<ControlFlow<B>>, ReadError> {
        let _ = (vertex, visit);
        Ok(None)
    }

    /// See [`Cursor::time_disorder`](crate::Cursor::time_disorder).
    #[inline]
    fn time_disorder(&mut self, vertex: VertexId) -> Result<Option<u64>, ReadError> {
        let _ = vertex;
        Ok(None)
    }

    /// The parallel edges from `vertex` to `neighbor`, if there are any.
    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<Self::Parallel<'_>>, ReadError>;

    /// Visits the neighbors of `vertex`, each with the parallel edges to it.
    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, Self::Parallel<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;
}

/// The parallel edges from one vertex to another, at least one, ascending by key.
pub trait ParallelEdges<'c>: Copy {
    /// Number of edges.
    ///
    /// # Errors
    /// The edges could not be read.
    fn count(self) -> Result<u64, ReadError>;

    /// The edges whose keys are in a range, ascending, each with its record.
    fn edges(self, keys: RangeInclusive<u64>) -> impl Iterator<Item = Result<(u64, &'c [u8]), ReadError>>;

    /// The record of the edge with a key, if there is one.
    ///
    /// # Errors
    /// The edges could not be read.
    fn find(self, key: u64) -> Result<Option<&'c [u8]>, ReadError> {
        Ok(self.edges(key..=key).next().transpose()?.map(|(_, record)| record))
    }
}

/// The record cursor of views without records. It has no values.
#[derive(Debug)]
pub struct NoRecords(Infallible);

impl RecordCursor for NoRecords {
    type Parallel<'c>
        = NoParallelEdges
    where
        Self: 'c;

    const SORTED: bool = true;

    fn find(&mut self, _: VertexId, _: VertexId) -> Result<Option<&[u8]>, ReadError> {
        match self.0 {}
    }

    fn neighbors<'c, B>(
        &'c mut self,
        _: VertexId,
        _: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        match self.0 {}
    }

    fn scan<B>(
        &mut self,
        _: Range<u32>,
        _: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        match self.0 {}
    }

    fn find_parallel(&mut self, _: VertexId, _: VertexId) -> Result<Option<NoParallelEdges>, ReadError> {
        match self.0 {}
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        _: VertexId,
        _: impl FnMut(VertexId, Self::Parallel<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        match self.0 {}
    }
}

/// The parallel edges of views without any.
#[derive(Clone, Copy, Debug)]
pub struct NoParallelEdges;

impl<'c> ParallelEdges<'c> for NoParallelEdges {
    fn count(self) -> Result<u64, ReadError> {
        Ok(0)
    }

    fn edges(self, _: RangeInclusive<u64>) -> impl Iterator<Item = Result<(u64, &'c [u8]), ReadError>> {
        std::iter::empty()
    }
}
