//! Reads of the records of edges by key.

use crate::error::Error;
use crate::reads::view_reads::sort_by_neighbor;
use crate::reads::{Newest, ViewReads};
use crate::records::decoded;
use hedgerow_model::{
    Direction, EdgeValue, GraphView, KeyRef, LabelId, ParallelEdges, Record, RecordCursor, VertexId,
};
use std::ops::{ControlFlow, RangeInclusive};

/// An edge of a vertex.
#[derive(Clone, Copy, Debug)]
pub struct LentEdge<'e> {
    /// The other end.
    pub neighbor: VertexId,
    /// The key of a parallel edge; 0 if edges cannot be parallel.
    pub key: u64,
    /// The value of the edge, if it was read.
    pub value: EdgeValue,
    /// The encoded record of the edge, if the label has records.
    pub record: &'e [u8],
}

/// Receives an edge of a vertex.
pub type VisitEdge<'v> = dyn FnMut(LentEdge<'_>) -> Result<(), Error> + 'v;

/// The edges of a vertex that a read selects, and their order.
#[derive(Clone, Debug)]
pub enum Which<'n> {
    /// The edges with records, ascending by the id of the neighbor; of parallel edges, those with
    /// keys in this range, ascending.
    InRange(RangeInclusive<u64>),
    /// The newest edges, newest first.
    Newest(&'n Newest),
}

impl Which<'_> {
    /// All edges.
    pub const ALL: Self = Which::InRange(0..=u64::MAX);
}

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

    /// Visits edges of a vertex; none if it does not exist.
    ///
    /// # Errors
    /// As [`ViewReads::neighbor_records`], or the key is of another kind than the graph's. For the
    /// newest: the label's edges have no such time, or the engine keeps no such order.
    pub fn visit_edges(
        &self,
        label: LabelId,
        direction: Direction,
        key: KeyRef<'_>,
        which: Which<'_>,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        match which {
            Which::Newest(newest) => self.visit_newest(label, direction, key, newest, visit),
            Which::InRange(keys) => match self.owner(key)? {
                Some(vertex) => self.neighbor_records(label, direction, vertex, keys, visit),
                None => Ok(()),
            },
        }
    }

    /// Visits the neighbors of a vertex over a label with records, with the encoded records,
    /// ascending by id; once for each of several parallel edges with a key in a range.
    ///
    /// # Errors
    /// The error of `visit`, the label's edges have no records, or the view cannot be read.
    pub fn neighbor_records(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        let value = EdgeValue::default();
        let mut records = self.view.edge_records(label, direction)?;
        if !self.store.catalog.are_parallel(label) {
            return visit_records(&mut records, vertex, |neighbor, record| {
                visit(LentEdge { neighbor, key: 0, value, record })
            });
        }
        visit_parallel(&mut records, vertex, |neighbor, edges| {
            edges.edges(keys.clone()).try_for_each(|edge| {
                let (key, record) = edge?;
                visit(LentEdge { neighbor, key, value, record })
            })
        })
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
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        let Some((from, to)) = self.ends(source, destination)? else { return Ok(()) };
        let mut records = self.view.edge_records(label, Direction::Out)?;
        let Some(found) = records.find_parallel(from, to)? else { return Ok(()) };
        found.edges(keys).try_for_each(|edge| {
            let (key, record) = edge?;
            visit(LentEdge { neighbor: to, key, value: EdgeValue::default(), record })
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

/// Visits neighbors with their records, ascending by id, until `visit` fails.
pub(super) fn visit_records<C: RecordCursor>(
    records: &mut C,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut row = Vec::new();
    let flow = records.neighbors(vertex, |neighbor, record| {
        if !C::SORTED {
            row.push((neighbor, record));
            return ControlFlow::Continue(());
        }
        visit(neighbor, record).map_or_else(ControlFlow::Break, ControlFlow::Continue)
    });
    flow?.break_value().map_or(Ok(()), Err)?;
    sort_by_neighbor(&mut row);
    row.into_iter().try_for_each(|(neighbor, record)| visit(neighbor, record))
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
