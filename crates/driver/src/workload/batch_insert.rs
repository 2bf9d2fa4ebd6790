//! Edges put in batches of several sizes: one writer, whose commits may use several threads.

use super::insert;
use crate::executor::{Bench, Turn};
use crate::{Failure, Workload, load};
use hedgerow::EngineKind;
use std::time::Instant;

pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
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
    Ok(())
}

/// The rate of batches of one edge: the result of the insertion workload, if it ran.
fn one_by_one(bench: &Bench<'_>, turn: Turn, kind: EngineKind) -> Result<f64, Failure> {
    let measured = bench.recorded(Workload::Insert, turn, "throughput-by-call");
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
