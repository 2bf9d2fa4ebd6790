//! Memory use of an engine, counted as it changes.

use hedgerow_model::MemoryUse;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};

/// Counters of bytes. Each commit and each reclamation adds to them once.
#[derive(Default)]
pub struct Memory {
    live: AtomicUsize,
    retained: AtomicUsize,
    index: AtomicUsize,
}

/// A change of the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryChange {
    /// Bytes of the newest versions, including everything that they reach and spare room.
    pub live: isize,
    /// Bytes of superseded versions that their successors do not share.
    pub retained: isize,
}

impl std::ops::AddAssign for MemoryChange {
    fn add_assign(&mut self, other: Self) {
        self.live += other.live;
        self.retained += other.retained;
    }
}

impl Memory {
    /// Adds a change.
    #[inline]
    pub fn add(&self, change: MemoryChange) {
        // Each change is counted before the thread that undoes it can know of it, so no counter
        // goes below zero.
        if change.live != 0 {
            self.live.fetch_add(change.live as usize, Ordering::Relaxed);
        }
        if change.retained != 0 {
            self.retained.fetch_add(change.retained as usize, Ordering::Relaxed);
        }
    }

    /// Counts memory of the index, which is never freed.
    pub fn add_index(&self, bytes: usize) {
        self.index.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the current memory use. Reads the counters one by one.
    pub fn used(&self) -> MemoryUse {
        MemoryUse {
            live_bytes: self.live.load(Ordering::Relaxed),
            retained_bytes: self.retained.load(Ordering::Relaxed),
            index_bytes: self.index.load(Ordering::Relaxed),
            reserved_bytes: 0,
        }
    }
}
