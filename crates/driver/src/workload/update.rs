//! A fifth of the edges deleted and put again.

use crate::executor::{Bench, Turn};
use crate::monitor::{Latencies, operate_on_each};
use crate::{Failure, load};
use hedgerow::EngineKind;
use std::time::Instant;

/// One edge in so many is deleted and put again.
const SHARE: usize = 5;

pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for turn in bench.turns() {
        bench.begin(turn, "")?;
        match turn.engine.kind {
            None => bench.record_build_rate(turn, "throughput")?,
            Some(kind) => update(bench, turn, kind)?,
        }
    }
    Ok(())
}

fn update(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind) -> Result<(), Failure> {
    let graph = bench.loaded(turn.engine, kind)?.graph;
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.update_limit());
    let stream = bench.data.stream();
    // The stream is shuffled, so its beginning is as good a sample as any.
    let chosen = &stream[..(stream.len() / SHARE).max(1)];
    let started = Instant::now();
    let deadline = limit.map(|limit| started + limit / 2);
    let parts = load::on_threads(turn.threads, chosen, |part| {
        let mut latencies = Latencies::new();
        let deleted = operate_on_each(part, &mut latencies, cancel, deadline, |(source, destination)| {
            graph.delete_edge(source, destination)?;
            Ok(())
        })?;
        operate_on_each(&part[..deleted], &mut latencies, cancel, None, |(source, destination)| {
            graph.put_edge(source, destination)?;
            Ok(())
        })?;
        Ok((2 * deleted, latencies))
    })?;
    let elapsed = started.elapsed();
    let operations: usize = parts.iter().map(|(operations, _)| operations).sum();
    let mut latencies = Latencies::new();
    parts.iter().for_each(|(_, part)| latencies.merge(part));
    load::check_edges(&graph, bench.data)?;
    bench.record(turn, "throughput", "edges/s", operations as f64 / elapsed.as_secs_f64());
    bench.record_latencies(turn, &latencies);
    Ok(())
}
