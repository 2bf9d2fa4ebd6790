//! Bugs that a test can switch on, to prove that the test harness finds them.
//!
//! Without the feature `simulation` there is no switch, and none of this is compiled in.

/// A bug that a test can switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// A commit is acknowledged without a sync.
    SkipSync,
    /// A commit is acknowledged before its sync.
    AcknowledgeEarly,
    /// The sync of one segment is skipped when the next begins.
    SkipSyncAtRoll,
    /// A segment is used before the manifest lists it.
    ListSegmentLate,
    /// New files and renames are not synced in their directory.
    SkipDirectorySync,
    /// The new manifest is not synced before it replaces the old one.
    SkipManifestSync,
    /// The manifest is overwritten in place.
    OverwriteManifest,
    /// Segments are removed before the manifest drops them.
    RemoveBeforeManifest,
    /// Pruning removes too much.
    PruneTooMuch,
    /// Checksums of records, and of the chunks of checkpoints, are not checked.
    IgnoreChecksum,
    /// The checksum of a record does not depend on its position.
    UnboundChecksum,
    /// Damage is taken for a torn tail: it is always cut.
    CutDamage,
    /// Recovered commits are not synced before new commits follow.
    SkipSyncInRecovery,
    /// A torn tail is not cut, and the manifest does not record the end of the valid part.
    LeaveTornTail,
    /// A failed sync is retried.
    RetrySync,
    /// A failed write is ignored.
    IgnoreWriteError,
    /// A short write is treated as complete.
    IgnoreShortWrite,
    /// A batch counts its own bytes as synced before it.
    ClaimTooMuch,
    /// The mark declares commits durable before they are synced.
    MarkEarly,
    /// A segment with the records of smaller ones is listed before it is synced.
    SkipSyncOfJoined,
    /// Small segments are joined into a segment whose number the manifest does not contain yet.
    JoinUnannounced,
    /// A checkpoint gets its name before it is synced.
    SkipCheckpointSync,
    /// A checkpoint overwrites the previous one.
    OverwriteCheckpoint,
    /// A graph edits unpublished versions in place that may be published before the edit is.
    EditUnpublished,
}

impl PlantedBug {
    /// The bugs that show in checkpoints.
    pub const OF_CHECKPOINTS: [PlantedBug; 4] = [
        PlantedBug::SkipCheckpointSync,
        PlantedBug::OverwriteCheckpoint,
        PlantedBug::SkipDirectorySync,
        PlantedBug::IgnoreChecksum,
    ];

    /// The bugs that show in the log and the manifest.
    pub const ALL: [PlantedBug; 21] = [
        PlantedBug::SkipSync,
        PlantedBug::AcknowledgeEarly,
        PlantedBug::SkipSyncAtRoll,
        PlantedBug::ListSegmentLate,
        PlantedBug::SkipDirectorySync,
        PlantedBug::SkipManifestSync,
        PlantedBug::OverwriteManifest,
        PlantedBug::RemoveBeforeManifest,
        PlantedBug::PruneTooMuch,
        PlantedBug::IgnoreChecksum,
        PlantedBug::UnboundChecksum,
        PlantedBug::CutDamage,
        PlantedBug::SkipSyncInRecovery,
        PlantedBug::LeaveTornTail,
        PlantedBug::RetrySync,
        PlantedBug::IgnoreWriteError,
        PlantedBug::IgnoreShortWrite,
        PlantedBug::ClaimTooMuch,
        PlantedBug::MarkEarly,
        PlantedBug::SkipSyncOfJoined,
        PlantedBug::JoinUnannounced,
    ];
}

#[cfg(any(test, feature = "simulation"))]
mod switch {
    use super::PlantedBug;
    use std::cell::Cell;

    thread_local! {
        static PLANTED: Cell<Option<PlantedBug>> = const { Cell::new(None) };
    }

    /// Switches on a bug for the calls of this thread; `None` switches it off.
    pub fn plant(bug: Option<PlantedBug>) {
        PLANTED.set(bug);
    }

    /// Returns true if this bug is switched on.
    #[must_use]
    pub fn is(bug: PlantedBug) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(any(test, feature = "simulation"))]
pub use switch::{is, plant};

/// Returns true if this bug is switched on: never in production.
#[cfg(not(any(test, feature = "simulation")))]
#[inline(always)]
#[must_use]
pub fn is(_bug: PlantedBug) -> bool {
    false
}
