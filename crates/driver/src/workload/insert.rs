//! Edges put one by one, each in a transaction of its own: as a stream, and by single calls.

use crate::bench::{Bench, Turn};
use crate::expected::limited;
use crate::monitor::Latencies;
use crate::{Failure, Workload, load};
use hedgerow::{EngineKind, Graph};

pub(super) static WORKLOAD: Workload = Workload {
    name: "insert",
    description: "edges put one by one, each in a transaction of its own",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| limited(entries, 1.0, settings.insert_limit()),
    measure,
};

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for turn in bench.turns() {
        bench.begin(turn, "")?;
        match turn.engine.kind {
            None => {
                bench.record_build_rate(turn, "throughput")?;
                bench.record_build_rate(turn, "throughput-by-call")?;
            }
            Some(kind) => insert(bench, turn, kind)?,
        }
    }
    Ok(())
}

fn insert(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind) -> Result<(), Failure> {
    let empty = || load::empty_graph(kind, turn.threads, bench.data.vertices());
    let streamed = put_streams(bench, &empty()?, turn.threads)?;
    let (by_call, latencies) = put_all(bench, &empty()?, turn.threads)?;
    bench.record(turn, "throughput", "edges/s", streamed);
    bench.record(turn, "throughput-by-call", "edges/s", by_call);
    bench.record_latencies(turn, &latencies);
    Ok(())
}

/// Puts all edges as streams; returns the rate.
fn put_streams(bench: &Bench<'_>, graph: &Graph, threads: usize) -> Result<f64, Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.insert_limit());
    load::rate_of_writing(graph, bench.data, limit, cancel, |entries| {
        load::put_streams(graph, entries, threads, cancel)
    })
}

/// Puts all edges by single calls; returns the rate, and the latencies of single transactions.
pub(super) fn put_all(bench: &Bench<'_>, graph: &Graph, threads: usize) -> Result<(f64, Latencies), Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.insert_limit());
    let mut latencies = Latencies::new();
    let rate = load::rate_of_writing(graph, bench.data, limit, cancel, |entries| {
        load::put_one_by_one(graph, entries, threads, &mut latencies, cancel)
    })?;
    Ok((rate, latencies))
}
