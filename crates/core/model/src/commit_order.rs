//! Capability: reading edges in the order of the commits that put them (LiveGraph, section 4: a log
//! is read from its end).

use crate::{Column, CommitTimestamp, Cursor, Neighbors, ReadError, VertexId};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// A cursor of an engine that keeps edges in the order in which they were put.
pub trait NewestFirst: Cursor {
    /// Visits the neighbors of `vertex`, each with its value and the commit that put or last
    /// changed it, newest first. O(visited edges + superseded entries between them).
    fn newest_first<B>(
        &mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, Self::Value, CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// An upper bound on how far the edges of `vertex` are out of time order; see
    /// [`NewestRecords::time_disorder`].
    fn time_disorder(&mut self, vertex: VertexId) -> Result<Option<u64>, ReadError> {
        let _ = vertex;
        Ok(None)
    }
}

/// Reads the records of edges in the order in which they were put. Borrows a cursor for `'c`.
pub trait NewestRecords<'c> {
    /// Visits the neighbors of `vertex`, each with the record of its edge and the commit that put
    /// the record, newest first. O(visited edges + superseded entries between them).
    fn newest_first<B>(
        self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, &'c [u8], CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// An upper bound on how far the edges of `vertex` are out of [time](crate::RecordSchema::time)
    /// order: the time of an edge exceeds the time of an edge that [`NewestRecords::newest_first`]
    /// visits earlier by at most this bound. Ignores edges whose time is null. `None` if the engine
    /// keeps no bound. O(1).
    fn time_disorder(&mut self, vertex: VertexId) -> Result<Option<u64>, ReadError>;
}

/// The capability type of cursors that keep no commit order. It has no values.
#[derive(Debug)]
pub struct NoCommitOrder<W> {
    never: Infallible,
    values: PhantomData<fn() -> W>,
}

impl<W: Column> Cursor for NoCommitOrder<W> {
    type Value = W;
    type Ordered = Self;

    fn find(&mut self, _: VertexId, _: VertexId) -> Result<Option<W>, ReadError> {
        match self.never {}
    }

    fn scan<B>(
        &mut self,
        _: Range<u32>,
        _: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        match self.never {}
    }

    fn gather(&mut self, _: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        match self.never {}
    }
}

impl<W: Column> NewestFirst for NoCommitOrder<W> {
    fn newest_first<B>(
        &mut self,
        _: VertexId,
        _: impl FnMut(VertexId, W, CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        match self.never {}
    }
}

impl<'c, W> NewestRecords<'c> for NoCommitOrder<W> {
    fn newest_first<B>(
        self,
        _: VertexId,
        _: impl FnMut(VertexId, &'c [u8], CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        match self.never {}
    }

    fn time_disorder(&mut self, _: VertexId) -> Result<Option<u64>, ReadError> {
        match self.never {}
    }
}
