//! From the decision of a commit under its locks to a visible state: the path that all commits
//! share.
//!
//! A commit goes through phases. Each is a value that only the phase before can make:
//!
//! | phase | value | invariant |
//! |---|---|---|
//! | locked | [`LockGuard`](hedgerow_sequencer::LockGuard), [`Acquired`](super::acquire::Acquired) | no other commit changes the locked units; or the commit [appends](hedgerow_sequencer::LockGuard::append), and no commit has locks |
//! | decided | a [`Decision`] | its changes are known and prepared, but not visible; dropping it changes nothing |
//! | stamped | [`Stamped`] | its place in the order of commits and in the log is fixed |
//! | applied | [`AppliedCommit`] | writers that lock the same units see it; new snapshots do once it is published |
//! | settled | [`Commit`] | its locks are released, and [`Store::settle`] returned: it is as durable as requested |
//!
//! Single edges, streams of edges, bulk writes, transactions and recovery differ in their
//! decisions.

use crate::commit::Commit;
use crate::commit::resolve::Resolved;
use crate::error::Error;
use crate::journal::with_body;
use crate::store::Store;
use hedgerow_erased::ErasedChanges;
use hedgerow_log::{Body, CommitRef, Durability};
use hedgerow_model::token::Stamp;
use hedgerow_model::{
    AppendedEdges, CommitTimestamp, Count, DeferredOutcome, EdgeOutcome, Effects, Engine as _, Key, LabelId,
    Outcome, Prepared, ShortPlan, ShortWrites, StoredEdge, VertexId,
};
use hedgerow_sequencer::{CountChanges, PendingReclaim, Stamped, VertexCounts, WriterKind};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The decided and prepared changes of a commit, while its locks are held.
pub(crate) trait Decision {
    /// The changes of the counts.
    fn counts(&self) -> CountChanges<'_>;

    /// Encodes the changes for the log, with the importer's position.
    fn encode(&self, body: &mut Body, input: Option<&[u8]>);

    /// Takes the stamp by calling `take`. Changes that depend on the order of stamps, but on no
    /// lock, are decided in the same step.
    #[inline]
    fn stamp<F>(&self, take: impl FnOnce() -> Result<Stamped, F>) -> Result<Stamped, F> {
        take()
    }

    /// Applies the changes to the graph. Cannot fail, and is short.
    fn apply(&mut self, stamp: Stamp);

    /// Records the changed items, for open interactive transactions.
    fn record_conflicts(&self, stamp: Stamp);

    /// Removes the keys of deleted vertices, after conflicts are recorded.
    fn delete_keys(&self, _stamp: Stamp) {}

    /// The result of the commit at `at`.
    fn commit(&self, at: CommitTimestamp) -> Commit;

    /// Number of changes.
    fn size(&self) -> usize;
}

/// A commit that is applied and whose caller still holds its locks.
#[must_use]
pub(crate) struct AppliedCommit {
    pub(super) commit: Commit,
    pub(super) pending: PendingReclaim,
    size: usize,
}

impl AppliedCommit {
    /// Releases the locks, and then collects a little garbage.
    #[inline]
    pub(super) fn release(self, store: &Store, locks: impl Sized) -> Commit {
        drop(locks);
        store.reclaim_after_commit(self.pending, self.size);
        self.commit
    }
}

/// Effects that the engine has prepared: the decision of every commit off the fast path.
pub(crate) struct PreparedEffects<'d> {
    store: &'d Store,
    resolved: &'d Resolved,
    /// `None` if nothing changes, and the commit only stores an importer's position.
    changes: Option<ErasedChanges<'d>>,
    /// True if anything changes; `None` if that is unknown.
    changed: Option<bool>,
    outcome: Outcome,
    vertices: VertexCounts,
}

impl<'d> PreparedEffects<'d> {
    pub fn new(
        store: &'d Store,
        resolved: &'d Resolved,
        prepared: Prepared<ErasedChanges<'d>>,
        vertices: VertexCounts,
    ) -> Self {
        let Prepared { changes, outcome, changed } = prepared;
        let changes = (changed != Some(false)).then_some(changes);
        PreparedEffects { store, resolved, changes, changed, outcome, vertices }
    }

    /// Number of edges added and removed, as far as known. With parallel edges, the engine counts
    /// the pairs that they connect.
    fn edges(&self) -> (Count, Count) {
        let is_single = |label| !self.store.catalog.are_parallel(label);
        let known = self.outcome.edges.iter().filter(|of| is_single(of.label)).chain(&self.resolved.parallel);
        let known = known.fold((0, 0), |(added, removed), of| (added + of.added, removed + of.removed));
        let deferred = self.outcome.deferred.iter().filter(|of| is_single(of.label));
        let most = deferred.fold(known, |(added, removed), of| (added + of.puts, removed + of.deletions));
        (Count::between(known.0, most.0), Count::between(known.1, most.1))
    }
}

impl Decision for PreparedEffects<'_> {
    fn counts(&self) -> CountChanges<'_> {
        let Outcome { edges, parallel, deferred } = &self.outcome;
        CountChanges { vertices: self.vertices, edges, parallel, deferred }
    }

    fn encode(&self, body: &mut Body, input: Option<&[u8]>) {
        self.store.encode(self.resolved, None, body, input);
    }

    fn apply(&mut self, stamp: Stamp) {
        self.changes.take().into_iter().for_each(|changes| self.store.engine.apply(stamp, changes));
    }

    fn record_conflicts(&self, stamp: Stamp) {
        let touched = self.store.touched_by(self.resolved);
        self.store.record_conflicts(touched, self.size(), stamp);
    }

    fn delete_keys(&self, stamp: Stamp) {
        self.resolved.deleted.iter().for_each(|id| self.store.dictionary.delete(*id, stamp.at()));
    }

    fn commit(&self, at: CommitTimestamp) -> Commit {
        let VertexCounts { added: vertices_added, removed: vertices_removed, .. } = self.vertices;
        let (edges_added, edges_removed) = self.edges();
        Commit {
            at,
            // A commit that takes a timestamp stores an importer's position, if nothing else.
            changed: self.changed.map(|_| true),
            edges_added,
            edges_removed,
            vertices_added,
            vertices_removed,
            ..Commit::default()
        }
    }

    fn size(&self) -> usize {
        self.resolved.effects.len()
    }
}

/// One edge that the engine has planned to change, on the fast path.
pub(super) struct PlannedEdge<'d, S: ShortWrites> {
    store: &'d Store,
    short: &'d S,
    edge: &'d StoredEdge,
    plan: &'d S::Plan,
    counts: PlannedCounts,
}

/// The changes of the counts by planned changes of edges of one label.
pub(super) struct PlannedCounts {
    known: [EdgeOutcome; 1],
    deferred: Option<DeferredOutcome>,
}

impl PlannedCounts {
    /// The counts of at least one plan.
    #[inline]
    pub fn of(plans: &[impl ShortPlan]) -> Self {
        let label = plans[0].outcome().label;
        let mut known = EdgeOutcome { label, added: 0, removed: 0 };
        let mut deferred: Option<DeferredOutcome> = None;
        for plan in plans {
            let outcome = plan.outcome();
            debug_assert_eq!(outcome.label, label);
            if plan.is_deferred() {
                let none = DeferredOutcome { label, puts: 0, deletions: 0 };
                let DeferredOutcome { puts, deletions, .. } = deferred.get_or_insert(none);
                (*puts, *deletions) = (*puts + outcome.added, *deletions + outcome.removed);
            } else {
                known.added += outcome.added;
                known.removed += outcome.removed;
            }
        }
        PlannedCounts { known: [known], deferred }
    }

    #[inline]
    pub fn changes(&self) -> CountChanges<'_> {
        CountChanges { edges: &self.known, deferred: self.deferred.as_slice(), ..CountChanges::default() }
    }

    /// Number of edges added and removed, as far as known.
    #[inline]
    pub fn edges(&self) -> (Count, Count) {
        let [EdgeOutcome { added, removed, .. }] = self.known;
        let (puts, deletions) = self.deferred.map_or((0, 0), |deferred| (deferred.puts, deferred.deletions));
        (Count::between(added, added + puts), Count::between(removed, removed + deletions))
    }
}

impl<'d, S: ShortWrites> PlannedEdge<'d, S> {
    #[inline]
    pub fn new(store: &'d Store, short: &'d S, edge: &'d StoredEdge, plan: &'d S::Plan) -> Self {
        PlannedEdge { store, short, edge, plan, counts: PlannedCounts::of(std::slice::from_ref(plan)) }
    }
}

impl<S: ShortWrites> Decision for PlannedEdge<'_, S> {
    #[inline]
    fn counts(&self) -> CountChanges<'_> {
        self.counts.changes()
    }

    fn encode(&self, body: &mut Body, _input: Option<&[u8]>) {
        body.encode_edge(self.edge, self.store.topology);
    }

    #[inline]
    fn apply(&mut self, stamp: Stamp) {
        self.short.apply_edge(stamp, self.edge, self.plan);
    }

    fn record_conflicts(&self, stamp: Stamp) {
        let StoredEdge { label, .. } = *self.edge;
        let touched = self.store.touched_by_edge(label, self.edge.ends());
        self.store.record_conflicts(touched.into_iter(), 1, stamp);
    }

    #[inline]
    fn commit(&self, at: CommitTimestamp) -> Commit {
        let (edges_added, edges_removed) = self.counts.edges();
        let changed = self.counts.deferred.is_none().then_some(true);
        Commit { at, changed, edges_added, edges_removed, ..Commit::default() }
    }

    #[inline]
    fn size(&self) -> usize {
        1
    }
}

impl Store {
    /// Stamps and applies a decision. `input` is the importer's position.
    #[inline]
    pub(super) fn stamp_and_apply(
        &self,
        mut decided: impl Decision,
        writer: WriterKind,
        input: Option<&[u8]>,
    ) -> Result<AppliedCommit, Error> {
        let counts = decided.counts();
        let stamped = match self.journal() {
            None => {
                let stamped = decided.stamp(|| self.sequencer.stamp(counts, writer))?;
                input.into_iter().for_each(|input| self.sequencer.note_input(input));
                stamped
            }
            Some(journal) => with_body(|body| {
                decided.encode(body, input);
                let log = journal.commit_log()?;
                let stamp = || self.sequencer.stamp_logged(log, body, input, counts, writer);
                Ok::<_, Error>(decided.stamp(stamp)?)
            })?,
        };
        let Stamped { stamp, record_conflicts, released } = stamped;
        self.poisoning_on_panic(|| apply(&mut decided, stamp, record_conflicts));
        let pending = self.sequencer.applied(stamp, released);
        Ok(AppliedCommit { commit: decided.commit(stamp.at()), pending, size: decided.size() })
    }

    /// Waits until a commit, whose locks are released, is as durable as the graph's option and
    /// `asked` demand. For a commit that changed nothing, waits for the state that it saw.
    #[inline]
    pub fn settle(&self, commit: Commit, asked: Durability) -> Result<Commit, Error> {
        self.settle_at(commit.at, commit.changed != Some(false), asked)?;
        Ok(commit)
    }

    /// Waits until all commits up to `at` are durable enough; `committed` is true if the caller
    /// made one of them.
    #[inline]
    pub(super) fn settle_at(
        &self,
        at: CommitTimestamp,
        committed: bool,
        asked: Durability,
    ) -> Result<(), Error> {
        let Some(journal) = self.journal() else { return Ok(()) };
        let log = journal.log()?;
        if committed {
            journal.wake_log_maintainer();
            return Ok(log.settle(at, asked)?);
        }
        log.check()?;
        journal.settle_read(at, asked)
    }

    /// Waits until everything stamped is as durable as the graph's option demands, so that a caller
    /// may report what it saw under locks.
    pub fn settle_seen(&self) -> Result<(), Error> {
        self.settle_read(self.sequencer.newest().0, Durability::None)
    }

    /// Waits until the state read at `at` is as durable as `asked` demands.
    pub fn settle_read(&self, at: CommitTimestamp, asked: Durability) -> Result<(), Error> {
        self.journal().map_or(Ok(()), |journal| journal.settle_read(at, asked))
    }

    /// Encodes a commit for the log, with appended edges and an importer's position.
    pub(super) fn encode(
        &self,
        resolved: &Resolved,
        appended: Option<AppendedEdges<'_>>,
        body: &mut Body,
        input: Option<&[u8]>,
    ) {
        let Resolved { effects, created, .. } = resolved;
        let keys = self.keys_of(created);
        let labels = effects.adjacencies.iter().map(|effects| effects.label);
        let has_records = |label: &LabelId| self.catalog.record_schema(*label).is_some();
        // Ascending, because effects are.
        let record_labels: SmallVec<[LabelId; 4]> = labels.filter(has_records).collect();
        let record_labels = &record_labels;
        let commit = CommitRef { effects, keys: &keys, catalog: None, input, record_labels, appended };
        body.encode(&commit, self.topology);
    }

    /// The result of a commit that changes nothing: it takes no stamp.
    pub(super) fn unchanged(&self) -> AppliedCommit {
        let commit = Commit { at: self.sequencer.newest().0, changed: Some(false), ..Commit::default() };
        AppliedCommit { commit, pending: PendingReclaim::default(), size: 0 }
    }

    /// The keys of new vertices, for the log. Empty where keys are ids.
    fn keys_of(&self, created: &[VertexId]) -> Vec<(VertexId, Key)> {
        match self.dictionary.is_dense() {
            true => Vec::new(),
            false => created.iter().map(|id| (*id, self.dictionary.key(*id))).collect(),
        }
    }

    /// Adds the keys of the vertices that are put, if the engine keeps keys in its own files.
    pub(crate) fn add_keys(&self, effects: &mut Effects) {
        if self.engine.durable().is_some() && !self.dictionary.is_dense() {
            let put = effects.vertices.iter().filter(|effect| effect.is_put());
            effects.keys = put.map(|effect| self.dictionary.key(effect.vertex)).collect();
        }
    }

    /// Applies stamps; if that panics, poisons the graph, because a stamp will never be applied.
    pub(super) fn poisoning_on_panic(&self, apply: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(apply)) {
            self.sequencer.poison();
            resume_unwind(panic);
        }
    }
}

/// Applies a stamped decision to the graph.
#[inline]
pub(crate) fn apply(decided: &mut impl Decision, stamp: Stamp, record_conflicts: bool) {
    decided.apply(stamp);
    if record_conflicts {
        decided.record_conflicts(stamp);
    }
    decided.delete_keys(stamp);
}
