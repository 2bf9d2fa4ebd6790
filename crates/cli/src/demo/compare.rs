//! PageRank and BFS on the final snapshot and on a static copy of it, side by side.

use super::readers::{ITERATIONS, median};
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::run::LargestDegree;
use crate::text::{Seconds, counted};
use crate::threads::Threads;
use crate::{float, progress};
use hedgerow::kernels::{Bfs, BfsResult, BuildOptions, PageRank, PageRankResult};
use hedgerow::{LabelId, Snapshot};
use hedgerow_compiled_kernels::Target;
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// Runs of each kernel on each graph; the medians are compared.
const ROUNDS: usize = 5;

/// Ranks that differ by more than this are not equal.
const RANK_TOLERANCE: f64 = 1e-9;

/// The result of the comparison.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The number of threads of the kernels.
    threads: usize,
    /// The time to make the static copy.
    copy_seconds: Seconds,
    pagerank_iterations: u32,
    pagerank: Times,
    /// BFS from the vertex with the largest out-degree; `None` for an empty graph.
    bfs: Option<Times>,
    /// The largest difference between a vertex's two ranks.
    #[serde(serialize_with = "float::serialize")]
    largest_rank_difference: f64,
    /// Vertices whose two depths differ.
    different_depths: u64,
    equal: bool,
    /// The size of the static copy.
    #[serde(skip)]
    pub csr_bytes: usize,
}

/// The median times of a kernel.
#[derive(Clone, Copy, Debug, Serialize)]
struct Times {
    snapshot_seconds: Seconds,
    csr_seconds: Seconds,
    /// Time on the snapshot over time on the static copy.
    #[serde(serialize_with = "float::serialize")]
    ratio: f64,
}

impl Times {
    fn new(on_snapshot: &[Duration], on_csr: &[Duration]) -> Self {
        let [snapshot, csr] = [on_snapshot, on_csr].map(|times| median(times).unwrap_or_default());
        let ratio = snapshot.as_secs_f64() / csr.as_secs_f64().max(f64::MIN_POSITIVE);
        Times { snapshot_seconds: Seconds(snapshot), csr_seconds: Seconds(csr), ratio }
    }
}

impl Comparison {
    /// Runs both kernels on both graphs, in turns.
    pub fn run(
        snapshot: &Snapshot,
        threads: &Threads,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<Self, CliError> {
        let bar = progress::spinner(console, "comparing with a static graph");
        let started = Instant::now();
        let options =
            BuildOptions { pool: threads.pool(), cancel: Some(interrupt.token()), ..BuildOptions::default() };
        let csr = interrupt.or_interrupted(snapshot.to_csr::<()>(LabelId::DEFAULT, options))?;
        let (copying, csr_bytes) = (started.elapsed(), csr.memory_bytes());
        let targets = [Target::from(snapshot.clone()), Target::from(csr)];

        let execution = threads.execution(interrupt);
        let pagerank = PageRank { iterations: ITERATIONS, execution, ..PageRank::default() };
        let run = |target: &Target| interrupt.or_interrupted(target.compute(pagerank));
        let (pagerank, ranks) = in_turns(&targets, run, |result: &PageRankResult| result.elapsed)?;
        let hub =
            interrupt.or_interrupted(snapshot.run(LargestDegree { label: LabelId::DEFAULT, execution }))?;
        let (bfs, different_depths) = match hub {
            None => (None, 0),
            Some(source) => {
                let bfs = Bfs { execution, ..Bfs::new(source) };
                let run = |target: &Target| interrupt.or_interrupted(target.compute(bfs));
                let (times, results) = in_turns(&targets, run, |result: &BfsResult| result.elapsed)?;
                (Some(times), count_different(&results[0].depths, &results[1].depths))
            }
        };
        bar.finish_and_clear();
        let largest_rank_difference = largest_difference(&ranks[0].ranks, &ranks[1].ranks);
        Ok(Comparison {
            threads: threads.count(),
            copy_seconds: Seconds(copying),
            pagerank_iterations: ITERATIONS,
            pagerank,
            bfs,
            largest_rank_difference,
            different_depths,
            equal: largest_rank_difference <= RANK_TOLERANCE && different_depths == 0,
            csr_bytes,
        })
    }

    /// Fails if the results differ.
    pub fn check(&self) -> Result<(), CliError> {
        if self.equal {
            return Ok(());
        }
        Err(CliError::Wrong(format!(
            "the snapshot and the static graph disagree: ranks by up to {:e}, the depths of {} vertices",
            self.largest_rank_difference, self.different_depths
        )))
    }
}

/// A line per kernel, and whether the results are equal.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24}{:>12}{:>12}{:>10}", "final state", "snapshot", "static", "ratio")?;
        let pagerank = format!("PageRank, {} iterations", self.pagerank_iterations);
        for (kernel, times) in [(&*pagerank, Some(self.pagerank)), ("BFS", self.bfs)] {
            if let Some(Times { snapshot_seconds, csr_seconds, ratio }) = times {
                writeln!(f, "{kernel:<24}{snapshot_seconds:>12}{csr_seconds:>12}{ratio:>10.2}")?;
            }
        }
        let threads = counted(self.threads as u64, "thread", "threads");
        writeln!(f, "{threads}; the static copy took {}", self.copy_seconds)?;
        let equal = if self.equal { "equal" } else { "NOT EQUAL" };
        let depths = counted(self.different_depths, "depth", "depths");
        writeln!(
            f,
            "results {equal}: ranks differ by at most {:.1e}, {depths} differ",
            self.largest_rank_difference
        )
    }
}

/// Runs a function on both targets in turns; returns the medians and the last results.
fn in_turns<R>(
    targets: &[Target; 2],
    run: impl Fn(&Target) -> Result<R, CliError>,
    elapsed: impl Fn(&R) -> Duration,
) -> Result<(Times, [R; 2]), CliError> {
    let (mut on_snapshot, mut on_csr) = (Vec::new(), Vec::new());
    loop {
        let results = [run(&targets[0])?, run(&targets[1])?];
        on_snapshot.push(elapsed(&results[0]));
        on_csr.push(elapsed(&results[1]));
        if on_csr.len() == ROUNDS {
            return Ok((Times::new(&on_snapshot, &on_csr), results));
        }
    }
}

/// The largest difference of corresponding elements; infinite for NaN and for different lengths.
fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    if one.len() != other.len() {
        return f64::INFINITY;
    }
    let differences = one.iter().zip(other).map(|(one, other)| (one - other).abs());
    differences
        .map(|difference| if difference.is_nan() { f64::INFINITY } else { difference })
        .fold(0.0, f64::max)
}

fn count_different(one: &[u32], other: &[u32]) -> u64 {
    let different = one.iter().zip(other).filter(|(one, other)| one != other).count();
    (different + one.len().abs_diff(other.len())) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found() {
        assert_eq!(largest_difference(&[0.1, 0.2], &[0.1, 0.2]), 0.0);
        assert_eq!(largest_difference(&[0.5, 0.2], &[0.25, 0.2]), 0.25);
        assert_eq!(largest_difference(&[0.5], &[0.5, 0.2]), f64::INFINITY);
        assert_eq!(largest_difference(&[f64::NAN, 0.2], &[0.5, 0.2]), f64::INFINITY);
        assert_eq!(count_different(&[1, 2, 3], &[1, 7, 3, 4]), 2);
    }
}
