//! Checkpoints: their time and size, and the rate of a concurrent writer, at several shares of a
//! core.

use crate::bench::{Bench, Turn};
use crate::data_set::Entry;
use crate::expected::seconds;
use crate::watch::check;
use crate::{Failure, Workload, load};
use hedgerow::kernels::CancelToken;
use hedgerow::{CheckpointOptions, Durability, Graph, LabelId, WriteGraph};
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "checkpoint",
    description: "checkpoints with a concurrent writer",
    contract_metric: "writer-throughput",
    is_default: false,
    is_on_store: true,
    scales: false,
    seconds: |settings, entries| 4.0 * settings.writer_window().as_secs_f64() + 2.0 * seconds(entries, 5.0),
    measure,
};

const WITHOUT: &str = "the writer without a checkpoint";
const ALONE: &str = "a checkpoint without a writer";

/// The share of time that each thread of a checkpoint works, `None` for the default, and the suffix
/// of the metrics.
const SHARES: [(Option<f64>, &str); 3] = [(None, ""), (Some(1.0), "-1"), (Some(0.25), "-0.25")];

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for (turn, kind) in bench.turns_written() {
        bench.begin(turn, "")?;
        let store = bench.new_store()?;
        let options = load::options(kind, turn.threads).durability(Durability::Buffered);
        let graph = load::stored_graph(&store, &options, bench.data.vertices())?;
        load::in_batches(&graph, bench.data, &bench.watch.cancel)?;
        checkpoints(bench, turn, &graph)?;
        load::check_edges(&graph, bench.data)?;
    }
    Ok(())
}

fn checkpoints(bench: &mut Bench<'_>, turn: Turn, graph: &Graph) -> Result<(), Failure> {
    let (stream, cancel) = (bench.data.stream(), &bench.watch.cancel);
    let started = Instant::now();
    let report = graph.checkpoint(&CheckpointOptions::new().cancelled_by(cancel))?;
    let alone = started.elapsed().as_secs_f64();
    bench.record(turn, "time", "s", alone);
    bench.record(turn, "bytes-per-edge", "bytes", report.bytes as f64 / stream.len() as f64);
    for (share, ending) in SHARES {
        let named = share.map_or_else(String::new, |share| format!(" at a share of {share}"));
        bench.begin(turn, &format!("{named}, beside a writer"))?;
        let default = CheckpointOptions::new().cancelled_by(cancel);
        let options = match share {
            Some(share) => default.share(share),
            None => default,
        };
        let beside = beside_writer(graph, stream, &options, bench.settings.writer_window(), cancel)?;
        let rates = (beside.during, (WITHOUT, beside.before));
        bench.record_against(turn, &format!("writer-throughput{ending}"), "edges/s", rates.0, rates.1);
        bench.record_against(turn, &format!("time-beside{ending}"), "s", beside.seconds, (ALONE, alone));
    }
    Ok(())
}

/// A checkpoint with a concurrent writer: the writer's rate before and during the checkpoint, and
/// the checkpoint's time.
struct Beside {
    before: f64,
    during: f64,
    seconds: f64,
}

fn beside_writer(
    graph: &Graph,
    entries: &[Entry],
    options: &CheckpointOptions,
    window: Duration,
    cancel: &CancelToken,
) -> Result<Beside, Failure> {
    let (stop, written) = (&AtomicBool::new(false), &AtomicU64::new(0));
    thread::scope(|scope| {
        let writer = thread::Builder::new()
            .spawn_scoped(scope, || write_until(stop, graph, entries, written, cancel))?;
        // The writer may have to free garbage that the snapshot of an earlier checkpoint retained.
        thread::sleep(window / 2);
        let (_, before, _) = watch(written, || thread::sleep(window));
        let (report, during, seconds) = watch(written, || graph.checkpoint(options));
        // Stop the writer even if the checkpoint failed.
        stop.store(true, Ordering::Release);
        writer.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))?;
        report?;
        Ok(Beside { before, during, seconds })
    })
}

/// Runs `work`; returns its result, the operations per second counted during it, and its seconds.
fn watch<T>(counted: &AtomicU64, work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (started, before) = (Instant::now(), counted.load(Ordering::Relaxed));
    let result = work();
    let operations = counted.load(Ordering::Relaxed) - before;
    let seconds = started.elapsed().as_secs_f64();
    (result, operations as f64 / seconds, seconds)
}

/// Repeatedly deletes an edge and puts it again, and counts the operations.
fn write_until(
    stop: &AtomicBool,
    graph: &Graph,
    entries: &[Entry],
    written: &AtomicU64,
    cancel: &CancelToken,
) -> Result<(), Failure> {
    for (source, destination) in entries.iter().cycle() {
        graph.delete_edge(LabelId::DEFAULT, source, destination)?;
        graph.put_edge(LabelId::DEFAULT, source, destination)?;
        written.fetch_add(2, Ordering::Relaxed);
        check(cancel)?;
        if stop.load(Ordering::Acquire) {
            break;
        }
    }
    Ok(())
}
