//! Bulk writes to engines that append edges: only new vertices are sorted and prepared.

use crate::commit::Commit;
use crate::commit::decided::{AppliedCommit, Decision, PreparedEffects};
use crate::commit::entries::EndIds;
use crate::commit::ingest::Bulk;
use crate::commit::resolve::Resolved;
use crate::error::Error;
use crate::store::Store;
use hedgerow_erased::ErasedRoom;
use hedgerow_log::Body;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    Allowance, AppendEdges, AppendedEdges, ColumnType, CommitTimestamp, Count, DeferredOutcome, EdgeChange,
    EdgeValue, Engine,
};
use hedgerow_sequencer::{CountChanges, Stamped, VertexCounts, WriterKind};

/// Callback with which the engine takes the stamp of the edges that it appends.
pub(super) type TakeStamp<'t> = &'t mut dyn FnMut() -> Option<Stamp>;

/// The edges of a bulk write, in the order in which they came.
pub(super) struct AsTheyCame<'b> {
    by: &'b dyn AppendEdges,
    edges: Vec<u64>,
    values: Vec<u64>,
}

/// Edges that the engine will append, and the new vertices.
pub(crate) struct DecidedEdges<'d> {
    store: &'d Store,
    by: &'d dyn AppendEdges,
    edges: AppendedEdges<'d>,
    /// The effects except the edges.
    created: &'d Resolved,
    vertices: PreparedEffects<'d>,
    deferred: DeferredOutcome,
}

impl<'d> DecidedEdges<'d> {
    /// Prepares the vertices of `created`, which change the counts by `counts`. Their locks are
    /// held; for the locks of edges, see [`AppendEdges`].
    pub(crate) fn new(
        store: &'d Store,
        held: &'d HeldLocks<'_>,
        (by, edges): (&'d dyn AppendEdges, AppendedEdges<'d>),
        (created, counts): (&'d Resolved, VertexCounts),
        room: &'d mut ErasedRoom,
    ) -> Result<Self, Error> {
        let prepared = store.engine.prepare(held, &created.effects, room, Allowance::UNLIMITED, None)?;
        let vertices = PreparedEffects::new(store, created, prepared, counts);
        let puts = edges.edges.len() as u64;
        let deferred = DeferredOutcome { label: edges.label, puts, deletions: 0 };
        Ok(DecidedEdges { store, by, edges, created, vertices, deferred })
    }
}

impl Decision for DecidedEdges<'_> {
    fn counts(&self) -> CountChanges<'_> {
        let deferred = std::slice::from_ref(&self.deferred);
        CountChanges { deferred, ..self.vertices.counts() }
    }

    fn encode(&self, body: &mut Body, input: Option<&[u8]>) {
        self.store.encode(self.created, Some(self.edges), body, input);
    }

    fn stamp<F>(&self, take: impl FnOnce() -> Result<Stamped, F>) -> Result<Stamped, F> {
        let take = || take().map(|stamped| (stamped.stamp, stamped));
        let append = |take_stamp: TakeStamp<'_>| self.by.append(&self.edges, take_stamp);
        self.store.stamp_in_engine(append, take).map(|(_, stamped)| stamped)
    }

    fn apply(&mut self, stamp: Stamp) {
        self.vertices.apply(stamp);
    }

    fn record_conflicts(&self, stamp: Stamp) {
        let edges = self.edges.edges.iter().flat_map(|edge| {
            let EdgeChange { owner, neighbor, .. } = EdgeChange::put_at(*edge, EdgeValue::default());
            self.store.touched_by_edge(self.edges.label, (owner, neighbor))
        });
        let touched = edges.chain(self.store.touched_by(self.created));
        self.store.record_conflicts(touched, self.size(), stamp);
    }

    fn commit(&self, at: CommitTimestamp) -> Commit {
        let edges_added = Count::between(0, self.deferred.puts);
        let changed = (!self.created.created.is_empty()).then_some(true);
        Commit { changed, edges_added, ..self.vertices.commit(at) }
    }

    fn size(&self) -> usize {
        self.vertices.size() + self.edges.edges.len()
    }
}

impl Store {
    /// Returns the edges in the order in which they came, if the engine appends them.
    pub(super) fn as_they_came<'s>(&'s self, bulk: &Bulk<'_>, ends: &[EndIds]) -> Option<AsTheyCame<'s>> {
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

    /// Lets the engine append under the stamp that `take` takes. Returns the result of `take`.
    pub(super) fn stamp_in_engine<S, F>(
        &self,
        append: impl FnOnce(TakeStamp<'_>),
        take: impl FnOnce() -> Result<(Stamp, S), F>,
    ) -> Result<(Stamp, S), F> {
        let (mut take, mut taken) = (Some(take), None);
        let mut take_stamp = || {
            let result = take.take().map(|take| take())?;
            let stamp = result.as_ref().ok().map(|(stamp, _)| *stamp);
            taken = Some(result);
            stamp
        };
        // A panic comes after the stamp, except in the sequencer, which is broken then, too.
        self.poisoning_on_panic(|| append(&mut take_stamp));
        taken.expect("an engine takes the stamp of what it appends")
    }

    /// The shrinking phase of a bulk write whose edges are appended. `created` has the new
    /// vertices, whose locks are held; for the locks of edges, see [`AppendEdges`].
    pub(super) fn finish_appended(
        &self,
        held: &HeldLocks<'_>,
        bulk: &Bulk<'_>,
        AsTheyCame { by, edges, values }: &AsTheyCame<'_>,
        created: &Resolved,
    ) -> Result<AppliedCommit, Error> {
        let edges = AppendedEdges { label: bulk.label, deletes: false, edges, values };
        let (mut room, counts) = (ErasedRoom::default(), created.vertex_counts());
        let decided = DecidedEdges::new(self, held, (*by, edges), (created, counts), &mut room)?;
        self.stamp_and_apply(decided, WriterKind::Blind, bulk.input)
    }
}
