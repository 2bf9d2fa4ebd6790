//! Commits of one edge into a store without waiting for the disk, as a stream and by single calls,
//! compared with memory.

use crate::bench::{Bench, Turn};
use crate::expected::limited;
use crate::monitor::Latencies;
use crate::{Failure, Workload, load};
use hedgerow::{Durability, EngineKind, Graph};
use std::time::Instant;

pub(super) static WORKLOAD: Workload = Workload {
    name: "buffered-insert",
    description: "commits of one edge into a store, without waiting for the disk",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: |settings, entries| limited(entries, 1.0, settings.insert_limit()),
    measure,
};

const IN_MEMORY: &str = "the same in memory";

/// The call by which edges are put.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Stream,
    ByCall,
}

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for way in [Way::Stream, Way::ByCall] {
        for (turn, kind) in bench.turns_written() {
            bench.begin(turn, if way == Way::Stream { " as a stream" } else { " by call" })?;
            insert(bench, turn, kind, way)?;
        }
    }
    Ok(())
}

fn insert(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind, way: Way) -> Result<(), Failure> {
    let ending = if way == Way::Stream { "" } else { "-by-call" };
    let vertices = bench.data.vertices();
    let in_memory = rate(bench, turn, &load::empty_graph(kind, turn.threads, vertices)?, way)?;
    for (durability, metric) in
        [(Durability::Buffered, "throughput"), (Durability::None, "throughput-unsynced")]
    {
        let store = bench.new_store()?;
        let options = load::options(kind, turn.threads).durability(durability);
        let rate = rate(bench, turn, &load::stored_graph(&store, &options, vertices)?, way)?;
        bench.record_against(turn, &format!("{metric}{ending}"), "edges/s", rate, (IN_MEMORY, in_memory));
    }
    bench.record(turn, format!("throughput-in-memory{ending}"), "edges/s", in_memory);
    Ok(())
}

fn rate(bench: &Bench<'_>, turn: Turn, graph: &Graph, way: Way) -> Result<f64, Failure> {
    let (cancel, limit) = (&bench.watch.cancel, bench.settings.insert_limit());
    load::rate_of_writing(graph, bench.data, limit, cancel, |entries| {
        // Flush unmeasured edges first, so that their wait is not measured.
        flush(graph)?;
        let started = Instant::now();
        match way {
            Way::Stream => load::put_streams(graph, entries, turn.threads, cancel)?,
            Way::ByCall => load::put_one_by_one(graph, entries, turn.threads, &mut Latencies::new(), cancel)?,
        };
        // Flush the measured edges, too; else the disk would not have to keep up.
        flush(graph)?;
        Ok(started.elapsed())
    })
}

/// Waits until all commits are on the disk, if the graph is in a store.
fn flush(graph: &Graph) -> Result<(), Failure> {
    match graph.durability() {
        Some(_) => Ok(graph.flush()?),
        None => Ok(()),
    }
}
