//! Bulk writes to engines that put edges as they come: nothing is sorted or prepared but the vertices that are new.

use crate::commit::Commit;
use crate::commit::decided::{AppliedCommit, Decision, PreparedEffects};
use crate::commit::entries::Ends;
use crate::commit::ingest::{Bulk, entries};
use crate::commit::resolve::Resolved;
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::Body;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    AdjacencyEffects, Allowance, AppendEdges, AppendedEdges, ColumnType, CommitTimestamp, Count,
    DeferredOutcome, EdgeChange, Effects, Engine,
};
use hedgerow_sequencer::{CountChanges, Writer};
use rayon::ThreadPool;
use smallvec::SmallVec;

/// The edges of a bulk write, as they came.
pub(super) struct AsTheyCame<'b> {
    by: &'b dyn AppendEdges,
    edges: Vec<u64>,
    values: Vec<u64>,
    /// The edges sorted, if the graph has a log.
    logged: Option<SmallVec<[AdjacencyEffects; 2]>>,
}

/// Edges that the engine will append, and the vertices that are new.
struct DecidedEdges<'d, E: Engine> {
    store: &'d Store<E>,
    bulk: &'d Bulk<'d>,
    ends: &'d [Ends],
    edges: AsTheyCame<'d>,
    vertices: PreparedEffects<'d, E>,
    deferred: DeferredOutcome,
    created: &'d Resolved,
    /// All of it as effects, if the graph has a log.
    logged: Option<Resolved>,
}

impl<E: Engine> Decision for DecidedEdges<'_, E> {
    fn counts(&self) -> CountChanges<'_> {
        let deferred = std::slice::from_ref(&self.deferred);
        CountChanges { deferred, ..self.vertices.counts() }
    }

    fn encode(&self, body: &mut Body, input: Option<&[u8]>) {
        let logged = self.logged.as_ref().expect("a graph with a log has sorted the edges for it");
        self.store.encode(logged, body, input);
    }

    fn apply(&mut self, stamp: Stamp) {
        self.vertices.apply(stamp);
        let AsTheyCame { by, edges, values, .. } = &self.edges;
        by.append(stamp, &AppendedEdges { label: self.bulk.label, deletes: false, edges, values });
    }

    fn record_conflicts(&self, stamp: Stamp) {
        let edges = self.ends.iter().flat_map(|ends| self.store.touched_by_edge(self.bulk.label, *ends));
        let touched = edges.chain(self.store.touched_by(self.created));
        self.store.record_conflicts(touched, self.size(), stamp);
    }

    fn commit(&self, at: CommitTimestamp) -> Commit {
        Commit { edges_added: Count::between(0, self.deferred.puts), ..self.vertices.commit(at) }
    }

    fn size(&self) -> usize {
        self.vertices.size() + self.ends.len()
    }
}

impl<E: Engine> Store<E> {
    /// The edges as they came, if the engine puts them that way. No locks of units are held.
    pub(super) fn as_they_came<'s>(
        &'s self,
        bulk: &Bulk<'_>,
        ends: &[Ends],
        pool: Option<&ThreadPool>,
    ) -> Option<AsTheyCame<'s>> {
        let Bulk { label, edges, records, .. } = *bulk;
        let by = self.append_edges(label)?;
        if ends.is_empty() || records.is_some() {
            return None;
        }
        let positions =
            ends.iter().map(|(source, destination)| EdgeChange::position_of(*source, *destination));
        let values = match edges.value_type() {
            ColumnType::Unit => Vec::new(),
            _ => (0..ends.len()).map(|edge| edges.value(edge).0).collect(),
        };
        let logged = self.journal().map(|_| entries(self.topology, bulk, ends, pool));
        Some(AsTheyCame { by, edges: positions.collect(), values, logged })
    }

    /// The shrinking phase of edges that are put as they came. `created` has the vertices that are new. The locks of all are held.
    pub(super) fn finish_appended(
        &self,
        held: &HeldLocks<'_>,
        (bulk, ends): (&Bulk<'_>, &[Ends]),
        mut edges: AsTheyCame<'_>,
        created: &Resolved,
    ) -> Result<AppliedCommit, Error> {
        let mut room = E::Room::default();
        let prepared = self.engine.prepare(held, &created.effects, &mut room, Allowance::UNLIMITED, None)?;
        let vertices = PreparedEffects::new(self, created, prepared, created.vertex_counts());
        let deferred = DeferredOutcome { label: bulk.label, puts: ends.len() as u64, deletions: 0 };
        let logged = edges.logged.take().map(|adjacencies| {
            let effects = Effects { adjacencies, ..created.effects.clone() };
            Resolved { effects, created: created.created.clone(), ..Resolved::default() }
        });
        let decided = DecidedEdges { store: self, bulk, ends, edges, vertices, deferred, created, logged };
        self.stamp_and_apply(decided, Writer::Blind, bulk.input)
    }
}
