//! Edges that are appended in the order of arrival, without reading whether they exist: commits of
//! one edge each, and the unsorted edges of bulk writes.

use crate::edge_log::{NewRun, RunChange, RunCommits};
use crate::graph::Hybrid;
use hedgerow_in_memory::vertices::Vertex;
use hedgerow_model::token::Stamps;
use hedgerow_model::{
    AppendedEdges, ColumnType, EdgeChange, Outcome, Staged, StoredEdge, VertexId, first_bits,
};
use hedgerow_sync::prefetch;
use smallvec::SmallVec;

/// Room for edges that are staged together, of which most commits have one.
#[derive(Debug, Default)]
pub struct EdgeRoom {
    positions: SmallVec<[u64; 1]>,
    values: SmallVec<[u64; 1]>,
}

impl Hybrid {
    /// Turns the first edges into a run: up to the first that lacks an end, that is put where the
    /// earlier ones are deleted, or the reverse, or that is in a label with records.
    #[inline(always)]
    pub(crate) fn stage_edges<'l>(
        &self,
        edges: &'l [StoredEdge],
        room: &'l mut EdgeRoom,
    ) -> Staged<Option<NewRun<'l>>> {
        let EdgeRoom { positions, values } = room;
        positions.clear();
        values.clear();
        let appended = edges.first().filter(|first| self.column_of(first.label) != ColumnType::Record);
        let Some(first) = appended else {
            return Staged { changes: None, commits: 0, changing: 0, outcome: Outcome::default() };
        };
        if let [_, _, ..] = edges {
            self.prefetch(edges);
        }
        let (label, deletes) = (first.label, first.deletes());
        for edge in edges {
            let (source, destination) = edge.ends();
            if edge.deletes() != deletes || !self.exists_now(source) || !self.exists_now(destination) {
                break;
            }
            positions.push(EdgeChange::position_of(source, destination));
            values.extend(edge.entries()[0].1.value.map(|value| value.0));
        }
        let (commits, mut outcome) = (positions.len(), Outcome::default());
        if commits > 0 {
            let (puts, deletions) = if deletes { (0, commits) } else { (commits, 0) };
            outcome.defer(label, puts as u64, deletions as u64);
        }
        let run = self.run_of(&AppendedEdges { label, edges: positions, values });
        let change = if deletes { RunChange::Delete } else { run.change };
        let changes = (commits > 0).then_some(NewRun { commits: RunCommits::Each, change, ..run });
        Staged { changes, commits, changing: first_bits(commits), outcome }
    }

    #[inline(always)]
    pub(crate) fn apply_edges(&self, stamps: Stamps, run: Option<NewRun<'_>>) {
        if let Some(run) = run {
            let runs = [run];
            self.log.reserve(stamps.first().at(), &runs).write(&runs);
        }
    }

    #[inline]
    pub(crate) fn exists_now(&self, vertex: VertexId) -> bool {
        self.vertices.get(vertex.get()).is_some_and(Vertex::exists_now)
    }

    /// Prefetches the vertices, whose existence is checked. Nothing else is read.
    #[inline]
    fn prefetch(&self, edges: &[StoredEdge]) {
        let ends = edges.iter().flat_map(|edge| <[VertexId; 2]>::from(edge.ends()));
        let vertices = ends.filter_map(|end| self.vertices.get(end.get()));
        vertices.for_each(|vertex| prefetch(vertex, 1));
    }

    /// The run that puts edges in one commit.
    #[inline]
    pub(crate) fn run_of<'e>(&self, appended: &AppendedEdges<'e>) -> NewRun<'e> {
        let AppendedEdges { label, edges, values } = *appended;
        let has_values = self.column_of(label).width() > 0;
        let change = if has_values { RunChange::PutValues(values) } else { RunChange::Put };
        NewRun { table: label.0, change, commits: RunCommits::One, edges }
    }
}
