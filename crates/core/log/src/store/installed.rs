//! The checkpoint of a store.

use super::{Manifest, StoreFiles};
use crate::checkpoint::{
    self, Checkpoint, CheckpointEntry, CheckpointError, CheckpointSource, Description, UNFINISHED,
    WriteOptions, name_of,
};
use crate::error::StoreError;
use hedgerow_model::CommitTimestamp;

impl StoreFiles {
    /// Gives a store that was just made its first state, durably: the checkpoint of `source`, after
    /// whose commit the log begins. A crash leaves the store without commits, or with all of it.
    ///
    /// # Errors
    /// The errors of [`checkpoint::write`]: then the store is removed, if the file system permits.
    /// The manifest could not be replaced.
    pub fn begin_with<S: CheckpointSource>(
        &mut self,
        description: &Description,
        source: &S,
        options: &WriteOptions<'_>,
    ) -> Result<CheckpointEntry, CheckpointError> {
        let (number, at) = (1, description.timestamp);
        debug_assert_eq!(self.manifest.durable, CommitTimestamp::ZERO, "the store has no commits");
        let written = checkpoint::write(&*self.files, &name_of(number), description, source, options);
        let written = written.inspect_err(|_| self.remove_without(&name_of(number)))?;
        let entry = CheckpointEntry { number, at, length: written.bytes };
        let manifest = &mut self.manifest;
        manifest.checkpoint = Some(entry);
        (manifest.oldest_readable, manifest.oldest_wall_clock) = (at, description.wall_clock);
        manifest.durable = at;
        self.replace_manifest().map_err(Box::new)?;
        Ok(entry)
    }

    /// Removes an empty store whose checkpoint could not be written. If that fails, the store stays
    /// empty: a manifest must not be missing where there is a checkpoint, even an unfinished one.
    fn remove_without(&self, checkpoint: &str) {
        let is_gone = |name: &str| match self.files.remove(name) {
            Ok(()) => true,
            Err(error) => error.is_not_found(),
        };
        let are_gone = is_gone(&format!("{checkpoint}{UNFINISHED}")) && is_gone(checkpoint);
        if are_gone && self.files.sync_directory().is_ok() {
            // The earlier error matters.
            let _ = self.files.remove(Manifest::FILE);
        }
    }

    /// Opens the newest checkpoint, if the manifest has one.
    ///
    /// # Errors
    /// The errors of [`Checkpoint::open`]; [`StoreError::Missing`] if the file does not exist,
    /// [`StoreError::Foreign`] if it is the checkpoint of another store or of another timestamp.
    pub fn open_checkpoint(&self) -> Result<Option<Checkpoint>, StoreError> {
        let Some(CheckpointEntry { number, at, .. }) = self.manifest.checkpoint else { return Ok(None) };
        let name = name_of(number);
        let path = self.files.location().join(&name);
        let checkpoint = match Checkpoint::open(&*self.files, &name) {
            Err(StoreError::File(error)) if error.is_not_found() => {
                return Err(StoreError::Missing { path });
            }
            opened => opened?,
        };
        let description = checkpoint.description();
        if description.store != self.manifest.store {
            return Err(StoreError::Foreign { path, what: "it is the checkpoint of another store" });
        }
        if description.timestamp != at {
            return Err(StoreError::Foreign { path, what: "it is the checkpoint of another timestamp" });
        }
        Ok(Some(checkpoint))
    }
}
