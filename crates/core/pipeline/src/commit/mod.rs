//! The commit pipeline: locks in order, conflicts and conditions, prepare, stamp, apply, settle.
//!
//! See `docs/concurrency.md` for the protocol and its invariants.

pub(crate) mod acquire;
pub(crate) mod append;
mod append_each;
pub(crate) mod decided;
pub(crate) mod each;
pub(crate) mod edge;
pub(crate) mod entries;
pub(crate) mod group;
mod holdings;
pub(crate) mod ingest;
mod ingest_lists;
pub(crate) mod ingest_records;
mod known_ids;
mod pairs;
mod plan_each;
pub(crate) mod resolve;
#[cfg(test)]
mod tests;

use crate::conflicts::Touched;
use crate::error::Error;
use crate::store::Store;
use acquire::{Acquired, OperationIds, ReadSet};
use decided::{AppliedCommit, PreparedEffects};
use hedgerow_erased::ErasedRoom;
use hedgerow_log::Durability;
use hedgerow_model::token::{HeldLocks, Stamp};
use hedgerow_model::{
    Adjacency, Allowance, CommitTimestamp, Count, Cursor, DeferredOutcome, EdgeChange, Effects, Engine,
    GraphView, Key, LabelId, Operation, Outcome, Reclaimed, VertexId,
};
use hedgerow_sequencer::WriterKind;
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
            let held = acquired.held();
            let latest = self.latest(&held)?;
            resolve::resolve(self, &latest, operations, acquired.ids())?
        };
        acquired.assigned().release_unless(|id| resolved.created.binary_search(&id).is_ok());
        let mut applied = self.finish(&acquired.held(), &resolved, writer, input)?;
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

    /// The shrinking phase: prepare, stamp, apply. The locks of all changes are held. With `input`,
    /// an importer's position, there is a commit even if nothing else changes.
    fn finish(
        &self,
        held: &HeldLocks<'_>,
        resolved: &Resolved,
        writer: WriterKind,
        input: Option<&[u8]>,
    ) -> Result<AppliedCommit, Error> {
        let pool = self.pool_for(resolved.effects.len());
        let allowance = match resolved.only_deletes {
            true => Allowance::UNLIMITED,
            false => self.allowance(),
        };
        let (mut room, nothing) = (ErasedRoom::default(), Resolved::default());
        let mut prepared = self.engine.prepare(held, &resolved.effects, &mut room, allowance, pool)?;
        match resolved.deferred_counts {
            DeferredCounts::LookedUp if !prepared.outcome.deferred.is_empty() => {
                self.count_deferred(held, &resolved.effects, &mut prepared.outcome)?;
                let Outcome { edges, parallel, .. } = &prepared.outcome;
                let is_change = edges.iter().any(|of| of.added + of.removed > 0) || !parallel.is_empty();
                prepared.changed = Some(is_change);
            }
            DeferredCounts::AllExist => count_deletions(&mut prepared.outcome),
            DeferredCounts::LookedUp | DeferredCounts::Bounded => {}
        }
        if prepared.changed.is_none() && self.has_compared(resolved) {
            prepared.changed = Some(true);
        }
        let resolved = match prepared.changed {
            Some(false) if input.is_none() => return Ok(self.unchanged()),
            Some(false) => &nothing,
            Some(true) | None => resolved,
        };
        let decided = PreparedEffects::new(self, resolved, prepared, resolved.vertex_counts());
        self.stamp_and_apply(decided, writer, input)
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
            for EdgeChange { owner, neighbor, value } in edges.changes.iter().copied() {
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

    /// The items that a commit touches.
    fn touched_by(&self, resolved: &Resolved) -> impl Iterator<Item = Touched> {
        let Resolved { effects, created, deleted, .. } = resolved;
        let edges = effects.adjacencies.iter().flat_map(|effects| {
            let is_canonical = |change: &&EdgeChange| {
                self.topology.is_canonical_entry(effects.direction, change.owner, change.neighbor)
            };
            let changes = effects.changes.iter().filter(is_canonical);
            changes.flat_map(|change| self.touched_by_edge(effects.label, (change.owner, change.neighbor)))
        });
        let records = effects.vertices.iter().map(|effect| Touched::Record(effect.vertex));
        let hash = |id: &VertexId| self.dictionary.hash(self.dictionary.key(*id).as_ref());
        let created = created.iter().map(move |id| Touched::Created(hash(id)));
        let deleted = deleted.iter().map(move |id| Touched::Deleted(hash(id)));
        edges.chain(records).chain(created).chain(deleted)
    }
}

/// Counts the deletions that the engine would count later; all their edges exist.
fn count_deletions(outcome: &mut Outcome) {
    for DeferredOutcome { label, puts, deletions } in std::mem::take(&mut outcome.deferred) {
        debug_assert_eq!(puts, 0, "a deletion puts nothing");
        outcome.count(label, 0, deletions);
    }
}
