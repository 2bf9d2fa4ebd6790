//! The checkpoint of a store.

use super::StoreFiles;
use crate::checkpoint::{Checkpoint, CheckpointEntry, name_of};
use crate::error::StoreError;

impl StoreFiles {
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
