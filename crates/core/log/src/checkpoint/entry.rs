//! The entry of a checkpoint in the manifest.

use hedgerow_model::CommitTimestamp;

/// The name of the file of checkpoint `number`.
#[must_use]
pub fn name_of(number: u64) -> String {
    format!("checkpoint-{number:010}")
}

/// A checkpoint: the graph at a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CheckpointEntry {
    /// The number of the checkpoint, which is in its file name.
    pub number: u64,
    /// The timestamp.
    pub at: CommitTimestamp,
    /// Bytes of the checkpoint's file.
    pub length: u64,
}

impl CheckpointEntry {
    /// The name of the checkpoint's file.
    #[must_use]
    pub fn file_name(&self) -> String {
        name_of(self.number)
    }
}
