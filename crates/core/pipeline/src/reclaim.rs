//! Deferred work: the choice of threads that collect garbage, the size of steps, and reports of
//! failures.

use crate::background::BackgroundStep;
use crate::error::Error;
use crate::settings::Compaction;
use crate::store::Store;
use hedgerow_model::{Durable, Engine, MaintenanceProgress, Reclaimed, UnitLocks};
use hedgerow_sequencer::{PendingReclaim, ReaderKind, Sequencer};
use hedgerow_sync::atomic::Ordering;

/// Maximum bytes that a thread reclaims per step, or the last snapshot when it closes.
const STEP_BUDGET_BYTES: usize = 1 << 20;

/// Additional budget of a writer for each change of its commit: a change may supersede that many
/// bytes, so otherwise large commits would leave garbage faster than steps free it.
const BUDGET_PER_CHANGE: usize = 1 << 14;

/// Bytes of the budget that examining a deleted vertex costs.
const BUDGET_PER_VERTEX: usize = 128;

/// Less garbage than this is left for later, because each search for reclaimable versions contends
/// with all commits and snapshots.
const LEFT_BYTES: usize = 1 << 16;

/// One writer may reclaim, and one more per this number of superseded bytes. If threads outnumber
/// cores, a reclaimer that lost its core must not block all others.
const BYTES_PER_RECLAIMER: usize = 16 << 20;

impl Store {
    /// Frees everything that no open snapshot sees, at the caller's request. If a step failed since
    /// the last call, returns its error and does nothing.
    pub fn reclaim(&self) -> Result<Reclaimed, Error> {
        self.report_failed_maintenance()?;
        self.conflicts.forget_up_to(self.sequencer.oldest_interactive());
        Ok(self.maintain(usize::MAX)?.reclaimed)
    }

    /// Returns the first failed step of maintenance that was not reported yet.
    pub fn report_failed_maintenance(&self) -> Result<(), Error> {
        self.maintenance.failed.lock().take().map_or(Ok(()), Err)
    }

    /// Takes a step of maintenance: archives pending changes, if they are many or the budget has no
    /// limit, and frees up to about `budget_bytes` of versions that no open snapshot sees. The
    /// caller has no stamp that is not applied.
    pub(crate) fn maintain(&self, budget_bytes: usize) -> Result<MaintenanceProgress, Error> {
        let archived = self.archive(budget_bytes == usize::MAX)?;
        let MaintenanceProgress { mut reclaimed, advanced } = self
            .maintain_under(&|unit, work| self.units.try_with(unit, &self.sequencer, work), budget_bytes)?;
        reclaimed.bytes += archived.reclaimed.bytes;
        Ok(MaintenanceProgress { reclaimed, advanced: advanced || archived.advanced })
    }

    /// Archives the newest state in an archiving engine, and keeps it for stale views.
    fn archive(&self, everything: bool) -> Result<MaintenanceProgress, Error> {
        let archiving = self.engine.archiving().filter(|archiving| everything || archiving.is_due());
        let Some(archiving) = archiving.filter(|_| self.may_maintain() && !self.sequencer.is_poisoned())
        else {
            return Ok(MaintenanceProgress::default());
        };
        let before = self.engine.memory().total_bytes();
        let newest = Sequencer::open(&*self.sequencer, ReaderKind::Snapshot)?;
        let (live, _) = self.sequencer.live();
        let is_archived = archiving.archive(newest.token(), &live, everything)?;
        if is_archived {
            self.sequencer.keep_stale(&newest);
        }
        let bytes = before.saturating_sub(self.engine.memory().total_bytes());
        Ok(MaintenanceProgress {
            reclaimed: Reclaimed { bytes, ..Reclaimed::default() },
            advanced: is_archived,
        })
    }

    /// The freeing part of [`Store::maintain`], with the given locks.
    pub(crate) fn maintain_under(
        &self,
        locks: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, Error> {
        if !self.may_maintain() {
            return Ok(MaintenanceProgress::default());
        }
        let (live, releases) = self.sequencer.live();
        let MaintenanceProgress { mut reclaimed, advanced } =
            self.engine.maintain(&live, locks, budget_bytes)?;
        let (bytes, more) =
            self.dictionary.reclaim(&live, releases, budget_bytes.div_ceil(BUDGET_PER_VERTEX));
        reclaimed.bytes += bytes;
        reclaimed.more |= more;
        if !reclaimed.more {
            self.maintenance.reclaimed_releases.fetch_max(releases, Ordering::AcqRel);
        }
        Ok(MaintenanceProgress { reclaimed, advanced: advanced || reclaimed.bytes > 0 })
    }

    /// Reclaims a little after a commit of `changes` changes, if enough snapshots were closed since
    /// the last reclamation (RapidStore, section 5.3: reclamation by writers) or the engine needs
    /// maintenance; or wakes the garbage collection thread.
    #[inline]
    pub(crate) fn reclaim_after_commit(&self, pending: PendingReclaim, changes: usize) {
        if let Some(wakeup) = &self.maintenance.flush_wakeup
            && self.is_flush_due()
        {
            // Without the thread the step below flushes.
            wakeup.wake();
        }
        if self.maintenance.compaction != Compaction::Off && self.is_reclaiming_worthwhile(pending) {
            self.reclaim_or_wake(changes);
        }
    }

    /// Not inlined: most commits have nothing to reclaim.
    #[inline(never)]
    fn reclaim_or_wake(&self, changes: usize) {
        if self.maintenance.wakeup.as_ref().is_some_and(|wakeup| wakeup.wake()) {
            return;
        }
        let others = self.maintenance.reclaimers.fetch_add(1, Ordering::AcqRel);
        if others <= self.retained_bytes() / BYTES_PER_RECLAIMER {
            self.reclaim_up_to(STEP_BUDGET_BYTES.saturating_add(changes.saturating_mul(BUDGET_PER_CHANGE)));
        }
        self.maintenance.reclaimers.fetch_sub(1, Ordering::AcqRel);
    }

    /// Once the last snapshot is closed, frees a step of the versions that closed snapshots kept,
    /// because no later commit may do it. Leaves less than a step to commits, so that readers
    /// rarely do this work; anything beyond a step is left to later commits and snapshots.
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
        self.reclaim_step();
        self.conflicts.forget_up_to(self.sequencer.oldest_interactive());
    }

    /// Takes a step of maintenance, if there is enough to do. Keeps an error for the next caller
    /// that can report it.
    pub fn reclaim_step(&self) -> BackgroundStep {
        self.reclaim_up_to(STEP_BUDGET_BYTES)
    }

    fn reclaim_up_to(&self, budget_bytes: usize) -> BackgroundStep {
        let is_worthwhile = self.is_reclaiming_worthwhile(self.sequencer.pending_reclaim());
        let is_ending = self.maintenance.is_ending.load(Ordering::SeqCst);
        if !is_worthwhile || is_ending || self.sequencer.is_poisoned() {
            return BackgroundStep::Done;
        }
        // If the disk is full, maintenance may make room for the next flush.
        let flushed = if self.has_flush_thread() { Ok(()) } else { self.flush_if_due() };
        match self.maintain(budget_bytes).and_then(|progress| flushed.map(|()| progress)) {
            Ok(MaintenanceProgress { reclaimed: Reclaimed { more: false, .. }, .. }) => BackgroundStep::Done,
            Ok(MaintenanceProgress { advanced: false, .. }) => BackgroundStep::Held,
            Ok(_) => BackgroundStep::More,
            Err(failed) => {
                self.note_failed_maintenance(failed);
                BackgroundStep::Failed
            }
        }
    }

    /// Flushes the newest state if the engine asks for it.
    pub fn flush_step(&self) -> BackgroundStep {
        if self.maintenance.is_ending.load(Ordering::SeqCst) || self.sequencer.is_poisoned() {
            return BackgroundStep::Done;
        }
        match self.flush_if_due() {
            Ok(()) => BackgroundStep::Done,
            Err(failed) => {
                self.note_failed_maintenance(failed);
                BackgroundStep::Failed
            }
        }
    }

    /// Keeps an error for the next caller that can report it.
    pub(crate) fn note_failed_maintenance(&self, failed: Error) {
        if !self.maintenance.is_ending.load(Ordering::SeqCst) {
            self.maintenance.failed.lock().get_or_insert(failed);
        }
    }

    /// Flushes the newest state if the engine asks for it. No locks are held.
    fn flush_if_due(&self) -> Result<(), Error> {
        match self.is_flush_due() && self.may_maintain() {
            true => self.flush_newest(),
            false => Ok(()),
        }
    }

    fn has_flush_thread(&self) -> bool {
        self.maintenance.flush_wakeup.as_ref().is_some_and(|wakeup| !wakeup.is_over())
    }

    fn is_flush_due(&self) -> bool {
        self.engine.durable().is_some_and(Durable::is_flush_due)
    }

    fn is_reclaiming_worthwhile(&self, pending: PendingReclaim) -> bool {
        let new_releases =
            pending.releases.saturating_sub(self.maintenance.reclaimed_releases.load(Ordering::Acquire));
        let may_free = new_releases > pending.open_timestamps as u64 / 16;
        (may_free && self.retained_bytes() >= LEFT_BYTES) || self.engine.is_maintenance_due()
    }

    /// Bytes of superseded versions, visible or not.
    fn retained_bytes(&self) -> usize {
        self.engine.memory().retained_bytes
    }
}
