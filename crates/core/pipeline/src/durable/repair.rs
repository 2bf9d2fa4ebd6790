//! Checks that the commits of a store fit its graph, and cuts off commits that do not.

use crate::durable::replay::Replay;
use crate::durable::restored::Batches;
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::{Repair, StoreError};
use hedgerow_model::CommitTimestamp;
use hedgerow_sequencer::LockGuard;

/// Extracts damage to files; returns other errors unchanged.
pub fn damage(error: Error) -> Result<StoreError, Error> {
    match error {
        Error::Store(problem) if problem.is_damage() => Ok(*problem),
        error => Err(error),
    }
}

impl Store {
    /// Loads everything of a store except its log: the checkpoint, if there is one, or the engine's
    /// own files. The graph is not shared.
    ///
    /// # Errors
    /// If a file is damaged or cannot be read.
    pub fn load_all_but_log(&self, store: &hedgerow_log::StoreFiles, batches: Batches) -> Result<(), Error> {
        let mut guard = LockGuard::lock(&self.units, self.units.all());
        // The graph has no readers yet.
        let mut held = guard.held(&self.sequencer).with_editable_now(CommitTimestamp::ZERO);
        self.load_state(&mut held, store, store.open_checkpoint()?.as_ref(), batches).map(drop)
    }

    /// Repairs a store that is loaded except for its log, or whose checkpoint is damaged. Commits
    /// that do not fit the graph count as damage.
    pub fn repair(
        &self,
        store: &mut hedgerow_log::StoreFiles,
        damaged: Option<StoreError>,
        batches: Batches,
    ) -> Result<Repair, Error> {
        let mut guard = LockGuard::lock(&self.units, self.units.all());
        // The graph has no readers.
        let mut held = guard.held(&self.sequencer).with_editable_now(CommitTimestamp::ZERO);
        let mut replay = Replay::new(self, &mut held, batches.replayed)?;
        store.recover(damaged, self.in_files_through(), |record, place| match replay.commit(&record, place) {
            Ok(_) => Ok(true),
            Err(error) => damage(error).map(|_| false),
        })
    }
}
