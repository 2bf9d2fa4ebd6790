//! Options of a log.

/// When a commit returns.
///
/// The log contains a prefix of the commits, so a commit can ask for more than its graph does, but
/// not for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// At once. The commit is written when the buffer is full, synced when a segment is, and safe
    /// after a flush or a close.
    None,
    /// At once. A crash of the process loses the buffer, which is as large as the
    /// option `buffer_bytes` says, up to four times that while another thread writes it, and the
    /// last commit; a loss of power loses at most `unsynced_bytes` more.
    Buffered,
    /// When it survives a loss of power.
    #[default]
    Sync,
}

hedgerow_model::names!(Durability, "durability": None => "none", Buffered => "buffered", Sync => "sync");

/// Options of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// When a commit returns by default; it may ask for more.
    pub durability: Durability,
    /// Bytes of the largest segment; the first ones after an opening have less. A larger commit gets a segment
    /// of its size.
    pub segment_bytes: u64,
    /// Bytes of commits that are buffered in memory before a thread writes them.
    pub buffer_bytes: usize,
    /// Bytes that are written before a thread syncs them, under [`Durability::Buffered`].
    pub unsynced_bytes: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            durability: Durability::Sync,
            segment_bytes: 16 << 20,
            buffer_bytes: 1 << 20,
            unsynced_bytes: 16 << 20,
        }
    }
}
