//! Failures of operations on the files, once or permanently.

use super::harness::{verify, verify_recovery};
use super::workload::Worker;
use crate::oracle::ENGINES;
use hedgerow::EngineKind;
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use rayon::prelude::*;

/// Lets operation number `at` of a workload fail. Returns `None` if the workload has fewer
/// operations.
fn fail_at(
    engines: &'static [EngineKind],
    seed: u64,
    steps: usize,
    fault: Fault,
) -> Result<Option<()>, String> {
    let files = SimulatedFiles::new(seed);
    files.inject(fault);
    let mut worker = Worker::on(engines, &files, seed);
    let worked = worker.run_and_close(steps);
    if files.faults_met() == 0 {
        return Ok(None);
    }
    match worked {
        Ok(()) if fault.kind != FaultKind::Short && !worker.untold => {
            return Err("a failure was not told".to_owned());
        }
        Err(error) if fault.kind == FaultKind::Short => {
            return Err(format!("a short transfer is no failure: {error}"));
        }
        Ok(()) => {}
        Err(_) => worker.check_after_failure(),
    }
    files.heal();
    let (promises, after) = (worker.promises.clone(), u64::MAX);
    drop(worker);
    // Either the power is lost at once, or the process restarts first.
    let survival = Survival::ALL[fault.at as usize % Survival::ALL.len()];
    verify(&files.after_crash(survival, seed), &promises, after, fault.at)?;
    verify_recovery(&files, &promises, after, 0, seed)?;
    Ok(Some(()))
}

/// Lets the sampled operations fail in turn. Returns the number of failures.
pub fn fail_operations(
    engines: &'static [EngineKind],
    seed: u64,
    steps: usize,
    kind: FaultKind,
    sticky: bool,
    sample: &Sample,
) -> Result<u64, String> {
    let files = SimulatedFiles::new(seed);
    let worked = Worker::on(engines, &files, seed).run_and_close(steps);
    worked.map_err(|error| format!("seed {seed}, without a fault: {error}"))?;
    let mut failed = 0;
    for at in sample.take(1..=files.operations(), seed) {
        let outcome = fail_at(engines, seed, steps, Fault { at, kind, sticky });
        let told = outcome.map_err(|what| format!("seed {seed}, {kind:?} at {at}, sticky {sticky}: {what}"));
        if told?.is_none() {
            break;
        }
        failed += 1;
    }
    Ok(failed)
}

#[test]
fn failures_are_told_and_lose_nothing() {
    let seeds = std::env::var("FAULT_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(3_u64);
    let sample = Sample::of_run();
    let cases =
        (0..seeds).flat_map(|seed| FaultKind::ALL.map(|kind| [(seed, kind, false), (seed, kind, true)]));
    let cases: Vec<_> = cases.flatten().collect();
    let failures: u64 = cases
        .into_par_iter()
        .map(|(seed, kind, sticky)| fail_operations(&ENGINES, seed, 40, kind, sticky, &sample).unwrap())
        .sum();
    eprintln!("{failures} failures");
    assert!(failures > sample.part_of(300 * seeds), "{failures} failures only");
}
