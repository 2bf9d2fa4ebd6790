//! Edges put in batches of several sizes, by dense ids and by number keys: one writer, whose
//! commits may use several threads.

use super::insert;
use crate::bench::{Bench, Turn};
use crate::expected::limited;
use crate::{Failure, Workload, load};
use hedgerow::{EngineKind, KeyKind, LabelId, VertexId};
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "batch-insert",
    description: "edges put in batches of several sizes",
    contract_metric: "throughput-65536",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| {
        (settings.batch_sizes().len() + 1) as f64 * limited(entries, 2.0, settings.batch_limit())
    },
    measure,
};

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for batch in bench.settings.batch_sizes() {
        let metric = format!("throughput-{batch}");
        for turn in bench.turns() {
            bench.begin(turn, &format!(" of {batch}"))?;
            match turn.engine.kind {
                None => bench.record_build_rate(turn, &metric)?,
                Some(kind) => {
                    let rate = if batch == 1 {
                        one_by_one(bench, turn, kind)?
                    } else {
                        ingest(bench, turn, kind, batch)?
                    };
                    bench.record(turn, &*metric, "edges/s", rate);
                }
            }
        }
    }
    measure_number_keys(bench)
}

/// Batches of the contract metric's size, of edges between vertices with number keys, as an
/// application would put them.
fn measure_number_keys(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let metric = format!("throughput-numbers-{}", load::CONTRACT_BATCH);
    let edges = number_edges(bench);
    for turn in bench.turns() {
        bench.begin(turn, " of number keys")?;
        match turn.engine.kind {
            None => bench.record_build_rate(turn, &metric)?,
            Some(kind) => {
                let rate = ingest_numbers(bench, turn, kind, &edges, load::CONTRACT_BATCH)?;
                bench.record(turn, &*metric, "edges/s", rate);
            }
        }
    }
    Ok(())
}

/// The stream between number keys.
pub(super) fn number_edges(bench: &Bench<'_>) -> Vec<(u64, u64)> {
    bench.data.stream().iter().map(|(source, destination)| (key(*source), key(*destination))).collect()
}

/// The key of a vertex: a unique number, far from the keys of adjacent ids.
fn key(vertex: VertexId) -> u64 {
    u64::from(vertex.get()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The rate of ingesting edges in batches of this number.
pub(super) fn ingest_numbers(
    bench: &Bench<'_>,
    turn: Turn,
    kind: EngineKind,
    edges: &[(u64, u64)],
    batch: usize,
) -> Result<f64, Failure> {
    let options = load::options(kind, turn.threads).keys(KeyKind::Number);
    let graph = load::with_keys(options, (0..bench.data.vertices()).map(VertexId::new).map(key))?;
    let limit = bench.settings.batch_limit().unwrap_or(Duration::MAX);
    let (started, mut written) = (Instant::now(), 0);
    for batch in edges.chunks(batch) {
        graph.ingest(LabelId::DEFAULT, batch)?;
        written += batch.len();
        crate::watch::check(&bench.watch.cancel)?;
        if started.elapsed() > limit {
            break;
        }
    }
    let rate = written as f64 / started.elapsed().as_secs_f64();
    if written == edges.len() {
        load::check_edges(&graph, bench.data)?;
    }
    Ok(rate)
}

/// The rate of batches of one edge: the result of the insertion workload, if it ran.
fn one_by_one(bench: &Bench<'_>, turn: Turn, kind: EngineKind) -> Result<f64, Failure> {
    let measured = bench.recorded(&insert::WORKLOAD, turn, "throughput-by-call");
    if let Some(rate) = measured.and_then(|rates| rates.get(turn.repetition)) {
        return Ok(*rate);
    }
    let graph = load::empty_graph(kind, turn.threads, bench.data.vertices())?;
    Ok(insert::put_all(bench, &graph, turn.threads)?.0)
}

fn ingest(bench: &Bench<'_>, turn: Turn, kind: EngineKind, batch: usize) -> Result<f64, Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.batch_limit());
    let graph = load::empty_graph(kind, turn.threads, bench.data.vertices())?;
    load::rate_of_writing(&graph, bench.data, limit, cancel, |entries| {
        let started = Instant::now();
        load::ingest(&graph, entries, batch, cancel)?;
        Ok(started.elapsed())
    })
}
