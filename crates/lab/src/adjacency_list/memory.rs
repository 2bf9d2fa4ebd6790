//! What the store holds, counted as it changes, and what a commit may still take.

use hedgerow_model::{CapacityError, MemoryUse};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};

/// Counters of bytes. Each commit and each reclamation adds once.
#[derive(Default)]
pub(super) struct Memory {
    live: AtomicUsize,
    retained: AtomicUsize,
    index: AtomicUsize,
}

/// How the counters change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryChange {
    /// Bytes of the arrays, deleted and free entries included, and of the newest records.
    pub(super) live: isize,
    /// Bytes of superseded versions and of the notes that file them.
    pub(super) retained: isize,
}

impl std::ops::AddAssign for MemoryChange {
    fn add_assign(&mut self, other: Self) {
        self.live += other.live;
        self.retained += other.retained;
    }
}

impl Memory {
    pub(super) fn add(&self, change: MemoryChange) {
        // Each change is counted before whoever undoes it can know of it, so no counter goes below zero.
        self.live.fetch_add(change.live as usize, Ordering::Relaxed);
        self.retained.fetch_add(change.retained as usize, Ordering::Relaxed);
    }

    pub(super) fn add_index(&self, bytes: usize) {
        self.index.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn used(&self) -> MemoryUse {
        MemoryUse {
            live_bytes: self.live.load(Ordering::Relaxed),
            retained_bytes: self.retained.load(Ordering::Relaxed),
            index_bytes: self.index.load(Ordering::Relaxed),
            reserved_bytes: 0,
        }
    }
}

/// Fails if a commit by which the newest state grows would exceed the limit.
///
/// Only growth counts, so that a graph at its limit can be shrunk; what snapshots keep of the state
/// before is held already. Commits that run at the same time each see what was held before them.
pub(super) fn check_limit(memory: &Memory, limit: Option<usize>, growth: isize) -> Result<(), CapacityError> {
    let (Some(limit), Ok(needed @ 1..)) = (limit, usize::try_from(growth)) else { return Ok(()) };
    let held = memory.used().total_bytes();
    if held.saturating_add(needed) > limit {
        return Err(CapacityError::Memory { needed, held, limit });
    }
    Ok(())
}
