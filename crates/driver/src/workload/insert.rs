//! Edges put one by one, each in a transaction of its own.

use crate::executor::{Bench, Turn};
use crate::monitor::Latencies;
use crate::{Failure, load};
use hedgerow::{EngineKind, Graph};

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
    let graph = load::empty_graph(kind, turn.threads, bench.data.vertices())?;
    let (rate, latencies) = put_all(bench, &graph, turn.threads)?;
    bench.record(turn, "throughput", "edges/s", rate);
    bench.record_latencies(turn, &latencies);
    Ok(())
}

/// Puts the whole stream; returns the rate, and the latencies of single transactions.
pub(super) fn put_all(bench: &Bench<'_>, graph: &Graph, threads: usize) -> Result<(f64, Latencies), Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.insert_limit());
    let mut latencies = Latencies::new();
    let rate = load::rate_of_writing(graph, bench.data, limit, cancel, |entries| {
        load::put_one_by_one(graph, entries, threads, &mut latencies, cancel)
    })?;
    Ok((rate, latencies))
}
