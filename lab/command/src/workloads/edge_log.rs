//! The parts of an engine with an edge log in isolation, without the commits of a graph: the log,
//! archiving by threshold, and rows by block size (GraphOne, tables 1 and 3 and figure 12).

use super::archiving;
use hedgerow::CommitTimestamp;
use hedgerow::kernels::{CancelToken, Execution};
use hedgerow_compiled_kernels::Target;
use hedgerow_driver::expected::seconds;
use hedgerow_driver::monitor::mean_time;
use hedgerow_driver::watch::check;
use hedgerow_driver::{Answer, Bench, Engine, Extent, Failure, Turn, Workload, pool, scan};
use hedgerow_hybrid::edge_log::{
    Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, NewRun, RunChange, RunCommits,
};
use hedgerow_hybrid::{BlockSizes, ChainReport, LoggedTable};
use hedgerow_model::EdgeChange;
use hedgerow_sync::Mutex;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "edge-log",
    description: "the edge log, archiving and rows without the commits of a graph",
    contract_metric: "throughput-archive-65536",
    is_default: false,
    is_on_store: false,
    scales: true,
    seconds: |_, entries| 12.0 * seconds(entries, 3.0),
    measure,
};

/// Edges per commit.
const BATCH: usize = 1 << 12;

/// Words of a buffer of the log: enough for 16 commits.
const BUFFER_WORDS: usize = 16 * (BATCH + 2);

/// Edges appended between two drops if only appending is measured: fewer than the log keeps free
/// buffers for.
const APPENDED: usize = 3 << 20;

/// Edges archived at a time before rows are read or compacted.
const ARCHIVED: usize = 1 << 16;

/// To measure compaction, one edge in `DELETED` is deleted.
const DELETED: usize = 5;

/// The block sizes of rows, with their names in metrics.
const SIZES: [(BlockSizes, &str); 4] = [
    (BlockSizes::Exact, "exact"),
    (BlockSizes::Lines, "lines"),
    (BlockSizes::LinesAndPages, "lines-and-pages"),
    (BlockSizes::Growing, "growing"),
];

/// The block sizes that engines use, the only ones measured in a brief run.
const USED_SIZES: [(BlockSizes, &str); 1] = [(BlockSizes::Growing, "growing")];

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    if !bench.engines().iter().any(archiving::has_edge_log) {
        return Ok(());
    }
    let position = |(source, destination): &_| EdgeChange::position_of(*source, *destination);
    let edges: Vec<u64> = bench.data.stream().iter().map(position).collect();
    // The answers of the static graph come first.
    scan_static(bench)?;
    measure_log(bench, &edges)?;
    measure_archiving(bench, &edges)?;
    measure_compaction(bench, &edges)?;
    measure_rows(bench, &edges)
}

/// Appends to the log, with one writer per thread.
fn measure_log(bench: &mut Bench<'_>, edges: &[u64]) -> Result<(), Failure> {
    for turn in archiving::turns(bench) {
        bench.begin(turn, ", appending")?;
        if turn.engine == Engine::CSR {
            bench.record_build_rate(turn, "throughput-log")?;
            continue;
        }
        let elapsed = append_all(edges, pool(turn.threads)?.as_ref(), &bench.watch.cancel)?;
        bench.record(turn, "throughput-log", "edges/s", edges.len() as f64 / elapsed.as_secs_f64());
    }
    Ok(())
}

/// Archives some edges at a time, or all at once, with the threads of each turn.
fn measure_archiving(bench: &mut Bench<'_>, edges: &[u64]) -> Result<(), Failure> {
    let thresholds = archiving::numbers(bench, &archiving::THRESHOLDS).into_iter();
    let mut measured: Vec<_> = thresholds.map(|threshold| (threshold, threshold.to_string())).collect();
    if bench.settings.extent != Extent::Quick {
        measured.push((edges.len(), "all".to_owned()));
    }
    for (threshold, name) in measured {
        let metric = format!("throughput-archive-{name}");
        for turn in archiving::turns(bench) {
            bench.begin(turn, &format!(", archiving {name} at a time"))?;
            if turn.engine == Engine::CSR {
                bench.record_build_rate(turn, &metric)?;
                continue;
            }
            let (pool, mut table) = (pool(turn.threads)?, new_table(bench, BlockSizes::Growing));
            let cancel = &bench.watch.cancel;
            let elapsed =
                archive_all((&mut table, LoggedTable::put), edges, threshold, pool.as_ref(), cancel)?;
            bench.record(turn, &*metric, "edges/s", edges.len() as f64 / elapsed.as_secs_f64());
            bench.check_answer(scan::SUM, Answer::Exact(sum_of(&table)))?;
        }
    }
    Ok(())
}

/// Archives deletions, which compacts the rows that lose many edges.
fn measure_compaction(bench: &mut Bench<'_>, edges: &[u64]) -> Result<(), Failure> {
    let deleted: Vec<u64> = edges.iter().copied().step_by(DELETED).collect();
    let left = edges.iter().enumerate().filter(|(number, _)| number % DELETED > 0);
    let left: u64 = left.map(|(_, edge)| edge & u64::from(u32::MAX)).sum();
    for turn in archiving::turns(bench) {
        bench.begin(turn, ", compacting")?;
        if turn.engine == Engine::CSR {
            bench.record_build_rate(turn, "throughput-compact")?;
            continue;
        }
        let (pool, mut table) = (pool(turn.threads)?, new_table(bench, BlockSizes::Growing));
        let (pool, cancel) = (pool.as_ref(), bench.watch.cancel.clone());
        archive_all((&mut table, LoggedTable::put), edges, ARCHIVED, pool, &cancel)?;
        let elapsed = archive_all((&mut table, LoggedTable::delete), &deleted, ARCHIVED, pool, &cancel)?;
        bench.record(turn, "throughput-compact", "edges/s", deleted.len() as f64 / elapsed.as_secs_f64());
        if sum_of(&table) != left {
            let what = "the sum of the neighbors that are left".to_owned();
            return Err(Failure::WrongResult {
                what,
                found: sum_of(&table).to_string(),
                expected: left.to_string(),
            });
        }
    }
    Ok(())
}

/// The memory of rows and the time of their scan by one thread, by block size.
fn measure_rows(bench: &mut Bench<'_>, edges: &[u64]) -> Result<(), Failure> {
    let measured = if bench.settings.extent == Extent::Quick { &USED_SIZES[..] } else { &SIZES };
    let first_threads = bench.first_threads();
    for (sizes, name) in measured.iter().copied() {
        for turn in archiving::turns(bench).into_iter().filter(|turn| turn.threads == first_threads) {
            let turn = Turn { threads: 1, ..turn };
            bench.begin(turn, &format!(", rows in blocks of sizes {name}"))?;
            let (bytes, time, chains) = if turn.engine == Engine::CSR {
                let time = scan_static(bench)?;
                (bench.csr()?.memory_bytes(), time, None)
            } else {
                let mut table = new_table(bench, sizes);
                let cancel = &bench.watch.cancel;
                archive_all((&mut table, LoggedTable::put), edges, ARCHIVED, None, cancel)?;
                (table.memory().total_bytes(), scan_table(bench, &table)?, Some(table.chains()))
            };
            bench.record(turn, format!("bytes-{name}"), "bytes", bytes as f64 / edges.len() as f64);
            bench.record(turn, format!("time-scan-{name}"), "s", time.as_secs_f64());
            if let Some(ChainReport { rows, blocks, most_blocks, .. }) = chains {
                bench.record(turn, format!("blocks-{name}"), "blocks", blocks as f64 / rows as f64);
                bench.record(turn, format!("most-blocks-{name}"), "blocks", most_blocks as f64);
            }
        }
    }
    Ok(())
}

/// Appends all edges in commits, with one writer per thread of the pool. Returns the time.
///
/// Appended edges are dropped from time to time, outside of the measured time. A first unmeasured
/// round touches the buffers, which the log reuses, so that the time includes no page faults.
fn append_all(edges: &[u64], pool: Option<&ThreadPool>, cancel: &CancelToken) -> Result<Duration, Failure> {
    let log = EdgeLog::new(BUFFER_WORDS, CommitTimestamp::ZERO);
    // Hands out timestamps, as the sequencer of a graph does.
    let last = Mutex::new(CommitTimestamp::ZERO);
    let (mut archiver, mut elapsed) = (Archiver::default(), Duration::ZERO);
    let first = &edges[..edges.len().min(APPENDED)];
    for (round, edges) in std::iter::once(first).chain(edges.chunks(APPENDED)).enumerate() {
        let started = Instant::now();
        let append = |part| append(&log, &last, part);
        match pool {
            Some(pool) => {
                let part = edges.len().div_ceil(pool.current_num_threads());
                pool.install(|| edges.par_chunks(part).for_each(append));
            }
            None => append(edges),
        }
        if round > 0 {
            elapsed += started.elapsed();
        }
        archiver.archive(&log, &Dropped, Cut::At(log.latest()), None);
        log.forget_unread();
        check(cancel)?;
    }
    Ok(elapsed)
}

fn append(log: &EdgeLog, last: &Mutex<CommitTimestamp>, edges: &[u64]) {
    for edges in edges.chunks(BATCH) {
        let runs = [NewRun { table: 0, change: RunChange::Put, commits: RunCommits::One, edges }];
        let mut last = last.lock();
        last.0 += 1;
        let reserved = log.reserve(*last, &runs);
        drop(last);
        reserved.write(&runs);
    }
}

/// An adjacency that stores nothing.
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

fn new_table(bench: &Bench<'_>, sizes: BlockSizes) -> LoggedTable {
    LoggedTable::new(bench.data.vertices(), sizes, BUFFER_WORDS)
}

/// Logs all edges, as puts or deletions, and archives them `threshold` at a time. Returns the time
/// of archiving.
fn archive_all(
    (table, log): (&mut LoggedTable, fn(&mut LoggedTable, &[u64])),
    edges: &[u64],
    threshold: usize,
    pool: Option<&ThreadPool>,
    cancel: &CancelToken,
) -> Result<Duration, Failure> {
    let mut elapsed = Duration::ZERO;
    for part in edges.chunks(threshold) {
        part.chunks(BATCH).for_each(|batch| log(table, batch));
        let started = Instant::now();
        table.archive(pool);
        elapsed += started.elapsed();
        check(cancel)?;
    }
    Ok(elapsed)
}

/// The sum of the ids of all neighbors.
fn sum_of(table: &LoggedTable) -> u64 {
    let mut sum = 0;
    table.scan(|_, neighbors| sum += scan::sum(neighbors));
    sum
}

/// The time of a scan of all rows of a table.
fn scan_table(bench: &mut Bench<'_>, table: &LoggedTable) -> Result<Duration, Failure> {
    let run = || Ok(sum_of(table));
    run()?;
    let (sum, time) = mean_time(bench.settings.least_time(), run)?;
    bench.check_answer(scan::SUM, Answer::Exact(sum))?;
    bench.check_answer("the number of entries in rows", Answer::Exact(table.chains().entries))?;
    Ok(time)
}

/// The time of a scan of the static graph.
fn scan_static(bench: &mut Bench<'_>) -> Result<Duration, Failure> {
    let csr = bench.csr()?;
    bench.check_answer("the number of entries in rows", Answer::Exact(csr.neighbors().len() as u64))?;
    let (sum, time) =
        scan::time_of(&Target::Csr(csr), None, Execution::default(), bench.settings.least_time())?;
    bench.check_answer(scan::SUM, Answer::Exact(sum))?;
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_driver::{DataSet, ENGINES, Settings, Watch};

    #[test]
    fn the_log_all_thresholds_and_all_sizes_of_blocks_are_measured() {
        let data = DataSet::named("kron-6", 1, &Watch::default()).unwrap();
        let settings = Settings {
            engines: ENGINES.to_vec(),
            workloads: vec![&WORKLOAD],
            threads: vec![1, 2],
            extent: Extent::Default,
            ..Settings::quick()
        };
        let report = hedgerow_driver::run(&data, &settings, &Watch::default()).unwrap();
        let rows = |engine, threads| {
            let rows = report.results.iter();
            rows.filter(move |row| (row.engine, row.threads) == (engine, threads))
        };
        // One rate of the log, 7 of archiving, one of compaction; 4 figures per size for 4 sizes, 2
        // of them also for CSR.
        assert_eq!((rows("csr", 1).count(), rows("hybrid", 1).count()), (9 + 8, 9 + 16));
        assert_eq!((rows("csr", 2).count(), rows("hybrid", 2).count()), (0, 9 + 1), "rates and a speed-up");
        assert!(
            rows("hybrid", 2).all(|row| row.metric.starts_with("throughput") || row.metric == "speed-up")
        );
        assert_eq!(rows("rapid", 1).count(), 0);
        let compared = ["throughput-archive-all", "bytes-exact", "time-scan-lines-and-pages"];
        for metric in compared {
            let row = rows("hybrid", 1).find(|row| row.metric == metric);
            assert!(row.is_some_and(|row| row.ratio_to_csr.is_some()), "{metric}");
        }
    }
}
