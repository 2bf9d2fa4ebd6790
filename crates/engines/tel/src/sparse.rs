//! Rewriting logs with many dead entries (LiveGraph, section 6, "Compaction").
//!
//! An entry that is garbage is marked dead and stays in place. A log is rewritten when half of it
//! is dead, so that rewriting costs O(1) per entry that died, however large the log is. An entry
//! that was invisible when it was superseded is dead at once, and no closing snapshot will trigger
//! the rewrite: such logs are listed here.

use crate::block::{DEAD, EntryLog, OwnedBlock, VALID};
use crate::garbage::NOTE_BYTES;
use crate::graph::{Tel, unit_of};
use crate::keeps::Locked;
use crate::layout::bytes_of;
use hedgerow_in_memory::reclamation::MemoryChange;
use hedgerow_model::{Reclaimed, UnitLocks, VertexId};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};

/// Bytes of listed blocks from which on writers should help.
const WORTHWHILE_BYTES: usize = 1 << 16;

/// The logs that became sparse without a snapshot's closing.
#[derive(Default)]
pub(crate) struct SparseLogs {
    logs: Mutex<Vec<SparseLog>>,
    bytes: AtomicUsize,
}

/// A log that was about half dead when it was listed.
#[derive(Clone, Copy)]
struct SparseLog {
    owner: VertexId,
    table: u32,
    bytes: usize,
}

impl SparseLogs {
    /// Lists a log.
    pub(crate) fn push(&self, owner: VertexId, table: u32, bytes: usize) {
        self.logs.lock().push(SparseLog { owner, table, bytes });
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns true if enough logs are listed for writers to help. O(1).
    #[inline]
    pub(crate) fn is_worthwhile(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= WORTHWHILE_BYTES
    }

    fn pop(&self) -> Option<SparseLog> {
        let log = self.logs.lock().pop()?;
        self.bytes.fetch_sub(log.bytes, Ordering::Relaxed);
        Some(log)
    }
}

/// Returns true if a log with `dead` dead entries is worth rewriting.
#[inline]
pub(crate) fn is_sparse(length: usize, dead: usize) -> bool {
    dead > 0 && dead * 2 >= length
}

/// The bytes of the notes that file old entries of a log. O(entries).
pub(crate) fn note_bytes(log: EntryLog<'_>) -> usize {
    let ends = log.invalidations().iter().map(|end| end.load(Ordering::Relaxed));
    ends.filter(|end| *end != VALID && *end != DEAD).count() * NOTE_BYTES
}

impl Tel {
    /// Rewrites listed logs until freed or rewritten bytes use up the budget.
    pub(crate) fn compact_sparse(&self, units: &UnitLocks<'_>, budget_bytes: usize, done: &mut Reclaimed) {
        let (mut left, mut rewritten_bytes) = (Vec::new(), 0);
        while done.bytes.max(rewritten_bytes) < budget_bytes {
            let Some(log) = self.sparse.pop() else { break };
            rewritten_bytes += log.bytes;
            let was_free = units(unit_of(log.owner), &mut |locks| {
                assert!(locks.covers(unit_of(log.owner)), "a log is rewritten without the lock of its owner");
                let change = self.compact(log.owner, log.table as usize, Locked::by(locks));
                self.memory.add(change);
                done.bytes += change.live.unsigned_abs();
            });
            if !was_free {
                left.push(log);
            }
        }
        left.into_iter().for_each(|log| self.sparse.push(log.owner, log.table, log.bytes));
        done.more |= !self.sparse.logs.lock().is_empty();
    }

    /// Rewrites a log without its dead entries, if enough of it is dead; removes a log that has
    /// only dead entries. The owner is locked. O(entries).
    pub(crate) fn compact(&self, owner: VertexId, table: usize, keeps: Locked<'_>) -> MemoryChange {
        let of_table = self.table_at(table);
        let Some(log) = self.log(of_table, owner, &keeps) else { return MemoryChange::default() };
        let (length, dead) = (log.length(), log.dead());
        if !is_sparse(length, dead) {
            return MemoryChange::default();
        }
        let before = log.bytes();
        let rewritten = (length > dead).then(|| {
            let mut block = OwnedBlock::new(&self.store, of_table.fit(log.need_of_kept()), of_table.label);
            block.copy_from(log, self.time_in(of_table), |_| ());
            block
        });
        let after = rewritten.as_ref().map_or(0, |block| bytes_of(block.class()));
        let context = (&self.retired, &self.memory);
        let index = self.index(of_table.direction);
        // SAFETY: the owner is locked, and the old log is not used from here on.
        let lists = unsafe { index.link(owner, of_table.label, rewritten, context, &keeps) };
        MemoryChange { live: after as isize - before as isize + lists, retained: 0 }
    }
}
