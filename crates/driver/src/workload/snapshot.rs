//! Snapshots opened and closed, on the loaded graph and on an empty one.

use crate::bench::Bench;
use crate::{Failure, Workload, load};
use hedgerow::Graph;
use std::time::Instant;

pub(super) static WORKLOAD: Workload = Workload {
    name: "snapshot",
    description: "snapshots opened and closed",
    contract_metric: "time",
    is_default: true,
    is_on_store: false,
    scales: true,
    seconds: |_, _| 0.1,
    measure,
};

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    // One thread opens snapshots; other threads would only interfere.
    for turn in bench.turns_of(1) {
        let Some(kind) = turn.engine.kind else { continue };
        bench.begin(turn, "")?;
        let loaded = bench.loaded(turn.engine, kind)?.graph;
        let empty = load::empty_graph(kind, 1, 0)?;
        let count = bench.settings.snapshots();
        let on_empty = nanoseconds(&empty, count)?;
        let on_loaded = nanoseconds(&loaded, count)?;
        bench.record_against(turn, "time", "ns", on_loaded, ("the same on an empty graph", on_empty));
    }
    Ok(())
}

/// The time to open and close a snapshot, in nanoseconds.
fn nanoseconds(graph: &Graph, count: u32) -> Result<f64, Failure> {
    let started = Instant::now();
    for _ in 0..count {
        drop(graph.snapshot()?);
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(count))
}
