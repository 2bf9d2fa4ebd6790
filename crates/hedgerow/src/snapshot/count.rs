//! Exact numbers of edges.

use super::Snapshot;
use crate::error::Error;
use hedgerow_encoding::ParallelList;
use hedgerow_erased::ErasedView;
use hedgerow_model::{
    Adjacency, Cursor, Direction, GraphView, LabelId, ParallelEdges, RecordCursor, VertexId,
};
use std::ops::ControlFlow;

impl Snapshot {
    /// Returns the number of edges of a label, exactly on every engine: parallel edges one by one,
    /// an undirected edge once.
    ///
    /// O(1) if [`edge_count_of`](Snapshot::edge_count_of) is exact. Where it is a range, because
    /// the engine counts later, reads all edges of the label: O(vertices + edges), no memory.
    ///
    /// # Errors
    /// There is no such label, or the store could not be read.
    pub fn exact_edge_count_of(&self, label: impl Into<LabelId>) -> Result<u64, Error> {
        let label = label.into();
        self.typed()?.label_schema(label)?;
        match self.edges_of(label).exact() {
            Some(count) => Ok(count),
            None => self.scan_edge_count(label),
        }
    }

    fn scan_edge_count(&self, label: LabelId) -> Result<u64, Error> {
        let view = self.erased_view()?;
        if self.typed()?.catalog().are_parallel(label) {
            return self.scan_parallel_count(label, &view);
        }
        let adjacency = view.adjacency::<()>(label, Direction::Out)?;
        let (bound, is_undirected) = (self.vertex_bound(), self.topology().is_undirected());
        let (mut cursor, mut entries, mut loops) = (adjacency.cursor(), 0, 0);
        let scanned = cursor.scan(0..bound, |vertex: VertexId, neighbors, _| {
            entries += neighbors.len() as u64;
            loops += u64::from(is_undirected && neighbors.contains(&vertex));
            ControlFlow::<()>::Continue(())
        });
        scanned.map(drop)?;
        // An undirected edge is an entry at both ends, a self loop at one.
        Ok(if is_undirected { (entries + loops) / 2 } else { entries })
    }

    fn scan_parallel_count(&self, label: LabelId, view: &ErasedView<'_>) -> Result<u64, Error> {
        let mut records = view.edge_records(label, Direction::Out)?;
        let (is_undirected, mut edges) = (self.topology().is_undirected(), 0);
        let scanned = records.scan(0..self.vertex_bound(), |vertex, neighbor, record| {
            if is_undirected && neighbor < vertex {
                return ControlFlow::Continue(());
            }
            match ParallelList::of_record(record).and_then(ParallelList::count) {
                Ok(count) => {
                    edges += count;
                    ControlFlow::Continue(())
                }
                Err(error) => ControlFlow::Break(error),
            }
        });
        match scanned?.break_value() {
            None => Ok(edges),
            Some(error) => Err(error.into()),
        }
    }
}
