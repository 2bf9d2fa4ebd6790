//! A short run of the fuzz targets: bytes damaged at random, from a fixed seed.
//!
//! No decoder panics, and none takes more memory than a few buffers: for the entries of a block,
//! and the content of a compressed chunk.

use crate::targets::{read_edge_block, read_edge_file, read_level_manifest, read_record_chunk};
use hedgerow_testing::allocation::most_held;
use hedgerow_testing::damage::{damage, seeds};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Number of damaged inputs per seed.
const CASES: usize = 200;

/// Maximum memory: 2^16 entries with their versions in a few copies, or a chunk of 1 MiB in a few
/// copies.
const MOST_HELD: usize = 32 << 20;

fn run(target: &str, read: fn(&[u8]) -> bool) {
    let mut random = StdRng::seed_from_u64(7);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds(target) {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            let (is_good, held) = most_held(|| read(&bytes));
            assert!(held <= MOST_HELD, "{held} bytes held for {}", bytes.len());
            assert!(is_good || case > 0, "a seed of {target} is invalid");
            *if is_good { &mut good } else { &mut bad } += 1;
        }
    }
    assert!(good > 20 && bad > 20, "the damage is of one kind only: {good} good, {bad} bad");
}

#[test]
fn damaged_blocks() {
    run("edge_block", read_edge_block);
}

#[test]
fn damaged_edge_files() {
    run("edge_file", read_edge_file);
}

#[test]
fn damaged_chunks() {
    run("record_chunk", read_record_chunk);
}

#[test]
fn damaged_manifests() {
    run("level_manifest", read_level_manifest);
}
