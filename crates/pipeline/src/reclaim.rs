//! Work that is put off: who frees what nobody sees any more, how much of it, and what becomes of a failure.

use crate::compactor::Step;
use crate::error::Error;
use crate::settings::Compaction;
use crate::store::Store;
use hedgerow_model::{Engine, Progress, Reclaimed, UnitLocks};
use hedgerow_sequencer::{PendingReclaim, ReclaimLocks};
use hedgerow_sync::atomic::Ordering;
use hedgerow_sync::epoch;

/// What a writer reclaims after its commit, and a thread in a step, at most.
const STEP_BUDGET_BYTES: usize = 1 << 20;

/// If less than this is old it is left for the time being: each look at what may be freed takes a turn at what all commits and snapshots
/// share.
const LEFT_BYTES: usize = 1 << 16;

/// Writers reclaim at the same time, one and another for each of so many bytes that are old: one that lost its core while it does must not keep
/// all others from it, where threads are many and cores are few.
const BYTES_PER_RECLAIMER: usize = 16 << 20;

/// Deferred pieces of memory that are freed when the last snapshot has closed.
const FLUSHED: usize = 1 << 13;

impl<E: Engine> Store<E> {
    /// Frees everything that no open snapshot sees any more, for a caller who asks for it; or tells which step failed since the
    /// last call, and does nothing.
    pub fn reclaim(&self) -> Result<Reclaimed, Error> {
        self.report_failed_maintenance()?;
        Ok(self.maintain(usize::MAX)?.reclaimed)
    }

    /// Fails with the first failed step of maintenance that no caller was told of yet.
    pub fn report_failed_maintenance(&self) -> Result<(), Error> {
        self.maintenance.failed.lock().take().map_or(Ok(()), Err)
    }

    /// Takes a step of maintenance: frees what no open snapshot sees any more, up to about `budget_bytes`.
    pub(crate) fn maintain(&self, budget_bytes: usize) -> Result<Progress, Error> {
        let locks = ReclaimLocks { table: &self.units, sequencer: &self.sequencer };
        self.maintain_under(&locks, budget_bytes)
    }

    /// As [`Store::maintain`], under the given locks.
    pub(crate) fn maintain_under(
        &self,
        locks: &dyn UnitLocks,
        budget_bytes: usize,
    ) -> Result<Progress, Error> {
        if !self.may_maintain() {
            return Ok(Progress::default());
        }
        let (live, releases) = self.sequencer.live();
        let Progress { mut reclaimed, advanced } = self.engine.maintain(&live, locks, budget_bytes)?;
        reclaimed.bytes += self.dictionary.reclaim(&live, releases);
        if !reclaimed.more {
            self.maintenance.reclaimed_releases.fetch_max(releases, Ordering::AcqRel);
        }
        Ok(Progress { reclaimed, advanced: advanced || reclaimed.bytes > 0 })
    }

    /// Reclaims a little, as part of a commit, if enough snapshots were closed since the last time
    /// (RapidStore, section 5.3: reclamation by writers), or if the engine asks for it; or wakes the thread that does.
    pub(crate) fn reclaim_after_commit(&self, pending: PendingReclaim) {
        if self.maintenance.compaction == Compaction::Off || !self.is_reclaiming_worthwhile(pending) {
            return;
        }
        if self.maintenance.wakeup.as_ref().is_some_and(|wakeup| wakeup.wake()) {
            return;
        }
        let others = self.maintenance.reclaimers.fetch_add(1, Ordering::AcqRel);
        if others <= self.retained_bytes() / BYTES_PER_RECLAIMER {
            match pending.filed_late {
                true => self.reclaim_unread(),
                false => drop(self.reclaim_step()),
            }
        }
        self.maintenance.reclaimers.fetch_sub(1, Ordering::AcqRel);
    }

    /// Frees what closed snapshots kept, once the last one is closed: no commit may ever follow that would do it. Up to a step is left to
    /// commits, so that readers seldom work for them.
    #[inline]
    pub fn reclaim_after_close(&self) {
        let releases = self.sequencer.pending_reclaim().releases;
        if releases > self.maintenance.reclaimed_releases.load(Ordering::Relaxed) {
            self.reclaim_if_last();
        }
    }

    #[cold]
    fn reclaim_if_last(&self) {
        let is_left = self.retained_bytes() < STEP_BUDGET_BYTES || !self.sequencer.is_unread();
        if self.maintenance.compaction == Compaction::Off
            || is_left
            || self.maintenance.wakeup.as_ref().is_some_and(|wakeup| wakeup.wake())
        {
            return;
        }
        self.reclaim_unread();
        self.conflicts.forget_up_to(self.sequencer.oldest_interactive());
        epoch::free_deferred(FLUSHED);
    }

    /// Takes a step; and further ones while no snapshot is open, since nothing else may ever reclaim then.
    fn reclaim_unread(&self) {
        while self.reclaim_step() == Step::More && self.sequencer.is_unread() {}
    }

    /// Takes a step of maintenance, if there is enough to do. What fails is kept for the next caller who may be told.
    pub fn reclaim_step(&self) -> Step {
        let is_worthwhile = self.is_reclaiming_worthwhile(self.sequencer.pending_reclaim());
        if !is_worthwhile || self.sequencer.is_poisoned() {
            return Step::Done;
        }
        match self.maintain(STEP_BUDGET_BYTES) {
            Ok(Progress { reclaimed: Reclaimed { more: false, .. }, .. }) => Step::Done,
            Ok(Progress { advanced: false, .. }) => Step::Held,
            Ok(_) => Step::More,
            Err(failed) => {
                self.maintenance.failed.lock().get_or_insert(failed);
                Step::Done
            }
        }
    }

    fn is_reclaiming_worthwhile(&self, pending: PendingReclaim) -> bool {
        let new_releases =
            pending.releases.saturating_sub(self.maintenance.reclaimed_releases.load(Ordering::Acquire));
        let may_free = new_releases > pending.open_timestamps as u64 / 16;
        (may_free && self.retained_bytes() >= LEFT_BYTES) || self.engine.is_maintenance_due()
    }

    /// Bytes of what is old, whether anybody can see it or not.
    fn retained_bytes(&self) -> usize {
        self.engine.memory().retained_bytes
    }
}
