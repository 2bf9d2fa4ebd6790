//! How a log is written.

/// When a commit is taken for done.
///
/// The log is a prefix of the commits, so that a commit can ask for more than its graph does, and never for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// At once. It is written when the buffer is full, synced when a segment is, and safe after a flush or a close.
    None,
    /// At once. A crash of the process loses what waits in the buffer, which is [`LogOptions::buffer_bytes`], up to four times that while others
    /// write it, and the last commit; a loss of power loses at most [`LogOptions::unsynced_bytes`] more.
    Buffered,
    /// When it survives a loss of power.
    #[default]
    Sync,
}

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// When a commit is done that does not ask for more.
    pub durability: Durability,
    /// Bytes of a segment. One with a larger commit is as large as that.
    pub segment_bytes: u64,
    /// Bytes of commits that wait in memory before somebody writes them.
    pub buffer_bytes: usize,
    /// Bytes that are written before somebody syncs them, under [`Durability::Buffered`].
    pub unsynced_bytes: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            durability: Durability::Sync,
            segment_bytes: 64 << 20,
            buffer_bytes: 1 << 20,
            unsynced_bytes: 16 << 20,
        }
    }
}
