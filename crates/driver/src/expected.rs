//! The expected duration of a run.

use crate::{Settings, Workload};
use std::time::Duration;

impl Settings {
    /// Returns the rough duration of a run on a graph with this number of adjacency entries: within
    /// a factor of two or three, on a current server, in an optimized build.
    #[must_use]
    pub fn expected_time(&self, entries: usize) -> Duration {
        let workloads = self.workloads.iter().map(|workload| self.seconds_of_turn(*workload, entries));
        let engines = 1 + self.engines.iter().filter(|engine| engine.kind.is_some()).count();
        let turns = self.repetitions * self.threads.len() * engines;
        // Every engine is loaded once more, for the readers.
        let loading = engines as f64 * seconds(entries, 1.5);
        Duration::from_secs_f64(loading + turns as f64 * workloads.sum::<f64>())
    }

    /// One measurement of an engine, with its preparation.
    fn seconds_of_turn(&self, workload: Workload, entries: usize) -> f64 {
        let limited = |rate, limit: Option<Duration>| {
            seconds(entries, rate).min(limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64()))
        };
        let at_least = |rate| seconds(entries, rate).max(self.least_time().as_secs_f64());
        let probes = seconds(self.probes(), 1.0);
        let (sync, window) = (self.sync_time().as_secs_f64(), self.writer_window().as_secs_f64());
        match workload {
            Workload::Memory | Workload::Snapshot => 0.1,
            Workload::Insert | Workload::BufferedInsert => limited(1.0, self.insert_limit()),
            Workload::BatchInsert => (self.batch_sizes().len() + 1) as f64 * limited(2.0, self.batch_limit()),
            Workload::Search => 2.0 * probes,
            Workload::ScanOrdered | Workload::ScanRandom => at_least(50.0),
            Workload::Hops => 2.0 * at_least(20.0),
            Workload::PageRank | Workload::Sssp => at_least(12.0),
            Workload::Bfs | Workload::Wcc => at_least(40.0),
            Workload::Triangles | Workload::Betweenness => at_least(5.0),
            Workload::Update => limited(1.0, self.update_limit()),
            // Measured together with `MixedWriter`.
            Workload::MixedReader if self.workloads.contains(&Workload::MixedWriter) => 0.0,
            // On one copy, and on two.
            Workload::MixedWriter | Workload::MixedReader => {
                2.0 * self.mix.as_secs_f64() + seconds(entries, 1.5)
            }
            // The static graph is built 16 times, on average with half of the edges.
            Workload::Interleaved => seconds(entries, 1.5),
            // Only on engines with an edge log.
            Workload::Archiving => 12.0 * seconds(entries, 2.0),
            Workload::Unarchived => 5.0 * seconds(entries, 2.0) + 20.0 * at_least(10.0),
            Workload::EdgeLog => 12.0 * seconds(entries, 3.0),
            Workload::Hub => 2.0 * seconds(self.hub_degree() as usize, 1.5),
            Workload::SyncedCommits => 5.0 * sync,
            Workload::DurableIngest => {
                self.durable_batch_sizes().len() as f64 * limited(2.0, self.batch_limit())
            }
            Workload::Recovery => seconds(entries, 1.0) + seconds(entries.min(self.replayed_edges()), 0.5),
            Workload::Checkpoint => 4.0 * window + 2.0 * seconds(entries, 5.0),
            Workload::LinkBench | Workload::LinkBenchTao => {
                20.0 * self.client_time().as_secs_f64() + 2.0 * seconds(entries.min(self.most_links()), 0.5)
            }
        }
    }
}

/// The time to process this number of entries, at a rate of millions per second.
fn seconds(entries: usize, millions_per_second: f64) -> f64 {
    entries as f64 / (millions_per_second * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ENGINES, Engine};

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
            Settings { workloads: Workload::ALL.to_vec(), ..base.clone() },
            Settings { mix: Duration::from_secs(60), ..base.clone() },
        ] {
            assert!(minutes(&more, 1 << 20) > minutes(&base, 1 << 20));
        }
        assert!(minutes(&base, 1 << 24) > minutes(&base, 1 << 20));
    }
}
