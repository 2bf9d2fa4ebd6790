//! The static graph: compressed sparse rows, built once, never changed.
//!
//! A [`Csr`] is the reference to which engines are compared, a copy of a snapshot that is read very
//! often, and the in-neighbors that a kernel builds if a store keeps none.
//!
//! ```
//! use hedgerow_kernels::{BuildOptions, Csr};
//! use hedgerow_model::{Adjacency, Count, Cursor, Direction, GraphView, LabelId, Topology, VertexId};
//!
//! let id = VertexId::new;
//! let edges = [(id(0), id(1)), (id(0), id(2)), (id(2), id(0))];
//! let graph = Csr::from_edges(3, Topology::Directed, &edges, BuildOptions::default())?;
//!
//! let adjacency = graph.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
//! assert_eq!(adjacency.cursor().gather(id(0)).unwrap().0, [id(1), id(2)]);
//! # Ok::<(), hedgerow_kernels::CsrError>(())
//! ```

mod build;
mod chunk;
mod copy;
mod cursor;
mod error;
mod parallel;
mod presence;
mod rows;
mod sorted;
mod weighted;

pub use build::CsrBuilder;
pub use cursor::{CsrAdjacency, CsrCursor};
pub use error::CsrError;
pub use parallel::{has_parallel_edges, scan_each_edge};
pub use sorted::SortedRows;
pub use weighted::ParallelWeight;

use crate::MemoryBudget;
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Count, Direction, GraphView, LabelId, NoRecords, ReadError, Record,
    Topology, VertexId, ViewError,
};
use hedgerow_sync::{CancelToken, map_chunks};
use presence::Presence;
use rayon::ThreadPool;
use rows::Rows;
use std::ops::{ControlFlow, Range};

/// An immutable graph: the neighbors of all vertices in one array, ascending per vertex.
///
/// It has one label, [`LabelId::DEFAULT`], and at most one column of values. A copy of a label with
/// parallel edges repeats a neighbor once per edge.
#[derive(Clone, Debug)]
pub struct Csr {
    timestamp: CommitTimestamp,
    topology: Topology,
    presence: Presence,
    vertex_count: u64,
    edge_count: u64,
    column: ColumnType,
    out: Rows,
    /// The in-neighbors of a directed graph, if it has them.
    reverse: Option<Rows>,
}

/// Resources for building a [`Csr`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions<'a> {
    /// The threads to build on; `None` is the calling thread.
    pub pool: Option<&'a ThreadPool>,
    /// Stops the build: [`CsrError::Cancelled`].
    pub cancel: Option<&'a CancelToken>,
    /// The memory that may be allocated, temporary arrays included.
    pub memory: MemoryBudget,
}

impl<'a> BuildOptions<'a> {
    /// Builds on `pool`, within the memory that is available.
    #[must_use]
    pub fn on(pool: &'a ThreadPool) -> Self {
        BuildOptions { pool: Some(pool), ..BuildOptions::default() }
    }

    /// The number of chunks: enough to balance uneven chunks and to cancel soon.
    fn parts(&self) -> usize {
        16 * self.pool.map_or(1, ThreadPool::current_num_threads)
    }

    /// [`map_chunks`] that stops when the build is canceled.
    fn map_chunks<C: Send, R: Send>(
        &self,
        chunks: Vec<C>,
        work: impl Fn(C) -> Result<R, CsrError> + Sync,
    ) -> Result<Vec<R>, CsrError> {
        map_chunks(self.pool, chunks, |chunk| match self.cancel {
            Some(cancel) if cancel.is_cancelled() => Err(CsrError::Cancelled),
            _ => work(chunk),
        })
    }
}

impl Csr {
    /// The offsets of the rows of out-neighbors: the row of `v` is at `offsets[v]..offsets[v + 1]`.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        self.out.offsets()
    }

    /// The out-neighbors of all vertices, row after row.
    #[must_use]
    pub fn neighbors(&self) -> &[VertexId] {
        self.out.neighbors()
    }

    /// The values of the out-neighbors.
    ///
    /// # Panics
    /// The values have another type.
    #[must_use]
    pub fn values<W: Column>(&self) -> &[W] {
        W::slice(self.out.values(), 0..self.out.neighbors().len())
    }

    /// The type of the values.
    #[must_use]
    pub fn column(&self) -> ColumnType {
        self.column
    }

    /// Takes the values, of type `u64`, as the bits of values of type `column`. O(1), or O(edges)
    /// for values of four bytes.
    ///
    /// # Panics
    /// The values have another type, or those of type `column` take no bytes.
    #[must_use]
    pub fn with_bits_of(mut self, column: ColumnType) -> Self {
        assert_eq!(self.column, ColumnType::U64, "the bits of values");
        self.out.narrow(column);
        self.reverse.iter_mut().for_each(|rows| rows.narrow(column));
        Csr { column, ..self }
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let reverse = self.reverse.as_ref().map_or(0, Rows::heap_bytes);
        self.out.heap_bytes() + reverse + self.presence.heap_bytes()
    }

    /// Removes vertices, whose ids stay unused. Ignores ids without a vertex.
    ///
    /// Used to build graphs with holes. O(vertices + edges).
    ///
    /// # Errors
    /// [`CsrError::VertexHasEdges`] if one of the vertices is an end of an edge.
    pub fn without_vertices(mut self, absent: impl IntoIterator<Item = VertexId>) -> Result<Self, CsrError> {
        let bound = self.vertex_bound();
        for vertex in absent {
            self.presence.remove(vertex, bound);
        }
        let rows = (0..bound).map(VertexId::new);
        let owners = rows.filter(|vertex| !self.out.range(*vertex).is_empty());
        let mut ends = owners.chain(self.out.neighbors().iter().copied());
        if let Some(vertex) = ends.find(|vertex| !self.presence.contains(*vertex)) {
            return Err(CsrError::VertexHasEdges(vertex));
        }
        self.vertex_count = self.presence.count(bound);
        Ok(self)
    }
}

impl Csr {
    fn has(&self, vertex: VertexId) -> bool {
        vertex.get() < self.vertex_bound() && self.presence.contains(vertex)
    }
}

/// A static graph keeps no records: its vertices have empty records, and its edges have none. Its
/// parallel edges are repeated neighbors.
impl GraphView for Csr {
    type Adjacency<'v, W: Column> = CsrAdjacency<'v, W>;
    type EdgeRecords<'v> = NoRecords;

    fn timestamp(&self) -> CommitTimestamp {
        self.timestamp
    }

    fn topology(&self) -> Topology {
        self.topology
    }

    fn vertex_bound(&self) -> u32 {
        self.out.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self, label: LabelId) -> Count {
        Count::exactly(if label == LabelId::DEFAULT { self.edge_count } else { 0 })
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        Ok(self.has(vertex))
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut ids = (range.start..range.end.min(self.vertex_bound())).map(VertexId::new);
        Ok(ids.by_ref().filter(|vertex| self.presence.contains(*vertex)).try_for_each(visit))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<CsrAdjacency<'_, W>, ViewError> {
        if label != LabelId::DEFAULT {
            return Err(ViewError::UnknownLabel(label));
        }
        ViewError::check_column::<W>(label, self.column)?;
        let rows = match self.topology.stored(direction) {
            Some(Direction::Out) => Some(&self.out),
            Some(Direction::In) => self.reverse.as_ref(),
            None => None,
        };
        rows.map(CsrAdjacency::new).ok_or(ViewError::NoReverse)
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        Ok(self.has(vertex).then_some(Record::EMPTY))
    }

    fn parallel_edge_count(&self, _: LabelId) -> Count {
        Count::default()
    }

    fn edge_records(&self, label: LabelId, _: Direction) -> Result<NoRecords, ViewError> {
        Err(ViewError::NoRecords(label))
    }
}
