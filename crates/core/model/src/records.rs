//! Encoded records: in effects, and returned by views.

use crate::{
    Direction, EdgeValue, GraphView, LabelId, NewestRecords, NoCommitOrder, ReadError, Record, VertexId,
    ViewError,
};
use smallvec::SmallVec;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range, RangeInclusive};

/// The edge records of a commit, concatenated. A change of an edge with a record refers to the
/// record by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectRecords {
    bytes: Vec<u8>,
    /// The end of each record. Most commits have one record.
    ends: SmallVec<[usize; 2]>,
}

impl EffectRecords {
    /// Appends a record. Returns its number, which is the value of its edge in the effects.
    pub fn push(&mut self, record: &[u8]) -> EdgeValue {
        self.bytes.extend_from_slice(record);
        self.end_record()
    }

    /// Like [`push`](EffectRecords::push), but takes over the buffer of the first record instead of
    /// copying it.
    pub fn push_owned(&mut self, record: Vec<u8>) -> EdgeValue {
        match self.bytes.is_empty() {
            true => self.bytes = record,
            false => self.bytes.extend_from_slice(&record),
        }
        self.end_record()
    }

    /// Ends a record after the appended bytes.
    fn end_record(&mut self) -> EdgeValue {
        self.ends.push(self.bytes.len());
        EdgeValue(self.ends.len() as u64 - 1)
    }

    /// The record with a number, if it exists.
    #[inline]
    #[must_use]
    pub fn get(&self, number: EdgeValue) -> Option<&[u8]> {
        let number = usize::try_from(number.0).ok()?;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.get(start..end)
    }

    /// The records, by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Capability of a view: reading the records of vertices and edges.
pub trait RecordView: GraphView {
    /// The cursor over the records of one label's edges.
    type EdgeRecords<'v>: RecordCursor<Error = Self::Error>
    where
        Self: 'v;

    /// The record of `vertex`; `None` if the vertex does not exist. O(1).
    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, Self::Error>;

    /// Number of parallel edges of `label`, whose [`edge_count`](GraphView::edge_count) is the
    /// number of connected pairs of vertices; an undirected edge counts once. 0 if edges of the
    /// label cannot be parallel, or if a pair with several edges is a repeated neighbor, as in a
    /// static graph. O(1).
    fn parallel_edge_count(&self, label: LabelId) -> u64;

    /// A cursor over the records of `label` in `direction`; each thread needs its own.
    ///
    /// # Errors
    /// There is no such label or direction, or the label's edges have no records.
    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError>;
}

/// Reads the encoded records of edges, and lends them until its next call.
///
/// A label has one record on each edge, or [parallel](crate::EdgeSchema::Parallel) edges, which
/// have their own methods. A vertex that does not exist has no neighbors.
pub trait RecordCursor {
    /// The error of a failed read.
    type Error: Into<ReadError> + Send;
    /// The parallel edges from one vertex to another.
    type Parallel<'c>: ParallelEdges<'c>
    where
        Self: 'c;
    /// The capability to read records newest first; [`NoCommitOrder`] without it.
    type Ordered<'c>: NewestRecords<'c, Error = Self::Error>
    where
        Self: 'c;

    /// True if neighbors ascend.
    const SORTED: bool;

    /// The record of the edge from `vertex` to `neighbor`, if there is one.
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, Self::Error>;

    /// Visits the neighbors of `vertex`, each with the record of its edge.
    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Self::Error>;

    /// Visits the edges of every vertex in `range`, ascending by vertex, each with its record,
    /// which is valid during the call. All parallel edges between two vertices come as one record,
    /// their list.
    fn scan<B>(
        &mut self,
        range: Range<u32>,
        visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Self::Error>;

    /// Reads the records newest first, if the engine keeps the order of commits.
    #[inline]
    fn in_commit_order(&mut self) -> Option<Self::Ordered<'_>> {
        None
    }

    /// The parallel edges from `vertex` to `neighbor`, if there are any.
    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<Self::Parallel<'_>>, Self::Error>;

    /// Visits the neighbors of `vertex`, each with the parallel edges to it.
    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, Self::Parallel<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Self::Error>;
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
pub struct NoRecords<E> {
    never: Infallible,
    error: PhantomData<E>,
}

impl<E: Into<ReadError> + Send> RecordCursor for NoRecords<E> {
    type Error = E;
    type Parallel<'c>
        = NoParallelEdges
    where
        Self: 'c;
    type Ordered<'c>
        = NoCommitOrder<(), E>
    where
        Self: 'c;

    const SORTED: bool = true;

    fn find(&mut self, _: VertexId, _: VertexId) -> Result<Option<&[u8]>, E> {
        match self.never {}
    }

    fn neighbors<'c, B>(
        &'c mut self,
        _: VertexId,
        _: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, E> {
        match self.never {}
    }

    fn scan<B>(
        &mut self,
        _: Range<u32>,
        _: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, E> {
        match self.never {}
    }

    fn find_parallel(&mut self, _: VertexId, _: VertexId) -> Result<Option<NoParallelEdges>, E> {
        match self.never {}
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        _: VertexId,
        _: impl FnMut(VertexId, Self::Parallel<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, E> {
        match self.never {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_by_their_numbers_however_they_are_pushed() {
        let content: [&[u8]; 5] = [b"", b"first", b"", b"second", b"third"];
        for owned in 0..1 << content.len() {
            let mut records = EffectRecords::default();
            for (number, record) in content.into_iter().enumerate() {
                let value = match owned & 1 << number {
                    0 => records.push(record),
                    _ => records.push_owned(record.to_vec()),
                };
                assert_eq!(value, EdgeValue(number as u64));
            }
            assert!(records.iter().eq(content));
            let found = (0..5).map(|number| records.get(EdgeValue(number)));
            assert!(found.eq(content.map(Some)) && records.get(EdgeValue(5)).is_none());
        }
    }
}
