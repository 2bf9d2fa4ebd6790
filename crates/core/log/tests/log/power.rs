//! The power fails at every operation on the files.

use crate::harness::{Verdict, verify, verify_recovery};
use crate::workload::{Sessions, Worker};
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use rayon::prelude::*;

/// Loses power at the sampled operations of a workload, with every kind of survival. Returns the
/// number of states checked.
pub fn lose_power(
    seed: u64,
    sessions: Sessions,
    steps: usize,
    rounds: u64,
    sample: &Sample,
) -> Result<u64, String> {
    let files = SimulatedFiles::new(seed);
    files.keep_crash_images();
    let mut worker = Worker::new(&files, seed, sessions);
    worker.run(steps).map_err(|error| format!("without a fault: {error}"))?;
    let mut states = 0;
    for image in sample.take(files.take_crash_images(), seed) {
        for survival in Survival::ALL {
            // Exactly one state keeps nothing, and exactly one keeps everything.
            let is_one = matches!(survival, Survival::Nothing | Survival::Everything);
            for round in 0..if is_one { 1 } else { rounds } {
                let case = seed * 1_000_003 + image.operation() * 101 + round;
                let found = image.after_crash(survival, case);
                let verdict = check(&found, &worker, image.operation(), case);
                verdict.map_err(|what| {
                    format!(
                        "seed {seed}, {survival:?} at operation {}, case {case}: {what}",
                        image.operation()
                    )
                })?;
                states += 1;
            }
        }
    }
    Ok(states)
}

/// Checks a store after a loss of power. Sometimes the next start loses power, too.
fn check(found: &SimulatedFiles, worker: &Worker<'_>, operation: u64, case: u64) -> Verdict {
    match case % 4 {
        0 => verify_recovery(found, &worker.promises, operation, (case / 4 % 4) as u32, case),
        _ => verify(found, &worker.promises, operation),
    }
}

#[test]
fn short_sessions_join_segments() {
    let files = SimulatedFiles::new(0);
    let mut worker = Worker::new(&files, 0, Sessions::Short);
    worker.run(60).unwrap();
    assert!(worker.joined > 0);
}

#[test]
fn what_is_acknowledged_survives_and_nothing_else_appears() {
    let seeds = std::env::var("CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(20);
    let sample = Sample::of_run();
    for (sessions, steps, rounds) in [(Sessions::Long, 120, 3), (Sessions::Short, 40, 1)] {
        let lose_power = |seed| lose_power(seed, sessions, steps, rounds, &sample).unwrap();
        let states: u64 = (0..seeds).into_par_iter().map(lose_power).sum();
        eprintln!("{states} states after a loss of power, {sessions:?} sessions");
        assert!(states > sample.part_of(1000 * seeds), "{states} states only");
    }
}
