//! A damaged file gives a typed error with the position, never another graph.

use crate::model::{Graph, graphs};
use hedgerow_log::StoreError;
use hedgerow_log::checkpoint::{Checkpoint, FORMAT_VERSION};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::Topology;
use hedgerow_testing::simulated::SimulatedFiles;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Number of damaged files, over all kinds of damage.
const SAMPLES: usize = 20_000;

/// Deterministic random graphs, some of which have all kinds of chunks.
pub fn some_graphs(count: usize) -> Vec<Graph> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let graph = |_| graphs().new_tree(&mut runner).unwrap().current();
    (0..count).map(graph).collect()
}

pub fn file_of(files: &SimulatedFiles, name: &str) -> Vec<u8> {
    files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap()
}

pub fn files_of(bytes: &[u8]) -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    files.open("checkpoint", OpenMode::Create).unwrap().write_all_at(bytes, 0).unwrap();
    files
}

/// Flips a bit, zeroes or swaps sectors, or moves, duplicates or cuts off a piece.
pub fn damage(bytes: &mut Vec<u8>, sector: usize, random: &mut StdRng) {
    let at = random.random_range(0..bytes.len());
    let sectors = bytes.len() / sector;
    let mut some_sector = || if sectors > 0 { random.random_range(0..sectors) * sector } else { 0 };
    let (one, other) = (some_sector(), some_sector());
    let end = (at + sector).min(bytes.len());
    match random.random_range(0..6) {
        0 => bytes[at] ^= 1 << random.random_range(0..8),
        1 if sectors > 0 => bytes[one..one + sector].fill(0),
        2 if sectors > 0 => {
            let copy = bytes[one..one + sector].to_vec();
            bytes.copy_within(other..other + sector, one);
            bytes[other..other + sector].copy_from_slice(&copy);
        }
        3 => bytes.truncate(at),
        4 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
        _ => drop(bytes.drain(at..end)),
    }
}

/// Returns true if an error reports damage at a position within the file, or just after it.
fn has_position(error: &StoreError, length: usize) -> bool {
    match error {
        StoreError::Damaged { offset, path, .. } => {
            *offset <= length.max(64) as u64 && path.ends_with("checkpoint")
        }
        StoreError::Foreign { path, .. } | StoreError::NewerFormat { path, .. } => {
            path.ends_with("checkpoint")
        }
        _ => false,
    }
}

#[test]
fn damage_never_passes_for_another_graph() {
    let mut random = StdRng::seed_from_u64(3);
    let graphs = some_graphs(40);
    let files: Vec<_> = graphs.iter().map(|graph| file_of(&graph.written(), "checkpoint")).collect();
    let (mut damaged, mut identical) = (0, 0);
    for sample in 0..SAMPLES {
        let graph = &graphs[sample % graphs.len()];
        let whole = &files[sample % files.len()];
        let mut bytes = whole.clone();
        damage(&mut bytes, [16, 64, 512][sample % 3], &mut random);
        match Graph::read(&files_of(&bytes), "checkpoint", 1) {
            Ok(read) => {
                assert!(bytes == *whole && read == *graph);
                identical += 1;
            }
            Err(error) => {
                assert!(bytes != *whole && has_position(&error, bytes.len()), "{error}");
                damaged += 1;
            }
        }
    }
    assert!(damaged > SAMPLES / 2 && identical > 20, "{damaged} damaged, {identical} identical");
}

#[test]
fn a_file_cut_anywhere_or_with_any_bit_flipped_is_refused() {
    let graph = Graph::of_edges(Topology::Undirected, (0..50).map(|i| (i, i * i % 47)));
    let whole = file_of(&graph.written(), "checkpoint");
    for length in 0..whole.len() {
        let error = Graph::read(&files_of(&whole[..length]), "checkpoint", 1).unwrap_err();
        assert!(has_position(&error, length), "cut to {length}: {error}");
    }
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let error = Graph::read(&files_of(&bytes), "checkpoint", 1).unwrap_err();
        assert!(has_position(&error, whole.len()), "bit {bit}: {error}");
    }
}

/// A part is valid only where it was written, even if the same program wrote it at the same place
/// of another file.
#[test]
fn parts_of_another_checkpoint_are_not_taken_for_parts_of_this_one() {
    let graph = Graph::of_edges(Topology::Directed, (0..5000).map(|i| (i % 100, i)));
    let mut later = graph.clone();
    later.description.timestamp.0 += 1;
    let (one, other) = (file_of(&graph.written(), "checkpoint"), file_of(&later.written(), "checkpoint"));
    assert_eq!(one.len(), other.len());
    let mut refused = 0;
    for cut in (16..one.len()).step_by(16) {
        let mixed = [&one[..cut], &other[cut..]].concat();
        if mixed != one && mixed != other {
            Graph::read(&files_of(&mixed), "checkpoint", 1).unwrap_err();
            refused += 1;
        }
    }
    assert!(refused > 100);
}

#[test]
fn a_check_names_every_damaged_chunk() {
    let graph = Graph::of_edges(Topology::Directed, (0..400_000).map(|i| (i / 1000, i)));
    let mut bytes = file_of(&graph.written(), "checkpoint");
    let chunks = Checkpoint::open(&files_of(&bytes), "checkpoint").unwrap().chunks().to_vec();
    let damaged = [chunks[1], chunks[3], chunks[chunks.len() - 1]];
    damaged.iter().for_each(|chunk| bytes[chunk.offset as usize + 40] ^= 1);
    let files = files_of(&bytes);
    let found = Checkpoint::open(&files, "checkpoint").unwrap().check(None);
    let places = found.iter().map(|error| match error {
        StoreError::Damaged { offset, .. } => *offset,
        other => panic!("{other}"),
    });
    assert_eq!(places.collect::<Vec<_>>(), damaged.map(|chunk| chunk.offset));
}

#[test]
fn other_files_and_later_versions_are_named() {
    let error = Checkpoint::open(&files_of(b"1 2\n2 3\n"), "checkpoint").unwrap_err();
    assert_eq!(error.to_string(), "simulated/checkpoint does not belong here: it is no checkpoint");
    let mut bytes = file_of(&Graph::of_edges(Topology::Directed, [(1, 2)]).written(), "checkpoint");
    bytes[8] = FORMAT_VERSION as u8 + 1;
    let error = Checkpoint::open(&files_of(&bytes), "checkpoint").unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { version: 2, .. }), "{error}");
}
