//! Edges put one by one, each in a transaction of its own.

use crate::executor::{Bench, Loaded, Turn, growth};
use crate::load;
use crate::monitor::{Latencies, resident_bytes};
use crate::{Engine, Failure};
use hedgerow::{EngineKind, Graph};
use std::time::Duration;

pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for turn in bench.turns() {
        bench.begin(turn, "")?;
        match turn.engine.kind {
            None => bench.record_build_rate(turn, "throughput")?,
            Some(kind) => insert(bench, turn, kind)?,
        }
    }
    Ok(())
}

fn insert(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind) -> Result<(), Failure> {
    // The last graph is the one that readers read: all of it is put edge by edge.
    let is_kept = turn.threads == bench.first_threads() && turn.repetition + 1 == bench.settings.repetitions;
    let limit = bench.settings.insert_limit().filter(|_| !is_kept);
    let before = resident_bytes();
    let graph = load::empty_graph(kind, turn.threads, bench.data.vertices())?;
    let (rate, latencies) = put_all(bench, &graph, turn.threads, limit)?;
    bench.record(turn, "throughput", "edges/s", rate);
    bench.record_latencies(turn, &latencies);
    if is_kept {
        load::reclaim_all(&graph);
        keep(bench, turn.engine, graph, before);
    }
    Ok(())
}

fn keep(bench: &mut Bench<'_>, engine: Engine, graph: Graph, before: Option<u64>) {
    bench.keep(engine, Loaded { graph, resident_growth: growth(before) });
}

/// Puts the whole stream; returns the rate, and the latencies of single transactions.
pub(super) fn put_all(
    bench: &Bench<'_>,
    graph: &Graph,
    threads: usize,
    limit: Option<Duration>,
) -> Result<(f64, Latencies), Failure> {
    let (cancel, mut latencies) = (&bench.watch.cancel, Latencies::new());
    let rate = load::rate_of_writing(graph, bench.data, limit, cancel, |entries| {
        load::put_one_by_one(graph, entries, threads, &mut latencies, cancel)
    })?;
    Ok((rate, latencies))
}
