//! Reading a state of the graph: views, adjacencies, cursors.
//!
//! Kernels are generic over [`GraphView`] and compiled once per engine; the engine is chosen once
//! per run, never per edge.

use crate::{
    Column, ColumnType, CommitTimestamp, Count, Direction, EdgeChange, LabelId, ReadError, Record,
    RecordCursor, Topology, VertexId, intersect,
};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

/// An immutable state of the graph.
///
/// Every method that may have to read a disk can fail.
pub trait GraphView: Sync {
    /// The adjacency of one label in one direction, with values of type `W`.
    type Adjacency<'v, W: Column>: Adjacency<Value = W>
    where
        Self: 'v;
    /// The cursor over the records of one label's edges; [`NoRecords`](crate::NoRecords) without
    /// records.
    type EdgeRecords<'v>: RecordCursor
    where
        Self: 'v;

    /// The commit of this state.
    fn timestamp(&self) -> CommitTimestamp;

    /// The direction of edges, and the ends from which they can be read.
    fn topology(&self) -> Topology;

    /// Greater than every vertex id. O(1).
    fn vertex_bound(&self) -> u32;

    /// Number of vertices. O(1).
    fn vertex_count(&self) -> u64;

    /// Number of edges of `label`, as far as the engine has counted them. An undirected edge counts
    /// once. All [parallel](GraphView::parallel_edge_count) edges between two vertices
    /// count once: they are one edge to an engine. O(1).
    fn edge_count(&self, label: LabelId) -> Count;

    /// The commit up to which this state is archived: the commit of the state in an engine without
    /// an edge log ([`Archiving`](crate::Archiving)).
    fn archived_through(&self) -> CommitTimestamp {
        self.timestamp()
    }

    /// Visits the changes of a label's edges in this state after [`GraphView::archived_through`],
    /// each change once with the edge's source as the owner. The changes of one edge ascend by
    /// commit. O(changes).
    fn for_each_unarchived(&self, _label: LabelId, _visit: &mut dyn FnMut(CommitTimestamp, EdgeChange)) {}

    /// Returns true if `vertex` exists. O(1).
    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError>;

    /// Visits the vertices in `range` that exist, ascending, until `visit` breaks.
    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// Visits every vertex in `range` that exists, ascending.
    #[inline]
    fn each_vertex(&self, range: Range<u32>, mut visit: impl FnMut(VertexId)) -> Result<(), ReadError> {
        let scanned = self.scan_vertices(range, |vertex| {
            visit(vertex);
            ControlFlow::<()>::Continue(())
        });
        scanned.map(|_| ())
    }

    /// The adjacency of `label` in `direction`. `W = ()` is topology, whatever the label's column.
    ///
    /// [`RecordHandle`](crate::RecordHandle) is a column of engines that keep records behind
    /// handles (`hedgerow-in-memory`), which only these engines can read. A view without handles
    /// returns [`ViewError::NoHandles`] for a label with records; every view lends records by
    /// [`edge_records`](GraphView::edge_records).
    ///
    /// # Errors
    /// If the label or direction does not exist, the column has another type, or the view has no
    /// handles of records.
    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Self::Adjacency<'_, W>, ViewError>;

    /// The record of `vertex`; `None` if the vertex does not exist. O(1).
    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError>;

    /// Number of parallel edges of `label`, as far as it is known. Their
    /// [`edge_count`](GraphView::edge_count) is the number of connected pairs of vertices; an
    /// undirected edge counts once. 0 if edges of the label cannot be parallel, or if a pair with
    /// several edges is a repeated neighbor, as in a static graph. O(1).
    fn parallel_edge_count(&self, label: LabelId) -> Count;

    /// A cursor over the records of `label` in `direction`; each thread needs its own.
    ///
    /// # Errors
    /// There is no such label or direction, or the label's edges have no records.
    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError>;
}

/// The neighbors of all vertices, for one label and direction.
///
/// Every id returned, of an owner or of a neighbor, is below the view's
/// [`vertex_bound`](GraphView::vertex_bound).
pub trait Adjacency: Sync {
    /// The type of edge values.
    type Value: Column;
    /// The type of cursors.
    type Cursor<'a>: Cursor<Value = Self::Value>
    where
        Self: 'a;

    /// True if neighbors ascend within and across runs.
    const SORTED: bool;
    /// True if a degree costs O(1); otherwise kernels count once and keep the array.
    const DEGREE_IS_O1: bool;

    /// A new cursor. Each thread needs its own, an intersection needs two.
    fn cursor(&self) -> Self::Cursor<'_>;

    /// Returns true if rows lie in blocks that are read as a whole, as on disk. Then vertices
    /// should be read in ascending order, and a range with many wanted vertices should be scanned.
    /// O(1).
    #[inline]
    fn reads_blocks(&self) -> bool {
        false
    }

    /// Partitions the vertices below the bound into at most `parts` ranges of about equal work.
    ///
    /// The ranges ascend, do not overlap, and cover every vertex that has neighbors.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError>;

    /// Visits the members of `ids`, which ascend, that are neighbors of `vertex`: ascending,
    /// without duplicates.
    ///
    /// O(neighbors + ids), or O(smaller · log larger) if one set is much larger ([`intersect`]);
    /// unsorted neighbors are sorted first.
    #[inline]
    fn intersect<'a>(
        cursor: &mut Self::Cursor<'a>,
        vertex: VertexId,
        ids: &[VertexId],
        visit: impl FnMut(VertexId),
    ) -> Result<(), ReadError>
    where
        Self: Sized + 'a,
    {
        intersect_row::<Self>(cursor, vertex, ids, visit)
    }

    /// Visits the common neighbors of two vertices: ascending, without duplicates. Costs as much as
    /// [`intersect`](Self::intersect), plus a copy of the smaller set if it does not lie in one
    /// run.
    #[inline]
    fn common_neighbors<'a>(
        cursors: [&mut Self::Cursor<'a>; 2],
        vertices: [VertexId; 2],
        visit: impl FnMut(VertexId),
    ) -> Result<(), ReadError>
    where
        Self: Sized + 'a,
    {
        intersect_rows::<Self>(cursors, vertices, visit)
    }
}

/// The default implementation of [`Adjacency::intersect`].
#[inline]
fn intersect_row<'a, A: Adjacency + 'a>(
    cursor: &mut A::Cursor<'a>,
    vertex: VertexId,
    mut ids: &[VertexId],
    visit: impl FnMut(VertexId),
) -> Result<(), ReadError> {
    if !A::SORTED {
        intersect::slices(&gathered::<A>(cursor, vertex)?, ids, visit);
        return Ok(());
    }
    if let Some((neighbors, _)) = cursor.contiguous(vertex)? {
        intersect::slices(neighbors, ids, visit);
        return Ok(());
    }
    let mut visit = intersect::once(visit);
    // Counting a degree would cost as much as merging.
    let degree = if A::DEGREE_IS_O1 { cursor.degree(vertex)? } else { ids.len() };
    if intersect::is_much_larger(degree, ids.len()) {
        for id in ids {
            if cursor.find(vertex, *id)?.is_some() {
                visit(*id);
            }
        }
        return Ok(());
    }
    let probes = intersect::is_much_larger(ids.len(), degree);
    let walked = cursor.neighbors(vertex, |run, _| {
        ids = if probes {
            intersect::probe(run, ids, &mut visit)
        } else {
            intersect::merge(run, ids, &mut visit)
        };
        if ids.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    walked.map(drop)
}

/// The implementation of [`Adjacency::common_neighbors`]: intersects the larger set with a slice of
/// the smaller set.
#[inline]
fn intersect_rows<'a, A: Adjacency + 'a>(
    cursors: [&mut A::Cursor<'a>; 2],
    [mut small, mut large]: [VertexId; 2],
    visit: impl FnMut(VertexId),
) -> Result<(), ReadError> {
    let [one, other] = cursors;
    if A::DEGREE_IS_O1 && one.degree(small)? > other.degree(large)? {
        (small, large) = (large, small);
    }
    let ids = gathered::<A>(one, small)?;
    if ids.is_empty() { Ok(()) } else { A::intersect(other, large, &ids, visit) }
}

/// The neighbors of a vertex, ascending.
#[inline]
fn gathered<'c, 'a, A: Adjacency + 'a>(
    cursor: &'c mut A::Cursor<'a>,
    vertex: VertexId,
) -> Result<Cow<'c, [VertexId]>, ReadError> {
    let (neighbors, _) = cursor.gather(vertex)?;
    if A::SORTED {
        return Ok(Cow::Borrowed(neighbors));
    }
    let mut sorted = neighbors.to_vec();
    sorted.sort_unstable();
    Ok(Cow::Owned(sorted))
}

/// Neighbors and their values: two slices of equal length.
pub type Neighbors<'a, W> = (&'a [VertexId], &'a [W]);

/// Reads neighbors. Owns its scratch space; not shared between threads.
///
/// A vertex that does not exist has no neighbors, nor does an id at or above the view's bound.
pub trait Cursor {
    /// The type of edge values.
    type Value: Column;

    /// The number of neighbors of `vertex`. Gathers them by default; faster cursors override it.
    #[inline]
    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        Ok(self.gather(vertex)?.0.len())
    }

    /// The value of the edge from `vertex` to `neighbor`, if there is one.
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<Self::Value>, ReadError>;

    /// Passes on the neighbors of `vertex` in nonempty runs that are valid during the call. By
    /// default gathers them into one run; a cursor whose rows lie in several runs overrides it and
    /// copies nothing.
    #[inline]
    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[Self::Value]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        Ok(match self.gather(vertex)? {
            ([], _) => ControlFlow::Continue(()),
            (neighbors, values) => run(neighbors, values),
        })
    }

    /// Passes on the neighbors of every vertex in `range` that has neighbors, ascending by vertex,
    /// in runs that are valid during the call. A vertex may have several runs.
    fn scan<B>(
        &mut self,
        range: Range<u32>,
        run: impl FnMut(VertexId, &[VertexId], &[Self::Value]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// Visits the neighbors of `vertex`, each with its value and the commit that put or last
    /// changed it, newest first (LiveGraph, section 4: a log is read from its end). Returns `None`,
    /// the default, if the engine does not keep the order of commits. O(visited edges + superseded
    /// entries between them).
    #[inline]
    fn newest_first<B>(
        &mut self,
        vertex: VertexId,
        visit: impl FnMut(VertexId, Self::Value, CommitTimestamp) -> ControlFlow<B>,
    ) -> Result<Option<ControlFlow<B>>, ReadError> {
        let _ = (vertex, visit);
        Ok(None)
    }

    /// An upper bound on how far the edges of `vertex` are out of [time](crate::RecordSchema::time)
    /// order: the time of an edge exceeds the time of an edge that [`Cursor::newest_first`] visits
    /// earlier by at most this bound. Ignores edges whose time is null. `None`, the default, if the
    /// engine keeps no bound. O(1).
    #[inline]
    fn time_disorder(&mut self, vertex: VertexId) -> Result<Option<u64>, ReadError> {
        let _ = vertex;
        Ok(None)
    }

    /// Prefetches the place of `vertex`'s neighbors, for a later [`Cursor::prefetch`]. Changes no
    /// result; does nothing by default.
    #[inline]
    fn prefetch_place(&self, vertex: VertexId) {
        let _ = vertex;
    }

    /// Prefetches the neighbors of `vertex`, which will be read soon. Changes no result; does
    /// nothing by default.
    #[inline]
    fn prefetch(&mut self, vertex: VertexId) {
        let _ = vertex;
    }

    /// All neighbors of `vertex` as one slice, if they lie in one run; by default `None`.
    #[inline]
    fn contiguous(&mut self, vertex: VertexId) -> Result<Option<Neighbors<'_, Self::Value>>, ReadError> {
        let _ = vertex;
        Ok(None)
    }

    /// All neighbors of `vertex` as one slice: borrowed if they lie in one run, else copied into
    /// the cursor's buffer.
    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, Self::Value>, ReadError>;
}

/// The requested adjacency does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The label does not exist.
    #[error("there is no label number {}", .0.0)]
    UnknownLabel(LabelId),
    /// The label's column has another type.
    #[error("the edges of label number {} carry {declared}, not {asked}", label.0)]
    WrongColumn {
        /// The label.
        label: LabelId,
        /// The declared type.
        declared: ColumnType,
        /// The requested type.
        asked: ColumnType,
    },
    /// The label's edges have records, but the view has no handles of them.
    #[error("the records of label number {} have no handles here: they are read as bytes", .0.0)]
    NoHandles(LabelId),
    /// The label's edges have no records.
    #[error("the edges of label number {} have no records", .0.0)]
    NoRecords(LabelId),
    /// A directed graph stores in-neighbors only if requested.
    #[error("this directed graph keeps no reverse adjacency: create it with one, or transpose a snapshot")]
    NoReverse,
}

impl ViewError {
    /// Checks that edges of a label whose column is `declared` can be read as `W`: with the
    /// declared type, as bits of its width, or without values.
    ///
    /// # Errors
    /// [`ViewError::WrongColumn`].
    pub fn check_column<W: Column>(label: LabelId, declared: ColumnType) -> Result<(), ViewError> {
        let is_raw = W::IS_RAW && declared != ColumnType::Record && declared.width() == W::TYPE.width();
        match W::TYPE == ColumnType::Unit || W::TYPE == declared || is_raw {
            true => Ok(()),
            false => Err(ViewError::WrongColumn { label, declared, asked: W::TYPE }),
        }
    }
}
