//! How far the entries of a block are in the order of the times that their records say.

use super::{DEAD, Log, Writer};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// In which order of times entries were written. Those without a time count for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeOrder {
    latest: i64,
    lateness: Lateness,
}

/// By how much, at most, the time of an entry is before the latest of those that are older: the number of bits that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lateness(u8);

impl Lateness {
    fn of(late: u64) -> Self {
        // Up to 64.
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

impl Log<'_> {
    /// By how much, at most, the time of an entry is before the latest of those that are older: 0 if all are in order, else less than twice as
    /// much as it is. For blocks that have records; entries without a time count for nothing.
    #[inline]
    pub(crate) fn lateness(&self) -> u64 {
        self.noted_lateness().most()
    }

    /// Loaded after the length, so that it is that of all entries below it at least.
    #[inline]
    fn noted_lateness(&self) -> Lateness {
        Lateness(self.header().lateness.load(Ordering::Relaxed))
    }

    /// The order of all entries, in a block that has records. The owner is locked.
    fn time_order(&self) -> Option<TimeOrder> {
        // SAFETY: invariants 1 and 2.
        let latest = self.shape.has_records().then(|| unsafe { (*self.notes()).latest_time })?;
        Some(TimeOrder { latest, lateness: self.noted_lateness() })
    }

    /// The same of all but the dead ones, by what their records say, if these lie in the block. O(1) if all are in order, else O(entries).
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

impl Writer<'_> {
    /// Notes the time of an entry that is written ahead. If that is never published, too much is noted.
    pub(super) fn note_time(&mut self, time: i64) {
        if let Some(order) = self.log.time_order() {
            self.note_time_order(order.followed_by(time));
        }
    }

    /// Notes in which order all entries are, in a block that has records, before those that are written ahead are part of the log.
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
        fn no_entry_is_later_than_what_follows_and_its_lateness(
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
