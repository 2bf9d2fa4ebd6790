//! An edge log before rows: the cost of archiving for writers, by threshold, and for readers, by
//! the number of edges not archived yet. Measured on engines with an edge log.

use hedgerow::kernels::Execution;
use hedgerow::{Compaction, EngineKind, Graph, GraphOptions, SnapshotOptions};
use hedgerow_compiled_kernels::Target;
use hedgerow_driver::expected::seconds;
use hedgerow_driver::kernels::{self, KernelName};
use hedgerow_driver::monitor::mean_time;
use hedgerow_driver::{Bench, Engine, Extent, Failure, Turn, Workload, load, pool};
use std::time::Instant;

pub(super) static ARCHIVING: Workload = Workload {
    name: "archiving",
    description: "edges put into an edge log, archived from several thresholds on",
    contract_metric: "throughput-thread-65536",
    is_default: false,
    is_on_store: false,
    scales: true,
    seconds: |_, entries| 12.0 * seconds(entries, 2.0),
    measure: measure_writers,
};

pub(super) static UNARCHIVED: Workload = Workload {
    name: "unarchived",
    description: "kernels while the last edges are only in the edge log",
    contract_metric: "time-65536",
    is_default: false,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| 5.0 * seconds(entries, 2.0) + 20.0 * settings.at_least(entries, 10.0),
    measure: measure_readers,
};

/// Numbers of edges in the log that trigger archiving (GraphOne, figure 12).
pub(super) const THRESHOLDS: [usize; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];

/// Numbers of edges not archived while a kernel runs (GraphOne, figure 13).
const NOT_ARCHIVED: [usize; 4] = [1 << 12, 1 << 16, 1 << 18, 1 << 20];

/// The baseline of kernels on graphs with edges in the log.
const ALL_ARCHIVED: &str = "with all edges archived";

/// The numbers for the contract metrics, the only ones measured in a brief run.
const CONTRACT: [usize; 1] = [load::CONTRACT_BATCH];

/// Edges put one by one as a stream, archived by the writer or by a thread.
fn measure_writers(bench: &mut Bench<'_>) -> Result<(), Failure> {
    if !bench.engines().iter().any(has_edge_log) {
        return Ok(());
    }
    for (by, name) in [(Compaction::ByWriters, "writer"), (Compaction::InBackground, "thread")] {
        for threshold in numbers(bench, &THRESHOLDS) {
            let metric = format!("throughput-{name}-{threshold}");
            for turn in turns(bench) {
                bench.begin(turn, &format!(" from {threshold} on, by a {name}"))?;
                match turn.engine.kind {
                    None => bench.record_build_rate(turn, &metric)?,
                    Some(kind) => {
                        let options = load::options(kind, turn.threads).compaction(by);
                        let rate = put_and_archive(bench, turn, options.archiving_threshold(threshold))?;
                        bench.record(turn, &*metric, "edges/s", rate);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Puts all edges and archives the remaining ones; returns the rate.
fn put_and_archive(bench: &Bench<'_>, turn: Turn, options: GraphOptions) -> Result<f64, Failure> {
    let (graph, stream) = (load::with_vertices(options, bench.data.vertices())?, bench.data.stream());
    let started = Instant::now();
    load::put_streams(&graph, stream, turn.threads, &bench.watch.cancel)?;
    load::reclaim_all(&graph)?;
    let rate = stream.len() as f64 / started.elapsed().as_secs_f64();
    load::check_edges(&graph, bench.data)?;
    Ok(rate)
}

/// Kernels on fresh snapshots of a graph whose last edges are not archived, and PageRank on other
/// views of it.
fn measure_readers(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let sources = kernels::sources(bench)?;
    let cancel = bench.watch.cancel.clone();
    let turns = bench.turns_written().into_iter().filter(|(turn, _)| has_edge_log(&turn.engine));
    for (turn, kind) in turns.collect::<Vec<_>>() {
        let pool = pool(turn.threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() }.cancelled_by(&cancel);
        let kernels = [(KernelName::PageRank, "time"), (KernelName::Bfs, "time-bfs")];
        let mut archived = [0.0; 2];
        for waiting in [0].into_iter().chain(numbers(bench, &NOT_ARCHIVED)) {
            bench.begin(turn, &format!(" with {waiting} edges in the log"))?;
            let graph = with_edges_in_log(bench, load::options(kind, turn.threads), waiting)?;
            for ((kernel, name), archived) in kernels.into_iter().zip(&mut archived) {
                let run = || {
                    let subject = Target::from(graph.snapshot()?);
                    kernels::run(kernel, &subject, &sources, execution)
                };
                run()?;
                let (found, time) = mean_time(bench.settings.least_time(), run)?;
                bench.check_answer(kernel.answer(), found.into())?;
                let seconds = time.as_secs_f64() / kernel.runs() as f64;
                if waiting == 0 {
                    *archived = seconds;
                } else {
                    let baseline = (ALL_ARCHIVED, *archived);
                    bench.record_against(turn, &format!("{name}-{waiting}"), "s", seconds, baseline);
                }
            }
            if waiting > 0 {
                let rank = |subject: &Target| {
                    kernels::run(KernelName::PageRank, subject, &sources, execution).map(drop)
                };
                measure_views(bench, turn, (&graph, waiting), archived[0], rank)?;
            }
        }
    }
    Ok(())
}

/// Opens and closes views of a graph with edges in the log, and runs PageRank on the views that are
/// not fresh. `archived` is its time in seconds with all edges archived.
fn measure_views(
    bench: &mut Bench<'_>,
    turn: Turn,
    (graph, waiting): (&Graph, usize),
    archived: f64,
    rank: impl Fn(&Target) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let least = bench.settings.least_time();
    let others = [("stale", SnapshotOptions::stale()), ("private", SnapshotOptions::private())];
    for (name, view) in [("fresh", SnapshotOptions::fresh())].into_iter().chain(others) {
        let open = || Ok(graph.snapshot_with(view).map(drop)?);
        let ((), opening) = mean_time(least, open)?;
        bench.record(turn, format!("open-{name}-{waiting}"), "s", opening.as_secs_f64());
    }
    for (name, view) in others {
        let subject = Target::from(graph.snapshot_with(view)?);
        rank(&subject)?;
        let ((), time) = mean_time(least, || rank(&subject))?;
        let (metric, seconds) = (format!("time-{name}-{waiting}"), time.as_secs_f64());
        bench.record_against(turn, &metric, "s", seconds, (ALL_ARCHIVED, archived));
    }
    Ok(())
}

/// The graph of the data set with its last `waiting` edges in the log, at most half of all edges;
/// the other edges are archived.
fn with_edges_in_log(bench: &Bench<'_>, options: GraphOptions, waiting: usize) -> Result<Graph, Failure> {
    let (stream, cancel) = (bench.data.stream(), &bench.watch.cancel);
    let (before, after) = stream.split_at(stream.len() - waiting.min(stream.len() / 2));
    let graph = load::with_vertices(options.archiving_threshold(2 * waiting), bench.data.vertices())?;
    load::ingest(&graph, before, load::LOAD_BATCH, cancel)?;
    load::reclaim_all(&graph)?;
    load::ingest(&graph, after, load::LOAD_BATCH, cancel)?;
    Ok(graph)
}

/// Returns true if the engine has an edge log before its rows.
pub(super) fn has_edge_log(engine: &Engine) -> bool {
    engine.kind == Some(EngineKind::Hybrid)
}

/// The measurements of the static graph and of engines with an edge log.
pub(super) fn turns(bench: &Bench<'_>) -> Vec<Turn> {
    let is_measured = |turn: &Turn| turn.engine == Engine::CSR || has_edge_log(&turn.engine);
    bench.turns().into_iter().filter(is_measured).collect()
}

/// The numbers to measure: all, or only that of the contract metric in a brief run.
pub(super) fn numbers(bench: &Bench<'_>, all: &[usize]) -> Vec<usize> {
    if bench.settings.extent == Extent::Quick { CONTRACT.to_vec() } else { all.to_vec() }
}
