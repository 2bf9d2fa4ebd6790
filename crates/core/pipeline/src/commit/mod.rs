//! The commit pipeline: locks in order, conflicts and conditions, stage, stamp, apply, settle.
//!
//! See `docs/concurrency.md` for the protocol and its invariants.

pub(crate) mod acquire;
pub(crate) mod apply;
pub(crate) mod edges;
pub(crate) mod entries;
mod holdings;
pub(crate) mod ingest;
mod ingest_lists;
pub(crate) mod ingest_records;
mod known_ids;
mod pairs;
pub(crate) mod resolve;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

use crate::conflicts::Touched;
use crate::error::Error;
use crate::store::Store;
use acquire::{Acquired, OperationIds, ReadSet};
use apply::{AppliedCommit, Stamping};
use hedgerow_erased::ErasedRoom;
use hedgerow_log::{Body, Durability};
use hedgerow_model::token::{HeldLocks, Stamp, Stamps};
use hedgerow_model::{
    Adjacency, Allowance, AppendedEdges, Changes, CommitTimestamp, Count, Cursor, DeferredOutcome,
    EdgeChange, EdgeOutcome, Effects, Engine, GraphView, Key, LabelId, Operation, Outcome, Reclaimed,
    VertexId,
};
use hedgerow_sequencer::{CountChanges, WriterKind};
use resolve::{DeferredCounts, Resolved};

/// Estimated bytes of a changed edge or vertex, for the admission of commits by engines.
pub const BYTES_OF_CHANGE: usize = 64;

/// The result of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Commit {
    /// The timestamp of the changes; for a commit without changes, the newest one.
    pub at: CommitTimestamp,
    /// True if anything changed; if not, no timestamp was taken. `None` if unknown, because the
    /// engine looks up later which edges exist; always known for a commit that changes a vertex or
    /// a record, or deletes a single edge.
    pub changed: Option<bool>,
    /// Edges that did not exist before. Exact, unless the engine counts later.
    pub edges_added: Count,
    /// Edges that existed and no longer do. Exact, unless the engine counts later; always exact for
    /// a commit that deletes a single edge.
    pub edges_removed: Count,
    /// Vertices that did not exist before.
    pub vertices_added: u64,
    /// Vertices that existed and no longer do.
    pub vertices_removed: u64,
    /// Updates of edges that did nothing because their condition did not hold.
    pub conditions_failed: u64,
}

/// The interactive transaction of a commit, for the check of conflicts.
pub struct Interactive<'t> {
    /// The timestamp at which the transaction began.
    pub began: CommitTimestamp,
    /// The reads of the transaction, if they must be unchanged.
    pub reads: Option<&'t ReadSet>,
    /// The minimum durability of the commit.
    pub durability: Durability,
    /// The importer's position to store with the commit.
    pub input: Option<&'t [u8]>,
}

impl Store {
    /// Commits `operations` as one. With `interactive`, fails if another transaction committed a
    /// conflicting change first.
    pub fn commit(
        &self,
        operations: &[Operation],
        interactive: Option<&Interactive<'_>>,
    ) -> Result<Commit, Error> {
        let commit = self.commit_unsettled(operations, interactive)?;
        self.settle(commit, interactive.map_or(Durability::None, |interactive| interactive.durability))
    }

    /// Like [`Store::commit`], but does not settle the commit.
    fn commit_unsettled(
        &self,
        operations: &[Operation],
        interactive: Option<&Interactive<'_>>,
    ) -> Result<Commit, Error> {
        self.admit(operations.len() * BYTES_OF_CHANGE)?;
        self.reclaiming_at_limit(|| self.try_commit(operations, interactive))
    }

    /// Runs `attempt`; if memory or the scratch file is full, reclaims and runs it once more.
    pub fn reclaiming_at_limit<T>(&self, attempt: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        match attempt() {
            Err(full) if full.is_full() => {
                if self.reclaim_settled()?.bytes > 0 {
                    attempt()
                } else {
                    Err(full)
                }
            }
            done => done,
        }
    }

    /// Frees every version that no snapshot sees. First settles all commits, because unpublished
    /// ones keep the versions that they replaced. An engine with its own files flushes its memory
    /// to them. No locks are held.
    pub fn reclaim_settled(&self) -> Result<Reclaimed, Error> {
        if self.engine.durable().is_some() {
            let before = self.engine.memory().total_bytes();
            self.flush_newest()?;
            let bytes = before.saturating_sub(self.engine.memory().total_bytes());
            return Ok(Reclaimed { bytes, ..Reclaimed::default() });
        }
        self.settle_seen()?;
        Ok(self.maintain(usize::MAX)?.reclaimed)
    }

    fn try_commit(
        &self,
        operations: &[Operation],
        interactive: Option<&Interactive<'_>>,
    ) -> Result<Commit, Error> {
        let reads = interactive.and_then(|interactive| interactive.reads);
        let acquired = Acquired::new(self, operations, reads)?;
        if let Some(interactive) = interactive {
            self.check_conflicts(operations, acquired.ids(), interactive)?;
        }
        let writer = if interactive.is_some() { WriterKind::Interactive } else { WriterKind::Blind };
        let input = interactive.and_then(|interactive| interactive.input);
        self.commit_acquired(acquired, operations, writer, input)
    }

    /// Commits `operations`, whose locks are held, with an importer's position. Does not settle the
    /// commit.
    pub fn commit_acquired(
        &self,
        mut acquired: Acquired<'_>,
        operations: &[Operation],
        writer: WriterKind,
        input: Option<&[u8]>,
    ) -> Result<Commit, Error> {
        let resolved = {
            let (held, ids) = acquired.held_and_ids();
            let latest = self.latest(&held)?;
            resolve::resolve(self, &latest, operations, ids)?
        };
        acquired.assigned().release_unless(|id| resolved.created.binary_search(&id).is_ok());
        let mut applied = self.finish(&mut acquired.held(), &resolved, None, writer, input)?;
        applied.commit.conditions_failed = resolved.conditions_failed;
        acquired.assigned().keep();
        Ok(applied.release(self, acquired))
    }

    /// First committer wins: fails unless all items that the transaction wrote, and optionally all
    /// that it read, are unchanged since it began. Its locks are held, so that they stay unchanged
    /// until the commit is stamped.
    fn check_conflicts(
        &self,
        operations: &[Operation],
        ids: &[OperationIds],
        interactive: &Interactive<'_>,
    ) -> Result<(), Error> {
        if interactive.reads.is_some_and(|reads| reads.everything) {
            // Every lock is held, so that no other commit can change the graph.
            let is_unchanged = self.sequencer.newest().0 <= interactive.began;
            return is_unchanged.then_some(()).ok_or(Error::Conflict);
        }
        let changed = self.conflicts.since(interactive.began);
        let unchanged = |touched: Touched| !changed.contains(&touched);
        let written = operations
            .iter()
            .zip(ids)
            .all(|(operation, ids)| self.written_by(operation, *ids).into_iter().flatten().all(unchanged));
        let read = interactive.reads.is_none_or(|reads| reads.touched.iter().copied().all(unchanged));
        (written && read).then_some(()).ok_or(Error::Conflict)
    }

    /// The items that must be unchanged for an operation.
    fn written_by(&self, operation: &Operation, ids: OperationIds) -> [Option<Touched>; 3] {
        let deleted = |key: &Key| Some(Touched::Deleted(self.dictionary.hash(key.as_ref())));
        match operation {
            Operation::AddVertex { key } => [deleted(key), None, None],
            Operation::SetProperties { key, .. } => [deleted(key), ids.first.map(Touched::Record), None],
            Operation::DeleteVertex { key } => {
                [deleted(key), ids.first.map(Touched::Record), ids.first.map(Touched::Neighbors)]
            }
            Operation::PutEdge { label, source, destination, .. }
            | Operation::DeleteEdge { label, source, destination }
            | Operation::ChangeRecord { label, source, destination, .. } => {
                let edge = ids.first.zip(ids.second).map(|(source, destination)| {
                    let (source, destination) = self.topology.canonical(source, destination);
                    Touched::Edge(*label, source, destination)
                });
                [deleted(source), deleted(destination), edge]
            }
        }
    }

    /// Stages, stamps and applies decided changes, with further edges to append. The locks of all
    /// changes are held, except for appended edges. With `input`, an importer's position, there is
    /// a commit even if nothing else changes.
    pub(crate) fn finish(
        &self,
        held: &mut HeldLocks<'_>,
        resolved: &Resolved,
        appended: Option<AppendedEdges<'_>>,
        writer: WriterKind,
        input: Option<&[u8]>,
    ) -> Result<AppliedCommit, Error> {
        let (effects, mut room) = (&resolved.effects, ErasedRoom::default());
        let allowance = match resolved.only_deletes {
            true => Allowance::UNLIMITED,
            false => self.allowance(),
        };
        let changes = Changes::Commit { effects, appended };
        let staged = self.engine.stage(held, changes, &mut room, allowance, self.pool_for(effects.len()))?;
        let (mut outcome, mut is_change) = (staged.outcome, staged.changing > 0);
        match resolved.deferred_counts {
            DeferredCounts::LookedUp if !outcome.deferred.is_empty() => {
                self.count_deferred(held, effects, &mut outcome)?;
                let Outcome { edges, parallel, .. } = &outcome;
                is_change = edges.iter().any(|of| of.added + of.removed > 0) || !parallel.is_empty();
            }
            DeferredCounts::AllExist => count_deletions(&mut outcome),
            DeferredCounts::LookedUp | DeferredCounts::Bounded => {}
        }
        if !is_change && input.is_none() {
            return Ok(self.unchanged());
        }
        let nothing = Resolved::default();
        let resolved = if is_change { resolved } else { &nothing };
        let vertices = resolved.vertex_counts();
        let Outcome { edges, parallel, deferred } = &outcome;
        let counts = CountChanges { vertices, edges, parallel, deferred };
        let stamping = Stamping { stamps: 1, counts, writer, input, appends: appended.is_some() };
        let size = resolved.effects.len() + appended.map_or(0, |appended| appended.edges.len());
        let encode = |bodies: &mut [Body]| {
            bodies.iter_mut().for_each(|body| self.encode(resolved, appended, body, input));
        };
        let apply = |stamps: Stamps| {
            if is_change {
                self.engine.apply(held, stamps, staged.changes);
            }
        };
        let note = |stamps: Stamps, record_conflicts| {
            let stamp = stamps.first();
            if record_conflicts {
                self.record_conflicts(self.touched_by(resolved, appended), size, stamp);
            }
            resolved.deleted.iter().for_each(|id| self.dictionary.delete(*id, stamp.at()));
        };
        let (at, pending) = self.stamp_and_apply(stamping, encode, apply, note)?;
        let (edges_added, edges_removed) = self.edge_counts(&outcome, &resolved.parallel);
        let commit = Commit {
            at,
            // A commit that takes a timestamp stores an importer's position, if nothing else.
            changed: (outcome.deferred.is_empty() || self.has_compared(resolved)).then_some(true),
            edges_added,
            edges_removed,
            vertices_added: vertices.added,
            vertices_removed: vertices.removed,
            ..Commit::default()
        };
        Ok(AppliedCommit { commit, pending, size })
    }

    /// Number of edges added and removed, as far as known. With parallel edges, the engine counts
    /// the pairs that they connect, and `parallel` has the numbers of edges.
    fn edge_counts(&self, outcome: &Outcome, parallel: &[EdgeOutcome]) -> (Count, Count) {
        let is_single = |label| !self.catalog.are_parallel(label);
        let known = outcome.edges.iter().filter(|of| is_single(of.label)).chain(parallel);
        let known = known.fold((0, 0), |(added, removed), of| (added + of.added, removed + of.removed));
        let deferred = outcome.deferred.iter().filter(|of| is_single(of.label));
        let most = deferred.fold(known, |(added, removed), of| (added + of.puts, removed + of.deletions));
        (Count::between(known.0, most.0), Count::between(known.1, most.1))
    }

    /// Returns true if some effects were compared with the newest state, and differ from it:
    /// effects on vertices, and on edges with records.
    fn has_compared(&self, resolved: &Resolved) -> bool {
        let Effects { vertices, adjacencies, .. } = &resolved.effects;
        let has_records = |label| self.catalog.record_schema(label).is_some();
        !vertices.is_empty() || adjacencies.iter().any(|of| !of.changes.is_empty() && has_records(of.label))
    }

    /// Counts the changes that the engine would count later, by looking up which edges exist, for a
    /// commit that must return exact counts.
    fn count_deferred(
        &self,
        held: &HeldLocks<'_>,
        effects: &Effects,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let deferred = std::mem::take(&mut outcome.deferred);
        let latest = self.latest(held)?;
        let is_deferred = |label| deferred.iter().any(|of| of.label == label);
        for edges in effects.adjacencies.iter().filter(|edges| is_deferred(edges.label)) {
            let adjacency = latest.adjacency::<()>(edges.label, edges.direction)?;
            let mut cursor = adjacency.cursor();
            for change in edges.changes.iter() {
                let (owner, neighbor, value) = (change.owner(), change.neighbor(), change.value);
                if self.topology.is_canonical_entry(edges.direction, owner, neighbor) {
                    let exists = cursor.find(owner, neighbor)?.is_some();
                    let (added, removed) = (!exists && value.is_some(), exists && value.is_none());
                    outcome.count(edges.label, added.into(), removed.into());
                }
            }
        }
        Ok(())
    }

    /// Records the items that a commit of `changes` changes touched, for open interactive
    /// transactions.
    fn record_conflicts(&self, touched: impl Iterator<Item = Touched>, changes: usize, stamp: Stamp) {
        self.conflicts.record(touched, changes, stamp.at(), || self.sequencer.oldest_interactive());
    }

    /// The items that a change of an edge touches.
    fn touched_by_edge(&self, label: LabelId, (source, destination): (VertexId, VertexId)) -> [Touched; 3] {
        let (source, destination) = self.topology.canonical(source, destination);
        let edge = Touched::Edge(label, source, destination);
        [edge, Touched::Neighbors(source), Touched::Neighbors(destination)]
    }

    /// The items that a commit touches, which also appends edges.
    fn touched_by<'t>(
        &'t self,
        resolved: &'t Resolved,
        appended: Option<AppendedEdges<'t>>,
    ) -> impl Iterator<Item = Touched> {
        let appended = appended.into_iter().flat_map(move |AppendedEdges { label, edges, .. }| {
            edges.iter().flat_map(move |edge| {
                let edge = EdgeChange::at(*edge, None);
                self.touched_by_edge(label, (edge.owner(), edge.neighbor()))
            })
        });
        let Resolved { effects, created, deleted, .. } = resolved;
        let edges = effects.adjacencies.iter().flat_map(|effects| {
            let is_canonical = |change: &EdgeChange| {
                self.topology.is_canonical_entry(effects.direction, change.owner(), change.neighbor())
            };
            let changes = effects.changes.iter().filter(is_canonical);
            changes
                .flat_map(|change| self.touched_by_edge(effects.label, (change.owner(), change.neighbor())))
        });
        let records = effects.vertices.iter().map(|effect| Touched::Record(effect.vertex));
        let hash = |id: &VertexId| self.dictionary.hash(self.dictionary.key(*id).as_ref());
        let created = created.iter().map(move |id| Touched::Created(hash(id)));
        let deleted = deleted.iter().map(move |id| Touched::Deleted(hash(id)));
        edges.chain(records).chain(created).chain(deleted).chain(appended)
    }
}

/// Counts the deletions that the engine would count later; all their edges exist.
fn count_deletions(outcome: &mut Outcome) {
    for DeferredOutcome { label, puts, deletions } in std::mem::take(&mut outcome.deferred) {
        debug_assert_eq!(puts, 0, "a deletion puts nothing");
        outcome.count(label, 0, deletions);
    }
}
