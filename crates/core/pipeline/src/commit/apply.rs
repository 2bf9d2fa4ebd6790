//! From staged changes to a visible state: the steps that all commits share.
//!
//! Each phase of a commit has its invariant:
//!
//! | phase | value | invariant |
//! |---|---|---|
//! | locked | [`LockGuard`](hedgerow_sequencer::LockGuard), [`Acquired`](super::acquire::Acquired) | no other commit changes the locked units; or the commit [appends](hedgerow_sequencer::LockGuard::append), and no commit has locks |
//! | staged | [`Staged`](hedgerow_model::Staged) | its changes are decided, and staged by the engine, but not visible; dropping them changes nothing |
//! | stamped | [`Stamped`] | its place in the order of commits and in the log is fixed |
//! | applied | [`AppliedCommit`] | writers that lock the same units see it; new snapshots do once it is published |
//! | settled | [`Commit`] | its locks are released, and [`Store::settle`] returned: it is as durable as requested |
//!
//! Single edges and streams (`edges.rs`), bulk writes (`ingest.rs`), transactions (`resolve.rs`)
//! and recovery differ in how they lock and decide.

use crate::commit::Commit;
use crate::commit::resolve::Resolved;
use crate::error::Error;
use crate::journal::with_bodies;
use crate::store::Store;
use hedgerow_log::{Body, CommitRef, Durability};
use hedgerow_model::token::Stamps;
use hedgerow_model::{AppendedEdges, CommitTimestamp, Effects, Key, LabelId, VertexId};
use hedgerow_sequencer::{CountChanges, PendingReclaim, Stamped, WriterKind};
use hedgerow_sync::MutexGuard;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A commit that is applied and whose caller still holds its locks.
#[must_use]
pub(crate) struct AppliedCommit {
    pub(super) commit: Commit,
    pub(super) pending: PendingReclaim,
    /// Number of changes.
    pub(super) size: usize,
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

/// The commits that stamps are taken for.
#[derive(Clone, Copy)]
pub(super) struct Stamping<'s> {
    /// Number of stamps.
    pub(super) stamps: usize,
    /// The changes of the counts by all commits.
    pub(super) counts: CountChanges<'s>,
    pub(super) writer: WriterKind,
    /// The importer's position.
    pub(super) input: Option<&'s [u8]>,
    /// True if other commits that append may change the same edges at the same time: these commits
    /// are applied in the order of their stamps.
    pub(super) appends: bool,
}

impl Store {
    /// Encodes staged commits for the log, if there is one, or for followers, stamps them, applies
    /// them with `apply`, and then calls `note`, which is told if it must record conflicts. Returns
    /// the last timestamp.
    #[inline]
    pub(super) fn stamp_and_apply(
        &self,
        stamping: Stamping<'_>,
        encode: impl Fn(&mut [Body]),
        apply: impl FnOnce(Stamps),
        note: impl FnOnce(Stamps, bool),
    ) -> Result<(CommitTimestamp, PendingReclaim), Error> {
        let (order, stamped) = self.encode_and_stamp(&stamping, encode)?;
        let Stamped { stamps, record_conflicts, released } = stamped;
        self.poisoning_on_panic(|| {
            apply(stamps);
            drop(order);
            note(stamps, record_conflicts);
        });
        Ok((stamps.last(), self.sequencer.applied(stamps, released)))
    }

    /// Encodes commits, if there is a reader of them, and stamps them. Commits that append get the
    /// right to be applied in this order.
    #[inline]
    fn encode_and_stamp(
        &self,
        stamping: &Stamping<'_>,
        encode: impl Fn(&mut [Body]),
    ) -> Result<(Option<MutexGuard<'_, ()>>, Stamped), Error> {
        let mut is_read = self.journal().is_some() || self.sequencer.is_followed();
        loop {
            let bodies = if is_read { stamping.stamps } else { 0 };
            let stamped = with_bodies(bodies, |bodies| {
                encode(bodies);
                let order = stamping.appends.then(|| self.append_order.lock());
                Ok::<_, Error>(self.stamp(bodies, stamping)?.map(|stamped| (order, stamped)))
            });
            if let Some(stamped) = stamped? {
                return Ok(stamped);
            }
            is_read = true;
        }
    }

    #[inline]
    fn stamp(&self, bodies: &mut [Body], stamping: &Stamping<'_>) -> Result<Option<Stamped>, Error> {
        let Stamping { stamps, counts, writer, input, .. } = *stamping;
        let Some(journal) = self.journal() else {
            let stamped = self.sequencer.stamp(stamps, bodies, counts, writer)?;
            if stamped.is_some() {
                input.into_iter().for_each(|input| self.sequencer.note_input(input));
            }
            return Ok(stamped);
        };
        Ok(Some(self.sequencer.stamp_logged(journal.commit_log()?, bodies, input, counts, writer)?))
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
        let Resolved { effects, created, deleted, .. } = resolved;
        let (keys, former_keys) = (self.keys_of(created), self.keys_of(deleted));
        let labels = effects.adjacencies.iter().map(|effects| effects.label);
        let has_records = |label: &LabelId| self.catalog.record_schema(*label).is_some();
        // Ascending, because effects are.
        let record_labels: SmallVec<[LabelId; 4]> = labels.filter(has_records).collect();
        let record_labels = &record_labels;
        let commit = CommitRef {
            effects,
            keys: &keys,
            catalog: None,
            input,
            record_labels,
            appended,
            former_keys: &former_keys,
        };
        body.encode(&commit, self.topology);
    }

    /// The result of a commit that changes nothing: it takes no stamp.
    pub(super) fn unchanged(&self) -> AppliedCommit {
        let commit = Commit { at: self.sequencer.newest().0, changed: Some(false), ..Commit::default() };
        AppliedCommit { commit, pending: PendingReclaim::default(), size: 0 }
    }

    /// The keys of new or deleted vertices, for the log. Empty where keys are ids.
    fn keys_of(&self, vertices: &[VertexId]) -> Vec<(VertexId, Key)> {
        match self.dictionary.is_dense() {
            true => Vec::new(),
            false => vertices.iter().map(|id| (*id, self.dictionary.key(*id))).collect(),
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
