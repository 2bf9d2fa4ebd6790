//! Clients of a graph in a store.

use super::setup::{CLIENTS, FEW, Setup, record_latencies};
use crate::link_bench::{LinkStore, options};
use hedgerow::{CheckpointOptions, Durability, Graph};
use hedgerow_driver::{Bench, Engine, Failure, TemporaryStore, Turn};

const IN_MEMORY: &str = "the same in memory";
const UNWRITTEN: &str = "without a checkpoint";

/// A graph in a store. It is closed before its folder is removed.
struct Stored {
    engine: Engine,
    store: LinkStore,
    place: TemporaryStore,
}

pub(super) fn measure(bench: &mut Bench<'_>, setups: &[Setup<'_>]) -> Result<(), Failure> {
    let mut all = Vec::new();
    bench.go_on_with(setups[0].workload);
    for engine in bench.engines() {
        let Some(kind) = engine.kind else { continue };
        bench.begin(Turn { threads: 1, repetition: 0, engine }, ", loading a store")?;
        let place = bench.new_store()?;
        let graph = options(kind).durability(Durability::Buffered).create(place.path())?;
        let store = setups[0].load(graph)?;
        store.graph().checkpoint(&checkpoint_options(&setups[0]))?;
        all.push(Stored { engine, store, place });
    }
    in_turns(bench, setups, &mut all, "buffered")?;
    let mut all = all.into_iter().map(synced).collect::<Result<Vec<_>, _>>()?;
    in_turns(bench, setups, &mut all, "sync")
}

fn in_turns(
    bench: &mut Bench<'_>,
    setups: &[Setup<'_>],
    all: &mut [Stored],
    durability: &str,
) -> Result<(), Failure> {
    for (turn, _) in bench.turns_of_written(1) {
        let Some(stored) = all.iter_mut().find(|stored| stored.engine == turn.engine) else { continue };
        for setup in setups {
            bench.go_on_with(setup.workload);
            clients(bench, setup, turn, &mut stored.store, durability)?;
            if setup.is_whole && durability == "buffered" {
                beside_checkpoint(bench, setup, Turn { threads: FEW, ..turn }, &mut stored.store)?;
            }
        }
    }
    Ok(())
}

/// Reopens the store with commits that wait for the disk.
fn synced(stored: Stored) -> Result<Stored, Failure> {
    let Stored { engine, store, place } = stored;
    let options = hedgerow::GraphOptions::new().durability(Durability::Sync);
    let store = store.reopened(place.path(), &options)?;
    Ok(Stored { engine, store, place })
}

/// Runs the mix with each number of clients.
fn clients(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    store: &mut LinkStore,
    durability: &str,
) -> Result<(), Failure> {
    for clients in CLIENTS {
        let turn = Turn { threads: clients, ..turn };
        bench.begin(turn, &format!(" in a store, {durability}"))?;
        let measured = setup.ask(store, &setup.mix, clients)?;
        let baseline = (IN_MEMORY, bench.recorded_now(turn, "throughput"));
        let metric = format!("throughput-{durability}");
        bench.record_against(turn, &metric, "requests/s", measured.rate(), baseline);
        record_latencies(bench, turn, &format!("-{durability}"), &measured);
    }
    let turn = Turn { threads: FEW, ..turn };
    setup.ask_for_short_lists(bench, turn, store, &format!("-{durability}"))
}

/// Runs the mix during a checkpoint.
fn beside_checkpoint(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    store: &mut LinkStore,
) -> Result<(), Failure> {
    bench.begin(turn, " in a store, beside a checkpoint")?;
    let checkpoint = |graph: &Graph| Ok(graph.checkpoint(&checkpoint_options(setup))?);
    let (measured, _) = setup.ask_beside(store, &setup.mix, turn.threads, checkpoint)?;
    let baseline = (UNWRITTEN, bench.recorded_now(turn, "throughput-buffered"));
    bench.record_against(turn, "throughput-checkpoint", "requests/s", measured.rate(), baseline);
    Ok(())
}

fn checkpoint_options(setup: &Setup<'_>) -> CheckpointOptions {
    CheckpointOptions::new().cancelled_by(setup.cancel)
}
