//! The summary of the demo, as a table or as JSON.

use super::args::DemoArgs;
use super::compare::Comparison;
use super::outcome::Outcome;
use super::readers::median;
use super::stream::Stream;
use super::writers::Commits;
use crate::text::{self, Bytes, Count, Seconds, counted};
use hedgerow::{Graph, Snapshot};
use serde::Serialize;
use std::time::Duration;

/// The summary of a demo.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    stream: &'a str,
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
    comparison: &'a Comparison,
}

#[derive(Debug, Serialize)]
struct WritingSummary {
    writers: usize,
    batch: usize,
    seconds: Seconds,
    edges_per_second: f64,
    commits: u64,
    commits_per_second: f64,
    batch_commits: CommitsSummary,
    single_commits: CommitsSummary,
}

#[derive(Debug, Serialize)]
struct CommitsSummary {
    count: u64,
    mean_seconds: Option<Seconds>,
    longest_seconds: Seconds,
}

#[derive(Debug, Serialize)]
struct ReadingSummary {
    readers: usize,
    snapshots: usize,
    pagerank_median_seconds: Option<Seconds>,
    bfs_median_seconds: Option<Seconds>,
    longest_held_seconds: Seconds,
    most_commits_behind: u64,
}

#[derive(Debug, Serialize)]
struct MemorySummary {
    graph_bytes: usize,
    csr_bytes: usize,
}

impl<'a> Summary<'a> {
    /// Summarizes a finished demo.
    pub fn new<K>(
        args: &DemoArgs,
        stream: &'a Stream<K>,
        graph: &Graph,
        snapshot: &Snapshot,
        Outcome { writing, reading, elapsed, .. }: &Outcome,
        comparison: &'a Comparison,
    ) -> Self {
        let (rows, commits) = (stream.len(), writing.commits());
        let median_seconds = |durations: &[Duration]| median(durations).map(Seconds);
        Summary {
            stream: &stream.name,
            undirected: args.undirected,
            skipped_lines: stream.skipped.count,
            vertices: snapshot.vertex_count(),
            edges: snapshot.edge_count().at_most(),
            rows,
            writing: WritingSummary {
                writers: args.writers.get(),
                batch: args.batch.get(),
                seconds: Seconds(*elapsed),
                edges_per_second: text::rate(rows, *elapsed),
                commits,
                commits_per_second: text::rate(commits, *elapsed),
                batch_commits: writing.batches.into(),
                single_commits: writing.singles.into(),
            },
            reading: ReadingSummary {
                readers: args.readers.get(),
                snapshots: reading.snapshots.len(),
                pagerank_median_seconds: median_seconds(&reading.pagerank()),
                bfs_median_seconds: median_seconds(&reading.bfs()),
                longest_held_seconds: Seconds(reading.longest_held()),
                most_commits_behind: reading.most_commits_behind(),
            },
            memory: MemorySummary {
                graph_bytes: graph.memory().total_bytes(),
                csr_bytes: comparison.csr_bytes,
            },
            comparison,
        }
    }

    /// The summary as tables.
    pub fn describe(&self) -> String {
        let Summary { writing, reading, memory, .. } = self;
        let threads = |count: usize| counted(count as u64, "thread", "threads");
        let mut rows = vec![
            ("stream", self.stream.to_owned()),
            (
                "graph",
                format!(
                    "{}, {} in {}",
                    counted(self.vertices, "vertex", "vertices"),
                    counted(self.edges, "edge", "edges"),
                    counted(self.rows, "row", "rows")
                ),
            ),
            (
                "  edges are",
                if self.undirected { "undirected" } else { "directed, both directions kept" }.into(),
            ),
        ];
        if self.skipped_lines > 0 {
            rows.push(("skipped lines", Count(self.skipped_lines).to_string()));
        }
        rows.extend([
            (
                "written",
                format!(
                    "by {} in {}: {}, {}",
                    threads(writing.writers),
                    writing.seconds,
                    text::edges_per_second(self.rows, writing.seconds.0),
                    counted(writing.commits, "commit", "commits"),
                ),
            ),
            (
                "  batches",
                format!(
                    "{} of up to {}{}",
                    Count(writing.batch_commits.count),
                    counted(writing.batch as u64, "edge", "edges"),
                    writing.batch_commits.times()
                ),
            ),
            (
                "  single edges",
                format!("{}{}", Count(writing.single_commits.count), writing.single_commits.times()),
            ),
            (
                "read",
                format!(
                    "by {}: {}",
                    threads(reading.readers),
                    counted(reading.snapshots as u64, "snapshot", "snapshots")
                ),
            ),
            (
                "  oldest",
                format!(
                    "held for {}, while {} came",
                    reading.longest_held_seconds,
                    counted(reading.most_commits_behind, "commit", "commits")
                ),
            ),
        ]);
        if let (Some(pagerank), Some(bfs)) = (reading.pagerank_median_seconds, reading.bfs_median_seconds) {
            rows.push(("  kernels", format!("PageRank {pagerank}, BFS {bfs} (medians)")));
        }
        let (graph, csr) = (Bytes(memory.graph_bytes as u64), Bytes(memory.csr_bytes as u64));
        rows.push(("memory", format!("{graph}; as a static graph {csr}")));
        format!("{}\n{}", text::table(&rows), self.comparison)
    }
}

impl From<Commits> for CommitsSummary {
    fn from(commits: Commits) -> Self {
        CommitsSummary {
            count: commits.count,
            mean_seconds: commits.mean().map(Seconds),
            longest_seconds: Seconds(commits.longest),
        }
    }
}

impl CommitsSummary {
    fn times(&self) -> String {
        let times = |mean| format!(", {mean} each, the longest {}", self.longest_seconds);
        self.mean_seconds.map(times).unwrap_or_default()
    }
}
