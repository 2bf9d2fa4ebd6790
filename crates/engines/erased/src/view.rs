//! Views of the graph, and their adjacencies.

use crate::Inline;
use crate::cursor::{AnyCursor, BatchingCursor, ErasedCursor};
use crate::records::{AnyRecords, ErasedRecords};
use hedgerow_model::{
    Adjacency, Column, ColumnType, CommitTimestamp, Count, Direction, EdgeChange, GraphView, LabelId,
    ReadError, Record, Topology, VertexId, ViewError, with_column, with_width,
};
use smallbox::smallbox;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// Vertices per virtual call.
const VERTICES_PER_CALL: usize = 256;

/// Wraps a view of an [`ErasedEngine`](crate::ErasedEngine), or any other view.
pub struct ErasedView<'s>(pub(crate) Inline<dyn AnyView + 's>);

impl<'s> ErasedView<'s> {
    /// Erases the type of `view`.
    pub fn new(view: impl GraphView + 's) -> Self {
        ErasedView(smallbox!(view))
    }
}

/// The type of the values to read.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    column: ColumnType,
    /// True if any type of this width will do.
    is_raw: bool,
}

/// [`GraphView`] with its generic parts erased.
pub(crate) trait AnyView: Sync {
    fn timestamp(&self) -> CommitTimestamp;

    fn topology(&self) -> Topology;

    fn vertex_bound(&self) -> u32;

    fn vertex_count(&self) -> u64;

    fn edge_count(&self, label: LabelId) -> Count;

    fn archived_through(&self) -> CommitTimestamp;

    fn for_each_unarchived(&self, label: LabelId, visit: &mut dyn FnMut(CommitTimestamp, EdgeChange));

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError>;

    fn scan_vertices(
        &self,
        range: Range<u32>,
        visit: &mut dyn FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> Result<(), ReadError>;

    fn adjacency(
        &self,
        label: LabelId,
        direction: Direction,
        asked: Asked,
    ) -> Result<Inline<dyn AnyAdjacency + '_>, ViewError>;

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError>;

    fn parallel_edge_count(&self, label: LabelId) -> Count;

    fn edge_records(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Inline<dyn AnyRecords + '_>, ViewError>;
}

impl<V: GraphView> AnyView for V {
    fn timestamp(&self) -> CommitTimestamp {
        GraphView::timestamp(self)
    }

    fn topology(&self) -> Topology {
        GraphView::topology(self)
    }

    fn vertex_bound(&self) -> u32 {
        GraphView::vertex_bound(self)
    }

    fn vertex_count(&self) -> u64 {
        GraphView::vertex_count(self)
    }

    fn edge_count(&self, label: LabelId) -> Count {
        GraphView::edge_count(self, label)
    }

    fn archived_through(&self) -> CommitTimestamp {
        GraphView::archived_through(self)
    }

    fn for_each_unarchived(&self, label: LabelId, visit: &mut dyn FnMut(CommitTimestamp, EdgeChange)) {
        GraphView::for_each_unarchived(self, label, visit);
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        GraphView::contains_vertex(self, vertex)
    }

    fn scan_vertices(
        &self,
        range: Range<u32>,
        visit: &mut dyn FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let mut found = Vec::with_capacity(VERTICES_PER_CALL);
        let flow = GraphView::scan_vertices(self, range, |vertex| {
            found.push(vertex);
            if found.len() < VERTICES_PER_CALL {
                return ControlFlow::Continue(());
            }
            let flow = visit(&found);
            found.clear();
            flow
        });
        if flow?.is_continue() {
            let _ = visit(&found);
        }
        Ok(())
    }

    fn adjacency(
        &self,
        label: LabelId,
        direction: Direction,
        Asked { column, is_raw }: Asked,
    ) -> Result<Inline<dyn AnyAdjacency + '_>, ViewError> {
        if !(is_raw || matches!(column, ColumnType::Unit | ColumnType::Record)) {
            // The label must have values of this type, not only of this width.
            with_column!(column, W => GraphView::adjacency::<W>(self, label, direction).map(drop))?;
        }
        with_width!(column, W => Ok(smallbox!(GraphView::adjacency::<W>(self, label, direction)?)))
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        GraphView::vertex_record(self, vertex)
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        GraphView::parallel_edge_count(self, label)
    }

    fn edge_records(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Inline<dyn AnyRecords + '_>, ViewError> {
        Ok(smallbox!(GraphView::edge_records(self, label, direction)?))
    }
}

impl GraphView for ErasedView<'_> {
    type Adjacency<'v, W: Column>
        = ErasedAdjacency<'v, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = ErasedRecords<'v>
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.0.timestamp()
    }

    fn topology(&self) -> Topology {
        self.0.topology()
    }

    fn vertex_bound(&self) -> u32 {
        self.0.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.0.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> Count {
        self.0.edge_count(label)
    }

    fn archived_through(&self) -> CommitTimestamp {
        self.0.archived_through()
    }

    fn for_each_unarchived(&self, label: LabelId, visit: &mut dyn FnMut(CommitTimestamp, EdgeChange)) {
        self.0.for_each_unarchived(label, visit);
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        self.0.contains_vertex(vertex)
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flow = ControlFlow::Continue(());
        self.0.scan_vertices(range, &mut |found| {
            flow = found.iter().copied().try_for_each(&mut visit);
            if flow.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(flow)
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<ErasedAdjacency<'_, W>, ViewError> {
        let adjacency = self.0.adjacency(label, direction, Asked { column: W::TYPE, is_raw: W::IS_RAW })?;
        Ok(ErasedAdjacency { adjacency, values: PhantomData })
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        self.0.vertex_record(vertex)
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.0.parallel_edge_count(label)
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<ErasedRecords<'_>, ViewError> {
        Ok(ErasedRecords::new(self.0.edge_records(label, direction)?))
    }
}

/// The adjacency of one label in one direction, with values of type `W` next to the neighbors.
pub struct ErasedAdjacency<'v, W> {
    adjacency: Inline<dyn AnyAdjacency + 'v>,
    values: PhantomData<fn() -> W>,
}

/// [`Adjacency`] with its types erased.
pub(crate) trait AnyAdjacency: Sync {
    fn cursor(&self) -> Inline<dyn AnyCursor + '_>;

    fn reads_blocks(&self) -> bool;

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError>;
}

impl<A: Adjacency> AnyAdjacency for A {
    fn cursor(&self) -> Inline<dyn AnyCursor + '_> {
        smallbox!(BatchingCursor::new(self))
    }

    fn reads_blocks(&self) -> bool {
        Adjacency::reads_blocks(self)
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        Adjacency::cuts(self, parts)
    }
}

impl<W: Column> Adjacency for ErasedAdjacency<'_, W> {
    type Value = W;
    type Cursor<'a>
        = ErasedCursor<'a, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> ErasedCursor<'_, W> {
        ErasedCursor::new(self.adjacency.cursor())
    }

    fn reads_blocks(&self) -> bool {
        self.adjacency.reads_blocks()
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        self.adjacency.cuts(parts)
    }
}
