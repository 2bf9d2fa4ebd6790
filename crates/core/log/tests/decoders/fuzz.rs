//! A short run of the fuzz targets: bytes damaged at random, from a fixed seed.
//!
//! No decoder panics, and none allocates more than its bytes account for: an entry of an adjacency
//! takes 24 bytes in memory and one byte in the log, and in an undirected graph one entry in the
//! log is two in memory.

use crate::targets::{read_manifest, read_record, read_segment};
use hedgerow_log::LoggedCommit;
use hedgerow_model::Topology;
use hedgerow_testing::allocation::most_held;
use hedgerow_testing::damage::{damage, seeds};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Number of damaged inputs per seed.
const CASES: usize = 300;

fn run(target: &str, read: fn(&[u8]) -> bool) {
    let mut random = StdRng::seed_from_u64(7);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds(target) {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            let is_good = read(&bytes);
            assert!(is_good || case > 0, "a seed of {target} is invalid");
            *if is_good { &mut good } else { &mut bad } += 1;
        }
    }
    assert!(good > 20 && bad > 20, "the damage is of one kind only: {good} good, {bad} bad");
}

#[test]
fn damaged_records() {
    run("log_record", read_record);
}

#[test]
fn damaged_manifests() {
    run("log_manifest", read_manifest);
}

#[test]
fn damaged_segments() {
    run("log_segment", read_segment);
}

#[test]
fn a_decoder_allocates_in_proportion_to_its_bytes() {
    let mut random = StdRng::seed_from_u64(7);
    for seed in seeds("log_record") {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
                let (_, held) = most_held(|| LoggedCommit::decode(&bytes, topology));
                // Twice, because a vector doubles its capacity.
                let most = 2 * 2 * 24 * bytes.len() + 1000;
                assert!(held <= most, "{held} bytes held for {} bytes", bytes.len());
            }
        }
    }
}
