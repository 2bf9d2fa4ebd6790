//! Bugs that a test can switch on, to prove that the harness would find them.
//!
//! Without the feature `simulation` there is no switch, and nothing of this is left in the code.

/// A bug.
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
    /// The new manifest is not synced before it takes the place of the old one.
    SkipManifestSync,
    /// The manifest is overwritten in place.
    OverwriteManifest,
    /// Segments are removed before the manifest forgets them.
    RemoveBeforeManifest,
    /// More is removed than asked for.
    PruneTooMuch,
    /// Checksums of records, and of the chunks of checkpoints, are not compared.
    IgnoreChecksum,
    /// Checksums are the same wherever a record stands.
    UnboundChecksum,
    /// A torn tail is never told from damage: it is always cut.
    CutDamage,
    /// What recovery found is not synced before new commits follow.
    SkipSyncInRecovery,
    /// The torn tail stays where it is, and the manifest does not say where the valid part ends.
    LeaveTornTail,
    /// A failed sync is tried again.
    RetrySync,
    /// A failed write is taken for done.
    IgnoreWriteError,
    /// A short write is taken for a whole one.
    IgnoreShortWrite,
    /// The claim of what is synced is one batch ahead.
    ClaimTooMuch,
    /// The mark says that commits are durable before they are synced.
    MarkEarly,
    /// A checkpoint takes its name before it is synced.
    SkipCheckpointSync,
    /// A checkpoint is written over the one before.
    OverwriteCheckpoint,
    /// A graph edits in place what is not published yet, but may be before the edit is.
    EditUnpublished,
}

impl PlantedBug {
    /// Those that show in checkpoints.
    pub const OF_CHECKPOINTS: [PlantedBug; 4] = [
        PlantedBug::SkipCheckpointSync,
        PlantedBug::OverwriteCheckpoint,
        PlantedBug::SkipDirectorySync,
        PlantedBug::IgnoreChecksum,
    ];

    /// Those that show in the log and the manifest.
    pub const ALL: [PlantedBug; 19] = [
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
    ];
}

#[cfg(any(test, feature = "simulation"))]
mod switch {
    use super::PlantedBug;
    use std::cell::Cell;

    thread_local! {
        static PLANTED: Cell<Option<PlantedBug>> = const { Cell::new(None) };
    }

    /// Plants a bug for the calls of this thread, or none.
    pub fn plant(bug: Option<PlantedBug>) {
        PLANTED.set(bug);
    }

    /// Whether this bug is planted.
    #[must_use]
    pub fn is(bug: PlantedBug) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(any(test, feature = "simulation"))]
pub use switch::{is, plant};

/// Whether this bug is planted: never, in what users run.
#[cfg(not(any(test, feature = "simulation")))]
#[inline(always)]
#[must_use]
pub fn is(_bug: PlantedBug) -> bool {
    false
}
