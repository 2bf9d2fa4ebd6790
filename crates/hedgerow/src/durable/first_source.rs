//! The graph with which a store begins, as the source of its first checkpoint.

use super::edge_records::EdgeRecords;
use super::first_state::FirstState;
use hedgerow_encoding::{EdgeListWriter, list_as_record};
use hedgerow_kernels::Csr;
use hedgerow_log::checkpoint::{CheckpointSource, ViewSource, VisitRecord, VisitRun, VisitVertex};
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, EdgeSchema, GraphView, Key, LabelId, ReadError, Topology, VertexId,
};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::{ControlFlow, Range};

/// A static graph with the records of its edges and the properties of its vertices.
pub(super) struct FirstSource<'g> {
    state: &'g FirstState<'g>,
    view: ViewSource<'g, Csr, &'g (dyn Fn(VertexId) -> Key + Sync)>,
    topology: Topology,
    /// The number of properties of an edge.
    fields: usize,
    /// True if edges may be parallel.
    pub(super) is_parallel: bool,
    /// The number of parallel edges whose records were read.
    pub(super) parallel_edges: AtomicU64,
}

impl<'g> FirstSource<'g> {
    pub(super) fn new(state: &'g FirstState<'g>, schema: &EdgeSchema, topology: Topology) -> Self {
        FirstSource {
            state,
            view: ViewSource::new(state.graph, state.key).with_edges_of(LabelId::DEFAULT),
            topology,
            fields: schema.record().map_or(0, |record| record.fields.len()),
            is_parallel: schema.key().is_some(),
            parallel_edges: AtomicU64::new(0),
        }
    }

    /// The number of pairs of vertices that edges connect. O(edges).
    pub(super) fn pairs(&self) -> u64 {
        let (offsets, neighbors) = (self.state.graph.offsets(), self.state.graph.neighbors());
        let rows = offsets.windows(2).map(|row| &neighbors[row[0] as usize..row[1] as usize]);
        let owners = (0..).map(VertexId::new);
        let pairs = |(owner, row): (VertexId, &[VertexId])| {
            row.chunk_by(|one, next| one == next).filter(|equal| self.is_counted(owner, equal[0])).count()
        };
        owners.zip(rows).map(pairs).sum::<usize>() as u64
    }

    /// Returns true for one of the entries of an edge.
    fn is_counted(&self, owner: VertexId, neighbor: VertexId) -> bool {
        self.topology.is_canonical_entry(Direction::Out, owner, neighbor)
    }

    /// Visits the edge or the parallel edges whose records are at these places.
    fn visit_pair(
        &self,
        records: &EdgeRecords,
        [owner, neighbor]: [VertexId; 2],
        places: &[u64],
        visit: &mut VisitRecord<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let of = |place: &u64| records.get(*place, self.fields);
        if !self.is_parallel {
            let last = places.last().map(of).transpose()?;
            return Ok(last.map_or(ControlFlow::Continue(()), |(_, record)| visit(owner, neighbor, record)));
        }
        let mut edges = places.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        edges.sort_by_key(|(number, _)| *number);
        let (mut list, mut count) = (EdgeListWriter::default(), 0);
        for equal in edges.chunk_by(|(one, _), (next, _)| one == next) {
            let (number, record) = equal[equal.len() - 1];
            list.push(number, Some(record));
            count += 1;
        }
        if self.is_counted(owner, neighbor) {
            // Relaxed: read when all threads have ended.
            self.parallel_edges.fetch_add(count, Ordering::Relaxed);
        }
        Ok(visit(owner, neighbor, &list_as_record(&list.into_bytes())))
    }
}

impl CheckpointSource for FirstSource<'_> {
    fn vertices(&self, range: Range<u32>, visit: &mut VisitVertex<'_>) -> Result<(), ReadError> {
        match self.state.properties {
            None => self.view.vertices(range, visit),
            Some(properties) => self
                .view
                .vertices(range, &mut |vertex, key, _| visit(vertex, key, &properties(vertex).into())),
        }
    }

    fn rows<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRun<'_, W>,
    ) -> Result<(), ReadError> {
        self.view.rows(label, range, visit)
    }

    fn records(&self, _: LabelId, range: Range<u32>, visit: &mut VisitRecord<'_>) -> Result<(), ReadError> {
        let Some(records) = self.state.records else { return Ok(()) };
        let adjacency = self.state.graph.adjacency::<u64>(LabelId::DEFAULT, Direction::Out);
        let adjacency = adjacency.map_err(|error| ReadError::new("the first state of a store", error))?;
        let Ok(flow) = adjacency.cursor().scan(range, |owner, neighbors, places| {
            records.touch(places);
            let mut start = 0;
            for equal in neighbors.chunk_by(|one, next| one == next) {
                let places = &places[start..start + equal.len()];
                match self.visit_pair(records, [owner, equal[0]], places, visit) {
                    Ok(ControlFlow::Continue(())) => start += equal.len(),
                    Ok(ControlFlow::Break(())) => return ControlFlow::Break(Ok(())),
                    Err(error) => return ControlFlow::Break(Err(error)),
                }
            }
            ControlFlow::Continue(())
        });
        flow.break_value().unwrap_or(Ok(()))
    }

    fn cuts(&self, label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        self.view.cuts(label, parts)
    }
}
