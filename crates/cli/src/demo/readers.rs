//! The reading threads.

use super::shared::Shared;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::kernels::{Bfs, Execution, PageRank};
use hedgerow::{AsKey, Graph, Snapshot, VertexId};
use hedgerow_compiled_kernels::Target;
use std::thread;
use std::time::{Duration, Instant};

/// Iterations of PageRank.
pub const ITERATIONS: u32 = 10;

/// Sleep of a reader between two checks for the first commit.
const PAUSE: Duration = Duration::from_millis(1);

/// The work of readers, snapshot by snapshot.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// All snapshots, one reader after the other.
    pub snapshots: Vec<Held>,
}

/// A snapshot that a reader opened, used and closed.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The time at which the snapshot was opened.
    pub opened: Instant,
    /// The duration for which the snapshot was held.
    pub held: Duration,
    /// The number of commits while the snapshot was held.
    pub commits_behind: u64,
    /// The duration of PageRank.
    pub pagerank: Duration,
    /// The duration of the search.
    pub bfs: Duration,
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
        let opened = Instant::now();
        let snapshot = graph.snapshot()?;
        let source = source.map(|key| snapshot.vertex_id(key)).transpose()?.flatten();
        match source {
            Some(source) => {
                shared.opened_snapshot();
                let before = shared.commits();
                let (pagerank, bfs) = run_kernels(&snapshot, source, interrupt)?;
                shared.ran_kernels(pagerank, bfs);
                let (held, commits_behind) = (opened.elapsed(), shared.commits() - before);
                reading.snapshots.push(Held { opened, held, commits_behind, pagerank, bfs });
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

/// Runs both kernels and returns their durations.
fn run_kernels(
    snapshot: &Snapshot,
    source: VertexId,
    interrupt: &Interrupt,
) -> Result<(Duration, Duration), CliError> {
    // On the calling thread: the readers are the parallelism here.
    let execution = Execution::default().cancelled_by(interrupt.token());
    let target = Target::from(snapshot.clone());
    let pagerank = target.compute(PageRank { iterations: ITERATIONS, execution, ..PageRank::default() });
    let pagerank = interrupt.or_interrupted(pagerank)?.elapsed;
    let bfs = interrupt.or_interrupted(target.compute(Bfs { execution, ..Bfs::new(source) }))?.elapsed;
    Ok((pagerank, bfs))
}

impl Reading {
    /// Combines the work of several readers.
    pub fn sum(readers: impl IntoIterator<Item = Reading>) -> Reading {
        Reading { snapshots: readers.into_iter().flat_map(|reading| reading.snapshots).collect() }
    }

    /// The durations of all runs of PageRank.
    pub fn pagerank(&self) -> Vec<Duration> {
        self.snapshots.iter().map(|snapshot| snapshot.pagerank).collect()
    }

    /// The durations of all searches.
    pub fn bfs(&self) -> Vec<Duration> {
        self.snapshots.iter().map(|snapshot| snapshot.bfs).collect()
    }

    /// The longest time that a snapshot was held.
    pub fn longest_held(&self) -> Duration {
        self.snapshots.iter().map(|snapshot| snapshot.held).max().unwrap_or_default()
    }

    /// The largest number of commits while a snapshot was held.
    pub fn most_commits_behind(&self) -> u64 {
        self.snapshots.iter().map(|snapshot| snapshot.commits_behind).max().unwrap_or_default()
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
