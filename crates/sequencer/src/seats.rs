//! Where readers of the newest state register without a lock.

use crate::per_core::{self, PerCore};
use crossbeam_utils::CachePadded;
use hedgerow_model::Timestamp;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seats of a row: what lies on one cache line.
const SEATS: usize = if cfg!(hedgerow_shuttle) { 2 } else { 8 };

// A bit each in `Seats::used`.
const _: () = assert!(per_core::MOST <= 64);

/// Readers of the newest state, each with a seat of its own.
///
/// A thread looks for a seat in one row only, which it shares with few others, so that readers do not take cache lines from each other.
/// Who looks through all seats, as every commit does, reads a line of each row in which somebody ever sat.
///
/// All is sequentially consistent: a reader sits down and then looks whether a stamp is being taken; whoever takes one announces that and then looks
/// at the seats. So the one sees the other, or the other way round.
#[derive(Debug)]
pub(crate) struct Seats {
    /// The rows in which somebody ever sat, a bit each.
    used: AtomicU64,
    rows: PerCore<CachePadded<Row>>,
    /// What times are counted from.
    epoch: Instant,
}

#[derive(Debug, Default)]
struct Row {
    /// The timestamp behind the one that is read; 0 if the seat is free.
    readers: [AtomicU64; SEATS],
    /// Since when, in nanoseconds and one; 0 if that is not known yet.
    since: [AtomicU64; SEATS],
}

/// A seat that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    row: u8,
    number: u8,
}

impl Default for Seats {
    fn default() -> Self {
        Seats { used: AtomicU64::new(0), rows: PerCore::new(CachePadded::default), epoch: Instant::now() }
    }
}

impl Seats {
    /// Takes a seat for a reader of `at`, as of now, if one is free where this thread looks. O(1).
    #[inline]
    pub(crate) fn take(&self, at: Timestamp, now: Instant) -> Option<Seat> {
        let row = self.rows.number();
        let free = |reader: &AtomicU64| {
            // A look first: most seats of others stay taken for longer than a look.
            reader.load(Ordering::Relaxed) == 0
                && reader.compare_exchange(0, at.0 + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        };
        if self.used.load(Ordering::SeqCst) & 1 << row == 0 {
            self.used.fetch_or(1 << row, Ordering::SeqCst);
        }
        let Row { readers, since } = &*self.rows[row];
        let number = readers.iter().position(free)?;
        let elapsed = now.saturating_duration_since(self.epoch).as_nanos() as u64;
        since[number].store(elapsed + 1, Ordering::Relaxed);
        Some(Seat { row: row as u8, number: number as u8 })
    }

    /// Leaves a seat. O(1).
    #[inline]
    pub(crate) fn leave(&self, seat: Seat) {
        let (Row { readers, since }, number) = (&*self.rows[usize::from(seat.row)], usize::from(seat.number));
        since[number].store(0, Ordering::Relaxed);
        readers[number].store(0, Ordering::SeqCst);
    }

    /// Above every timestamp that is read; 0 if none is. O(seats of the rows in which somebody ever sat).
    #[inline]
    pub(crate) fn read_below(&self) -> Timestamp {
        let (mut below, mut used) = (0, self.used.load(Ordering::SeqCst));
        while used != 0 {
            for reader in &self.rows[used.trailing_zeros() as usize].readers {
                below = below.max(reader.load(Ordering::SeqCst));
            }
            used &= used - 1;
        }
        Timestamp(below)
    }

    /// The timestamps that are read, in no order. O(seats of the rows in which somebody ever sat).
    pub(crate) fn taken(&self) -> impl Iterator<Item = Timestamp> {
        self.seated().map(|(at, _)| at)
    }

    /// The same, and since when.
    pub(crate) fn taken_since(&self) -> impl Iterator<Item = (Timestamp, Instant)> {
        self.seated().map(|(at, since)| {
            let since = since.load(Ordering::Relaxed).checked_sub(1).map(Duration::from_nanos);
            (at, since.map_or_else(Instant::now, |since| self.epoch + since))
        })
    }

    fn seated(&self) -> impl Iterator<Item = (Timestamp, &AtomicU64)> {
        let used = self.used.load(Ordering::SeqCst);
        let rows = self.rows.iter().enumerate().filter(move |(row, _)| used & 1 << row != 0);
        rows.flat_map(|(_, row)| row.readers.iter().zip(&row.since)).filter_map(|(reader, since)| {
            let at = reader.load(Ordering::SeqCst).checked_sub(1)?;
            Some((Timestamp(at), since))
        })
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    fn sorted(seats: &Seats) -> Vec<u64> {
        let mut taken: Vec<_> = seats.taken().map(|at| at.0).collect();
        taken.sort_unstable();
        taken
    }

    #[test]
    fn seats_are_taken_one_by_one_and_left_for_others() {
        let (seats, now) = (Seats::default(), Instant::now());
        assert_eq!(sorted(&seats), []);
        let mut taken: Vec<_> = (0..SEATS as u64).map(|at| seats.take(Timestamp(at), now).unwrap()).collect();
        assert_eq!(sorted(&seats), Vec::from_iter(0..SEATS as u64));
        assert_eq!(seats.take(Timestamp(100), now), None);
        seats.leave(taken.remove(3));
        taken.push(seats.take(Timestamp(100), now).unwrap());
        assert_eq!((sorted(&seats).last(), seats.read_below()), (Some(&100), Timestamp(101)));
        assert!(seats.taken_since().all(|(_, since)| since >= now && since <= Instant::now()));
        taken.into_iter().for_each(|seat| seats.leave(seat));
        assert_eq!((sorted(&seats), seats.read_below()), (vec![], Timestamp::ZERO));
    }

    #[test]
    fn a_seat_has_one_reader_at_a_time() {
        let seats = Seats::default();
        let sit = || {
            for at in 0..if cfg!(miri) { 20 } else { 10_000 } {
                if let Some(seat) = seats.take(Timestamp(at), Instant::now()) {
                    assert!(seats.taken().any(|taken| taken.0 == at));
                    seats.leave(seat);
                }
            }
        };
        std::thread::scope(|scope| (0..12).for_each(|_| drop(scope.spawn(sit))));
        assert_eq!(sorted(&seats), []);
    }

    #[test]
    fn a_row_is_a_cache_line() {
        assert_eq!(size_of::<[AtomicU64; SEATS]>(), 64);
        assert_eq!(size_of::<CachePadded<Row>>(), 128);
    }
}
