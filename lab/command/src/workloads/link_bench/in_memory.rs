//! Clients of a graph in memory.

use super::compaction;
use super::setup::{AFRESH, CLIENTS, FEW, ITS_MIX, Setup, bytes, record_latencies};
use crate::link_bench::{LinkStore, options};
use hedgerow::{EngineKind, Graph};
use hedgerow_driver::load::reclaim_all;
use hedgerow_driver::{Bench, Engine, Failure, Turn};

/// Percentages of writes that are measured in addition to the mix.
const WRITES: [u32; 4] = [25, 50, 75, 100];

const UNSERVED: &str = "the same requests, not served";
const UNHELD: &str = "without a snapshot";

/// A graph, and its memory before the first request.
struct Loaded {
    engine: Engine,
    store: LinkStore,
    bytes: f64,
}

pub(super) fn measure(bench: &mut Bench<'_>, setups: &[Setup<'_>]) -> Result<(), Failure> {
    let mut all = Vec::new();
    for engine in bench.engines() {
        let Some(kind) = engine.kind else { continue };
        bench.begin(Turn { threads: 1, repetition: 0, engine }, ", loading")?;
        let store = setups[0].load(Graph::in_memory(options(kind))?)?;
        let bytes = bytes(&store);
        all.push(Loaded { engine, store, bytes });
    }
    for (turn, _) in bench.turns_of_written(1) {
        let Some(loaded) = all.iter_mut().find(|loaded| loaded.engine == turn.engine) else { continue };
        for setup in setups {
            bench.go_on_with(setup.workload);
            measure_once(bench, setup, turn, loaded)?;
        }
    }
    Ok(())
}

fn measure_once(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    loaded: &mut Loaded,
) -> Result<(), Failure> {
    clients(bench, setup, turn, &mut loaded.store)?;
    let by_few = Turn { threads: FEW, ..turn };
    setup.ask_for_short_lists(bench, by_few, &mut loaded.store, "")?;
    if loaded.engine.kind == Some(EngineKind::Tel) {
        setup.ask_for_lists_by_commit(bench, by_few, &mut loaded.store)?;
    }
    if setup.is_whole {
        let rate = bench.recorded_now(by_few, "throughput");
        other_shares_of_writes(bench, setup, by_few, &mut loaded.store, rate)?;
        beside_snapshot(bench, setup, by_few, &mut loaded.store, rate)?;
    }
    reclaim_all(loaded.store.graph())?;
    bench.record(turn, "memory", "bytes", loaded.bytes);
    let Some(kind) = loaded.engine.kind else { return Ok(()) };
    let afresh = setup.bytes_afresh(&loaded.store, kind)?;
    bench.record(turn, "memory-afresh", "bytes", afresh);
    bench.record_against(turn, "memory-after", "bytes", bytes(&loaded.store), (AFRESH, afresh));
    if setup.is_whole { compaction::measure(bench, setup, turn, kind) } else { Ok(()) }
}

/// Runs the mix with each number of clients.
fn clients(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    store: &mut LinkStore,
) -> Result<(), Failure> {
    for clients in CLIENTS {
        let turn = Turn { threads: clients, ..turn };
        bench.begin(turn, " in memory")?;
        let unserved = setup.unserved_rate(clients)?;
        let measured = setup.ask(store, &setup.mix, clients)?;
        bench.record_against(turn, "throughput", "requests/s", measured.rate(), (UNSERVED, unserved));
        record_latencies(bench, turn, "", &measured);
    }
    Ok(())
}

fn other_shares_of_writes(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    store: &mut LinkStore,
    rate: f64,
) -> Result<(), Failure> {
    for percent in WRITES {
        bench.begin(turn, &format!(" in memory, {percent} % writes"))?;
        let mix = setup.mix.with_writes(f64::from(percent) / 100.0);
        let measured = setup.ask(store, &mix.expect("a percentage is a share"), turn.threads)?;
        let metric = format!("throughput-writes-{percent}");
        bench.record_against(turn, &metric, "requests/s", measured.rate(), (ITS_MIX, rate));
    }
    Ok(())
}

/// Runs the mix while a snapshot is held from before the first request to after the last one, so
/// that replaced data cannot be freed.
fn beside_snapshot(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    store: &mut LinkStore,
    rate: f64,
) -> Result<(), Failure> {
    bench.begin(turn, " in memory, beside a snapshot")?;
    reclaim_all(store.graph())?;
    let before = bytes(store);
    let snapshot = store.graph().snapshot()?;
    let links = snapshot.edge_count();
    let measured = setup.ask(store, &setup.mix, turn.threads)?;
    bench.record_against(turn, "throughput-snapshot-held", "requests/s", measured.rate(), (UNHELD, rate));
    bench.record_against(
        turn,
        "memory-snapshot-held",
        "bytes",
        bytes(store),
        ("before the snapshot", before),
    );
    let found = snapshot.edge_count();
    // The bounds may have narrowed.
    if found.at_least() <= links.at_most() && links.at_least() <= found.at_most() {
        return Ok(());
    }
    let what = "the number of links in a snapshot that was held".to_owned();
    Err(Failure::WrongResult { what, found: found.to_string(), expected: links.to_string() })
}
