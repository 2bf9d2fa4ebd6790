//! The reading threads.

use super::shared::Shared;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::kernels::{Bfs, Execution, PageRank};
use hedgerow::{AsKey, Graph, Snapshot, VertexId};
use std::thread;
use std::time::Duration;

/// Iterations of PageRank.
pub const ITERATIONS: u32 = 10;

/// How long a reader sleeps before it checks again for the first commit.
const PAUSE: Duration = Duration::from_millis(1);

/// Statistics of readers.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// How long each run of PageRank took.
    pub pagerank: Vec<Duration>,
    /// How long each search took.
    pub bfs: Vec<Duration>,
    /// The longest time that a snapshot was held.
    pub longest_held: Duration,
    /// The most commits that were made while a snapshot was held.
    pub most_commits_behind: u64,
}

/// Opens a snapshot and runs both kernels on it, repeatedly, until the graph has its final state.
pub fn read<K: AsKey>(
    graph: &Graph,
    source: Option<&K>,
    shared: &Shared,
    interrupt: &Interrupt,
) -> Result<Reading, CliError> {
    let mut reading = Reading::default();
    loop {
        interrupt.check()?;
        let last = shared.writing_is_over();
        let snapshot = graph.snapshot()?;
        let source = source.map(|key| snapshot.vertex_id(key)).transpose()?.flatten();
        match source {
            Some(source) => {
                shared.opened_snapshot();
                let before = shared.commits();
                reading.run_kernels(&snapshot, source, shared, interrupt)?;
                reading.longest_held = reading.longest_held.max(snapshot.age());
                reading.most_commits_behind = reading.most_commits_behind.max(shared.commits() - before);
            }
            // The first edge is not there yet.
            None if !last => thread::sleep(PAUSE),
            None => {}
        }
        if last {
            return Ok(reading);
        }
    }
}

impl Reading {
    fn run_kernels(
        &mut self,
        snapshot: &Snapshot,
        source: VertexId,
        shared: &Shared,
        interrupt: &Interrupt,
    ) -> Result<(), CliError> {
        // On the calling thread: the readers are the parallelism here.
        let execution = Execution::default().cancelled_by(interrupt.token());
        let pagerank = snapshot.run(PageRank { iterations: ITERATIONS, execution, ..PageRank::default() });
        let pagerank = interrupt.or_interrupted(pagerank)?.elapsed;
        let bfs = interrupt.or_interrupted(snapshot.run(Bfs { execution, ..Bfs::new(source) }))?.elapsed;
        self.pagerank.push(pagerank);
        self.bfs.push(bfs);
        shared.ran_kernels(pagerank, bfs);
        Ok(())
    }

    /// Combines the statistics of several readers.
    pub fn sum(readers: impl IntoIterator<Item = Reading>) -> Reading {
        readers.into_iter().fold(Reading::default(), |mut sum, reading| {
            sum.pagerank.extend(reading.pagerank);
            sum.bfs.extend(reading.bfs);
            sum.longest_held = sum.longest_held.max(reading.longest_held);
            sum.most_commits_behind = sum.most_commits_behind.max(reading.most_commits_behind);
            sum
        })
    }
}

/// The median; `None` for an empty slice.
pub fn median(durations: &[Duration]) -> Option<Duration> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let durations = [5, 1, 3].map(Duration::from_secs);
        assert_eq!(median(&durations), Some(Duration::from_secs(3)));
        assert_eq!(median(&[]), None);
    }
}
