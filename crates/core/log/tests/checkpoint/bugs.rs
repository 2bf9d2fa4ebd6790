//! Planted bugs are found, so the searches of the other tests can be trusted.

use crate::damage::{damage, file_of, files_of, some_graphs};
use crate::model::Graph;
use hedgerow_log::planted::{PlantedBug, plant};
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Number of seeds within which every bug is found.
const SEEDS: u64 = 1000;

/// Returns true if the harness finds a problem with a seed while `bug` is planted.
fn is_found(bug: Option<PlantedBug>, seed: u64) -> bool {
    let graphs = some_graphs(2);
    let (old, new) = (&graphs[0], &graphs[1]);
    let old_files = old.written();
    plant(bug);
    // Replaces the checkpoint, or writes a second one.
    let name = ["checkpoint", "next"][seed as usize % 2];
    let is_wrong = crash_shows(&old_files.copy(), old, new, name, seed)
        || damage_shows(&file_of(&old_files, "checkpoint"), old, seed);
    plant(None);
    is_wrong
}

/// Returns true unless the old or the new checkpoint exists after a crash, and the new one after
/// writing.
fn crash_shows(files: &SimulatedFiles, old: &Graph, new: &Graph, name: &str, seed: u64) -> bool {
    files.keep_crash_images();
    new.write_to(files, name).unwrap();
    let images = files.take_crash_images();
    let survival = Survival::ALL[(seed / 2) as usize % Survival::ALL.len()];
    let image = &images[seed as usize % images.len()];
    let found = Graph::read(&image.after_crash(survival, seed), "checkpoint", 1);
    let durable = Graph::read(&files.after_crash(survival, seed), name, 1);
    !(found.is_ok_and(|read| read == *old || read == *new) && durable.is_ok_and(|read| read == *new))
}

/// Returns true if a damaged file is read as another graph.
fn damage_shows(file: &[u8], graph: &Graph, seed: u64) -> bool {
    let mut bytes = file.to_vec();
    damage(&mut bytes, 64, &mut StdRng::seed_from_u64(seed));
    Graph::read(&files_of(&bytes), "checkpoint", 1).is_ok_and(|read| read != *graph)
}

#[test]
fn every_planted_bug_is_found() {
    for bug in PlantedBug::OF_CHECKPOINTS {
        let found = (0..SEEDS).find(|seed| is_found(Some(bug), *seed));
        assert!(found.is_some(), "{bug:?} is not found");
    }
}

#[test]
fn without_a_bug_nothing_is_found() {
    assert_eq!((0..SEEDS).find(|seed| is_found(None, *seed)), None);
}
