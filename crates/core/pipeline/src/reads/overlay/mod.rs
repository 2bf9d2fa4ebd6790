//! A transaction's own writes over a state of the graph, read as one state.

mod changes;
mod cursor;
mod records;

pub use changes::StagedChanges;

use changes::StagedRows;
use cursor::OverlayAdjacency;
use hedgerow_model::{
    Column, CommitTimestamp, Count, Direction, EdgeChange, GraphView, LabelId, ReadError, Record, Topology,
    VertexId, ViewError,
};
use records::OverlayRecords;
use std::ops::{ControlFlow, Range};

/// A view with staged changes over it.
///
/// Kernels, iterators and point reads run on it as on any other view. Neighbors ascend. A row that
/// no change touches is read as the view lends it; a changed row is merged in a buffer, and once
/// the transaction has deleted a stored vertex, every row. Counts of edges are bounds, in
/// O(changes).
#[derive(Clone, Copy, Debug)]
pub struct Overlay<'t, V> {
    view: V,
    changes: &'t StagedChanges,
}

impl<'t, V> Overlay<'t, V> {
    /// Lays changes over the view on which they were staged.
    pub fn new(view: V, changes: &'t StagedChanges) -> Self {
        Overlay { view, changes }
    }
}

impl<V: GraphView> GraphView for Overlay<'_, V> {
    type Adjacency<'v, W: Column>
        = OverlayAdjacency<'v, V::Adjacency<'v, W>>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = OverlayRecords<'v, V::EdgeRecords<'v>>
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.view.timestamp()
    }

    fn topology(&self) -> Topology {
        self.view.topology()
    }

    fn vertex_bound(&self) -> u32 {
        self.view.vertex_bound().max(self.changes.vertex_bound())
    }

    fn vertex_count(&self) -> u64 {
        self.view.vertex_count().saturating_add_signed(self.changes.vertices_added())
    }

    fn edge_count(&self, label: LabelId) -> Count {
        self.changes.edge_count(label, self.view.edge_count(label))
    }

    fn archived_through(&self) -> CommitTimestamp {
        self.view.archived_through()
    }

    /// Visits the changes in the view below: staged changes have no commit.
    fn for_each_unarchived(&self, label: LabelId, visit: &mut dyn FnMut(CommitTimestamp, EdgeChange)) {
        self.view.for_each_unarchived(label, visit);
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        let stored = || self.view.contains_vertex(vertex);
        self.changes.existence(vertex).map_or_else(stored, Ok)
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut new = self.changes.new_vertices(range.clone()).peekable();
        let flow = self.view.scan_vertices(range, |vertex| {
            while let Some(before) = new.next_if(|new| *new < vertex) {
                visit(before)?;
            }
            match self.changes.existence(vertex) {
                Some(false) => ControlFlow::Continue(()),
                Some(true) | None => visit(vertex),
            }
        });
        Ok(match flow? {
            ControlFlow::Continue(()) => new.try_for_each(visit),
            ControlFlow::Break(stopped) => ControlFlow::Break(stopped),
        })
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<Self::Adjacency<'_, W>, ViewError> {
        let stored = self.view.adjacency(label, direction)?;
        let rows = StagedRows::new(self.changes, label, direction);
        Ok(OverlayAdjacency::new(stored, rows, self.vertex_bound()))
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        match self.changes.record(vertex) {
            Some(record) => Ok(record.cloned()),
            None => self.view.vertex_record(vertex),
        }
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.changes.parallel_count(label, self.view.parallel_edge_count(label))
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError> {
        let stored = self.view.edge_records(label, direction)?;
        Ok(OverlayRecords::new(stored, StagedRows::new(self.changes, label, direction)))
    }
}
