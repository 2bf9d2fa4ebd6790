//! State shared by the threads of the demo and the live view.

use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Counters and the end flag. All relaxed: they are for display, and threads are joined.
#[derive(Debug, Default)]
pub struct Shared {
    rows: AtomicU64,
    commits: AtomicU64,
    snapshots: AtomicU64,
    pagerank_nanoseconds: AtomicU64,
    bfs_nanoseconds: AtomicU64,
    writing_is_over: AtomicBool,
}

impl Shared {
    /// Counts a commit of `rows` edges.
    pub fn committed(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Edges committed so far.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Commits so far.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Counts a snapshot that a reader opened.
    pub fn opened_snapshot(&self) {
        self.snapshots.fetch_add(1, Ordering::Relaxed);
    }

    /// Snapshots opened so far.
    pub fn snapshots(&self) -> u64 {
        self.snapshots.load(Ordering::Relaxed)
    }

    /// Records the durations of a reader's kernels.
    pub fn ran_kernels(&self, pagerank: Duration, bfs: Duration) {
        self.pagerank_nanoseconds.store(pagerank.as_nanos() as u64, Ordering::Relaxed);
        self.bfs_nanoseconds.store(bfs.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The durations of the last run of PageRank and of BFS; `None` before the first.
    pub fn last_kernels(&self) -> Option<(Duration, Duration)> {
        let pagerank = self.pagerank_nanoseconds.load(Ordering::Relaxed);
        let bfs = self.bfs_nanoseconds.load(Ordering::Relaxed);
        (pagerank > 0).then(|| (Duration::from_nanos(pagerank), Duration::from_nanos(bfs)))
    }

    /// Signals the readers that the graph will not change any more.
    pub fn finish_writing(&self) {
        self.writing_is_over.store(true, Ordering::Relaxed);
    }

    /// Returns true once the graph will not change any more.
    pub fn writing_is_over(&self) -> bool {
        self.writing_is_over.load(Ordering::Relaxed)
    }
}
