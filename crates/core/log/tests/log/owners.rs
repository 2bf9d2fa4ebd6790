//! Two writers of one store, after the lock file of the first was removed.

use crate::harness::replay;
use crate::workload::{STORE, body, log_options, store_options, wall_clock};
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_log::{Durability, Log, LogError, Recovered, StoreError, StoreFiles, check};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;

fn commit(log: &Log) -> Result<CommitTimestamp, LogError> {
    let at = log.last().next();
    let appended = log.append(at, wall_clock(at), &mut body(at))?;
    log.settle(appended.at(), Durability::Sync)?;
    Ok(at)
}

fn open(files: &Arc<dyn FileSystem>) -> Result<Log, StoreError> {
    let store = StoreFiles::open(Arc::clone(files))?;
    let (recovered, right) = replay(&store)?;
    assert!(right);
    Log::start(store, &recovered, log_options(Durability::Sync))
}

fn is_overtaken<T: std::fmt::Debug>(result: Result<T, LogError>) -> bool {
    match result {
        Err(LogError::Poisoned { cause }) => matches!(*cause, StoreError::Overtaken { .. }),
        _ => false,
    }
}

/// An action of a writer.
type Step = fn(&Log) -> Result<(), LogError>;

/// Every later action of the first writer is refused, and everything acknowledged as durable to
/// either writer is present.
#[test]
fn a_writer_that_lost_its_lock_is_refused() {
    let next: [Step; 4] = [
        |log| commit(log).map(drop),
        |log| log.set_history(None).map_err(as_log),
        |log| log.close().map_err(as_log),
        |log| {
            log.prune(CommitTimestamp::ZERO)
                .map(drop)
                .and_then(|()| log.maintain())
                .map_err(as_log)
                .and_then(|()| commit(log).map(drop))
        },
    ];
    for (case, step) in next.into_iter().enumerate() {
        for is_opened_again in [false, true] {
            let files: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
            let store = StoreFiles::create(Arc::clone(&files), store_options(), STORE).unwrap();
            let first = Log::start(store, &Recovered::default(), log_options(Durability::Sync)).unwrap();
            (0..20).for_each(|_| assert!(commit(&first).is_ok()));
            files.remove("LOCK").unwrap();
            let second = is_opened_again.then(|| open(&files).unwrap());
            second.iter().for_each(|second| (0..20).for_each(|_| assert!(commit(second).is_ok())));
            let refused = step(&first);
            assert!(is_overtaken(refused.clone()), "case {case}: {refused:?}");
            assert!(is_overtaken(commit(&first)), "case {case}");
            let acknowledged = second.as_ref().map_or(CommitTimestamp(20), |second| {
                commit(second).unwrap();
                second.close().unwrap();
                second.last()
            });
            drop((first, second));
            let last = open(&files).unwrap().last();
            assert!(last >= acknowledged, "case {case}: {last}");
            assert!(check(&files, CommitTimestamp::ZERO).unwrap().problems.is_empty());
        }
    }
}

fn as_log(error: StoreError) -> LogError {
    match error {
        StoreError::Log(error) => error,
        other => panic!("{other}"),
    }
}

/// A manifest is not replaced by a writer that did not read or write it last.
#[test]
fn a_manifest_of_another_generation_is_not_replaced() {
    let files: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
    let store = StoreFiles::create(Arc::clone(&files), store_options(), STORE).unwrap();
    let older = files.open("MANIFEST", OpenMode::Read).unwrap().read_from(0).unwrap();
    let log = Log::start(store, &Recovered::default(), log_options(Durability::Sync)).unwrap();
    commit(&log).unwrap();
    files.open("MANIFEST", OpenMode::Create).unwrap().write_all_at(&older, 0).unwrap();
    assert!(is_overtaken(log.set_history(None).map_err(as_log)));
    assert_eq!(files.open("MANIFEST", OpenMode::Read).unwrap().read_from(0).unwrap(), older);
}

/// With the operating system's files: the lock belongs to the file that has the name.
#[test]
fn a_removed_lock_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::new(folder.path()));
    let store = StoreFiles::create(Arc::clone(&files), store_options(), STORE).unwrap();
    let log = Log::start(store, &Recovered::default(), log_options(Durability::Sync)).unwrap();
    commit(&log).unwrap();
    assert!(matches!(StoreFiles::open(Arc::clone(&files)), Err(StoreError::Locked { .. })));
    std::fs::remove_file(folder.path().join("LOCK")).unwrap();
    let second = open(&files).unwrap();
    assert!(is_overtaken(commit(&log)));
    commit(&second).unwrap();
}

/// Readers block writers only while they read.
#[test]
fn readers_and_a_writer_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let real: Arc<dyn FileSystem> = Arc::new(RealFiles::new(folder.path()));
    let simulated: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
    for files in [real, simulated] {
        let store = StoreFiles::create(Arc::clone(&files), store_options(), STORE).unwrap();
        assert!(matches!(
            StoreFiles::open_shared(Arc::clone(&files)),
            Err(StoreError::Locked { holder: Some(_), .. })
        ));
        drop(store);
        let readers = [(); 2].map(|()| StoreFiles::open_shared(Arc::clone(&files)).unwrap());
        assert!(matches!(StoreFiles::open(Arc::clone(&files)), Err(StoreError::BeingRead { .. })));
        drop(readers);
        StoreFiles::open(files).unwrap();
    }
}
