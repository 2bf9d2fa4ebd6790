//! Slots in which readers of the newest state register without a lock.

use crate::per_core::{self, PerCore};
use crossbeam_utils::CachePadded;
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Slots per row. The readers of a row fill one cache line.
const SLOTS: usize = if cfg!(hedgerow_shuttle) { 2 } else { 8 };

// One bit per row in `ReaderSlots::used`.
const _: () = assert!(per_core::MOST <= 64);

/// The readers of the newest state, each in its own slot.
///
/// A thread looks for a free slot in one row only, which it shares with few others, so that readers
/// do not take cache lines from each other. A scan of all slots, which every commit does, reads one
/// line per row that was ever used.
///
/// All accesses are sequentially consistent: a reader takes a slot and then checks whether a commit
/// is taking a stamp; a commit hides the published head before it takes a stamp, and then reads the
/// slots. So at least one of them sees the other.
#[derive(Debug)]
pub(crate) struct ReaderSlots {
    /// The rows that were ever used, one bit each.
    used: AtomicU64,
    rows: PerCore<CachePadded<SlotRow>>,
    /// Origin of the times in [`SlotRow::since`].
    epoch: Instant,
}

#[derive(Debug, Default)]
struct SlotRow {
    /// One above the reader's timestamp; 0 if the slot is free.
    readers: [AtomicU64; SLOTS],
    /// The time at which the slot was taken, in nanoseconds plus one; 0 if it is not stored yet.
    since: [AtomicU64; SLOTS],
}

/// A taken slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReaderSlot {
    row: u8,
    number: u8,
}

impl Default for ReaderSlots {
    fn default() -> Self {
        ReaderSlots {
            used: AtomicU64::new(0),
            rows: PerCore::new(CachePadded::default),
            epoch: Instant::now(),
        }
    }
}

impl ReaderSlots {
    /// Takes a slot for a reader of `at`, registered `now`, if this thread's row has a free one.
    /// O(1).
    #[inline]
    pub(crate) fn take(&self, at: CommitTimestamp, now: Instant) -> Option<ReaderSlot> {
        let row = self.rows.number();
        let free = |reader: &AtomicU64| {
            // Load first: slots of other threads usually stay taken for a while.
            reader.load(Ordering::Relaxed) == 0
                && reader.compare_exchange(0, at.0 + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        };
        if self.used.load(Ordering::SeqCst) & 1 << row == 0 {
            self.used.fetch_or(1 << row, Ordering::SeqCst);
        }
        let SlotRow { readers, since } = &*self.rows[row];
        let number = readers.iter().position(free)?;
        let elapsed = now.saturating_duration_since(self.epoch).as_nanos() as u64;
        since[number].store(elapsed + 1, Ordering::Relaxed);
        Some(ReaderSlot { row: row as u8, number: number as u8 })
    }

    /// Leaves a slot. O(1).
    #[inline]
    pub(crate) fn leave(&self, slot: ReaderSlot) {
        let (SlotRow { readers, since }, number) =
            (&*self.rows[usize::from(slot.row)], usize::from(slot.number));
        since[number].store(0, Ordering::Relaxed);
        readers[number].store(0, Ordering::SeqCst);
    }

    /// One above the newest timestamp with a reader in a slot; 0 if all slots are free. O(slots of
    /// the rows ever used).
    #[inline]
    pub(crate) fn read_below(&self) -> CommitTimestamp {
        let (mut below, mut used) = (0, self.used.load(Ordering::SeqCst));
        while used != 0 {
            for reader in &self.rows[used.trailing_zeros() as usize].readers {
                below = below.max(reader.load(Ordering::SeqCst));
            }
            used &= used - 1;
        }
        CommitTimestamp(below)
    }

    /// The timestamps of the readers in slots, unordered. O(slots of the rows ever used).
    pub(crate) fn taken(&self) -> impl Iterator<Item = CommitTimestamp> {
        self.in_slots().map(|(at, _)| at)
    }

    /// The timestamps of the readers in slots and the times of registration, unordered.
    pub(crate) fn taken_since(&self) -> impl Iterator<Item = (CommitTimestamp, Instant)> {
        self.in_slots().map(|(at, since)| {
            let since = since.load(Ordering::Relaxed).checked_sub(1).map(Duration::from_nanos);
            (at, since.map_or_else(Instant::now, |since| self.epoch + since))
        })
    }

    fn in_slots(&self) -> impl Iterator<Item = (CommitTimestamp, &AtomicU64)> {
        let used = self.used.load(Ordering::SeqCst);
        let rows = self.rows.iter().enumerate().filter(move |(row, _)| used & 1 << row != 0);
        rows.flat_map(|(_, row)| row.readers.iter().zip(&row.since)).filter_map(|(reader, since)| {
            let at = reader.load(Ordering::SeqCst).checked_sub(1)?;
            Some((CommitTimestamp(at), since))
        })
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    fn sorted(slots: &ReaderSlots) -> Vec<u64> {
        let mut taken: Vec<_> = slots.taken().map(|at| at.0).collect();
        taken.sort_unstable();
        taken
    }

    #[test]
    fn slots_are_taken_one_by_one_and_reused() {
        let (slots, now) = (ReaderSlots::default(), Instant::now());
        assert_eq!(sorted(&slots), []);
        let mut taken: Vec<_> =
            (0..SLOTS as u64).map(|at| slots.take(CommitTimestamp(at), now).unwrap()).collect();
        assert_eq!(sorted(&slots), Vec::from_iter(0..SLOTS as u64));
        assert_eq!(slots.take(CommitTimestamp(100), now), None);
        slots.leave(taken.remove(3));
        taken.push(slots.take(CommitTimestamp(100), now).unwrap());
        assert_eq!((sorted(&slots).last(), slots.read_below()), (Some(&100), CommitTimestamp(101)));
        assert!(slots.taken_since().all(|(_, since)| since >= now && since <= Instant::now()));
        taken.into_iter().for_each(|slot| slots.leave(slot));
        assert_eq!((sorted(&slots), slots.read_below()), (vec![], CommitTimestamp::ZERO));
    }

    #[test]
    fn a_slot_has_one_reader_at_a_time() {
        let slots = ReaderSlots::default();
        let register = || {
            for at in 0..if cfg!(miri) { 20 } else { 10_000 } {
                if let Some(slot) = slots.take(CommitTimestamp(at), Instant::now()) {
                    assert!(slots.taken().any(|taken| taken.0 == at));
                    slots.leave(slot);
                }
            }
        };
        std::thread::scope(|scope| (0..12).for_each(|_| drop(scope.spawn(register))));
        assert_eq!(sorted(&slots), []);
    }

    #[test]
    fn a_row_is_a_cache_line() {
        assert_eq!(size_of::<[AtomicU64; SLOTS]>(), 64);
        assert_eq!(size_of::<CachePadded<SlotRow>>(), 128);
    }
}
