//! Every operation on the files fails, once or permanently.

use crate::harness::{verify, verify_recovery};
use crate::workload::{Sessions, Worker};
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use rayon::prelude::*;

/// Fails one operation of a workload. Returns `None` if the workload has fewer operations.
pub fn fail_at(seed: u64, sessions: Sessions, steps: usize, fault: Fault) -> Result<Option<()>, String> {
    let files = SimulatedFiles::new(seed);
    files.inject(fault);
    let mut worker = Worker::new(&files, seed, sessions);
    let worked = worker.run_and_close(steps);
    if files.faults_met() == 0 {
        return Ok(None);
    }
    if worked.is_ok() && fault.kind != FaultKind::Short && !worker.promises.untold {
        return Err("a failure was not reported".to_owned());
    }
    if fault.kind == FaultKind::Short {
        worked.map_err(|error| format!("a short transfer is no failure: {error}"))?;
    }
    files.heal();
    let (promises, after) = (worker.promises.clone(), u64::MAX);
    drop(worker);
    // The power fails at once, or the process restarts first and the power fails later.
    for survival in Survival::ALL {
        verify(&files.after_crash(survival, seed), &promises, after)?;
    }
    verify_recovery(&files, &promises, after, 0, seed)?;
    Ok(Some(()))
}

/// Fails the sampled operations in turn. Returns the number of failures.
pub fn fail_operations(
    seed: u64,
    sessions: Sessions,
    steps: usize,
    kind: FaultKind,
    sticky: bool,
    sample: &Sample,
) -> Result<u64, String> {
    let files = SimulatedFiles::new(seed);
    Worker::new(&files, seed, sessions)
        .run_and_close(steps)
        .map_err(|error| format!("without a fault: {error}"))?;
    let mut failed = 0;
    for at in sample.take(1..=files.operations(), seed) {
        let outcome = fail_at(seed, sessions, steps, Fault { at, kind, sticky });
        let outcome =
            outcome.map_err(|what| format!("seed {seed}, {kind:?} at {at}, sticky {sticky}: {what}"))?;
        if outcome.is_none() {
            break;
        }
        failed += 1;
    }
    Ok(failed)
}

#[test]
fn failures_are_reported_and_lose_nothing() {
    let seeds = std::env::var("FAULT_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(4_u64);
    let sample = Sample::of_run();
    let cases =
        (0..seeds).flat_map(|seed| FaultKind::ALL.map(|kind| [(seed, kind, false), (seed, kind, true)]));
    let cases: Vec<_> = cases.flatten().collect();
    let failures: u64 = cases
        .into_par_iter()
        .map(|(seed, kind, sticky)| {
            let fail =
                |sessions, steps| fail_operations(seed, sessions, steps, kind, sticky, &sample).unwrap();
            fail(Sessions::Long, 60) + fail(Sessions::Short, 40)
        })
        .sum();
    eprintln!("{failures} failures");
    assert!(failures > sample.part_of(200 * seeds), "{failures} failures only");
}
