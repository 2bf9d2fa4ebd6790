//! A state of the graph.

use crate::cursor::{HybridAdjacency, HybridCursor};
use crate::graph::{Hybrid, NOTE_BYTES, check_lock};
use crate::snapshot::HybridSnapshot;
use hedgerow_in_memory::records::HeapCursor;
use hedgerow_in_memory::vertices::Vertex;
use hedgerow_model::token::{HeldLocks, Registered};
use hedgerow_model::{
    Adjacency, Column, CommitTimestamp, Count, Direction, EdgeChange, GraphView, LabelId, ReadError, Record,
    RecordHandle, Topology, VertexId, ViewError, ViewState,
};
use std::ops::{ControlFlow, Range};

/// A state of the graph: at a registered timestamp, or the newest state of the locked vertices.
pub struct HybridView<'s> {
    engine: &'s Hybrid,
    source: Source<'s>,
    state: ViewState<'s>,
}

/// The snapshot that a view reads.
enum Source<'s> {
    Snapshot(&'s HybridSnapshot),
    /// A snapshot of the newest state.
    Own(HybridSnapshot),
}

impl<'s> HybridView<'s> {
    pub(crate) fn registered(engine: &'s Hybrid, snapshot: &'s HybridSnapshot, at: &'s Registered) -> Self {
        HybridView { engine, source: Source::Snapshot(snapshot), state: ViewState::Registered(at) }
    }

    pub(crate) fn locked(engine: &'s Hybrid, locks: &'s HeldLocks<'_>) -> Self {
        let source = Source::Own(HybridSnapshot::new(engine.log.newest()));
        HybridView { engine, source, state: ViewState::Locked(locks) }
    }

    fn snapshot(&self) -> &HybridSnapshot {
        match &self.source {
            Source::Snapshot(snapshot) => snapshot,
            Source::Own(snapshot) => snapshot,
        }
    }

    /// Indexes the unarchived changes of all adjacencies now instead of at the first read. O(c log
    /// c) for c changes.
    ///
    /// GraphOne, 6.1: private views.
    pub fn index_tail(&self) {
        for number in 0..self.engine.tables.len() as u32 {
            HybridAdjacency::<()>::new(self.engine, self.snapshot(), self.state, number).index_changes();
        }
    }

    #[inline]
    fn check_lock(&self, vertex: VertexId) {
        if let ViewState::Locked(locks) = self.state {
            check_lock(locks, vertex, "read");
        }
    }

    #[inline]
    fn vertex(&self, vertex: VertexId) -> Option<&'s Vertex<NOTE_BYTES>> {
        if !self.state.may_have(vertex) {
            return None;
        }
        self.check_lock(vertex);
        self.engine.vertices.get(vertex.get())
    }
}

impl GraphView for HybridView<'_> {
    type Adjacency<'v, W: Column>
        = HybridAdjacency<'v, W>
    where
        Self: 'v;
    type EdgeRecords<'v>
        = HeapCursor<HybridCursor<'v, RecordHandle>>
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.state.timestamp()
    }

    fn topology(&self) -> Topology {
        self.engine.topology
    }

    fn vertex_bound(&self) -> u32 {
        self.state.vertex_bound()
    }

    fn vertex_count(&self) -> u64 {
        self.state.vertex_count()
    }

    /// Bounds the count by the edges that archiving has counted and the changes in the log after
    /// them. O(runs of the tail), unless the count is known.
    fn edge_count(&self, label: LabelId) -> Count {
        let known = self.state.edge_count(label);
        if known.at_least() == known.at_most() {
            return known;
        }
        let snapshot = self.snapshot();
        let archived = self.engine.upkeep.edges_in(snapshot.tail().archived().round, label);
        let (puts, deletions) = snapshot.puts_and_deletions(self.timestamp(), label);
        let low = known.at_least().max(archived.saturating_sub(deletions));
        Count::between(low, known.at_most().min(archived + puts).max(low))
    }

    /// O(buffers of the tail): commits after the version may have changed only vertices.
    fn archived_through(&self) -> CommitTimestamp {
        let (at, tail) = (self.timestamp(), self.snapshot().tail());
        if tail.runs(at).next().is_none() { at } else { tail.archived().through }
    }

    fn for_each_unarchived(&self, label: LabelId, visit: &mut dyn FnMut(CommitTimestamp, EdgeChange)) {
        let is_undirected = self.engine.topology.is_undirected();
        for run in self.snapshot().tail().runs(self.timestamp()).filter(|run| run.table == label.0) {
            for (commit, edge) in run.commits().zip(run.entries()) {
                visit(
                    commit,
                    match is_undirected && edge.neighbor() < edge.owner() {
                        true => EdgeChange::new(edge.neighbor(), edge.owner(), edge.value),
                        false => edge,
                    },
                );
            }
        }
    }

    #[inline]
    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        Ok(self.vertex(vertex).is_some_and(|vertex| vertex.exists(self.timestamp(), &self.engine.domain)))
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let range = range.start..range.end.min(self.vertex_bound());
        let (at, domain) = (self.timestamp(), &self.engine.domain);
        for (number, vertex) in self.engine.vertices.entries(range) {
            let id = VertexId::new(number);
            self.check_lock(id);
            if vertex.exists(at, domain) {
                let flow = visit(id);
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<HybridAdjacency<'_, W>, ViewError> {
        let number = self.engine.tables.number_for(label, direction)?;
        ViewError::check_column::<W>(label, self.engine.tables.at(number).column)?;
        Ok(HybridAdjacency::new(self.engine, self.snapshot(), self.state, number))
    }

    /// O(versions of the vertex newer than the view).
    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        Ok(self.vertex(vertex).and_then(|vertex| vertex.record(self.timestamp(), &self.engine.domain.pin())))
    }

    fn parallel_edge_count(&self, label: LabelId) -> Count {
        self.state.parallel_edge_count(label)
    }

    fn edge_records(&self, label: LabelId, direction: Direction) -> Result<Self::EdgeRecords<'_>, ViewError> {
        self.engine.tables.number_for(label, direction)?;
        if !self.engine.records.has_records(label) {
            return Err(ViewError::NoRecords(label));
        }
        let handles = self.adjacency::<RecordHandle>(label, direction)?.cursor();
        // SAFETY: the handles belong to this engine, in a view that outlives the cursor; the engine
        // embeds nothing.
        Ok(unsafe { HeapCursor::new(&self.engine.records, label, handles) })
    }
}
