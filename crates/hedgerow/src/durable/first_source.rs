//! The graph with which a store begins, as the source of its first checkpoint, or of the files of
//! its engine.

use super::edge_records::EdgeRecords;
use super::first_state::FirstState;
use hedgerow_encoding::{EdgeListWriter, list_as_record};
use hedgerow_kernels::Csr;
use hedgerow_kernels::csr::CsrAdjacency;
use hedgerow_log::checkpoint::{CheckpointSource, ViewSource, VisitRecord, VisitRun, VisitVertex};
use hedgerow_model::{
    Column, Counts, Direction, EdgeSchema, GraphView, Key, LabelId, ParallelOutcome, ReadError, Topology,
    VertexId, ViewError, cuts_by_work,
};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::{ControlFlow, Range};

/// The number of rows that are not cut.
const ROWS_PER_BLOCK: u32 = 64;

/// A static graph with the records of its edges and the properties of its vertices.
pub(super) struct FirstSource<'g> {
    state: &'g FirstState<'g>,
    /// The edges, with the values or the places of their records.
    graph: &'g Csr,
    /// The edges of the graph from their other ends, if undirected ones are read from both.
    other_ends: Option<&'g Csr>,
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
    /// A source of the edges of `graph`: those of the state, or these turned around. Those of
    /// `other_ends` are the same, turned around: with them, each undirected edge is read from both
    /// ends.
    pub(super) fn new(
        state: &'g FirstState<'g>,
        (graph, other_ends): (&'g Csr, Option<&'g Csr>),
        schema: &EdgeSchema,
        topology: Topology,
    ) -> Self {
        FirstSource {
            state,
            graph,
            other_ends,
            view: ViewSource::new(graph, state.key).with_edges_of(LabelId::DEFAULT),
            topology,
            fields: schema.record().map_or(0, |record| record.fields.len()),
            is_parallel: schema.key().is_some(),
            parallel_edges: AtomicU64::new(0),
        }
    }

    /// These counts, with the number of parallel edges that were read.
    pub(super) fn with_parallel_edges(&self, counts: &Counts) -> Counts {
        let mut counts = counts.clone();
        if self.is_parallel {
            let net = self.parallel_edges.load(Ordering::Relaxed) as i64;
            counts.add_parallel(&[ParallelOutcome { label: self.state.label, net }]);
        }
        counts
    }

    /// The number of pairs of vertices that edges connect. O(edges).
    pub(super) fn pairs(&self) -> u64 {
        let (offsets, neighbors) = (self.graph.offsets(), self.graph.neighbors());
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

impl<'g> CheckpointSource for FirstSource<'g> {
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
        let Some(other_ends) = self.other_ends else { return self.view.rows(label, range, visit) };
        let adjacency = |graph: &'g Csr| graph.adjacency::<W>(LabelId::DEFAULT, Direction::Out);
        let (above, below) = (adjacency(self.graph).map_err(unread)?, adjacency(other_ends).map_err(unread)?);
        for owner in range.map(VertexId::new) {
            let (neighbors, values) = row(&below, owner);
            let end = neighbors.partition_point(|neighbor| *neighbor < owner);
            if end > 0 && visit(owner, &neighbors[..end], &values[..end]).is_break() {
                break;
            }
            let (neighbors, values) = row(&above, owner);
            let begin = neighbors.partition_point(|neighbor| *neighbor < owner);
            if begin < neighbors.len() && visit(owner, &neighbors[begin..], &values[begin..]).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn records(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), ReadError> {
        let Some(records) = self.state.records else { return Ok(()) };
        let mut visited = Ok(());
        self.rows::<u64>(label, range, &mut |owner, neighbors, places| {
            records.touch(places);
            let mut start = 0;
            for equal in neighbors.chunk_by(|one, next| one == next) {
                let places = &places[start..start + equal.len()];
                match self.visit_pair(records, [owner, equal[0]], places, visit) {
                    Ok(flow) => flow?,
                    Err(error) => {
                        visited = Err(error);
                        return ControlFlow::Break(());
                    }
                }
                start += equal.len();
            }
            ControlFlow::Continue(())
        })?;
        visited
    }

    fn cuts(&self, label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let Some(other_ends) = self.other_ends else { return self.view.cuts(label, parts) };
        let bound = self.graph.vertex_bound();
        let before = |owner: u32| {
            self.graph.offsets()[owner as usize] + other_ends.offsets()[owner as usize] + u64::from(owner)
        };
        let block = |begin: u32| {
            let end = bound.min(begin.saturating_add(ROWS_PER_BLOCK));
            (end, before(end) - before(begin))
        };
        let blocks: Vec<_> = (0..bound).step_by(ROWS_PER_BLOCK as usize).map(block).collect();
        Ok(cuts_by_work(bound, parts, &blocks))
    }
}

fn row<'a, W: Column>(adjacency: &CsrAdjacency<'a, W>, owner: VertexId) -> (&'a [VertexId], &'a [W]) {
    let [begin, end] = [0, 1].map(|after| adjacency.offsets()[owner.index() + after] as usize);
    (&adjacency.neighbors()[begin..end], &adjacency.values()[begin..end])
}

fn unread(error: ViewError) -> ReadError {
    ReadError::new("the first state of a store", error)
}
