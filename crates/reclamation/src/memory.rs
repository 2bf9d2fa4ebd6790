//! What the store holds, counted as it changes.

use hedgerow_model::MemoryUse;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};

/// Counters of bytes. Each commit and each reclamation adds once.
#[derive(Default)]
pub struct Memory {
    live: AtomicUsize,
    retained: AtomicUsize,
    index: AtomicUsize,
}

/// How the counters change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryChange {
    /// Bytes of newest versions, everything they reach and the room around them included.
    pub live: isize,
    /// Bytes of superseded versions that their successors don't share.
    pub retained: isize,
}

impl std::ops::AddAssign for MemoryChange {
    fn add_assign(&mut self, other: Self) {
        self.live += other.live;
        self.retained += other.retained;
    }
}

impl Memory {
    /// Counts a change.
    #[inline]
    pub fn add(&self, change: MemoryChange) {
        // Each change is counted before whoever undoes it can know of it, so no counter goes below zero.
        if change.live != 0 {
            self.live.fetch_add(change.live as usize, Ordering::Relaxed);
        }
        if change.retained != 0 {
            self.retained.fetch_add(change.retained as usize, Ordering::Relaxed);
        }
    }

    /// Counts memory of the index, which is never given back.
    pub fn add_index(&self, bytes: usize) {
        self.index.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What there is. Counters are read one by one.
    pub fn used(&self) -> MemoryUse {
        MemoryUse {
            live_bytes: self.live.load(Ordering::Relaxed),
            retained_bytes: self.retained.load(Ordering::Relaxed),
            index_bytes: self.index.load(Ordering::Relaxed),
            reserved_bytes: 0,
        }
    }
}
