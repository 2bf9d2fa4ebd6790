//! Pauses in a compaction, which keep it within its limits.

use hedgerow_model::CompactionLimits;
use std::time::{Duration, Instant};

/// Bytes between two looks at the clock.
const STEP: u64 = 64 << 10;

/// Minimum pause; a shorter one is left to a later step.
const SHORTEST: Duration = Duration::from_millis(1);

/// Maximum pause before the compaction checks whether it is urgent.
const LONGEST: Duration = Duration::from_millis(20);

/// Minimum share of the time, so that a compaction ends.
const LEAST_SHARE: f64 = 0.01;

/// The progress of one compaction.
#[derive(Debug)]
pub(super) struct Throttle {
    limits: CompactionLimits,
    begin: Instant,
    written: u64,
    /// Bytes written at the last look at the clock.
    looked_at: u64,
    paused: Duration,
}

impl Throttle {
    /// Begins to count time. Replaces invalid limits by the nearest valid ones.
    pub(super) fn new(mut limits: CompactionLimits) -> Self {
        if limits.time_share.is_nan() {
            limits.time_share = 1.0;
        }
        Throttle { limits, begin: Instant::now(), written: 0, looked_at: 0, paused: Duration::ZERO }
    }

    /// Notes that `written` bytes are written in total. Sleeps while this exceeds the limits and
    /// the compaction is not urgent. O(1).
    #[inline]
    pub(super) fn wrote(&mut self, written: u64, is_urgent: impl Fn() -> bool) {
        self.written = written;
        if written >= self.looked_at + STEP {
            self.looked_at = written;
            self.wait(is_urgent);
        }
    }

    /// Returns the time since the beginning, without pauses.
    pub(super) fn worked(&self) -> Duration {
        self.begin.elapsed().saturating_sub(self.paused)
    }

    #[cold]
    fn wait(&mut self, is_urgent: impl Fn() -> bool) {
        while let Some(pause) = self.pause(self.begin.elapsed()).filter(|_| !is_urgent()) {
            let begin = Instant::now();
            std::thread::sleep(pause);
            self.paused += begin.elapsed();
        }
    }

    /// Returns the next pause at `elapsed` after the beginning; `None` within the limits.
    fn pause(&self, elapsed: Duration) -> Option<Duration> {
        let CompactionLimits { bytes_per_second, time_share } = self.limits;
        let worked = elapsed.saturating_sub(self.paused);
        let for_share = worked.div_f64(time_share.clamp(LEAST_SHARE, 1.0));
        let for_bytes = bytes_per_second.map_or(Duration::ZERO, |bytes_per_second| {
            Duration::from_secs_f64(self.written as f64 / bytes_per_second.max(1) as f64)
        });
        let early = for_share.max(for_bytes).saturating_sub(elapsed);
        (early >= SHORTEST).then_some(early.min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(limits: CompactionLimits, written: u64, paused_millis: u64) -> Throttle {
        Throttle { written, paused: Duration::from_millis(paused_millis), ..Throttle::new(limits) }
    }

    #[test]
    fn a_compaction_pauses_until_it_has_taken_no_more_than_its_share() {
        let second = Duration::from_secs(1);
        let limits = CompactionLimits::default();
        assert_eq!(after(limits, u64::MAX, 0).pause(second), None, "there are no limits");
        let limits = CompactionLimits { time_share: 0.25, ..limits };
        assert_eq!(after(limits, 0, 0).pause(second), Some(LONGEST));
        assert_eq!(after(limits, 0, 745).pause(second), Some(LONGEST));
        assert_eq!(after(limits, 0, 748).pause(second), Some(Duration::from_millis(8)));
        assert_eq!(after(limits, 0, 751).pause(second), None);
        let limits = CompactionLimits { bytes_per_second: Some(1000), time_share: 1.0 };
        assert_eq!(after(limits, 1005, 0).pause(second), Some(Duration::from_millis(5)));
        assert_eq!(after(limits, 1000, 0).pause(second), None);
    }

    #[test]
    fn an_urgent_compaction_does_not_wait() {
        let mut throttle = Throttle::new(CompactionLimits { bytes_per_second: Some(1), time_share: 1.0 });
        throttle.wrote(1 << 40, || true);
        assert_eq!(throttle.paused, Duration::ZERO);
        let mut throttle =
            Throttle::new(CompactionLimits { bytes_per_second: Some(10 << 20), time_share: 1.0 });
        throttle.wrote(STEP, || false);
        assert!(throttle.paused >= Duration::from_millis(1), "{:?}", throttle.paused);
        assert_eq!(
            throttle.pause(throttle.begin.elapsed()),
            None,
            "a pause ends, however long each sleep takes"
        );
        let nonsense = CompactionLimits { time_share: f64::NAN, ..CompactionLimits::default() };
        assert_eq!(Throttle::new(nonsense).pause(Duration::from_secs(1)), None);
    }
}
