//! Concurrent writers and readers: the share of its speed that each keeps.
//!
//! Writers delete edges of a graph and put them again while readers run PageRank on its fresh
//! snapshots. The baseline is the same number of threads at the same time on two separate copies of
//! the graph, so that the difference is due to the store and not to the memory bus.

use super::mix_time;
use crate::compare::figures::summary;
use hedgerow::kernels::{CancelToken, Execution, PageRank};
use hedgerow::{Graph, LabelId, WriteGraph};
use hedgerow_compiled_kernels::Target;
use hedgerow_driver::expected::seconds;
use hedgerow_driver::kernels::ITERATIONS;
use hedgerow_driver::monitor::{Latencies, operate_on_each};
use hedgerow_driver::watch::check;
use hedgerow_driver::{Bench, Engine, Entry, Failure, Settings, Turn, Workload, load};
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(super) static WRITER: Workload = Workload {
    name: "mixed-writer",
    description: "a writer with a concurrent reader: the rate of the writer",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: seconds_of_mix,
    measure: measure_writer,
};

pub(super) static READER: Workload = Workload {
    name: "mixed-reader",
    description: "a writer with a concurrent reader: the time of the reader",
    contract_metric: "time",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| {
        if settings.workloads.contains(&&WRITER) { 0.0 } else { seconds_of_mix(settings, entries) }
    },
    measure: measure_reader,
};

const BASELINE: &str = "the same threads on two separate copies of the graph";

/// Edges between two checks of a writer for the stop flag.
const WRITER_STEP: usize = 100;

/// The interval at which peak memory is sampled.
const PEAK_INTERVAL: Duration = Duration::from_millis(50);

/// Two equal graphs of an engine.
struct Copies {
    engine: Engine,
    /// Written and read at the same time.
    shared: Graph,
    /// Written while the other copy is read.
    apart: Graph,
    /// Memory of the shared copy before the first mix.
    bytes_before: usize,
}

/// The result of a mix.
struct Mix {
    /// Deletions and insertions per second.
    operations_per_second: f64,
    /// The median of all runs of PageRank.
    seconds_per_run: f64,
    /// Latencies of pairs of a deletion and an insertion.
    latencies: Latencies,
}

/// On one copy, and on two.
fn seconds_of_mix(settings: &Settings, entries: usize) -> f64 {
    2.0 * mix_time::of(settings).as_secs_f64() + seconds(entries, 1.5)
}

/// Measured together with the writer, if that was requested.
fn measure_reader(bench: &mut Bench<'_>) -> Result<(), Failure> {
    if bench.settings.workloads.contains(&&WRITER) { Ok(()) } else { measure_writer(bench) }
}

/// Measures both workloads of a mix together.
fn measure_writer(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let copies = copies(bench)?;
    for turn in bench.turns() {
        let Some(copies) = copies.iter().find(|copies| copies.engine == turn.engine) else { continue };
        if turn.threads == 1 || has_cores(2 * turn.threads) {
            measure_once(bench, turn, copies)?;
        }
    }
    Ok(())
}

fn has_cores(wanted: usize) -> bool {
    thread::available_parallelism().is_ok_and(|cores| cores.get() >= wanted)
}

/// Two copies per engine, filled in the same way.
fn copies(bench: &mut Bench<'_>) -> Result<Vec<Copies>, Failure> {
    let mut copies = Vec::new();
    for engine in bench.engines() {
        let Some(kind) = engine.kind else { continue };
        bench.begin(Turn { threads: 1, repetition: 0, engine }, ", loading two copies")?;
        let fill = || {
            let graph = load::empty_graph(kind, 1, bench.data.vertices())?;
            load::in_batches(&graph, bench.data, &bench.watch.cancel)?;
            load::reclaim_all(&graph)?;
            Ok::<_, Failure>(graph)
        };
        let (shared, apart) = (fill()?, fill()?);
        let bytes_before = shared.memory().total_bytes();
        copies.push(Copies { engine, shared, apart, bytes_before });
    }
    Ok(copies)
}

fn measure_once(bench: &mut Bench<'_>, turn: Turn, copies: &Copies) -> Result<(), Failure> {
    let (data, duration, cancel) = (bench.data, mix_time::of(bench.settings), bench.watch.cancel.clone());
    let mix = |written| mix(written, &copies.shared, data.stream(), turn.threads, duration, &cancel);
    bench.begin(turn, " on separate copies")?;
    let apart = mix(&copies.apart)?;
    bench.begin(turn, " on one graph")?;
    let (together, peak) = peak_memory(&copies.shared, || mix(&copies.shared))?;
    for graph in [&copies.shared, &copies.apart] {
        load::check_edges(graph, bench.data)?;
        load::reclaim_all(graph)?;
    }
    let held = copies.shared.memory();

    if bench.settings.workloads.contains(&&READER) {
        bench.go_on_with(&READER);
        let baseline = (BASELINE, apart.seconds_per_run);
        bench.record_against(turn, "time", "s", together.seconds_per_run, baseline);
    }
    if !bench.settings.workloads.contains(&&WRITER) {
        return Ok(());
    }
    bench.go_on_with(&WRITER);
    let (rate, baseline) = (together.operations_per_second, (BASELINE, apart.operations_per_second));
    bench.record_against(turn, "throughput", "edges/s", rate, baseline);
    let before = ("before the first mix", copies.bytes_before as f64);
    let after = held.total_bytes() as f64;
    bench.record_against(turn, "memory-after", "bytes", after, before);
    let (reserved, baseline) = (held.reserved_bytes as f64, ("the memory after the mix", after));
    bench.record_against(turn, "reserved-after", "bytes", reserved, baseline);
    bench.record_against(turn, "memory-peak", "bytes", peak as f64, before);
    for ((metric, value), (_, alone)) in
        together.latencies.percentiles().into_iter().zip(apart.latencies.percentiles())
    {
        bench.record_against(turn, metric, "ns", value, (BASELINE, alone));
    }
    Ok(())
}

/// Runs `work` and returns its result and the peak memory of `graph` meanwhile.
fn peak_memory<T>(graph: &Graph, work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, usize), Failure> {
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = thread::Builder::new().spawn_scoped(scope, || {
            let mut peak = graph.memory().total_bytes();
            while !finished.load(Ordering::Acquire) {
                thread::park_timeout(PEAK_INTERVAL);
                peak = peak.max(graph.memory().total_bytes());
            }
            peak
        })?;
        let result = work();
        finished.store(true, Ordering::Release);
        watcher.thread().unpark();
        let peak = watcher.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked));
        Ok((result?, peak))
    })
}

/// Runs writers on `written` and the same number of readers on `read`, concurrently, until the
/// readers' time is over.
fn mix(
    written: &Graph,
    read: &Graph,
    entries: &[Entry],
    threads: usize,
    duration: Duration,
    cancel: &CancelToken,
) -> Result<Mix, Failure> {
    let stop = &AtomicBool::new(false);
    thread::scope(|scope| {
        let part = entries.len().div_ceil(threads);
        let write = |part| {
            thread::Builder::new().spawn_scoped(scope, move || write_until(stop, written, part, cancel))
        };
        let writers: Result<Vec<_>, _> = entries.chunks(part).map(write).collect();
        let least_edges = entries.len() as u64 - threads as u64;
        let readings = load::on_threads(threads, &vec![(); threads], |_| {
            read_for(duration, read, least_edges..=entries.len() as u64, cancel)
        });
        // Stop the writers even if the readers failed.
        stop.store(true, Ordering::Release);
        let seconds: Vec<f64> = readings?.concat();
        let (mut operations_per_second, mut latencies) = (0.0, Latencies::new());
        for writer in writers? {
            let joined = writer.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked));
            let (rate, sampled) = joined?;
            operations_per_second += rate;
            latencies.merge(&sampled);
        }
        let seconds_per_run = summary(&seconds).1;
        Ok(Mix { operations_per_second, seconds_per_run, latencies })
    })
}

/// Repeatedly deletes an edge and puts it again. Returns operations per second.
fn write_until(
    stop: &AtomicBool,
    graph: &Graph,
    entries: &[Entry],
    cancel: &CancelToken,
) -> Result<(f64, Latencies), Failure> {
    let (started, mut operations, mut latencies) = (Instant::now(), 0, Latencies::new());
    for some in entries.chunks(WRITER_STEP).cycle() {
        operate_on_each(some, &mut latencies, cancel, None, |(source, destination)| {
            graph.delete_edge(LabelId::DEFAULT, source, destination)?;
            graph.put_edge(LabelId::DEFAULT, source, destination)?;
            Ok(())
        })?;
        operations += 2 * some.len();
        if stop.load(Ordering::Acquire) {
            break;
        }
    }
    Ok((operations as f64 / started.elapsed().as_secs_f64(), latencies))
}

/// Runs PageRank on consecutive fresh snapshots; begins no run after `duration`. Returns the
/// seconds of each run, with the opening of its snapshot.
fn read_for(
    duration: Duration,
    graph: &Graph,
    edges: std::ops::RangeInclusive<u64>,
    cancel: &CancelToken,
) -> Result<Vec<f64>, Failure> {
    let (started, mut seconds) = (Instant::now(), Vec::new());
    while seconds.is_empty() || started.elapsed() < duration {
        let began = Instant::now();
        let snapshot = graph.snapshot()?;
        let execution = Execution::default().cancelled_by(cancel);
        let kernel = PageRank { iterations: ITERATIONS, execution, ..PageRank::default() };
        Target::from(snapshot.clone()).compute_symmetric(kernel)?;
        seconds.push(began.elapsed().as_secs_f64());
        let found = snapshot.edge_count();
        if found.at_most() < *edges.start() || found.at_least() > *edges.end() {
            let (what, expected) = ("the number of edges in a snapshot".to_owned(), format!("{edges:?}"));
            return Err(Failure::WrongResult { what, found: found.to_string(), expected });
        }
        check(cancel)?;
    }
    Ok(seconds)
}
