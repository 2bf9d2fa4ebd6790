//! A fifth of the edges deleted and put again: as streams, and by single calls.

use crate::bench::{Bench, Turn};
use crate::data_set::Entry;
use crate::expected::limited;
use crate::monitor::{Latencies, operate_on_each};
use crate::{Failure, Workload, load};
use hedgerow::{EngineKind, Error, Graph, LabelId, WriteGraph};
use std::time::Instant;

pub(super) static WORKLOAD: Workload = Workload {
    name: "update",
    description: "a fifth of the edges deleted and put again",
    contract_metric: "throughput",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |settings, entries| limited(entries, 1.0, settings.update_limit()),
    measure,
};

/// One edge in `SHARE` is deleted and put again.
const SHARE: usize = 5;

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for turn in bench.turns() {
        bench.begin(turn, "")?;
        match turn.engine.kind {
            None => {
                bench.record_build_rate(turn, "throughput")?;
                bench.record_build_rate(turn, "throughput-by-call")?;
            }
            Some(kind) => update(bench, turn, kind)?,
        }
    }
    Ok(())
}

fn update(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind) -> Result<(), Failure> {
    let graph = bench.loaded(turn.engine, kind)?.graph;
    let streamed = stream(bench, turn, &graph)?;
    let (by_call, latencies) = one_by_one(bench, turn, &graph)?;
    load::check_edges(&graph, bench.data)?;
    bench.record(turn, "throughput", "edges/s", streamed);
    bench.record(turn, "throughput-by-call", "edges/s", by_call);
    bench.record_latencies(turn, &latencies);
    Ok(())
}

/// The edges to update: the beginning of the stream, which is shuffled.
fn chosen<'b>(bench: &'b Bench<'_>) -> &'b [Entry] {
    let stream = bench.data.stream();
    &stream[..(stream.len() / SHARE).max(1)]
}

/// The rate of deletions and insertions in streams, each operation a transaction.
fn stream(bench: &Bench<'_>, turn: Turn, graph: &Graph) -> Result<f64, Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.update_limit());
    let started = Instant::now();
    let deadline = limit.map(|limit| started + limit / 2);
    let parts = load::on_threads(turn.threads, chosen(bench), |part| {
        let delete =
            |some: &[Entry]| Ok(graph.delete_each(LabelId::DEFAULT, some).map(drop).map_err(Error::from)?);
        let put =
            |some: &[Entry]| Ok(graph.put_each(LabelId::DEFAULT, some).map(drop).map_err(Error::from)?);
        let deleted = load::stream(part, cancel, deadline, delete)?;
        Ok(deleted + load::stream(&part[..deleted], cancel, None, put)?)
    })?;
    Ok(parts.iter().sum::<usize>() as f64 / started.elapsed().as_secs_f64())
}

/// The rate of deletions and insertions by single calls, and their latencies.
fn one_by_one(bench: &Bench<'_>, turn: Turn, graph: &Graph) -> Result<(f64, Latencies), Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.update_limit());
    let started = Instant::now();
    let deadline = limit.map(|limit| started + limit / 2);
    let parts = load::on_threads(turn.threads, chosen(bench), |part| {
        let mut latencies = Latencies::new();
        let deleted = operate_on_each(part, &mut latencies, cancel, deadline, |(source, destination)| {
            graph.delete_edge(LabelId::DEFAULT, source, destination)?;
            Ok(())
        })?;
        operate_on_each(&part[..deleted], &mut latencies, cancel, None, |(source, destination)| {
            graph.put_edge(LabelId::DEFAULT, source, destination)?;
            Ok(())
        })?;
        Ok((2 * deleted, latencies))
    })?;
    let elapsed = started.elapsed();
    let mut latencies = Latencies::new();
    parts.iter().for_each(|(_, part)| latencies.merge(part));
    let operations: usize = parts.iter().map(|(operations, _)| operations).sum();
    Ok((operations as f64 / elapsed.as_secs_f64(), latencies))
}
