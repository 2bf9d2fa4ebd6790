//! Reads of a snapshot by key and by vertex id.

use super::Snapshot;
use crate::engines::TypedStore;
use crate::error::Error;
use crate::label::Hop;
use crate::reads::{Reading, Reads, State};
use hedgerow_model::{Adjacency, Column, Cursor, Direction, GraphView, Key, LabelId, Record, VertexId};
use hedgerow_pipeline::decoded;
use std::ops::{ControlFlow, Range};

impl Reads for Snapshot {
    #[inline]
    fn typed(&self) -> Result<&TypedStore, Error> {
        Snapshot::typed(self)
    }

    #[inline(always)]
    fn state(&self, _: Reading<'_>) -> Result<State<'_>, Error> {
        Ok(State::of(self))
    }
}

impl Snapshot {
    /// Visits the edges of vertices in a range of ids: both ends with their keys, and the value.
    pub(super) fn scan_values<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        mut visit: impl FnMut((VertexId, &Key), (VertexId, Key), W) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let view = self.erased_view()?;
        let adjacency = view.adjacency::<W>(label, Direction::Out)?;
        let scanned = adjacency.cursor().scan(range, |vertex, neighbors, values| {
            let key = self.key_of(vertex);
            for (neighbor, value) in neighbors.iter().zip(values) {
                let other = self.key_of(*neighbor);
                if let Err(error) = visit((vertex, &key), (*neighbor, other), *value) {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        });
        scanned?.break_value().map_or(Ok(()), Err)
    }

    /// Visits the edges of one vertex with their records, parallel edges one by one. `visit` first
    /// takes the key of that vertex.
    pub(super) fn scan_records(
        &self,
        label: LabelId,
        vertex: VertexId,
        mut visit: impl FnMut(Key, (VertexId, Key), Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut failed = None;
        State::of(self).visit_records(Hop { label, direction: Direction::Out }, vertex, &mut |edge| {
            let neighbor = (edge.neighbor, self.key_of(edge.neighbor));
            let visited = visit(self.key_of(vertex), neighbor, decoded(edge.record)?);
            failed = failed.take().or(visited.err());
            Ok(())
        })?;
        failed.map_or(Ok(()), Err)
    }
}
