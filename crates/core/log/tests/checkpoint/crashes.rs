//! A failure while a checkpoint is written leaves the previous one intact or the new one complete.

use crate::damage::{file_of, some_graphs};
use crate::model::Graph;
use hedgerow_log::checkpoint::{CheckpointError, UNFINISHED};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::Topology;
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};

const SEEDS: u64 = 20;

/// Pairs of states of a graph: small ones, and a pair with several chunks each.
fn pairs() -> Vec<(Graph, Graph)> {
    let edges = |factor: u32| (0..200_000_u32).map(move |i| (i / 2000, i * factor % 30_011));
    let large = |factor| Graph::of_edges(Topology::Directed, edges(factor));
    let small = some_graphs(9);
    let small = small.windows(2).map(|pair| (pair[0].clone(), pair[1].clone()));
    small.chain([(large(1), large(7))]).collect()
}

/// The file of a state of a graph. Also reads it back.
fn bytes_of(graph: &Graph) -> Vec<u8> {
    let files = graph.written();
    assert!(Graph::read(&files, "checkpoint", 1).unwrap() == *graph);
    file_of(&files, "checkpoint")
}

#[test]
fn a_crash_at_any_operation_leaves_the_old_one_or_the_new_one() {
    let (mut old_found, mut new_found) = (0, 0);
    for (old, new) in pairs() {
        let (old_bytes, new_bytes) = (bytes_of(&old), bytes_of(&new));
        let files = old.written().copy();
        files.keep_crash_images();
        new.write_to(&files, "checkpoint").unwrap();
        for image in files.take_crash_images() {
            for survival in Survival::ALL {
                for seed in 0..SEEDS {
                    let found = image.after_crash(survival, seed);
                    let bytes = file_of(&found, "checkpoint");
                    let is_old = bytes == old_bytes;
                    assert!(
                        is_old || bytes == new_bytes,
                        "operation {} {survival:?} {seed}",
                        image.operation()
                    );
                    *if is_old { &mut old_found } else { &mut new_found } += 1;
                }
            }
        }
        let found = file_of(&files.after_crash(Survival::Nothing, 0), "checkpoint");
        assert!(found == new_bytes, "it is durable when it is written");
    }
    assert!(old_found > 10_000 && new_found > 500, "{old_found} old, {new_found} new");
}

/// A crash leaves at most an unfinished file, which the next checkpoint of that name replaces.
#[test]
fn unfinished_files_of_a_crash_are_harmless() {
    let (old, new) = (&some_graphs(2)[0], &some_graphs(2)[1]);
    let files = old.written().copy();
    files.keep_crash_images();
    new.write_to(&files, "checkpoint").unwrap();
    let mut left = 0;
    for image in files.take_crash_images() {
        for survival in Survival::ALL {
            let found = image.after_crash(survival, 3);
            let unfinished = format!("checkpoint{UNFINISHED}");
            left += u32::from(found.list().unwrap().contains(&unfinished));
            assert!(found.list().unwrap().iter().all(|name| *name == "checkpoint" || *name == unfinished));
            old.write_to(&found, "checkpoint").unwrap();
            assert_eq!(found.list().unwrap(), ["checkpoint"]);
            assert_eq!(file_of(&found, "checkpoint"), bytes_of(old));
        }
    }
    assert!(left > 5, "{left}");
}

#[test]
fn a_new_checkpoint_beside_another_is_complete_or_absent() {
    let (mut absent, mut complete) = (0, 0);
    for (old, new) in pairs() {
        let (old_bytes, new_bytes) = (bytes_of(&old), bytes_of(&new));
        let files = old.written().copy();
        files.keep_crash_images();
        new.write_to(&files, "next").unwrap();
        for image in files.take_crash_images() {
            for (survival, seed) in Survival::ALL.into_iter().zip(1..) {
                let found = image.after_crash(survival, seed);
                assert!(file_of(&found, "checkpoint") == old_bytes);
                match found.open("next", OpenMode::Read) {
                    Ok(file) => {
                        assert!(file.read_from(0).unwrap() == new_bytes, "operation {}", image.operation());
                        complete += 1;
                    }
                    Err(error) if error.is_not_found() => absent += 1,
                    Err(error) => panic!("operation {} {survival:?}: {error}", image.operation()),
                }
            }
        }
    }
    assert!(absent > 500 && complete > 20, "{absent} absent, {complete} complete");
}

/// Writes with a fault. Returns true if it was hit.
fn with_fault(whole: &SimulatedFiles, new: &Graph, [old_bytes, new_bytes]: [&[u8]; 2], fault: Fault) -> bool {
    let files = whole.copy();
    files.inject(fault);
    let result = new.write_to(&files, "checkpoint");
    let is_met = files.faults_met() > 0;
    files.heal();
    let found = file_of(&files, "checkpoint");
    match &result {
        Ok(_) => assert!(found == new_bytes && (!is_met || fault.kind == FaultKind::Short), "{fault:?}"),
        Err(CheckpointError::File(_)) => assert!(found == old_bytes || found == new_bytes),
        Err(error) => panic!("{error}"),
    }
    // After the failure, writing can be repeated.
    new.write_to(&files, "checkpoint").unwrap();
    assert!(file_of(&files.after_crash(Survival::Nothing, 1), "checkpoint") == new_bytes);
    is_met
}

#[test]
fn an_operation_that_fails_is_reported_and_costs_nothing() {
    let (mut faults, sample) = (0, Sample::of_run());
    for (old, new) in pairs() {
        let (whole, old_bytes, new_bytes) = (old.written(), bytes_of(&old), bytes_of(&new));
        let intact = whole.copy();
        new.write_to(&intact, "checkpoint").unwrap();
        for (search, kind) in (0..).zip(FaultKind::ALL) {
            for at in sample.take(1..=intact.operations(), search) {
                for sticky in [false, true] {
                    let fault = Fault { at, kind, sticky };
                    faults += u64::from(with_fault(&whole, &new, [&old_bytes, &new_bytes], fault));
                }
            }
        }
    }
    assert!(faults > sample.part_of(500), "{faults}");
}
