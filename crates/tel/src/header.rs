//! What a block begins with, and what is noted of its records.

use crate::layout::Shape;
use hedgerow_model::LabelId;
use hedgerow_sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// What a block begins with. Ids follow.
#[repr(C, align(8))]
pub(crate) struct Header {
    pub(crate) length: AtomicU32,
    /// Entries whose invalidation is [`DEAD`](crate::block).
    pub(crate) dead: AtomicU32,
    /// Entries that were ended, dead or not. Those that are valid in the newest state are the others.
    pub(crate) ended: AtomicU32,
    pub(crate) label: LabelId,
    pub(crate) shape: Shape,
    /// How far the entries are in the order of the times that their records say: see [`Log::lateness`](crate::block::Log::lateness).
    pub(crate) lateness: AtomicU8,
    /// The newest timestamp at which an entry was created or ended.
    pub(crate) changed: AtomicU64,
    /// Up to this timestamp nothing below `length` was invalid that had been created.
    pub(crate) oldest_invalidation: AtomicU64,
}

/// What the writer of a block that has records notes of them.
#[repr(C)]
pub(crate) struct RecordNotes {
    pub(crate) bytes: RecordBytes,
    /// The latest time that an entry was written with.
    pub(crate) latest_time: i64,
}

/// How many bytes of records there are.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordBytes {
    /// Of all that were published.
    pub(crate) published: usize,
    /// Of those whose entries are [`DEAD`](crate::block).
    pub(crate) dead: usize,
}
