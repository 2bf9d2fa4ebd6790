//! Checks the properties of a store after a restart.

use crate::workload::{Promises, body, content, is_right, wall_clock};
use hedgerow_log::{Durability, Log, LogOptions, Recovered, StoreError, StoreFiles};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// The result of a check: the problem found, if any.
pub type Verdict = Result<(), String>;

fn open(files: &SimulatedFiles) -> Result<StoreFiles, StoreError> {
    StoreFiles::open(Arc::new(files.clone()))
}

/// Replays a store from the oldest timestamp on. Returns the result, and true if all commits are as
/// committed.
pub fn replay(store: &StoreFiles) -> Result<(Recovered, bool), StoreError> {
    let mut next = store.manifest().oldest_readable.next();
    let mut right = true;
    let recovered = store.replay(store.manifest().oldest_readable, |record, _| {
        right &= record.at == next && is_right(&record);
        next = record.at.next();
        Ok::<(), StoreError>(())
    })?;
    right &= recovered.last.next() == next;
    Ok((recovered, right))
}

/// Checks a store after a loss of power at `operation`.
pub fn verify(files: &SimulatedFiles, promises: &Promises, operation: u64) -> Verdict {
    let store = match open(files) {
        Ok(store) => store,
        Err(StoreError::NoStore { .. }) if promises.created.is_none_or(|at| operation <= at) => return Ok(()),
        Err(error) => return Err(format!("it cannot be opened: {error}")),
    };
    let durable = Promises::before(&promises.durable, operation);
    let checkpoint = Promises::before(&promises.checkpoints, operation);
    // Pruning that was begun may have been completed.
    let pruned = promises.needed.iter().filter(|(at, _)| *at < operation).map(|(_, needed)| *needed);
    let pruned = pruned.max().unwrap_or_default();
    if store.manifest().oldest_readable > pruned {
        return Err(format!("{} was pruned, {pruned} is needed", store.manifest().oldest_readable));
    }
    if store.manifest().checkpoint.map_or(CommitTimestamp::ZERO, |checkpoint| checkpoint.at) < checkpoint {
        return Err(format!("the checkpoint of {checkpoint} is lost"));
    }
    let position = position(&store)?;
    if !promises.may_be_at(position, operation) {
        return Err(format!("the stream is at {position:?}, where it was not set last"));
    }
    let (recovered, right) = replay(&store).map_err(|error| format!("it cannot be read: {error}"))?;
    match recovered.last {
        last if position > Some(last) => Err(format!("the stream has read {position:?}, the last is {last}")),
        _ if !right => Err("it contains what was never committed".to_owned()),
        last if last < durable => Err(format!("the last commit is {last}, {durable} was acknowledged")),
        last if last > promises.asked => Err(format!("{last} was never asked for")),
        _ => Ok(()),
    }
}

/// The position of the stream, whose state must be that of the position.
fn position(store: &StoreFiles) -> Result<Option<CommitTimestamp>, String> {
    let Some(stream) = store.manifest().streams.first() else { return Ok(None) };
    match stream.state[..] == content(stream.position) {
        true => Ok(Some(stream.position)),
        false => Err(format!("the state of the stream is not that of {}", stream.position)),
    }
}

/// Restarts the store, continues, and loses power in between, `depth` times recursively.
pub fn verify_recovery(
    files: &SimulatedFiles,
    promises: &Promises,
    operation: u64,
    depth: u32,
    seed: u64,
) -> Verdict {
    verify(files, promises, operation)?;
    let Ok(store) = open(files) else { return Ok(()) };
    let mut random = StdRng::seed_from_u64(seed);
    let (recovered, _) = replay(&store).map_err(|error| error.to_string())?;
    let begin = files.operations();
    let crash_at = begin + random.random_range(1..40);
    if depth > 0 {
        files.crash_at(crash_at);
    }
    // Earlier promises hold, and the recovered commits stay.
    let mut promises = promises.clone();
    let durable = Promises::before(&promises.durable, operation);
    promises.created = Some(0);
    promises.durable = vec![(0, durable)];
    promises.checkpoints = vec![(0, Promises::before(&promises.checkpoints, operation))];
    promises.needed.iter_mut().for_each(|(at, _)| *at = 0);
    promises.streams = vec![([0, 0], position(&store)?)];
    let worked = go_on(store, files, &recovered, &mut promises);
    if depth == 0 {
        worked.map_err(|error| format!("it does not continue: {error}"))?;
        let last = promises.asked;
        let found = files.after_crash(Survival::Nothing, seed);
        verify(&found, &promises, u64::MAX)?;
        let (recovered, _) =
            open(&found).and_then(|store| replay(&store)).map_err(|error| error.to_string())?;
        return if recovered.last == last { Ok(()) } else { Err("a clean close lost commits".to_owned()) };
    }
    let survival = Survival::ALL[random.random_range(0..Survival::ALL.len())];
    let found = files.after_crash(survival, random.random());
    verify_recovery(&found, &promises, crash_at + 1, depth - 1, random.random())
}

/// Opens a log, makes five commits, and closes it.
fn go_on(
    store: StoreFiles,
    files: &SimulatedFiles,
    recovered: &Recovered,
    promises: &mut Promises,
) -> Result<(), StoreError> {
    let options = LogOptions { durability: Durability::Sync, ..promises.options };
    let log = Log::start(store, recovered, options)?;
    promises.durable.push((files.operations(), recovered.last));
    promises.asked = promises.asked.max(recovered.last);
    let mut at = recovered.last;
    for _ in 0..5 {
        at = at.next();
        promises.asked = promises.asked.max(at);
        let appended = log.append(at, wall_clock(at), &mut body(at))?;
        log.settle(appended.at(), Durability::Sync)?;
        promises.durable.push((files.operations(), at));
    }
    log.close()?;
    promises.asked = at;
    Ok(())
}
