//! Upper bound on how far the entries of a block are out of time order, by the times in their
//! records.

use super::{BlockWriter, DEAD, EntryLog};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// The order of times in which entries were written. Ignores entries without a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeOrder {
    latest: i64,
    lateness: Lateness,
}

/// An out-of-order bound, as a number of bits: the maximum by which the time of an entry is before
/// the latest time of older entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lateness(u8);

impl Lateness {
    fn of(late: u64) -> Self {
        // At most 64.
        Lateness((u64::BITS - late.leading_zeros()) as u8)
    }

    fn most(self) -> u64 {
        u64::MAX.checked_shr(u64::BITS - u32::from(self.0)).unwrap_or(0)
    }
}

impl TimeOrder {
    const OF_NONE: Self = TimeOrder { latest: i64::MIN, lateness: Lateness(0) };

    fn followed_by(self, time: i64) -> Self {
        let late = if time < self.latest { time.abs_diff(self.latest) } else { 0 };
        TimeOrder { latest: time.max(self.latest), lateness: Lateness::of(late).max(self.lateness) }
    }
}

impl EntryLog<'_> {
    /// Upper bound on how far the time of an entry is before the latest time of older entries: 0 if
    /// all are in order, otherwise less than twice the exact value. For blocks with records;
    /// entries without a time are ignored.
    #[inline]
    pub(crate) fn lateness(&self) -> u64 {
        self.noted_lateness().most()
    }

    /// Loaded after the length, so that it covers at least all entries below the length.
    #[inline]
    fn noted_lateness(&self) -> Lateness {
        Lateness(self.header().lateness.load(Ordering::Relaxed))
    }

    /// The time order of all entries, in a block with records. The owner is locked.
    fn time_order(&self) -> Option<TimeOrder> {
        // SAFETY: invariants 1 and 2.
        let latest = self.shape.has_records().then(|| unsafe { (*self.notes()).latest_time })?;
        Some(TimeOrder { latest, lateness: self.noted_lateness() })
    }

    /// Returns the time order of the entries that are not dead, recomputed from their records if
    /// all lie in the block, else the time order of all entries. O(1) if all are in order,
    /// otherwise O(entries).
    pub(super) fn time_order_of_kept(&self, time: impl Fn(&[u8]) -> Option<i64>) -> Option<TimeOrder> {
        let order = self.time_order()?;
        if order.lateness == TimeOrder::OF_NONE.lateness {
            return Some(order);
        }
        let is_kept = |invalidation: &AtomicU64| invalidation.load(Ordering::Relaxed) != DEAD;
        let positions = self.invalidations().iter().enumerate();
        let mut kept = positions.filter(|(_, invalidation)| is_kept(invalidation));
        let of_kept = kept.try_fold(TimeOrder::OF_NONE, |order, (position, _)| {
            Some(match time(self.embedded(position)?) {
                Some(time) => order.followed_by(time),
                None => order,
            })
        });
        of_kept.or(Some(order))
    }
}

impl BlockWriter<'_> {
    /// Accounts for the time of an entry that is written ahead. The bound stays too large if the
    /// entry is never published.
    pub(super) fn note_time(&mut self, time: i64) {
        if let Some(order) = self.log.time_order() {
            self.note_time_order(order.followed_by(time));
        }
    }

    /// Stores the time order of all entries, in a block with records, before entries written ahead
    /// are published.
    pub(super) fn note_time_order(&mut self, order: TimeOrder) {
        assert!(self.log.shape.has_records(), "times are those of records");
        self.log.header().lateness.store(order.lateness.0, Ordering::Relaxed);
        // SAFETY: invariants 1 and 2, and the block has records.
        unsafe { (*self.log.notes()).latest_time = order.latest };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_bound_is_at_most_twice_the_exact_lateness(
            times in prop::collection::vec(prop_oneof![0..9_i64, any::<i64>()], 0..20)
        ) {
            let order = times.iter().fold(TimeOrder::OF_NONE, |order, time| order.followed_by(*time));
            let late = |(number, time): (usize, &i64)| {
                times[..number].iter().filter(|older| *older > time).map(|older| older.abs_diff(*time)).max()
            };
            let expected = times.iter().enumerate().filter_map(late).max();
            let late = expected.unwrap_or(0);
            let most = order.lateness.most();
            prop_assert!(late <= most && most <= late.saturating_mul(2), "{most} instead of {late}");
        }
    }
}
