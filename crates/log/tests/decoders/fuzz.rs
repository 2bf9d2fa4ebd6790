//! A short run of what the fuzz targets do for hours: bytes that are damaged at random, from a fixed seed.
//!
//! No decoder panics, and none holds more than its bytes account for: an entry of an adjacency takes 24 bytes in memory and one in
//! the log, and in an undirected graph one in the log is two in memory.

use crate::allocation::most_held;
use crate::targets::{read_manifest, read_record, read_segment};
use hedgerow_log::LoggedCommit;
use hedgerow_model::Topology;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::path::{Path, PathBuf};

/// Damaged inputs for every seed.
const CASES: usize = 300;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no seeds");
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// One to three changes: a bit flipped, a tail cut off, bytes inserted, a piece doubled or lost.
fn damage(bytes: &mut Vec<u8>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..=bytes.len());
        let end = random.random_range(at..=bytes.len().min(at + 20));
        match random.random_range(0..5) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, random.random::<[u8; 3]>())),
            4 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            _ => drop(bytes.drain(at..end)),
        }
    }
}

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
            assert!(is_good || case > 0, "a seed of {target} is no good");
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
fn a_decoder_holds_what_its_bytes_account_for() {
    let mut random = StdRng::seed_from_u64(7);
    for seed in seeds("log_record") {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
                let (_, held) = most_held(|| LoggedCommit::decode(&bytes, topology));
                // Twice, since a vector grows by doubling.
                let most = 2 * 2 * 24 * bytes.len() + 1000;
                assert!(held <= most, "{held} bytes held for {} bytes", bytes.len());
            }
        }
    }
}
