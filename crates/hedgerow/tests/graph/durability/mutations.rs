//! Random changes of files of stores, one at a time. Checks, repairs, and openings to write or to
//! read agree about damage; and an opened graph has a state of the workload, with everything that
//! was acknowledged.

use super::workload::{Promises, Worker};
use crate::oracle::{Oracle, options};
use hedgerow::store::{check_on, recover_on};
use hedgerow::{
    CheckpointOptions, CommitTimestamp, Error, ErrorKind, Graph, GraphOptions, KeyKind, LabelId, Topology,
    WriteGraph,
};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::repair_checksums;
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use std::sync::Arc;

/// Workloads whose stores are changed.
const STORES: u64 = 16;

/// The id of every simulated store.
const STORE: [u8; 16] = [1; 16];

/// A store, its files at an earlier time, and the promises about it.
struct Subject {
    files: SimulatedFiles,
    earlier: SimulatedFiles,
    promises: Promises,
}

impl Subject {
    fn new(seed: u64, close: bool) -> Self {
        let files = SimulatedFiles::new(seed);
        let mut worker = Worker::new(&files, seed);
        worker.run(40 + seed as usize * 4).unwrap();
        let earlier = files.copy();
        worker.go_on(30).unwrap();
        if close {
            worker.close().unwrap();
        }
        // The files of a process that ends here.
        Subject { files: files.copy(), earlier, promises: worker.promises.clone() }
    }
}

fn names(files: &SimulatedFiles) -> Vec<String> {
    let mut names = files.list().unwrap();
    names.retain(|name| name != "LOCK");
    names.sort();
    names
}

fn has(files: &SimulatedFiles, name: &str) -> bool {
    names(files).iter().any(|other| other == name)
}

fn bytes_of(files: &SimulatedFiles, name: &str) -> Vec<u8> {
    files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap()
}

/// Changes one file, and describes the change. With `remake`, corrects its checksums.
fn mutate(files: &SimulatedFiles, subject: &Subject, random: &mut StdRng, remake: bool) -> String {
    let names = names(files);
    let name = &names[random.random_range(0..names.len())];
    let mut bytes = bytes_of(files, name);
    let length = bytes.len().max(1);
    let (at, until) = (random.random_range(0..length), random.random_range(0..length));
    let range = at.min(until)..at.max(until).min(bytes.len());
    let what = match random.random_range(0..10) {
        0..=2 if !bytes.is_empty() => {
            bytes[at] ^= 1 << random.random_range(0..8);
            format!("a bit of byte {at} of {name}")
        }
        3 if !bytes.is_empty() => {
            bytes[at] = random.random();
            format!("byte {at} of {name}")
        }
        4 => {
            bytes[range.clone()].fill(0);
            format!("zeros in {range:?} of {name}")
        }
        5 => {
            bytes.truncate(at);
            format!("{name} cut at {at}")
        }
        6 => {
            bytes.extend((0..random.random_range(1..700)).map(|_| random.random::<u8>()));
            format!("more behind {name}")
        }
        7 => {
            files.remove(name).unwrap();
            return format!("{name} removed");
        }
        8 if has(&subject.earlier, name) => {
            bytes = bytes_of(&subject.earlier, name);
            format!("{name} as it was before")
        }
        _ => {
            let other = &names[random.random_range(0..names.len())];
            bytes = bytes_of(files, other);
            format!("{other} in the place of {name}")
        }
    };
    if remake {
        repair_checksums(name, &mut bytes, STORE);
    }
    files.open(name, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    what
}

fn shared(files: &SimulatedFiles) -> Arc<dyn FileSystem> {
    Arc::new(files.copy())
}

/// Opens a store: returns its last commit, or the error.
fn open(files: &SimulatedFiles, subject: &Subject, is_plain: bool) -> Result<CommitTimestamp, String> {
    let options = || GraphOptions::new().threads(1).simulated();
    let state = |graph: Result<Graph, Error>| -> Result<(CommitTimestamp, Option<Oracle>), String> {
        let snapshot =
            graph.map_err(|error| error.to_string())?.snapshot().map_err(|error| error.to_string())?;
        // With right checksums, ids may be too large to check all of them.
        let is_small = is_plain || snapshot.vertex_bound() < 1 << 20;
        Ok((snapshot.timestamp(), is_small.then(|| Oracle::of_snapshot(&snapshot))))
    };
    let read = state(options().read_only().open_on(shared(files)));
    let written = state(options().open_on(shared(files)));
    assert_eq!(read, written, "to read, and to write");
    let (last, found) = written?;
    if is_plain {
        let expected = subject.promises.states.get(last.0 as usize);
        assert!(expected.map(|state| &**state) == found.as_ref(), "the state at {last} never was");
    }
    Ok(last)
}

/// Changes a file, and compares the reports about the store. Returns true if it was refused.
fn mutate_one(subject: &Subject, seed: u64, remake: bool) -> bool {
    let files = subject.files.copy();
    let what = mutate(&files, subject, &mut StdRng::seed_from_u64(seed), remake);
    let named = format!("seed {seed}, {what}");
    let opened = open(&files, subject, !remake);
    let report = check_on(&shared(&files));
    let problems = report.map(|report| report.problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    let is_whole = problems.as_ref().is_ok_and(Vec::is_empty);
    assert_eq!(opened.is_ok(), is_whole, "{named}: {opened:?}, but {problems:?}");
    let durable = subject.promises.before(u64::MAX);
    if let (Ok(last), false) = (&opened, remake) {
        assert!(*last >= durable, "{named}: the last commit is {last}, {durable} was acknowledged");
    }
    let repaired = files.copy();
    let repair = recover_on(Arc::new(repaired.clone()));
    match (&opened, repair) {
        (Ok(last), Ok(repair)) => {
            assert!(repair.cuts.is_empty() && repair.replaced.is_none(), "{named}: {repair:?}");
            assert_eq!(repair.last, *last, "{named}");
        }
        (Ok(_), Err(error)) => panic!("{named}: it can be opened, but not repaired: {error}"),
        (Err(_), Ok(repair)) => {
            assert_eq!(open(&repaired, subject, !remake), Ok(repair.last), "{named}: {repair:?}");
            let problems = check_on(&shared(&repaired)).unwrap().problems;
            assert!(problems.is_empty(), "{named}: {repair:?} leaves {problems:?}");
        }
        // An irreparable store is not changed.
        (Err(before), Err(_)) => {
            assert_eq!(open(&repaired, subject, !remake).as_ref(), Err(before), "{named}");
        }
    }
    opened.is_err()
}

#[test]
fn check_open_and_recover_agree() {
    let samples = std::env::var("MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(150_u64);
    let sample = Sample::of_run();
    for close in [true, false] {
        let subjects: Vec<Subject> = (0..STORES).map(|seed| Subject::new(seed, close)).collect();
        for remake in [false, true] {
            let refused = |seed: &u64| mutate_one(&subjects[(seed % STORES) as usize], *seed, remake);
            let refused = sample.cases(samples).into_par_iter().filter(refused).count() as u64;
            eprintln!("{refused} of {samples} changes refused; closed {close}, checksums right {remake}");
            assert!(refused > samples / 10 && refused < samples, "changes of one kind only: {refused}");
        }
    }
}

/// A damaged checkpoint is not needed if the log has every commit.
#[test]
fn a_log_that_is_whole_replaces_a_damaged_checkpoint() {
    for (segment_bytes, is_pruned) in [(1 << 16, false), (600, true)] {
        for close in [true, false] {
            let files = SimulatedFiles::new(1);
            let options =
                || options(Topology::Undirected, KeyKind::Number).segment_bytes(segment_bytes).simulated();
            let graph = options().create_on(Arc::new(files.clone())).unwrap();
            (0..40_u64).for_each(|key| {
                assert!(graph.put_edge(LabelId::DEFAULT, key, key + 1).unwrap().changed != Some(false));
            });
            graph.checkpoint(&CheckpointOptions::new()).unwrap();
            (0..40_u64).for_each(|key| {
                assert!(graph.put_edge(LabelId::DEFAULT, key, key + 2).unwrap().changed != Some(false));
            });
            let expected = Oracle::of_snapshot(&graph.snapshot().unwrap());
            if close {
                graph.close().unwrap();
            }
            let found = files.copy();
            let name = names(&found).into_iter().find(|name| name.starts_with("checkpoint-")).unwrap();
            found.open(&name, OpenMode::Write).unwrap().write_all_at(&[0xa5; 8], 40).unwrap();
            let open = || options().open_on(Arc::new(found.clone()));
            assert_eq!(open().unwrap_err().kind(), ErrorKind::Storage);
            let repair = recover_on(Arc::new(found.clone()));
            if is_pruned {
                assert!(repair.unwrap_err().to_string().contains(&name));
                assert_eq!(open().unwrap_err().kind(), ErrorKind::Storage);
                continue;
            }
            let repair = repair.unwrap();
            let aside = repair.replaced.unwrap();
            assert!(repair.cuts.is_empty() && aside.problem.contains(&name), "{aside:?}");
            assert_eq!((aside.at, aside.kept_in), (CommitTimestamp(40), Some(format!("cut-{name}"))));
            assert!(names(&found).contains(&format!("cut-{name}")));
            assert_eq!(Oracle::of_snapshot(&open().unwrap().snapshot().unwrap()), expected);
        }
    }
}
