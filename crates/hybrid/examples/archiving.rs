//! Measures the edge log, archiving by threshold, and the blocks of rows: the counterparts of table 1, table 3 and figure 12 of the
//! paper on GraphOne, in units of building a static graph of the same edges.
//!
//! The edges of a Kronecker graph come in random order, in batches, and are archived from both ends. One thread unless a line
//! says otherwise; medians of several repetitions.
//!
//! `cargo run --release -p hedgerow-hybrid --example archiving [kron-20 | sparse-21 | …]`

use hedgerow_csr::{BuildOptions, Csr};
use hedgerow_edge_log::{
    Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, LogTail, NewRun, RunChange, RunCommits,
};
use hedgerow_formats::Kronecker;
use hedgerow_hybrid::{BlockSizes, ChainReport, RetainedVersion, RowTable};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeChange, EdgeValue, Topology, VertexId};
use hedgerow_sync::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

const REPETITIONS: usize = 3;

/// Edges of a batch.
const BATCH: usize = 1 << 12;

/// Edges that are archived at a time, where that is measured; `usize::MAX` is all of them.
const THRESHOLDS: [usize; 5] = [1 << 12, 1 << 14, 1 << 16, 1 << 20, usize::MAX];

/// Words of a buffer of the log: those of 16 batches.
const BUFFER_WORDS: usize = 16 * (BATCH + 2);

/// Edges that are logged before they are dropped, where only logging is measured.
const LOGGED: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "kron-20".to_owned());
    let graph = named(&name)?;
    let bound = graph.vertices() as u32;
    let edges: Vec<u64> = (0..graph.edges())
        .map(|number| graph.edge(number))
        .map(|(one, other)| EdgeChange::position_of(VertexId::new(one as u32), VertexId::new(other as u32)))
        .collect();
    println!("{name}: {} edges, duplicates included, {bound} vertices", edges.len());
    let rate = |seconds: f64| edges.len() as f64 / seconds / 1e6;

    let pairs: Vec<_> = edges.iter().map(|position| ends_of(*position)).collect();
    let (build, csr) =
        median(|| timed(|| Csr::from_edges(bound, Topology::Undirected, &pairs, BuildOptions::default())));
    let csr = csr?;
    drop(pairs);
    println!("build a static graph: {:.1} M edges/s", rate(build));
    let pools: Vec<ThreadPool> = [1, 2]
        .map(|threads| ThreadPoolBuilder::new().num_threads(threads).build())
        .into_iter()
        .collect::<Result<_, _>>()?;
    for threads in [1, 2] {
        let (seconds, ()) = median(|| (log_all(&edges, threads), ()));
        println!(
            "log, {threads} writers: {:.1} M edges/s, {:.2} of the build",
            rate(seconds),
            build / seconds
        );
    }
    for threshold in THRESHOLDS {
        for (pool, threads) in pools.iter().zip(1..) {
            let sizes = BlockSizes::Growing;
            let (seconds, store) = median(|| {
                let store = Store::new(bound, sizes);
                let seconds = store.archive_all(&edges, threshold, (threads > 1).then_some(pool));
                (seconds, store)
            });
            let threshold = if threshold == usize::MAX { edges.len() } else { threshold };
            println!(
                "archive {threshold} at a time, {threads} threads: {:.1} M edges/s, {:.2} of the build; {}",
                rate(seconds),
                build / seconds,
                store.describe()
            );
        }
    }
    for sizes in [BlockSizes::Exact, BlockSizes::Lines, BlockSizes::LinesAndPages, BlockSizes::Growing] {
        let store = Store::new(bound, sizes);
        store.archive_all(&edges, 1 << 16, None);
        let (scan, sum) = median(|| timed(|| store.sum()));
        let (static_scan, static_sum) = median(|| timed(|| sum_of(&csr)));
        assert_eq!(sum, static_sum, "both have the same edges");
        println!(
            "{sizes:?}: {}; a scan takes {:.2} times that of the static graph",
            store.describe(),
            scan / static_scan
        );
    }
    Ok(())
}

fn named(name: &str) -> Result<Kronecker, Box<dyn Error>> {
    Ok(match name.split_once('-') {
        Some(("kron", scale)) => Kronecker::new(scale.parse()?, 16, 1)?,
        Some(("sparse", scale)) => {
            Kronecker::new(scale.parse()?, 6, 1)?.with_probabilities(0.45, 0.22, 0.22)?
        }
        _ => return Err(format!("{name} is not a graph: kron-N or sparse-N").into()),
    })
}

fn timed<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let begin = Instant::now();
    let result = work();
    (begin.elapsed().as_secs_f64(), result)
}

/// The median time of several runs, and the result of the last.
fn median<R>(mut run: impl FnMut() -> (f64, R)) -> (f64, R) {
    let mut times = Vec::new();
    loop {
        let (seconds, result) = run();
        times.push(seconds);
        if times.len() == REPETITIONS {
            times.sort_by(f64::total_cmp);
            return (times[REPETITIONS / 2], result);
        }
    }
}

fn ends_of(position: u64) -> (VertexId, VertexId) {
    let EdgeChange { owner, neighbor, .. } = EdgeChange::put_at(position, EdgeValue::default());
    (owner, neighbor)
}

fn sum_of(csr: &Csr) -> u64 {
    csr.neighbors().iter().map(|neighbor| u64::from(neighbor.get())).sum()
}

/// Appends all edges in batches, each one commit, by several writers. Returns the seconds of appending.
///
/// The edges are dropped from time to time, so that buffers are used again.
fn log_all(edges: &[u64], writers: usize) -> f64 {
    let log = EdgeLog::new(BUFFER_WORDS, CommitTimestamp::ZERO);
    // Takes timestamps, as the sequencer of a graph does.
    let last = Mutex::new(0);
    let (mut archiver, mut seconds) = (Archiver::default(), 0.0);
    for edges in edges.chunks(LOGGED) {
        seconds += timed(|| {
            std::thread::scope(|scope| {
                for part in edges.chunks(edges.len().div_ceil(writers)) {
                    scope.spawn(|| append_all(&log, &last, part));
                }
            });
        })
        .0;
        archiver.archive(&log, &Dropped, Cut::At(log.latest()), None);
        // SAFETY: nothing is read.
        log.forget(&unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(u64::MAX)) });
    }
    seconds
}

fn append_all(log: &EdgeLog, last: &Mutex<u64>, edges: &[u64]) {
    for batch in edges.chunks(BATCH) {
        let runs = [NewRun { table: 0, change: RunChange::Put, commits: RunCommits::One, edges: batch }];
        let mut last = last.lock();
        *last += 1;
        let reserved = log.reserve(CommitTimestamp(*last), &runs);
        drop(last);
        reserved.write(&runs);
    }
}

/// An adjacency that keeps nothing.
struct Dropped;

impl Archive for Dropped {
    fn ends(&self, _: u16) -> Ends {
        Ends { out: 0, back: None }
    }

    fn vertex_bound(&self) -> u32 {
        1
    }

    fn add(&self, _: u32, _: u32, _: &ChangeList) {}
}

/// An adjacency of undirected edges behind a log.
struct Store {
    bound: u32,
    log: EdgeLog,
    table: RowTable,
    retained: Mutex<Vec<u32>>,
}

impl Archive for Store {
    fn ends(&self, _: u16) -> Ends {
        Ends { out: 0, back: Some(0) }
    }

    fn vertex_bound(&self) -> u32 {
        self.bound
    }

    fn add(&self, round: u32, _: u32, changes: &ChangeList) {
        let retained = self.retained.lock().clone();
        self.table.add(round, &retained, changes);
    }
}

impl Store {
    fn new(bound: u32, sizes: BlockSizes) -> Self {
        Store {
            bound,
            log: EdgeLog::new(BUFFER_WORDS, CommitTimestamp::ZERO),
            table: RowTable::new(ColumnType::Unit, sizes),
            retained: Mutex::new(vec![0]),
        }
    }

    /// Logs and archives all edges. Returns the seconds of archiving.
    fn archive_all(&self, edges: &[u64], threshold: usize, pool: Option<&ThreadPool>) -> f64 {
        let (mut archiver, mut at, mut seconds) = (Archiver::default(), 0, 0.0);
        for part in edges.chunks(threshold) {
            for batch in part.chunks(BATCH) {
                at += 1;
                let runs =
                    [NewRun { table: 0, change: RunChange::Put, commits: RunCommits::One, edges: batch }];
                self.log.reserve(CommitTimestamp(at), &runs).write(&runs);
            }
            seconds += timed(|| {
                archiver.archive(&self.log, self, Cut::At(self.log.latest()), pool);
                // SAFETY: nothing is read meanwhile.
                let live = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(at)) };
                let retained: Vec<u32> =
                    self.log.forget(&live).iter().map(|archived| archived.round).collect();
                self.table.free_former(&retained);
                *self.retained.lock() = retained;
            })
            .0;
        }
        seconds
    }

    fn version(tail: &LogTail) -> RetainedVersion<'_> {
        // SAFETY: the table is fed by the log of the tail.
        unsafe { RetainedVersion::new(tail) }
    }

    fn sum(&self) -> u64 {
        let tail = self.log.newest();
        let (mut sum, mut deleted) = (0, Vec::new());
        for (_, row) in self.table.rows(0..self.bound, Store::version(&tail)) {
            let _: ControlFlow<()> = row.neighbors(&mut deleted, |neighbors, _: &[()]| {
                sum += neighbors.iter().map(|neighbor| u64::from(neighbor.get())).sum::<u64>();
                ControlFlow::Continue(())
            });
        }
        sum
    }

    fn describe(&self) -> String {
        let tail = self.log.newest();
        let ChainReport { rows, entries, blocks, most_blocks } =
            self.table.chains(0..self.bound, Store::version(&tail));
        let used = self.table.memory();
        let (blocks_bytes, table_bytes) =
            (used.live_bytes + used.retained_bytes + used.reserved_bytes, used.index_bytes);
        format!(
            "{:.2} blocks per row, {most_blocks} at most; {:.2} bytes per entry, {:.2} of them blocks",
            blocks as f64 / rows as f64,
            (blocks_bytes + table_bytes) as f64 / entries as f64,
            blocks_bytes as f64 / entries as f64,
        )
    }
}
