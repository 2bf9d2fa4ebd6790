//! Losses of power at operations on the files.

use super::harness::{Verdict, verify, verify_recovery};
use super::workload::{Promises, Worker};
use crate::oracle::ENGINES;
use hedgerow::EngineKind;
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use rayon::prelude::*;

/// Loses power at the sampled operations of a workload, with every kind of survival. Returns the
/// number of states checked.
pub fn lose_power(seed: u64, steps: usize, sample: &Sample) -> Result<u64, String> {
    lose_power_on(&ENGINES, seed, steps, sample)
}

/// Runs the workload on these engines.
pub fn lose_power_on(
    engines: &'static [EngineKind],
    seed: u64,
    steps: usize,
    sample: &Sample,
) -> Result<u64, String> {
    let files = SimulatedFiles::new(seed);
    files.keep_crash_images();
    let mut worker = Worker::on(engines, &files, seed);
    worker.run(steps).map_err(|error| format!("seed {seed}, without a fault: {error}"))?;
    let mut states = 0;
    for image in sample.take(files.take_crash_images(), seed) {
        for survival in Survival::ALL {
            let case = seed * 1_000_003 + image.operation() * 101 + states;
            let found = image.after_crash(survival, case);
            let verdict = check(&found, &worker.promises, image.operation(), case);
            verdict.map_err(|what| {
                format!("seed {seed}, {survival:?} at operation {}, case {case}: {what}", image.operation())
            })?;
            states += 1;
        }
    }
    Ok(states)
}

/// Now and then the next recovery loses power, too, up to three times.
fn check(found: &SimulatedFiles, promises: &Promises, operation: u64, case: u64) -> Verdict {
    match case % 8 {
        0 => verify_recovery(found, promises, operation, (case / 8 % 4) as u32, case),
        _ => verify(found, promises, operation, case / 8),
    }
}

#[test]
fn what_is_acknowledged_survives_and_nothing_else_appears() {
    let seeds = std::env::var("CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(8);
    let sample = Sample::of_run();
    let states: u64 = (0..seeds).into_par_iter().map(|seed| lose_power(seed, 500, &sample).unwrap()).sum();
    eprintln!("{states} states after a loss of power");
    assert!(states > sample.part_of(3000 * seeds), "{states} states only");
}

#[test]
fn the_workload_does_what_it_is_for() {
    let files = SimulatedFiles::new(3);
    let mut worker = Worker::new(&files, 3);
    worker.run_and_close(500).unwrap();
    assert!(worker.promises.states.len() > 400 && worker.checkpoints > 5 && worker.openings > 2);
}
