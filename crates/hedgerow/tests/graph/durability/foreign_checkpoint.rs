//! Checkpoints with right checksums and bytes that no graph would write: refused with the name of
//! the file, or opened as a graph that works; never a panic.

use super::workload::Worker;
use crate::oracle::{ENGINES, Oracle};
use hedgerow::{Error, Graph, GraphOptions, Key, KeyKind, LabelId, ReadGraph, WriteGraph};
use hedgerow_log::checkpoint::repair_checksums;
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// The numbers of workloads, and of damaged checkpoints of each.
const STORES: u64 = 12;
const CASES: usize = 150;

/// Returns a closed store with a checkpoint, the name of the checkpoint, and the options of the
/// store.
fn store_with_checkpoint(seed: u64) -> (SimulatedFiles, String, GraphOptions) {
    let files = SimulatedFiles::new(seed);
    let mut worker = Worker::new(&files, seed);
    worker.run_and_close(120).unwrap();
    let options = worker.promises.options.clone();
    drop(worker);
    let graph = options.open_on(Arc::new(files.clone())).unwrap();
    graph.checkpoint(&hedgerow::CheckpointOptions::new()).unwrap();
    graph.close().unwrap();
    drop(graph);
    let names = files.list().unwrap();
    let name = names.into_iter().find(|name| name.starts_with("checkpoint-")).unwrap();
    (files, name, options)
}

fn bytes_of(files: &SimulatedFiles, name: &str) -> Vec<u8> {
    files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap()
}

/// Changes one to three bytes or short ranges, and corrects the checksums.
fn damage(bytes: &mut [u8], random: &mut StdRng) {
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..bytes.len());
        let end = (at + random.random_range(1..8)).min(bytes.len());
        match random.random_range(0..4) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at..end].fill(0xff),
            2 => bytes[at..end].fill(0),
            _ => bytes[at] = random.random(),
        }
    }
    repair_checksums(bytes);
}

/// Checks that an opened graph can be read and written.
fn works(graph: &Graph) {
    let snapshot = graph.snapshot().unwrap();
    if snapshot.vertex_bound() < 1 << 24 {
        drop(Oracle::of_snapshot(&snapshot));
    }
    let key = match graph.key_kind() {
        KeyKind::String => Key::Text("another".into()),
        _ => Key::Number(77_777),
    };
    graph.put_edge(LabelId::DEFAULT, &key, &key).unwrap();
    assert!(graph.contains_edge(LabelId::DEFAULT, &key, &key).unwrap());
}

fn names_the_file(error: &Error, name: &str) -> bool {
    error.to_string().contains(name) || error.to_string().contains("MANIFEST")
}

#[test]
fn a_foreign_checkpoint_is_refused_or_is_a_graph() {
    let (mut opened, mut refused) = (0, 0);
    for seed in 0..STORES {
        let (files, name, options) = store_with_checkpoint(seed);
        let whole = bytes_of(&files, &name);
        let mut random = StdRng::seed_from_u64(seed);
        for case in 0..CASES {
            let mut bytes = whole.clone();
            damage(&mut bytes, &mut random);
            let damaged = files.copy();
            damaged.open(&name, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
            let options = options.clone().engine(ENGINES[case % ENGINES.len()]);
            match options.open_on(Arc::new(damaged)) {
                Ok(graph) => {
                    works(&graph);
                    opened += 1;
                }
                Err(error) => {
                    assert!(names_the_file(&error, &name), "seed {seed}, case {case}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(opened > 100 && refused > 100, "damage of one kind only: {opened} opened, {refused} refused");
}
