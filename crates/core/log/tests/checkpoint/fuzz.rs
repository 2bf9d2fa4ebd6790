//! A short run of the fuzz target: damage with recomputed checksums, so that it reaches the
//! decoders.
//!
//! No decoder panics or allocates more than ten times the file plus some buffers, and their results
//! are sorted and below the bound.

use crate::damage::{file_of, some_graphs};
use crate::model::Graph;
use crate::target;
use hedgerow_log::checkpoint::repair_checksums;
use hedgerow_testing::allocation::most_held;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::path::Path;

/// Number of damaged files per seed.
const CASES: usize = 2000;

/// Bytes of buffers, independent of the file.
const BUFFERS: usize = 4 << 20;

/// Makes one to three changes, of bytes or of pieces.
fn damage(bytes: &mut Vec<u8>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..bytes.len());
        let end = random.random_range(at..=bytes.len().min(at + 20));
        match random.random_range(0..12) {
            0 => drop(bytes.splice(at..at, random.random::<[u8; 3]>())),
            1 => drop(bytes.drain(at..end)),
            2..6 => bytes[at] ^= 1 << random.random_range(0..8),
            6..8 => bytes[at..end].fill(0xff),
            8..10 => bytes[at..end].fill(0),
            _ => bytes[at] = random.random(),
        }
        if bytes.is_empty() {
            return;
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds/checkpoint");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn decoders_are_total_and_modest() {
    let mut random = StdRng::seed_from_u64(7);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds() {
        for case in 0..CASES {
            let mut bytes = seed.clone();
            if case > 0 {
                damage(&mut bytes, &mut random);
            }
            let (is_good, held) = most_held(|| target::read(&bytes));
            assert!(held <= 10 * bytes.len() + BUFFERS, "{held} bytes held for {}", bytes.len());
            assert!(is_good || case > 0, "a seed is invalid");
            *if is_good { &mut good } else { &mut bad } += 1;
        }
    }
    assert!(good > 100 && bad > 100, "the damage is of one kind only: {good} good, {bad} bad");
}

/// Repairing an undamaged file changes nothing.
#[test]
fn right_checksums_stay() {
    for graph in some_graphs(20) {
        let whole = file_of(&graph.written(), "checkpoint");
        let mut bytes = whole.clone();
        repair_checksums(&mut bytes);
        assert!(bytes == whole);
    }
}

/// Writes the seeds of the fuzz target. Run it when the format changes.
#[test]
#[ignore = "writes into the source tree"]
fn write_seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds/checkpoint");
    std::fs::create_dir_all(&folder).unwrap();
    let is_full = |graph: &Graph| graph.edges.iter().all(|edges| edges.len() > 20) && graph.edges.len() > 1;
    for (number, graph) in some_graphs(60).iter().filter(|graph| is_full(graph)).take(6).enumerate() {
        std::fs::write(folder.join(format!("graph-{number}")), file_of(&graph.written(), "checkpoint"))
            .unwrap();
    }
}
