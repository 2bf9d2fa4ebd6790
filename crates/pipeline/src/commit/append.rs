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
    Allowance, AppendEdges, AppendedEdges, ColumnType, CommitTimestamp, Count, DeferredOutcome, EdgeChange,
    Effects, Engine,
};
use hedgerow_sequencer::{CountChanges, Writer};
use std::cell::OnceCell;

/// The edges of a bulk write, as they came.
pub(super) struct AsTheyCame<'b> {
    by: &'b dyn AppendEdges,
    edges: Vec<u64>,
    values: Vec<u64>,
}

/// Edges that the engine will append, and the vertices that are new.
struct DecidedEdges<'d, E: Engine> {
    store: &'d Store<E>,
    bulk: &'d Bulk<'d>,
    ends: &'d [Ends],
    edges: &'d AsTheyCame<'d>,
    vertices: PreparedEffects<'d, E>,
    deferred: DeferredOutcome,
    created: &'d Resolved,
    /// All of it as effects, for those who need them: the log, and open transactions.
    as_effects: OnceCell<Resolved>,
}

impl<E: Engine> DecidedEdges<'_, E> {
    fn as_effects(&self) -> &Resolved {
        self.as_effects.get_or_init(|| {
            let pool = self.store.pool_for(self.ends.len());
            let adjacencies = entries(self.store.topology, self.bulk, self.ends, pool);
            let effects = Effects { adjacencies, ..self.created.effects.clone() };
            Resolved { effects, created: self.created.created.clone(), ..Resolved::default() }
        })
    }
}

impl<E: Engine> Decision for DecidedEdges<'_, E> {
    fn counts(&self) -> CountChanges<'_> {
        let deferred = std::slice::from_ref(&self.deferred);
        CountChanges { deferred, ..self.vertices.counts() }
    }

    fn encode(&self, body: &mut Body, input: Option<&[u8]>) {
        self.store.encode(self.as_effects(), body, input);
    }

    fn apply(&mut self, stamp: Stamp) {
        self.vertices.apply(stamp);
        let AsTheyCame { by, edges, values } = self.edges;
        by.append(stamp, &AppendedEdges { label: self.bulk.label, deletes: false, edges, values });
    }

    fn record_conflicts(&self, stamp: Stamp) {
        self.store.record_conflicts(self.as_effects(), stamp);
    }

    fn commit(&self, at: CommitTimestamp) -> Commit {
        Commit { edges_added: Count::between(0, self.deferred.puts), ..self.vertices.commit(at) }
    }

    fn size(&self) -> usize {
        self.vertices.size() + self.ends.len()
    }
}

impl<E: Engine> Store<E> {
    /// The edges as they came, if the engine puts them that way.
    pub(super) fn as_they_came<'s>(&'s self, bulk: &Bulk<'_>, ends: &[Ends]) -> Option<AsTheyCame<'s>> {
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
        Some(AsTheyCame { by, edges: positions.collect(), values })
    }

    /// The shrinking phase of edges that are put as they came. `created` has the vertices that are new. The locks of all are held.
    pub(super) fn finish_appended(
        &self,
        held: &HeldLocks<'_>,
        (bulk, ends): (&Bulk<'_>, &[Ends]),
        edges: &AsTheyCame<'_>,
        created: &Resolved,
    ) -> Result<AppliedCommit, Error> {
        let mut room = E::Room::default();
        let prepared = self.engine.prepare(held, &created.effects, &mut room, Allowance::UNLIMITED, None)?;
        let vertices = PreparedEffects::new(self, created, prepared, created.vertex_counts());
        let deferred = DeferredOutcome { label: bulk.label, puts: ends.len() as u64, deletions: 0 };
        let as_effects = OnceCell::new();
        let decided =
            DecidedEdges { store: self, bulk, ends, edges, vertices, deferred, created, as_effects };
        self.stamp_and_apply(decided, Writer::Blind, bulk.input)
    }
}
