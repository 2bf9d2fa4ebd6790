//! The header of a block, and the notes about its records.

use crate::layout::Shape;
use hedgerow_model::LabelId;
use hedgerow_sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The header of a block, followed by the ids.
#[repr(C, align(8))]
pub(crate) struct LogHeader {
    pub(crate) length: AtomicU32,
    /// Entries whose invalidation is [`DEAD`](crate::block).
    pub(crate) dead: AtomicU32,
    /// Ended entries, dead or not. The others are valid in the newest state.
    pub(crate) ended: AtomicU32,
    pub(crate) label: LabelId,
    pub(crate) shape: Shape,
    /// The out-of-order bound of the entries; see
    /// [`EntryLog::lateness`](crate::block::EntryLog::lateness).
    pub(crate) lateness: AtomicU8,
    /// The newest timestamp at which an entry was created or ended.
    pub(crate) changed: AtomicU64,
    /// The oldest invalidation: at earlier timestamps, every entry created by then is valid.
    pub(crate) oldest_invalidation: AtomicU64,
}

/// The writer's notes about the records of a block.
#[repr(C)]
pub(crate) struct RecordNotes {
    pub(crate) bytes: RecordBytes,
    /// The latest time of an entry written so far.
    pub(crate) latest_time: i64,
}

/// Total bytes of records.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordBytes {
    /// Bytes of all published records.
    pub(crate) published: usize,
    /// Bytes of records whose entries are [`DEAD`](crate::block).
    pub(crate) dead: usize,
}
