//! Point reads by key on one state of the graph: of a snapshot, or of the units that a commit has locked.

use crate::error::{Reason, read_failed};
use crate::newest::{Newest, VisitEdge};
use crate::records::{ParallelEdges, prefetch_behind};
use crate::storage::Store;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, EdgeValue, Engine, GraphView, Key, KeyRef, LabelId,
    LabelSchema, Record, RecordHandle, VertexId, VertexRecords, ViewError, with_column,
};
use hedgerow_sync::epoch;
use std::ops::{ControlFlow, RangeInclusive};

/// Is handed a parallel edge: its key, and its record, encoded.
pub(crate) type VisitParallel<'v> = dyn FnMut(u64, &[u8]) -> Result<(), Reason> + 'v;

/// The same, with the neighbour first.
pub(crate) type VisitParallelNeighbour<'v> = dyn FnMut(VertexId, u64, &[u8]) -> Result<(), Reason> + 'v;

/// Point reads on one state of the graph.
pub(crate) trait StateReads {
    /// The vertex of a key, if it exists.
    fn vertex(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Reason>;

    /// The vertex of a key, for reading its edges or its record. If it does not exist in the state, where it has neither, it may be told all
    /// the same: that saves a look at the vertex.
    fn owner(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Reason>;

    /// The key of an existing vertex.
    fn key(&self, vertex: VertexId) -> Key;

    /// The value of an edge, if it exists.
    fn edge(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<EdgeValue>, Reason>;

    /// Visits the neighbours of a vertex and the values beside them, ascending by id.
    fn neighbours(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, EdgeValue),
    ) -> Result<(), Reason>;

    /// The record of an edge of a label that has records, if it exists.
    fn edge_record(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<Record>, Reason>;

    /// Visits the neighbours of a vertex over a label that has records, with their records, encoded: ascending by id, one that parallel
    /// edges lead to with each of them.
    fn neighbour_records(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &[u8]),
    ) -> Result<(), Reason>;

    /// Visits those parallel edges from one vertex to another whose keys are in a range: ascending, with their records, encoded.
    fn parallel_edges(
        &self,
        label: LabelId,
        from: VertexId,
        to: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallel<'_>,
    ) -> Result<(), Reason>;

    /// The same for all neighbours of a vertex, ascending by id.
    fn parallel_neighbours(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallelNeighbour<'_>,
    ) -> Result<(), Reason>;

    /// How many parallel edges lead to the neighbours of a vertex.
    fn parallel_degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<u64, Reason>;

    /// Visits the edges of a vertex newest first.
    fn newest(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        wanted: &Newest,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Reason>;

    /// The number of neighbours of a vertex.
    fn degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<usize, Reason>;

    /// The record of a vertex, if it exists.
    fn record(&self, vertex: VertexId) -> Result<Option<Record>, Reason>;
}

/// A view of an engine, with the store that knows its keys.
pub(crate) struct ViewReads<'v, E: Engine, V> {
    pub(crate) store: &'v Store<E>,
    pub(crate) view: &'v V,
    pub(crate) keys: KeyReads,
}

/// Which of the ids that a key has or had a state may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyReads {
    /// All of them: the one that exists in the state is the key's.
    AsOf,
    /// The current one only: the units of former ones are not locked.
    Current,
}

impl<E: Engine, V: GraphView> ViewReads<'_, E, V> {
    pub(crate) fn schema(&self, label: LabelId) -> Result<&LabelSchema, ViewError> {
        self.store.catalogue.label(label).ok_or(ViewError::UnknownLabel(label))
    }

    fn exists(&self, vertex: VertexId) -> Result<bool, Reason> {
        self.view.contains_vertex(vertex).map_err(read_failed)
    }

    fn column(&self, label: LabelId) -> Result<ColumnType, ViewError> {
        Ok(self.schema(label)?.edges.column())
    }

    fn find<W: Column>(
        &self,
        label: LabelId,
        from: VertexId,
        to: VertexId,
    ) -> Result<Option<EdgeValue>, Reason> {
        let adjacency = self.view.adjacency::<W>(label, Direction::Out)?;
        let found = adjacency.cursor().find(from, to).map_err(read_failed)?;
        Ok(found.map(Column::to_bits))
    }

    fn visit<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, EdgeValue),
    ) -> Result<(), Reason> {
        let adjacency = self.view.adjacency::<W>(label, direction)?;
        if !<V::Adjacency<'_, W> as Adjacency>::SORTED {
            return visit_sorted(&adjacency, vertex, visit).map_err(read_failed);
        }
        let visited = adjacency.cursor().neighbours(vertex, |neighbours, values| {
            for (position, (neighbour, value)) in neighbours.iter().zip(values).enumerate() {
                prefetch_behind(values, position);
                visit(*neighbour, value.to_bits());
            }
            ControlFlow::<()>::Continue(())
        });
        visited.map_err(read_failed)?.is_continue();
        Ok(())
    }
}

impl<E: Engine, V: GraphView> ViewReads<'_, E, V> {
    /// Visits the neighbours of a vertex, ascending by id, each with the parallel edges that lead there.
    fn visit_parallel(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, ParallelEdges<'_>),
    ) -> Result<(), Reason> {
        let guard = epoch::pin();
        let records = self.store.records.seen_by(self.view, &guard);
        self.visit::<RecordHandle>(label, direction, vertex, &mut |neighbour, value| {
            records.parallel(label, value).into_iter().for_each(|edges| visit(neighbour, edges));
        })
    }
}

/// Visits the neighbours of a vertex ascending, where they come in another order. O(n log n).
fn visit_sorted<A: Adjacency>(
    adjacency: &A,
    vertex: VertexId,
    visit: &mut dyn FnMut(VertexId, EdgeValue),
) -> Result<(), A::Error> {
    let mut cursor = adjacency.cursor();
    let (neighbours, values) = cursor.gather(vertex)?;
    let values = values.iter().map(|value| value.to_bits());
    let mut row: Vec<(VertexId, EdgeValue)> = neighbours.iter().copied().zip(values).collect();
    row.sort_unstable_by_key(|(neighbour, _)| *neighbour);
    row.into_iter().for_each(|(neighbour, value)| visit(neighbour, value));
    Ok(())
}

impl<E: Engine, V: GraphView + VertexRecords> StateReads for ViewReads<'_, E, V> {
    fn vertex(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Reason> {
        match self.keys {
            KeyReads::AsOf => self.store.dictionary.find(key, |vertex| self.exists(vertex)),
            KeyReads::Current => match self.store.dictionary.current(key)? {
                Some(vertex) => Ok(self.exists(vertex)?.then_some(vertex)),
                None => Ok(None),
            },
        }
    }

    fn owner(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Reason> {
        match self.keys {
            KeyReads::AsOf => self.store.dictionary.find_among_several(key, |vertex| self.exists(vertex)),
            KeyReads::Current => self.store.dictionary.current(key),
        }
    }

    fn key(&self, vertex: VertexId) -> Key {
        self.store.dictionary.key(vertex)
    }

    fn edge(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<EdgeValue>, Reason> {
        with_column!(self.column(label)?, W => self.find::<W>(label, from, to))
    }

    fn neighbours(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, EdgeValue),
    ) -> Result<(), Reason> {
        with_column!(self.column(label)?, W => self.visit::<W>(label, direction, vertex, visit))
    }

    fn edge_record(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<Record>, Reason> {
        let guard = epoch::pin();
        let found = self.store.records.find((self.view, &guard), label, from, to)?;
        found.map(|found| found.record()).transpose()
    }

    fn neighbour_records(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &[u8]),
    ) -> Result<(), Reason> {
        if self.store.records.are_parallel(label) {
            let all = 0..=u64::MAX;
            return self.parallel_neighbours(label, direction, vertex, all, &mut |neighbour, _, record| {
                visit(neighbour, record);
                Ok(())
            });
        }
        let guard = epoch::pin();
        let records = self.store.records.seen_by(self.view, &guard);
        let Some(records) = records.one_each(label) else { return Ok(()) };
        self.visit::<RecordHandle>(label, direction, vertex, &mut |neighbour, value| {
            visit(neighbour, records.record(value));
        })
    }

    fn parallel_edges(
        &self,
        label: LabelId,
        from: VertexId,
        to: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallel<'_>,
    ) -> Result<(), Reason> {
        let found = self.store.records.find_parallel(self.view, label, from, to)?;
        found.into_iter().flat_map(|edges| edges.edges(keys.clone())).try_for_each(|edge| {
            let (key, record) = edge?;
            visit(key, record)
        })
    }

    fn parallel_neighbours(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        keys: RangeInclusive<u64>,
        visit: &mut VisitParallelNeighbour<'_>,
    ) -> Result<(), Reason> {
        let mut visited = Ok(());
        self.visit_parallel(label, direction, vertex, &mut |neighbour, edges| {
            let visit = |edge: Result<(u64, &[u8]), Reason>| {
                let (key, record) = edge?;
                visit(neighbour, key, record)
            };
            if visited.is_ok() {
                visited = edges.edges(keys.clone()).try_for_each(visit);
            }
        })?;
        visited
    }

    fn parallel_degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<u64, Reason> {
        if let Some(known) = self.store.records.parallel_degree(self.view, label, direction, vertex) {
            return Ok(known);
        }
        let mut count = 0;
        self.visit_parallel(label, direction, vertex, &mut |_, edges| count += edges.count())?;
        Ok(count)
    }

    fn newest(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        wanted: &Newest,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Reason> {
        self.visit_newest(label, direction, vertex, wanted, visit)
    }

    fn degree(&self, label: LabelId, direction: Direction, vertex: VertexId) -> Result<usize, Reason> {
        let adjacency = self.view.adjacency::<()>(label, direction)?;
        let mut cursor = adjacency.cursor();
        cursor.degree(vertex).map_err(read_failed)
    }

    fn record(&self, vertex: VertexId) -> Result<Option<Record>, Reason> {
        self.view.vertex_record(vertex).map_err(read_failed)
    }
}
