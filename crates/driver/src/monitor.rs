//! Measures latencies and memory while a workload runs.

use crate::Failure;
use crate::watch::check;
use hdrhistogram::Histogram;
use hedgerow::kernels::CancelToken;
use std::time::{Duration, Instant};

/// One operation in `SAMPLED` is timed individually.
const SAMPLED: usize = 100;

/// A minute: longer latencies are recorded as a minute.
const LONGEST_NANOSECONDS: u64 = 60_000_000_000;

/// Latencies of single operations, in nanoseconds, to three digits.
#[derive(Clone, Debug)]
pub struct Latencies {
    timed: Histogram<u64>,
    /// The longest time of a group of operations: no single operation took longer.
    slowest_group: Option<Duration>,
}

impl Latencies {
    /// No latencies.
    #[must_use]
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NANOSECONDS, 3);
        let timed = histogram.expect("the bounds are constants that a histogram accepts");
        Latencies { timed, slowest_group: None }
    }

    /// Records the latency of an operation.
    pub fn record(&mut self, latency: Duration) {
        self.timed.saturating_record(latency.as_nanos() as u64);
    }

    fn record_group(&mut self, elapsed: Duration) {
        self.slowest_group = self.slowest_group.max(Some(elapsed));
    }

    /// Adds other latencies.
    ///
    /// # Panics
    /// Never: all histograms have the same bounds.
    pub fn merge(&mut self, other: &Latencies) {
        self.timed.add(&other.timed).expect("all histograms have the same bounds");
        self.slowest_group = self.slowest_group.max(other.slowest_group);
    }

    /// The number of individually timed operations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.timed.len()
    }

    /// The mean, in nanoseconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.timed.mean()
    }

    /// The median, in nanoseconds.
    pub(crate) fn median(&self) -> f64 {
        self.at_quantile(0.5)
    }

    /// The latency at this quantile, from 0 to 1, in nanoseconds.
    #[must_use]
    pub fn at_quantile(&self, share: f64) -> f64 {
        self.timed.value_at_quantile(share) as f64
    }

    /// Metrics and their values in nanoseconds.
    #[must_use]
    pub fn percentiles(&self) -> Vec<(&'static str, f64)> {
        let at = |quantile| self.at_quantile(quantile);
        let mut percentiles = vec![
            ("latency-p50", at(0.5)),
            ("latency-p99", at(0.99)),
            ("latency-p99.9", at(0.999)),
            ("latency-max", self.timed.max() as f64),
        ];
        let slowest = self.slowest_group.map(|elapsed| ("slowest-hundred", elapsed.as_nanos() as f64));
        percentiles.extend(slowest);
        percentiles
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies::new()
    }
}

/// Runs `operate` on every item until the deadline, and times one in a hundred. Every operation of
/// every engine uses this loop.
///
/// Returns the number of operations.
///
/// # Errors
/// Those of `operate`, and cancellation.
pub fn operate_on_each<T: Copy>(
    items: &[T],
    latencies: &mut Latencies,
    cancel: &CancelToken,
    deadline: Option<Instant>,
    mut operate: impl FnMut(T) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut done = 0;
    for group in items.chunks(SAMPLED) {
        let started = Instant::now();
        operate(group[0])?;
        let finished = Instant::now();
        latencies.record(finished - started);
        for item in &group[1..] {
            operate(*item)?;
        }
        latencies.record_group(started.elapsed());
        done += group.len();
        check(cancel)?;
        if deadline.is_some_and(|deadline| finished >= deadline) {
            break;
        }
    }
    Ok(done)
}

/// The resident memory of this process; `None` where the operating system does not report it.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Repeats `work` until it has taken `least` altogether; returns its last result and the mean time
/// of a run.
///
/// # Errors
/// Those of `work`.
pub fn mean_time<T>(
    least: Duration,
    mut work: impl FnMut() -> Result<T, Failure>,
) -> Result<(T, Duration), Failure> {
    let (mut total, mut runs) = (Duration::ZERO, 0);
    loop {
        let started = Instant::now();
        let result = work()?;
        total += started.elapsed();
        runs += 1;
        if total >= least {
            return Ok((result, total / runs));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_operated_on_and_one_in_a_hundred_timed() {
        let items: Vec<u32> = (0..250).collect();
        let (mut seen, mut latencies) = (Vec::new(), Latencies::new());
        let done = operate_on_each(&items, &mut latencies, &CancelToken::new(), None, |item| {
            seen.push(item);
            Ok(())
        });
        assert_eq!(done.unwrap(), 250);
        assert_eq!(seen, items);
        assert_eq!(latencies.timed.len(), 3);
    }

    #[test]
    fn a_deadline_ends_after_a_group_and_a_cancelled_run_fails() {
        let (items, mut latencies) = ([0u8; 500], Latencies::new());
        let over = Some(Instant::now());
        let done = operate_on_each(&items, &mut latencies, &CancelToken::new(), over, |_| Ok(()));
        assert_eq!(done.unwrap(), SAMPLED);

        let cancel = CancelToken::new();
        cancel.cancel();
        let stopped = operate_on_each(&items, &mut latencies, &cancel, None, |_| Ok(()));
        assert!(matches!(stopped, Err(Failure::Cancelled)));
    }

    #[test]
    fn an_operation_that_is_not_timed_by_itself_shows_in_its_hundred() {
        let (items, pause) = ((0..250).collect::<Vec<u32>>(), Duration::from_millis(3));
        let (mut latencies, mut other) = (Latencies::new(), Latencies::new());
        let run = |slow: u32, latencies: &mut Latencies| {
            operate_on_each(&items, latencies, &CancelToken::new(), None, |item| {
                if item == slow {
                    std::thread::sleep(pause);
                }
                Ok(())
            })
        };
        run(150, &mut latencies).unwrap();
        run(u32::MAX, &mut other).unwrap();
        other.merge(&latencies);
        for latencies in [latencies, other] {
            assert!(latencies.slowest_group.unwrap() >= pause);
            assert_eq!(latencies.percentiles()[4].0, "slowest-hundred");
        }
    }

    #[test]
    fn percentiles_are_those_of_what_was_recorded() {
        let mut latencies = Latencies::new();
        (1..=1000).for_each(|nanoseconds| latencies.record(Duration::from_nanos(nanoseconds)));
        latencies.record(Duration::from_secs(3600));
        let values: Vec<f64> = latencies.percentiles().into_iter().map(|(_, value)| value).collect();
        assert_eq!(values.len(), 4, "no group was timed");
        assert!((499.0..=502.0).contains(&values[0]), "{values:?}");
        assert!((988.0..=993.0).contains(&values[1]), "{values:?}");
        assert!(values[3] >= LONGEST_NANOSECONDS as f64 * 0.99, "{values:?}");
    }

    #[test]
    fn short_work_is_repeated_and_long_work_is_not() {
        let mut runs = 0;
        let mut count = || {
            runs += 1;
            Ok(runs)
        };
        assert_eq!(mean_time(Duration::ZERO, &mut count).unwrap().0, 1);
        let (last, mean) = mean_time(Duration::from_millis(2), count).unwrap();
        assert!(last > 2 && mean < Duration::from_millis(2), "{last} runs");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_has_resident_memory() {
        assert!(resident_bytes().unwrap() > 1 << 16);
    }
}
