//! Invariants of a reopened graph, and their checks.

use super::workload::Promises;
use crate::oracle::Oracle;
use hedgerow::{CheckpointOptions, CommitTimestamp, Error, ErrorKind, Graph, Key, LabelId, WriteGraph};
use hedgerow_model::{EdgeValue, Operation};
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// The violated invariant.
pub type Verdict = Result<(), String>;

/// Opens the store after the power was lost at `operation`, and checks that it has a state of the
/// workload, with everything that was acknowledged. Returns `None` if the store did not exist yet.
pub fn find(
    files: &SimulatedFiles,
    promises: &Promises,
    operation: u64,
    engine: u64,
) -> Result<Option<Graph>, String> {
    let engines = promises.engines;
    let options = promises.options.clone().engine(engines[engine as usize % engines.len()]);
    let graph = match options.open_on(Arc::new(files.clone())) {
        Ok(graph) => graph,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match promises.created {
                Some(at) if at < operation => Err("the store is lost".to_owned()),
                _ => Ok(None),
            };
        }
        Err(error) => return Err(format!("it cannot be opened: {error}")),
    };
    let snapshot = graph.snapshot().map_err(|error| error.to_string())?;
    let (last, durable) = (snapshot.timestamp(), promises.before(operation));
    if last < durable {
        return Err(format!("the last commit is {last}, {durable} was acknowledged"));
    }
    match promises.states.get(last.0 as usize) {
        None => Err(format!("{last} was never asked for")),
        Some(state) if **state == Oracle::of_snapshot(&snapshot) => {
            drop(snapshot);
            Ok(Some(graph))
        }
        Some(_) => Err(format!("the state at {last} is not what was committed")),
    }
}

pub fn verify(files: &SimulatedFiles, promises: &Promises, operation: u64, engine: u64) -> Verdict {
    find(files, promises, operation, engine).map(drop)
}

/// Opens and uses the graph, and loses power while it does, `depth` times, each during the recovery
/// from the one before.
pub fn verify_recovery(
    files: &SimulatedFiles,
    promises: &Promises,
    operation: u64,
    depth: u32,
    seed: u64,
) -> Verdict {
    let mut random = StdRng::seed_from_u64(seed);
    // The state is the same whether the power is lost during the recovery or not.
    let found = files.copy();
    let Some(graph) = find(&found, promises, operation, random.random())? else { return Ok(()) };
    let last = graph.snapshot().map_err(|error| error.to_string())?.timestamp();
    drop(graph);
    let mut promises = promises.clone();
    // Until the graph is open, only earlier acknowledgments are promised.
    promises.renew(promises.before(operation), last);
    if depth > 0 {
        files.crash_at(files.operations() + random.random_range(1..60));
    }
    let worked = go_on(files, &mut promises);
    if depth == 0 {
        worked.map_err(|error| format!("it does not go on: {error}"))?;
        return verify(&files.after_crash(Survival::Nothing, seed), &promises, u64::MAX, random.random());
    }
    let survival = Survival::ALL[random.random_range(0..Survival::ALL.len())];
    let found = files.after_crash(survival, random.random());
    verify_recovery(&found, &promises, u64::MAX, depth - 1, random.random())
}

/// Opens the graph, commits, writes a checkpoint, and closes.
fn go_on(files: &SimulatedFiles, promises: &mut Promises) -> Result<(), Error> {
    let graph = promises.options.open_on(Arc::new(files.clone()))?;
    let found = graph.snapshot()?.timestamp();
    promises.promise(files.operations(), found);
    let key = |number: u64| match graph.key_kind() {
        hedgerow::KeyKind::String => Key::Text(number.to_string().into()),
        _ => Key::Number(number),
    };
    for number in 0..4 {
        let (source, destination) = (key(500 + found.0 + number), key(900));
        let mut state = promises.newest();
        let (from, to, value) = (source.clone(), destination.clone(), EdgeValue(0));
        state.apply(&Operation::PutEdge { label: LabelId(0), source: from, destination: to, value });
        promises.ask(state);
        let commit = graph.put_edge(LabelId::DEFAULT, &source, &destination)?;
        assert_eq!(commit.at, CommitTimestamp(promises.states.len() as u64 - 1));
        if graph.durability() == Some(hedgerow::Durability::Sync) {
            promises.promise(files.operations(), commit.at);
        }
        if number == 1 {
            let report = graph.checkpoint(&CheckpointOptions::new())?;
            promises.promise(files.operations(), report.timestamp);
        }
    }
    graph.close()?;
    promises.promise(files.operations(), CommitTimestamp(promises.states.len() as u64 - 1));
    Ok(())
}
