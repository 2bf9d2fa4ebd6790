//! Options of a log.

/// The durability at which a commit returns.
///
/// The log contains a prefix of the commits, so a commit can request more durability than its
/// graph, but not less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Returns at once. The commit is written when the buffer is full, synced when a segment is
    /// full, and safe after a flush or a close.
    None,
    /// Returns at once. A crash of the process loses the buffer and the last commit; the buffer has
    /// the size of the option `buffer_bytes`, up to four times that while another thread writes it.
    /// A loss of power loses at most `unsynced_bytes` more.
    Buffered,
    /// Returns when the commit survives a loss of power.
    #[default]
    Sync,
}

hedgerow_model::names!(Durability, "durability": None => "none", Buffered => "buffered", Sync => "sync");

/// Options of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// The durability at which a commit returns by default; a commit may request more.
    pub durability: Durability,
    /// Bytes of the largest segment; the first segments after an opening are smaller. A larger
    /// commit gets a segment of its size.
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
