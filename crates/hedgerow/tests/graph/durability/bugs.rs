//! Losses of power find planted bugs of the log and of checkpoints, within some seeds.

use super::power::lose_power;
use hedgerow_log::planted::{PlantedBug, plant};
use hedgerow_testing::sample::Sample;
use std::panic::{AssertUnwindSafe, catch_unwind};

const BUGS: [PlantedBug; 5] = [
    PlantedBug::SkipSync,
    PlantedBug::SkipDirectorySync,
    PlantedBug::SkipManifestSync,
    PlantedBug::SkipCheckpointSync,
    PlantedBug::OverwriteManifest,
];

fn is_wrong(seed: u64) -> bool {
    !matches!(catch_unwind(AssertUnwindSafe(|| lose_power(seed, 80, &Sample::FIXED))), Ok(Ok(_)))
}

#[test]
fn planted_bugs_are_found() {
    for bug in BUGS {
        plant(Some(bug));
        let found = (0..8).find(|seed| is_wrong(*seed));
        plant(None);
        eprintln!("{bug:?}: seed {found:?}");
        assert!(found.is_some_and(|seed| !is_wrong(seed)), "{bug:?} is not found, or something else is");
    }
}
