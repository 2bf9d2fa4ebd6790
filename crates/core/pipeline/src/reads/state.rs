//! Point reads by key on one state of the graph: a snapshot, or the units that a commit has locked.

use crate::error::{Error, read_failed};
use crate::reads::by_key::sort_by_neighbor;
use crate::reads::{KeyReads, Newest, ViewReads, VisitEdge};
use crate::records::decoded;
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, EdgeValue, Key, KeyRef, LabelId, ParallelEdges, Record,
    RecordCursor, RecordView, VertexId, with_width,
};
use std::ops::{ControlFlow, RangeInclusive};

/// Receives a parallel edge: its key, and its encoded record.
pub type VisitParallel<'v> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 'v;

/// Receives a parallel edge: the neighbor, its key, and its encoded record.
pub type VisitParallelNeighbor<'v> = dyn FnMut(VertexId, u64, &[u8]) -> Result<(), Error> + 'v;

/// Point reads on one state of the graph.
pub trait StateReads {
    /// The vertex of a key, if it exists.
    fn vertex(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error>;

    /// The vertex of a key, for reading its edges or its record. May also return a vertex that does
    /// not exist in the state, where it has neither edges nor a record; that saves a check.
    fn owner(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error>;

    /// The key of an existing vertex.
    fn key(&self, vertex: VertexId) -> Key;

    /// The value of an edge, if it exists.
    fn edge(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<EdgeValue>, Error>;

    /// Visits the neighbors of a vertex with the values of the edges, ascending by id.
    fn neighbors(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, EdgeValue),
    ) -> Result<(), Error>;

    /// The record of an edge of a label with records, if the edge exists.
    fn edge_record(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<Record>, Error>;

    /// Visits the neighbors of a vertex over a label with records, with the encoded records,
    /// ascending by id; once for each of several parallel edges.
    fn neighbor_records(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &[u8]),
    ) -> Result<(), Error>;

    /// Visits the parallel edges from one vertex to another with keys in a range: ascending, with
    /// encoded records.
    fn parallel_edges(
        &self,
        label: LabelId,
        from: VertexId,
        to: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallel<'_>,
    ) -> Result<(), Error>;

    /// Visits the parallel edges with keys in a range to all neighbors of a vertex, ascending by
    /// id.
    fn parallel_neighbors(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallelNeighbor<'_>,
    ) -> Result<(), Error>;

    /// Number of parallel edges to the neighbors of a vertex.
    fn parallel_degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<u64, Error>;

    /// Visits the edges of a vertex newest first.
    fn newest(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        wanted: &Newest,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error>;

    /// The number of neighbors of a vertex.
    fn degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<usize, Error>;

    /// The record of a vertex, if it exists.
    fn record(&self, vertex: VertexId) -> Result<Option<Record>, Error>;
}

/// Visits neighbors with their records, ascending by id.
pub(super) fn visit_records<C: RecordCursor>(
    records: &mut C,
    vertex: VertexId,
    visit: &mut dyn FnMut(VertexId, &[u8]),
) -> Result<(), C::Error> {
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
    flow.map_err(read_failed)?.is_continue();
    if !C::SORTED {
        sort_by_neighbor(&mut row);
    }
    row.into_iter().try_for_each(|(neighbor, edges)| visit(neighbor, edges))
}

impl<V: RecordView> StateReads for ViewReads<'_, V> {
    fn vertex(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        match self.keys {
            KeyReads::AsOf => self.store.dictionary.find(key, |vertex| self.exists(vertex)),
            KeyReads::Current => match self.store.dictionary.current(key)? {
                Some(vertex) => Ok(self.exists(vertex)?.then_some(vertex)),
                None => Ok(None),
            },
        }
    }

    fn owner(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        match self.keys {
            KeyReads::AsOf => self.store.dictionary.find_among_several(key, |vertex| self.exists(vertex)),
            KeyReads::Current => Ok(self.store.dictionary.current(key)?),
        }
    }

    fn key(&self, vertex: VertexId) -> Key {
        self.store.dictionary.key(vertex)
    }

    fn edge(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<EdgeValue>, Error> {
        with_width!(self.column(label)?, W => Ok(self.find::<W>(label, from, to)?.map(Column::to_bits)))
    }

    fn neighbors(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, EdgeValue),
    ) -> Result<(), Error> {
        with_width!(self.column(label)?, W => {
            self.visit::<W, ()>(label, direction, vertex, |neighbor, value: W| {
                visit(neighbor, Column::to_bits(value));
                ControlFlow::Continue(())
            })
        })
        .map(drop)
    }

    fn edge_record(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<Record>, Error> {
        let mut records = self.view.edge_records(label, Direction::Out)?;
        let found = records.find(from, to).map_err(read_failed)?;
        found.map(decoded).transpose()
    }

    fn neighbor_records(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &[u8]),
    ) -> Result<(), Error> {
        if self.store.catalog.are_parallel(label) {
            let all = 0..=u64::MAX;
            return self.parallel_neighbors(label, direction, vertex, all, &mut |neighbor, _, record| {
                visit(neighbor, record);
                Ok(())
            });
        }
        let mut records = self.view.edge_records(label, direction)?;
        visit_records(&mut records, vertex, visit).map_err(read_failed)
    }

    fn parallel_edges(
        &self,
        label: LabelId,
        from: VertexId,
        to: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallel<'_>,
    ) -> Result<(), Error> {
        let mut records = self.view.edge_records(label, Direction::Out)?;
        let Some(found) = records.find_parallel(from, to).map_err(read_failed)? else { return Ok(()) };
        found.edges(keys).try_for_each(|edge| {
            let (key, record) = edge?;
            visit(key, record)
        })
    }

    fn parallel_neighbors(
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

    fn parallel_degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<u64, Error> {
        let mut records = self.view.edge_records(label, direction)?;
        let mut count = 0;
        visit_parallel(&mut records, vertex, |_, edges| {
            count += edges.count()?;
            Ok(())
        })?;
        Ok(count)
    }

    fn newest(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        wanted: &Newest,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        self.visit_newest(label, direction, vertex, wanted, visit)
    }

    fn degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<usize, Error> {
        let adjacency = self.view.adjacency::<()>(label, direction)?;
        let mut cursor = adjacency.cursor();
        cursor.degree(vertex).map_err(read_failed)
    }

    fn record(&self, vertex: VertexId) -> Result<Option<Record>, Error> {
        self.view.vertex_record(vertex).map_err(read_failed)
    }
}
