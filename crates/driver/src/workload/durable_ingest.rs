//! Edges put into a store in batches and as one bulk, each commit synced, compared with memory; and
//! the bandwidth of the disk.

use crate::bench::{Bench, Turn};
use crate::disk::Disk;
use crate::engines::Engine;
use crate::expected::limited;
use crate::stores::TemporaryStore;
use crate::{Failure, Workload, load};
use hedgerow::{Durability, EngineKind, Graph, LabelId};
use std::time::Instant;

pub(super) static WORKLOAD: Workload = Workload {
    name: "durable-ingest",
    description: "edges put into a store in batches and as one bulk",
    contract_metric: "throughput-bulk",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: |settings, entries| {
        settings.durable_batch_sizes().len() as f64 * limited(entries, 2.0, settings.batch_limit())
    },
    measure,
};

const IN_MEMORY: &str = "the same in memory";
const BANDWIDTH: &str = "the disk's own bandwidth";

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for batch in bench.settings.durable_batch_sizes() {
        for (turn, kind) in bench.turns_written() {
            bench.begin(turn, &format!(" in batches of {batch}"))?;
            in_batches(bench, turn, kind, batch)?;
        }
    }
    for (turn, kind) in bench.turns_written() {
        bench.begin(turn, " as one bulk")?;
        as_bulk(bench, turn, kind)?;
    }
    Ok(())
}

fn in_batches(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind, batch: usize) -> Result<(), Failure> {
    let rate = |graph: &Graph| {
        let (cancel, limit) = (&bench.watch.cancel, bench.settings.batch_limit());
        load::rate_of_writing(graph, bench.data, limit, cancel, |entries| {
            let started = Instant::now();
            load::ingest(graph, entries, batch, cancel)?;
            Ok(started.elapsed())
        })
    };
    let in_memory = rate(&load::empty_graph(kind, turn.threads, bench.data.vertices())?)?;
    let store = bench.new_store()?;
    let durable = rate(&synced_graph(bench, turn, kind, &store)?)?;
    bench.record_against(turn, &format!("throughput-{batch}"), "edges/s", durable, (IN_MEMORY, in_memory));
    bench.record(turn, format!("throughput-{batch}-in-memory"), "edges/s", in_memory);
    Ok(())
}

fn as_bulk(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind) -> Result<(), Failure> {
    let in_memory = bulk_rate(bench, &load::empty_graph(kind, turn.threads, bench.data.vertices())?)?;
    let (store, beside) = (bench.new_store()?, bench.new_store()?);
    let graph = synced_graph(bench, turn, kind, &store)?;
    let durable = bulk_rate(bench, &graph)?;
    graph.close()?;
    let bytes_per_edge = log_bytes(&store)? as f64 / bench.data.stream().len() as f64;
    let bandwidth = Disk::new(&beside, bench.settings.bandwidth_bytes())?.bandwidth()?;
    bench.record_against(turn, "throughput-bulk", "edges/s", durable, (IN_MEMORY, in_memory));
    bench.record(turn, "throughput-bulk-in-memory", "edges/s", in_memory);
    bench.record(turn, "log-bytes-per-edge", "bytes", bytes_per_edge);
    bench.record_against(turn, "bandwidth-bulk", "bytes/s", durable * bytes_per_edge, (BANDWIDTH, bandwidth));
    bench.record(Turn { engine: Engine::DISK, threads: 1, ..turn }, "bandwidth", "bytes/s", bandwidth);
    Ok(())
}

fn synced_graph(
    bench: &Bench<'_>,
    turn: Turn,
    kind: EngineKind,
    store: &TemporaryStore,
) -> Result<Graph, Failure> {
    let options = load::options(kind, turn.threads).durability(Durability::Sync);
    load::stored_graph(store, &options, bench.data.vertices())
}

/// The rate of putting the whole data set into an empty graph as one commit.
pub(super) fn bulk_rate(bench: &Bench<'_>, graph: &Graph) -> Result<f64, Failure> {
    let stream = bench.data.stream();
    let started = Instant::now();
    graph.ingest(LabelId::DEFAULT, stream)?;
    let elapsed = started.elapsed();
    load::check_edges(graph, bench.data)?;
    Ok(stream.len() as f64 / elapsed.as_secs_f64())
}

/// The bytes written to the log of a closed store.
fn log_bytes(store: &TemporaryStore) -> Result<u64, Failure> {
    let segments = hedgerow::store::manifest(store.path())?.segments;
    Ok(segments.iter().filter_map(|segment| segment.sealed).map(|sealed| sealed.end).sum())
}
