//! Reads of the records of edges by key.

use crate::error::Error;
use crate::reads::ViewReads;
use crate::reads::view_reads::sort_by_neighbor;
use crate::records::decoded;
use hedgerow_model::{
    Direction, GraphView, KeyRef, LabelId, ParallelEdges, ReadError, Record, RecordCursor, VertexId,
};
use std::ops::{ControlFlow, RangeInclusive};

/// Receives a parallel edge: its key, and its encoded record.
pub type VisitParallel<'v> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 'v;

/// Receives a parallel edge: the neighbor, its key, and its encoded record.
pub type VisitParallelNeighbor<'v> = dyn FnMut(VertexId, u64, &[u8]) -> Result<(), Error> + 'v;

/// All keys of parallel edges.
const ALL: RangeInclusive<u64> = 0..=u64::MAX;

impl<V: GraphView> ViewReads<'_, V> {
    /// The record of an edge that cannot be parallel; `None` if it does not exist.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, the label's edges have no records, or the view
    /// cannot be read.
    pub fn edge_record(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Error> {
        let Some((from, to)) = self.ends(source, destination)? else { return Ok(None) };
        let mut records = self.view.edge_records(label, Direction::Out)?;
        records.find(from, to)?.map(decoded).transpose()
    }

    /// Visits the neighbors of a vertex over a label with records, with the encoded records,
    /// ascending by id; once for each of several parallel edges.
    ///
    /// # Errors
    /// The label's edges have no records, or the view cannot be read.
    pub fn neighbor_records(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &[u8]),
    ) -> Result<(), Error> {
        if self.store.catalog.are_parallel(label) {
            return self.parallel_neighbors(label, direction, vertex, ALL, &mut |neighbor, _, record| {
                visit(neighbor, record);
                Ok(())
            });
        }
        let mut records = self.view.edge_records(label, direction)?;
        Ok(visit_records(&mut records, vertex, visit)?)
    }

    /// Visits the parallel edges from one vertex to another with keys in a range: ascending, with
    /// encoded records.
    ///
    /// # Errors
    /// The error of `visit`, or as [`ViewReads::edge_record`].
    pub fn parallel_edges(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallel<'_>,
    ) -> Result<(), Error> {
        let Some((from, to)) = self.ends(source, destination)? else { return Ok(()) };
        let mut records = self.view.edge_records(label, Direction::Out)?;
        let Some(found) = records.find_parallel(from, to)? else { return Ok(()) };
        found.edges(keys).try_for_each(|edge| {
            let (key, record) = edge?;
            visit(key, record)
        })
    }

    /// Visits the parallel edges with keys in a range to all neighbors of a vertex, ascending by
    /// id: the neighbor, the key, and the encoded record.
    ///
    /// # Errors
    /// The error of `visit`, the label's edges cannot be parallel, or the view cannot be read.
    pub fn parallel_neighbors(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallelNeighbor<'_>,
    ) -> Result<(), Error> {
        let mut records = self.view.edge_records(label, direction)?;
        visit_parallel(&mut records, vertex, |neighbor, edges| {
            edges.edges(keys.clone()).try_for_each(|edge| {
                let (key, record) = edge?;
                visit(neighbor, key, record)
            })
        })
    }

    /// The number of parallel edges to the neighbors of a vertex; zero if it does not exist.
    ///
    /// # Errors
    /// As [`ViewReads::edge_record`].
    pub fn parallel_degree(
        &self,
        label: LabelId,
        direction: Direction,
        key: KeyRef<'_>,
    ) -> Result<u64, Error> {
        let Some(vertex) = self.owner(key)? else { return Ok(0) };
        let mut records = self.view.edge_records(label, direction)?;
        let mut count = 0;
        visit_parallel(&mut records, vertex, |_, edges| {
            count += edges.count()?;
            Ok(())
        })?;
        Ok(count)
    }
}

/// Visits neighbors with their records, ascending by id.
pub(super) fn visit_records<C: RecordCursor>(
    records: &mut C,
    vertex: VertexId,
    visit: &mut dyn FnMut(VertexId, &[u8]),
) -> Result<(), ReadError> {
    let mut row = Vec::new();
    let flow = records.neighbors(vertex, |neighbor, record| {
        match C::SORTED {
            true => visit(neighbor, record),
            false => row.push((neighbor, record)),
        }
        ControlFlow::<()>::Continue(())
    });
    flow?.is_continue();
    sort_by_neighbor(&mut row);
    row.into_iter().for_each(|(neighbor, record)| visit(neighbor, record));
    Ok(())
}

/// Visits neighbors with their parallel edges, ascending by id, until `visit` fails.
fn visit_parallel<'c, C: RecordCursor>(
    records: &'c mut C,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, C::Parallel<'c>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut row = Vec::new();
    let flow = records.parallel_neighbors(vertex, |neighbor, edges| {
        row.push((neighbor, edges));
        ControlFlow::<()>::Continue(())
    });
    flow?.is_continue();
    if !C::SORTED {
        sort_by_neighbor(&mut row);
    }
    row.into_iter().try_for_each(|(neighbor, edges)| visit(neighbor, edges))
}
