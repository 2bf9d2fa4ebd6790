//! Backups of stores that are being written, onto disks that lose power and fail.

use super::harness::find;
use super::own_files::{LSM, on_files};
use super::workload::{Promises, Worker};
use crate::oracle::{ENGINES, options};
use hedgerow::store::{BackupReport, StoreError, backup_on, check_on};
use hedgerow::{
    CheckpointOptions, CompactOptions, EngineKind, Error, ErrorKind, Graph, GraphOptions, KeyKind, LabelId,
    ReadGraph, Topology, WriteGraph, store,
};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_testing::flag::RaiseOnDrop;
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The engines on which workloads run, each list with engines that open each other's stores.
static ON: [&[EngineKind]; 2] = [&ENGINES, &[EngineKind::Erased(&LSM)]];

fn shared(files: &SimulatedFiles) -> Arc<dyn FileSystem> {
    Arc::new(files.clone())
}

fn backup(source: &SimulatedFiles, copy: &SimulatedFiles) -> Result<BackupReport, Error> {
    backup_on(&shared(source), shared(copy))
}

/// Checks that a copy is whole and has everything that was acknowledged before an operation on the
/// source.
fn check_copy(copy: &SimulatedFiles, promises: &Promises, operation: u64, last: u64) {
    let problems = check_on(&shared(copy)).unwrap().problems;
    assert!(problems.is_empty(), "{problems:?}");
    // Opening cuts and removes files, which the next backup must cope with only in the copy.
    let opened = find(&copy.copy(), promises, operation, last).unwrap().expect("there is a copy");
    assert_eq!(opened.snapshot().unwrap().timestamp().0, last);
}

#[test]
fn a_backup_beside_a_writer_has_all_that_was_acknowledged() {
    let cases: Vec<_> = ON.iter().flat_map(|engines| (0..12).map(move |seed| (*engines, seed))).collect();
    cases.into_par_iter().for_each(|(engines, seed)| {
        let (files, copy) = (SimulatedFiles::new(seed), SimulatedFiles::new(seed));
        let mut worker = Worker::on(engines, &files, seed);
        worker.run(20).unwrap();
        for round in 0..12 {
            let operation = files.operations();
            let report = backup(&files, &copy).unwrap();
            assert_eq!(report.incremental, round > 0);
            check_copy(&copy, &worker.promises, operation, report.last.0);
            let again = backup(&files, &copy).unwrap();
            assert_eq!((again.last, again.bytes, again.removed_files), (report.last, 0, 0), "{again:?}");
            let fresh = SimulatedFiles::new(0);
            let report = backup(&files, &fresh).unwrap();
            check_copy(&fresh, &worker.promises, operation, report.last.0);
            worker.go_on(25).unwrap();
        }
        worker.close().unwrap();
        let report = backup(&files, &copy).unwrap();
        check_copy(&copy, &worker.promises, u64::MAX, report.last.0);
        assert_eq!(report.last.0 as usize, worker.promises.states.len() - 1);
    });
}

/// A source with an older copy, and commits and checkpoints since.
struct Older {
    files: SimulatedFiles,
    copy: SimulatedFiles,
    worker_promises: Promises,
    last: u64,
}

fn older(engines: &'static [EngineKind], seed: u64) -> Older {
    let (files, copy) = (SimulatedFiles::new(seed), SimulatedFiles::new(seed));
    let mut worker = Worker::on(engines, &files, seed);
    worker.run(60).unwrap();
    let last = backup(&files, &copy).unwrap().last.0;
    worker.go_on(90).unwrap();
    worker.close().unwrap();
    Older { copy: copy.copy(), worker_promises: worker.promises, last, files }
}

/// Opens what a loss of power has left of a copy. Returns the last commit; `None` if the copy is
/// unfinished or was never begun.
fn left(found: &SimulatedFiles, promises: &Promises) -> Option<u64> {
    let found = found.copy();
    match promises.options.clone().read_only().engine(promises.engines[0]).open_on(shared(&found)) {
        Ok(graph) => {
            let last = graph.snapshot().unwrap().timestamp().0;
            assert!(find(&found, promises, 0, 0).unwrap().is_some(), "the state is one of the workload");
            Some(last)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            assert!(matches!(error.store(), Some(StoreError::UnfinishedBackup { .. })), "{error}");
            let created = promises.options.create_on(shared(&found)).unwrap_err();
            assert!([ErrorKind::Exists, ErrorKind::Storage].contains(&created.kind()), "{created}");
            None
        }
    }
}

/// Repeats a backup, which must complete it durably.
fn repeat(source: &SimulatedFiles, found: &SimulatedFiles, promises: &Promises, seed: u64) {
    let report = backup(source, found).unwrap();
    check_copy(&found.after_crash(Survival::Nothing, seed), promises, u64::MAX, report.last.0);
    let names = found.list().unwrap();
    assert!(!names.iter().any(|name| name == "BACKUP" || name.ends_with(".new")), "{names:?}");
}

#[test]
fn a_loss_of_power_leaves_the_older_copy_or_the_new_one() {
    let sample = Sample::of_run();
    for (engines, seed) in ON.iter().flat_map(|engines| (0..3).map(move |seed| (*engines, seed))) {
        let Older { files, copy: older_copy, worker_promises: promises, last } = older(engines, seed);
        for is_full in [true, false] {
            let copy = if is_full { SimulatedFiles::new(seed) } else { older_copy.copy() };
            copy.keep_crash_images();
            let report = backup(&files, &copy).unwrap();
            let mut found_states = Vec::new();
            for image in sample.take(copy.take_crash_images(), seed) {
                for survival in Survival::ALL {
                    let found = image.after_crash(survival, image.operation());
                    let state = left(&found, &promises);
                    found_states.push(state);
                    let is_older = !is_full && state == Some(last);
                    let may_be_unfinished = is_full || engines.len() == 1;
                    assert!(
                        is_older || state == Some(report.last.0) || may_be_unfinished && state.is_none(),
                        "{survival:?} at operation {}: {state:?}",
                        image.operation()
                    );
                    repeat(&files, &found, &promises, image.operation());
                }
            }
            assert!(found_states.contains(&Some(report.last.0)));
            assert!(found_states.contains(&if is_full { None } else { Some(last) }), "{found_states:?}");
        }
    }
}

#[test]
fn a_failed_backup_says_so_and_the_next_one_completes_it() {
    let sample = Sample::of_run();
    for engines in ON {
        let Older { files, copy: older_copy, worker_promises: promises, last } = older(engines, 5);
        for (is_full, on_source) in [(true, false), (false, false), (true, true), (false, true)] {
            let start = || (files.copy(), if is_full { SimulatedFiles::new(5) } else { older_copy.copy() });
            let (source, copy) = start();
            let report = backup(&source, &copy).unwrap();
            let operations = if on_source { source.operations() } else { copy.operations() };
            let cases: Vec<_> = sample.take(1..=operations, 7).collect();
            for (kind, sticky) in FaultKind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
                let mut failures = 0;
                for at in &cases {
                    let (source, copy) = start();
                    let failing = if on_source { &source } else { &copy };
                    failing.inject(Fault { at: *at, kind, sticky });
                    let result = backup(&source, &copy);
                    failing.heal();
                    match result {
                        Ok(result) => assert_eq!(result.last, report.last),
                        Err(error) => {
                            failures += 1;
                            assert!(
                                [ErrorKind::Storage, ErrorKind::LogFailed].contains(&error.kind()),
                                "{error}"
                            );
                            let state = left(&copy, &promises);
                            assert!(
                                state.is_none() && (is_full || engines.len() == 1)
                                    || state == Some(report.last.0)
                                    || !is_full && state == Some(last),
                                "{kind:?} at {at}: {state:?} after {error}"
                            );
                        }
                    }
                    repeat(&source, &copy, &promises, *at);
                }
                let can_fail = kind != FaultKind::Short && !(on_source && kind == FaultKind::NoSpace);
                assert_eq!(failures > 0, can_fail, "{kind:?} {sticky} {on_source}");
            }
        }
    }
}

/// Changes a byte of a file.
fn damage(files: &SimulatedFiles, name: &str, offset: u64) {
    let file = files.open(name, OpenMode::Write).unwrap();
    let byte = file.read_range(offset..offset + 1).unwrap()[0];
    file.write_all_at(&[byte ^ 0x10], offset).unwrap();
}

/// Returns bytes of all files that are in a copy, each with the name of the file.
fn places(files: &SimulatedFiles, copy: &SimulatedFiles) -> Vec<(String, u64)> {
    let mut places = Vec::new();
    for name in copy.list().unwrap() {
        if name != "LOCK" {
            let length = files.open(&name, OpenMode::Read).unwrap().length().unwrap();
            places.extend((0..length).step_by(37).chain([length - 1]).map(|at| (name.clone(), at)));
        }
    }
    places
}

#[test]
fn damage_is_found_in_the_source_and_in_the_older_copy() {
    for engines in ON {
        let files = SimulatedFiles::new(11);
        let mut worker = Worker::on(engines, &files, 11);
        worker.run_and_close(200).unwrap();
        let copy = SimulatedFiles::new(11);
        backup(&files, &copy).unwrap();
        assert!(places(&files, &copy).len() > 100);
        for (name, at) in places(&files, &copy) {
            let (damaged, fresh) = (files.copy(), SimulatedFiles::new(1));
            damage(&damaged, &name, at);
            // A damaged last edit of the engine's manifest looks as if it was never written.
            let is_last_edit = name.starts_with("engine-manifest");
            match backup(&damaged, &fresh) {
                Ok(report) if is_last_edit => check_copy(&fresh, &worker.promises, u64::MAX, report.last.0),
                Ok(_) => panic!("{name} at {at}"),
                Err(error) => {
                    let is_named = error.to_string().contains(&name) || is_last_edit;
                    assert!(is_named && error.kind() == ErrorKind::Storage, "{name} at {at}: {error}");
                    assert_eq!(left(&fresh, &worker.promises), None);
                }
            }
        }
        for (name, at) in places(&copy, &copy) {
            let damaged = copy.copy();
            damage(&damaged, &name, at);
            match backup(&files, &damaged) {
                Ok(report) if name.starts_with("engine-manifest") => {
                    check_copy(&damaged, &worker.promises, u64::MAX, report.last.0);
                }
                Ok(_) => panic!("{name} at {at}"),
                Err(error) => {
                    let is_older = matches!(error.store(), Some(StoreError::DamagedBackup { .. }));
                    assert!(is_older, "{name} at {at}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_directory_that_is_no_older_copy_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store"), folder.path().join("copy"));
    let graph = GraphOptions::new().create(&path).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let refused = |copy: &Path| {
        let error = store::backup(&path, copy).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        error.to_string()
    };
    for inside in [path.clone(), path.join("copy"), path.join("a/../b/c"), folder.path().join("x/../store/y")]
    {
        assert!(refused(&inside).contains("inside the store"));
    }
    assert!(!path.join("copy").exists() && !path.join("b").exists());
    assert_eq!(store::backup(folder.path().join("none"), &copy).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!copy.exists());
    let other = folder.path().join("other");
    let another = GraphOptions::new().create(&other).unwrap();
    assert_eq!(store::backup(&path, &other).unwrap_err().kind(), ErrorKind::Locked);
    another.close().unwrap();
    assert!(refused(&other).contains("another store"));
    std::fs::create_dir(folder.path().join("notes")).unwrap();
    std::fs::write(folder.path().join("notes/note"), "mine").unwrap();
    assert!(refused(&folder.path().join("notes")).contains("no copy"));
    assert_eq!(std::fs::read_dir(folder.path().join("notes")).unwrap().count(), 1);

    graph.backup(&copy).unwrap();
    let restored = Graph::open(&copy).unwrap();
    assert_eq!(store::backup(&path, &copy).unwrap_err().kind(), ErrorKind::Locked);
    restored.put_edge(LabelId::DEFAULT, 5, 6).unwrap();
    restored.close().unwrap();
    assert!(refused(&copy).contains("commits that the store does not have"), "the copy is newer");
    for vertex in 10..20 {
        graph.put_edge(LabelId::DEFAULT, vertex, vertex + 1).unwrap();
    }
    let other_way = "commits that the store does not have";
    assert!(refused(&copy).contains(other_way), "the store is newer, and the copy went another way");
    graph.close().unwrap();
    drop(graph);
    let graph = Graph::open(&path).unwrap();
    graph.put_edge(LabelId::DEFAULT, 7, 8).unwrap();
    assert!(refused(&copy).contains("commits that the store does not have"), "the copy went another way");
    assert!(Graph::open(&copy).unwrap().contains_edge(LabelId::DEFAULT, 5, 6).unwrap());
    let in_memory = Graph::in_memory(GraphOptions::new()).unwrap();
    assert_eq!(in_memory.backup(folder.path().join("m")).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Another store's unfinished copy may be all that is left of an older copy.
#[test]
fn an_unfinished_copy_of_another_store_is_refused() {
    let (files, other, copy) = (SimulatedFiles::new(1), SimulatedFiles::new(1), SimulatedFiles::new(1));
    for (files, is_other) in [(&files, false), (&other, true)] {
        let options = options(Topology::Directed, KeyKind::Number);
        let options = if is_other { options } else { options.simulated() };
        options.create_on(shared(files)).unwrap().close().unwrap();
    }
    copy.crash_at(8);
    backup(&files, &copy).unwrap_err();
    let found = copy.after_crash(Survival::Everything, 0);
    let error = backup(&other, &found).unwrap_err();
    assert!(error.to_string().contains("unfinished copy of another store"), "{error}");
    backup(&files, &found).unwrap();
}

#[test]
fn backups_in_a_loop_beside_commits_checkpoints_and_compactions() {
    for &engine in EngineKind::ALL {
        let options = match engine.owns_files() {
            true => on_files(engine).memory_budget(100_000),
            false => GraphOptions::new().engine(engine),
        };
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("store"), folder.path().join("copy"));
        let graph = options.segment_bytes(8 << 10).create(&path).unwrap();
        let (acknowledged, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let _over = RaiseOnDrop(&is_over);
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let next = acknowledged.load(Ordering::Relaxed) + 1;
                    graph.put_edge(LabelId::DEFAULT, next, next + 1).unwrap();
                    acknowledged.store(next, Ordering::Release);
                }
            });
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    graph.checkpoint(&CheckpointOptions::new()).unwrap();
                    if graph.engine_report().unwrap().is_some() {
                        graph.compact(&CompactOptions::new()).unwrap();
                    }
                }
            });
            for round in 0..20 {
                let before = acknowledged.load(Ordering::Acquire);
                let fresh = folder.path().join(format!("fresh-{round}"));
                for copy in [&copy, &fresh] {
                    let report = store::backup(&path, copy).unwrap();
                    let opened = GraphOptions::new().read_only().open(copy).unwrap();
                    let snapshot = opened.snapshot().unwrap();
                    let last = snapshot.timestamp();
                    assert!(last == report.last && last.0 >= before, "{report:?}, {before} acknowledged");
                    let count = snapshot.vertex_count();
                    assert_eq!(count, if last.0 == 0 { 0 } else { last.0 + 1 });
                    let known: Vec<u64> = (1..=last.0)
                        .filter(|edge| !snapshot.contains_edge(LabelId::DEFAULT, *edge, edge + 1).unwrap())
                        .collect();
                    assert!(known.is_empty(), "{known:?} of {last} are missing");
                    assert!(store::check(copy).unwrap().problems.is_empty());
                }
            }
        });
        let last = graph.backup(&copy).unwrap().last.0;
        assert_eq!(last, acknowledged.load(Ordering::Acquire));
    }
}
