//! The summary of the demo, as a table or as JSON.

use super::args::DemoArgs;
use super::compare::{Comparison, Times};
use super::outcome::Outcome;
use super::readers::{ITERATIONS, median};
use super::stream::Stream;
use super::writers::Commits;
use crate::float;
use crate::text::{self, Bytes, Count, counted};
use hedgerow::{Graph, Snapshot};
use serde::Serialize;
use std::time::Duration;

/// The summary of a demo.
#[derive(Debug, Serialize)]
pub struct Summary {
    stream: String,
    undirected: bool,
    skipped_lines: u64,
    vertices: u64,
    /// Distinct edges.
    edges: u64,
    /// Edges written, repeated ones counted.
    rows: u64,
    writing: WritingSummary,
    reading: ReadingSummary,
    memory: MemorySummary,
    comparison: ComparisonSummary,
}

#[derive(Debug, Serialize)]
struct WritingSummary {
    writers: usize,
    batch: usize,
    seconds: f64,
    edges_per_second: f64,
    commits: u64,
    commits_per_second: f64,
    batch_commits: CommitsSummary,
    single_commits: CommitsSummary,
}

#[derive(Debug, Serialize)]
struct CommitsSummary {
    count: u64,
    mean_seconds: Option<f64>,
    longest_seconds: f64,
}

#[derive(Debug, Serialize)]
struct ReadingSummary {
    readers: usize,
    snapshots: usize,
    pagerank_median_seconds: Option<f64>,
    bfs_median_seconds: Option<f64>,
    longest_held_seconds: f64,
    most_commits_behind: u64,
}

#[derive(Debug, Serialize)]
struct MemorySummary {
    graph_bytes: usize,
    csr_bytes: usize,
}

#[derive(Debug, Serialize)]
struct ComparisonSummary {
    threads: usize,
    copy_seconds: f64,
    pagerank_iterations: u32,
    pagerank: TimesSummary,
    bfs: Option<TimesSummary>,
    #[serde(serialize_with = "float::serialize")]
    largest_rank_difference: f64,
    different_depths: u64,
    equal: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct TimesSummary {
    snapshot_seconds: f64,
    csr_seconds: f64,
    /// Time on the snapshot over time on the static copy.
    #[serde(serialize_with = "float::serialize")]
    ratio: f64,
}

impl Summary {
    /// Summarizes a finished demo.
    pub fn new<K>(
        args: &DemoArgs,
        stream: &Stream<K>,
        graph: &Graph,
        snapshot: &Snapshot,
        outcome: &Outcome,
        comparison: &Comparison,
    ) -> Self {
        let rows = stream.len();
        Summary {
            stream: stream.name.clone(),
            undirected: args.undirected,
            skipped_lines: stream.skipped.count,
            vertices: snapshot.vertex_count(),
            edges: snapshot.edge_count().at_most(),
            rows,
            writing: WritingSummary::new(args, rows, outcome),
            reading: ReadingSummary::new(args, outcome),
            memory: MemorySummary {
                graph_bytes: graph.memory().total_bytes(),
                csr_bytes: comparison.csr_bytes,
            },
            comparison: ComparisonSummary::new(comparison),
        }
    }

    /// The summary as tables.
    pub fn describe(&self) -> String {
        let direction = if self.undirected { "undirected" } else { "directed, both directions kept" };
        let mut rows = vec![
            ("stream", self.stream.clone()),
            (
                "graph",
                format!(
                    "{}, {} in {}",
                    counted(self.vertices, "vertex", "vertices"),
                    counted(self.edges, "edge", "edges"),
                    counted(self.rows, "row", "rows")
                ),
            ),
            ("  edges are", direction.to_string()),
        ];
        if self.skipped_lines > 0 {
            rows.push(("skipped lines", Count(self.skipped_lines).to_string()));
        }
        self.writing.describe(&mut rows);
        self.reading.describe(&mut rows);
        self.memory.describe(&mut rows);
        text::table(&rows) + "\n" + &self.comparison.describe()
    }
}

impl WritingSummary {
    fn new(args: &DemoArgs, rows: u64, outcome: &Outcome) -> Self {
        let (writing, elapsed) = (&outcome.writing, outcome.elapsed);
        WritingSummary {
            writers: args.writers.get(),
            batch: args.batch.get(),
            seconds: elapsed.as_secs_f64(),
            edges_per_second: text::rate(rows, elapsed),
            commits: writing.commits(),
            commits_per_second: text::rate(writing.commits(), elapsed),
            batch_commits: writing.batches.into(),
            single_commits: writing.singles.into(),
        }
    }

    fn describe(&self, rows: &mut Vec<(&'static str, String)>) {
        let rate = |rate: f64| text::edges_per_second(rate as u64, Duration::from_secs(1));
        let written = format!(
            "by {} in {}: {}, {}",
            counted(self.writers as u64, "thread", "threads"),
            seconds(self.seconds),
            rate(self.edges_per_second),
            counted(self.commits, "commit", "commits"),
        );
        rows.push(("written", written));
        let batches = format!(
            "{} of up to {}",
            Count(self.batch_commits.count),
            counted(self.batch as u64, "edge", "edges")
        );
        rows.push(("  batches", batches + &self.batch_commits.describe()));
        rows.push((
            "  single edges",
            Count(self.single_commits.count).to_string() + &self.single_commits.describe(),
        ));
    }
}

impl From<Commits> for CommitsSummary {
    fn from(commits: Commits) -> Self {
        CommitsSummary {
            count: commits.count,
            mean_seconds: commits.mean().map(|mean| mean.as_secs_f64()),
            longest_seconds: commits.longest.as_secs_f64(),
        }
    }
}

impl CommitsSummary {
    fn describe(&self) -> String {
        let times = |mean| format!(", {} each, the longest {}", seconds(mean), seconds(self.longest_seconds));
        self.mean_seconds.map(times).unwrap_or_default()
    }
}

impl ReadingSummary {
    fn new(args: &DemoArgs, outcome: &Outcome) -> Self {
        let reading = &outcome.reading;
        let median = |durations: &[Duration]| median(durations).map(|median| median.as_secs_f64());
        ReadingSummary {
            readers: args.readers.get(),
            snapshots: reading.snapshots.len(),
            pagerank_median_seconds: median(&reading.pagerank()),
            bfs_median_seconds: median(&reading.bfs()),
            longest_held_seconds: reading.longest_held().as_secs_f64(),
            most_commits_behind: reading.most_commits_behind(),
        }
    }

    fn describe(&self, rows: &mut Vec<(&'static str, String)>) {
        let held = seconds(self.longest_held_seconds);
        let behind = counted(self.most_commits_behind, "commit", "commits");
        let readers = counted(self.readers as u64, "thread", "threads");
        let read = format!("by {readers}: {}", counted(self.snapshots as u64, "snapshot", "snapshots"));
        rows.push(("read", read));
        rows.push(("  oldest", format!("held for {held}, while {behind} came")));
        if let (Some(pagerank), Some(bfs)) = (self.pagerank_median_seconds, self.bfs_median_seconds) {
            let kernels = format!("PageRank {}, BFS {} (medians)", seconds(pagerank), seconds(bfs));
            rows.push(("  kernels", kernels));
        }
    }
}

impl MemorySummary {
    fn describe(&self, rows: &mut Vec<(&'static str, String)>) {
        let (graph, csr) = (Bytes(self.graph_bytes as u64), Bytes(self.csr_bytes as u64));
        rows.push(("memory", format!("{graph}; as a static graph {csr}")));
    }
}

impl ComparisonSummary {
    fn new(comparison: &Comparison) -> Self {
        ComparisonSummary {
            threads: comparison.threads,
            copy_seconds: comparison.copying.as_secs_f64(),
            pagerank_iterations: ITERATIONS,
            pagerank: comparison.pagerank.into(),
            bfs: comparison.bfs.map(TimesSummary::from),
            largest_rank_difference: comparison.rank_difference,
            different_depths: comparison.different_depths,
            equal: comparison.is_equal(),
        }
    }

    fn describe(&self) -> String {
        let threads = counted(self.threads as u64, "thread", "threads");
        let mut lines = format!("{:<24}{:>12}{:>12}{:>10}\n", "final state", "snapshot", "static", "ratio");
        let pagerank = format!("PageRank, {} iterations", self.pagerank_iterations);
        for (kernel, times) in [(pagerank, Some(self.pagerank)), ("BFS".to_string(), self.bfs)] {
            if let Some(times) = times {
                let (snapshot, csr) = (seconds(times.snapshot_seconds), seconds(times.csr_seconds));
                lines += &format!("{kernel:<24}{snapshot:>12}{csr:>12}{:>10.2}\n", times.ratio);
            }
        }
        lines += &format!(
            "{threads}; the static copy took {}\nresults {}: ranks differ by at most {:.1e}, {} differ\n",
            seconds(self.copy_seconds),
            if self.equal { "equal" } else { "NOT EQUAL" },
            self.largest_rank_difference,
            counted(self.different_depths, "depth", "depths"),
        );
        lines
    }
}

impl From<Times> for TimesSummary {
    fn from(times: Times) -> Self {
        TimesSummary {
            snapshot_seconds: times.snapshot.as_secs_f64(),
            csr_seconds: times.csr.as_secs_f64(),
            ratio: times.ratio(),
        }
    }
}

fn seconds(seconds: f64) -> String {
    text::duration(Duration::from_secs_f64(seconds))
}
