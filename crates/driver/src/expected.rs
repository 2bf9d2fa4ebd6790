//! The expected duration of a run.

use crate::Settings;
use std::time::Duration;

impl Settings {
    /// Returns the rough duration of a run on a graph with this number of adjacency entries: within
    /// a factor of two or three, on a current server, in an optimized build.
    #[must_use]
    pub fn expected_time(&self, entries: usize) -> Duration {
        let workloads = self.workloads.iter().map(|workload| (workload.seconds)(self, entries));
        let engines = 1 + self.engines.iter().filter(|engine| engine.kind.is_some()).count();
        let turns = self.repetitions * self.threads.len() * engines;
        // Every engine is loaded once more, for the readers.
        let loading = engines as f64 * seconds(entries, 1.5);
        Duration::from_secs_f64(loading + turns as f64 * workloads.sum::<f64>())
    }

    /// The time to process this number of entries, at a rate of millions per second, in a
    /// measurement that repeats short work.
    #[must_use]
    pub fn at_least(&self, entries: usize, millions_per_second: f64) -> f64 {
        seconds(entries, millions_per_second).max(self.least_time().as_secs_f64())
    }
}

/// The time to process this number of entries, at a rate of millions per second.
#[must_use]
pub fn seconds(entries: usize, millions_per_second: f64) -> f64 {
    entries as f64 / (millions_per_second * 1e6)
}

/// Like [`seconds`], but at most the limit, if there is one.
pub(crate) fn limited(entries: usize, millions_per_second: f64, limit: Option<Duration>) -> f64 {
    seconds(entries, millions_per_second).min(limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ENGINES, Engine, WORKLOADS};

    fn minutes(settings: &Settings, entries: usize) -> f64 {
        let engines = vec![Engine::CSR, Engine::named("rapid", ENGINES).unwrap()];
        Settings { engines, ..settings.clone() }.expected_time(entries).as_secs_f64() / 60.0
    }

    #[test]
    fn the_default_run_takes_minutes_a_full_one_hours_and_a_quick_one_none() {
        let kron_20 = 31_404_608;
        assert!((3.0..15.0).contains(&minutes(&Settings::new(), kron_20)));
        assert!(minutes(&Settings::full(), kron_20) > 60.0);
        assert!(minutes(&Settings::quick(), 20_000) < 0.2);
    }

    #[test]
    fn more_work_takes_longer() {
        let base = Settings::new();
        for more in [
            Settings { repetitions: 6, ..base.clone() },
            Settings { threads: vec![1, 2], ..base.clone() },
            Settings { workloads: WORKLOADS.to_vec(), ..base.clone() },
        ] {
            assert!(minutes(&more, 1 << 20) > minutes(&base, 1 << 20));
        }
        assert!(minutes(&base, 1 << 24) > minutes(&base, 1 << 20));
    }
}
