//! Opening of stores: the rates of loading a checkpoint and of replaying logs, compared with bulk
//! ingest in memory.

use super::durable_ingest::bulk_rate;
use crate::bench::{Bench, Turn};
use crate::expected::seconds;
use crate::stores::TemporaryStore;
use crate::{Failure, Workload, load};
use hedgerow::{CheckpointOptions, Durability, EngineKind, Error, LabelId};
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "recovery",
    description: "stores opened: a checkpoint loaded, a log replayed",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: true,
    seconds: |settings, entries| seconds(entries, 1.0) + seconds(entries.min(settings.replayed_edges()), 0.5),
    measure,
};

const BULK: &str = "bulk ingest in memory";

/// The contents of a store from which the graph is restored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Checkpoint,
    /// A log of batches.
    Batches,
    /// A log of commits of one edge.
    Single,
}

/// A store to open repeatedly.
struct Prepared {
    kept: Kept,
    store: TemporaryStore,
    edges: usize,
}

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for engine in bench.engines() {
        let Some(kind) = engine.kind else { continue };
        // The same stores are opened with every number of threads.
        let turn = Turn { threads: bench.first_threads(), repetition: 0, engine };
        let mut stores = Vec::new();
        for kept in [Kept::Checkpoint, Kept::Batches, Kept::Single] {
            bench.begin(turn, &format!(", making a store with {}", kept.name()))?;
            stores.push(prepare(bench, kind, kept)?);
        }
        for turn in bench.turns().into_iter().filter(|turn| turn.engine == engine) {
            recover(bench, turn, kind, &stores)?;
        }
    }
    Ok(())
}

impl Kept {
    fn name(self) -> &'static str {
        match self {
            Kept::Checkpoint => "a checkpoint",
            Kept::Batches => "a log of batches",
            Kept::Single => "a log of single edges",
        }
    }

    /// The suffix of the metrics.
    fn ending(self) -> &'static str {
        match self {
            Kept::Checkpoint => "",
            Kept::Batches => "-log-65536",
            Kept::Single => "-log-1",
        }
    }
}

fn prepare(bench: &Bench<'_>, kind: EngineKind, kept: Kept) -> Result<Prepared, Failure> {
    let (store, cancel) = (bench.new_store()?, &bench.watch.cancel);
    let options = load::options(kind, 1).durability(Durability::None);
    let graph = load::stored_graph(&store, &options, bench.data.vertices())?;
    let mut entries = bench.data.stream();
    match kept {
        Kept::Checkpoint => {
            load::ingest(&graph, entries, load::LOAD_BATCH, cancel)?;
            graph.checkpoint(&CheckpointOptions::new().cancelled_by(cancel))?;
        }
        Kept::Batches => load::ingest(&graph, entries, load::CONTRACT_BATCH, cancel)?,
        Kept::Single => {
            entries = &entries[..entries.len().min(bench.settings.replayed_edges())];
            let put =
                |some: &[_]| Ok(graph.put_each(LabelId::DEFAULT, some).map(drop).map_err(Error::from)?);
            load::stream(entries, cancel, None, put)?;
        }
    }
    graph.close()?;
    Ok(Prepared { kept, store, edges: entries.len() })
}

fn recover(bench: &mut Bench<'_>, turn: Turn, kind: EngineKind, stores: &[Prepared]) -> Result<(), Failure> {
    bench.begin(turn, "")?;
    let bulk = bulk_rate(bench, &load::empty_graph(kind, turn.threads, bench.data.vertices())?)?;
    for prepared in stores {
        bench.begin(turn, &format!(" of {}", prepared.kept.name()))?;
        let (recovering, opening) = open(turn, kind, prepared)?;
        let ending = prepared.kept.ending();
        let rate = prepared.edges as f64 / recovering.as_secs_f64();
        bench.record_against(turn, &format!("throughput{ending}"), "edges/s", rate, (BULK, bulk));
        bench.record(turn, format!("time{ending}"), "s", opening.as_secs_f64());
    }
    bench.record(turn, "throughput-bulk-in-memory", "edges/s", bulk);
    Ok(())
}

/// The time to restore the graph, and the total time of opening, with a new segment of the log.
fn open(turn: Turn, kind: EngineKind, prepared: &Prepared) -> Result<(Duration, Duration), Failure> {
    let options = load::options(kind, turn.threads).durability(Durability::None);
    let started = Instant::now();
    let graph = options.open(prepared.store.path())?;
    let elapsed = started.elapsed();
    load::check_edge_count(&graph, prepared.edges)?;
    let recovery = graph.recovery().expect("an opened graph has a recovery report");
    let recovering = match prepared.kept {
        Kept::Checkpoint => recovery.loading,
        Kept::Batches | Kept::Single => recovery.replaying,
    };
    Ok((recovering, elapsed))
}
