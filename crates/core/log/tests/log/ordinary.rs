//! Ordinary use: stores are created, opened, closed, pruned and read.

use crate::workload::{STORE, body, is_right, log_options, store_options, wall_clock};
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_log::{
    CheckpointEntry, Durability, Log, LogError, LogOptions, Recovered, StoreError, StoreFiles, StreamEntry,
    check,
};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;

fn new_log(files: Arc<dyn FileSystem>, options: LogOptions) -> Log {
    let store = StoreFiles::create(files, store_options(), STORE).unwrap();
    Log::start(store, &Recovered::default(), options).unwrap()
}

fn commit(log: &Log, count: u64) {
    for _ in 0..count {
        let at = log.last().next();
        let appended = log.append(at, wall_clock(at), &mut body(at)).unwrap();
        log.settle(appended.at(), Durability::None).unwrap();
    }
}

fn found(files: Arc<dyn FileSystem>, after: CommitTimestamp) -> Recovered {
    let store = StoreFiles::open_read_only(files).unwrap();
    let mut next = after.next();
    let recovered = store.replay(after, |record, _| {
        assert!(is_right(&record) && record.at == next);
        next = next.next();
        Ok::<(), StoreError>(())
    });
    recovered.unwrap()
}

#[test]
fn commits_come_back_from_real_files() {
    let folder = tempfile::tempdir().unwrap();
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::new(folder.path().join("store")));
    for durability in [Durability::Sync, Durability::Buffered, Durability::None] {
        let options = log_options(durability);
        let log = match StoreFiles::open(Arc::clone(&files)) {
            Err(StoreError::NoStore { .. }) => new_log(Arc::clone(&files), options),
            store => {
                let store = store.unwrap();
                let recovered = store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(())).unwrap();
                Log::start(store, &recovered, options).unwrap()
            }
        };
        let before = log.last();
        commit(&log, 100);
        assert!(matches!(
            StoreFiles::open(Arc::clone(&files)),
            Err(StoreError::Locked { holder: Some(_), .. })
        ));
        log.close().unwrap();
        assert!(matches!(log.append(log.last().next(), 0, &mut body(log.last())), Err(LogError::Closed)));
        drop(log);
        let recovered = found(Arc::clone(&files), before);
        assert_eq!((recovered.commits, recovered.torn), (100, None));
    }
    let report = check(&files, CommitTimestamp::ZERO).unwrap();
    assert_eq!((report.commits, report.last, report.problems.len()), (300, CommitTimestamp(300), 0));
}

#[test]
fn a_log_dropped_without_a_close_loses_nothing() {
    for durability in [Durability::Sync, Durability::Buffered, Durability::None] {
        let files = Arc::new(SimulatedFiles::new(1));
        let log = new_log(Arc::clone(&files) as _, log_options(durability));
        commit(&log, 30);
        drop(log);
        assert_eq!(found(files, CommitTimestamp::ZERO).last, CommitTimestamp(30));
    }
}

#[test]
fn a_pruned_log_says_what_is_out_of_retention() {
    let files = Arc::new(SimulatedFiles::new(1));
    let log = new_log(Arc::clone(&files) as _, log_options(Durability::Sync));
    commit(&log, 200);
    assert_eq!(log.prune(CommitTimestamp::ZERO).unwrap(), 0, "without a checkpoint everything is needed");
    log.install_checkpoint(CheckpointEntry { number: 1, at: CommitTimestamp(150), length: 0 }).unwrap();
    log.set_stream(StreamEntry::new("slow", CommitTimestamp(60))).unwrap();
    assert_eq!(log.manifest().needed_from(CommitTimestamp::ZERO), CommitTimestamp(60));
    assert!(log.prune(CommitTimestamp::ZERO).unwrap() > 0);
    let oldest = log.manifest().oldest_readable;
    assert!(oldest > CommitTimestamp::ZERO && oldest <= CommitTimestamp(60));
    // A stream that would keep more than its limits keeps nothing.
    let needed = |most_bytes, most_age| {
        let slow = StreamEntry::new("slow", CommitTimestamp(60));
        log.set_stream(StreamEntry { most_bytes, most_age, ..slow }).unwrap();
        log.manifest().needed_from(CommitTimestamp::ZERO).0
    };
    let manifest = log.manifest();
    let kept = manifest.segments.iter().filter_map(|entry| entry.sealed);
    let kept = kept.filter(|sealed| sealed.last.0 > 60).collect::<Vec<_>>();
    let bytes = kept.iter().map(|sealed| sealed.end).sum();
    let age = kept[kept.len() - 1].wall_clock - kept[0].wall_clock;
    assert!(kept.len() > 2 && age > 0);
    assert_eq!((needed(bytes, u64::MAX), needed(bytes - 1, u64::MAX)), (60, 150));
    assert_eq!((needed(u64::MAX, age), needed(u64::MAX, age - 1)), (60, 150));
    log.remove_stream("slow").unwrap();
    log.set_history(Some(CommitTimestamp(100))).unwrap();
    log.prune(CommitTimestamp::ZERO).unwrap();
    log.close().unwrap();
    drop(log);
    let store = StoreFiles::open(Arc::clone(&files) as _).unwrap();
    let oldest = store.manifest().oldest_readable;
    assert!(oldest > CommitTimestamp(60) && oldest <= CommitTimestamp(100));
    let asked = store.replay(CommitTimestamp(50), |_, _| Ok::<(), StoreError>(()));
    assert!(matches!(asked, Err(StoreError::OutOfRetention { asked: CommitTimestamp(50), .. })));
    let recovered = store.replay(CommitTimestamp(150), |_, _| Ok::<(), StoreError>(())).unwrap();
    assert_eq!((recovered.commits, recovered.last), (50, CommitTimestamp(200)));
    assert_eq!(store.manifest().oldest_wall_clock, wall_clock(oldest));
}

#[test]
fn a_gap_before_the_log_cannot_be_repaired() {
    let files = Arc::new(SimulatedFiles::new(1));
    let log = new_log(Arc::clone(&files) as _, log_options(Durability::Sync));
    commit(&log, 200);
    log.install_checkpoint(CheckpointEntry { number: 1, at: CommitTimestamp(150), length: 0 }).unwrap();
    assert!(log.prune(CommitTimestamp::ZERO).unwrap() > 0);
    log.close().unwrap();
    let mut manifest = log.manifest();
    drop(log);
    let oldest = manifest.oldest_readable;
    let at = CommitTimestamp(oldest.0 - 1);
    manifest.checkpoint = Some(CheckpointEntry { number: 1, at, length: 0 });
    files.open("MANIFEST", OpenMode::Create).unwrap().write_all_at(&manifest.encode(), 0).unwrap();
    let before = files.copy();
    let mut store = StoreFiles::open(Arc::clone(&files) as _).unwrap();
    let repaired = store.recover(None, CommitTimestamp::ZERO, |_, _| Ok::<bool, StoreError>(true));
    let is_refused = matches!(&repaired, Err(StoreError::OutOfRetention { asked, .. }) if *asked == at);
    assert!(is_refused, "{repaired:?}");
    drop(store);
    let contents = |files: &SimulatedFiles| {
        let names = files.list().unwrap().into_iter().filter(|name| name != "LOCK");
        let content = |name: String| files.open(&name, OpenMode::Read).unwrap().read_from(0).unwrap();
        names.map(|name| (name.clone(), content(name))).collect::<std::collections::BTreeMap<_, _>>()
    };
    assert!(contents(&files) == contents(&before), "an irreparable store is not changed");
}

#[test]
fn a_directory_has_at_most_one_store() {
    let files = Arc::new(SimulatedFiles::new(1));
    assert!(matches!(StoreFiles::open(Arc::clone(&files) as _), Err(StoreError::NoStore { .. })));
    drop(StoreFiles::create(Arc::clone(&files) as _, store_options(), STORE).unwrap());
    let again = StoreFiles::create(Arc::clone(&files) as _, store_options(), STORE);
    assert!(matches!(again, Err(StoreError::Exists { .. })));
    let store = StoreFiles::open(Arc::clone(&files) as _).unwrap();
    assert_eq!(store.manifest().options, store_options());
    assert!(matches!(StoreFiles::open(Arc::clone(&files) as _), Err(StoreError::Locked { .. })));
    commit(&Log::start(store, &Recovered::default(), log_options(Durability::Sync)).unwrap(), 1);
    files.remove("MANIFEST").unwrap();
    assert!(matches!(StoreFiles::open(Arc::clone(&files) as _), Err(StoreError::Missing { .. })));
    assert!(matches!(StoreFiles::create(files, store_options(), STORE), Err(StoreError::Exists { .. })));
}

#[test]
fn commits_come_in_order() {
    let log = new_log(Arc::new(SimulatedFiles::new(1)), log_options(Durability::Sync));
    commit(&log, 3);
    for wrong in [3, 5] {
        let refused = log.append(CommitTimestamp(wrong), 0, &mut body(CommitTimestamp(wrong)));
        assert!(matches!(refused, Err(LogError::OutOfOrder { expected: CommitTimestamp(4), .. })));
    }
    commit(&log, 1);
}

#[test]
fn commits_that_come_together_are_all_appended_in_one_batch_or_none() {
    let files = Arc::new(SimulatedFiles::new(1));
    let log = new_log(Arc::clone(&files) as _, LogOptions { segment_bytes: 1000, ..LogOptions::default() });
    let bodies = |first: u64| -> Vec<_> { (first..first + 40).map(|at| body(CommitTimestamp(at))).collect() };
    let refused = log.append_each(CommitTimestamp(2), 7, &mut bodies(2));
    assert!(matches!(refused, Err(LogError::OutOfOrder { .. })));
    for first in [1, 41] {
        let appended = log.append_each(CommitTimestamp(first), 7, &mut bodies(first)).unwrap();
        assert_eq!(
            (appended.at(), appended.batch_from()),
            (CommitTimestamp(first + 39), CommitTimestamp(first))
        );
        log.settle(appended.at(), Durability::Sync).unwrap();
    }
    assert!(log.manifest().segments.len() > 1, "a group crosses the end of a segment");
    drop(log);
    let mut found = Vec::new();
    let store = StoreFiles::open(files).unwrap();
    let replayed = store.replay(CommitTimestamp::ZERO, |record, _| {
        found.push((record.at, record.body.to_vec(), record.wall_clock));
        Ok::<(), StoreError>(())
    });
    assert_eq!(replayed.unwrap().torn, None);
    let expected = (1..=80).map(CommitTimestamp).map(|at| (at, body(at).as_bytes().to_vec(), 7));
    assert!(found.into_iter().eq(expected));
}

#[test]
fn wall_clocks_never_go_back() {
    let files = Arc::new(SimulatedFiles::new(1));
    let log = new_log(Arc::clone(&files) as _, log_options(Durability::Sync));
    for (at, clock) in [(1, 500), (2, 400), (3, 600)] {
        let appended = log.append(CommitTimestamp(at), clock, &mut body(CommitTimestamp(at))).unwrap();
        log.settle(appended.at(), Durability::Sync).unwrap();
    }
    drop(log);
    let mut clocks = Vec::new();
    let store = StoreFiles::open(files).unwrap();
    let replayed = store.replay(CommitTimestamp::ZERO, |record, _| {
        clocks.push(record.wall_clock);
        Ok::<(), StoreError>(())
    });
    assert_eq!((clocks, replayed.unwrap().wall_clock), (vec![500, 500, 600], 600));
}

#[test]
fn large_commits_get_their_own_segments() {
    let files = Arc::new(SimulatedFiles::new(1));
    let log = new_log(Arc::clone(&files) as _, LogOptions { segment_bytes: 4096, ..LogOptions::default() });
    let large = vec![7; 1 << 20];
    let mut sizes = Vec::new();
    for at in 1..=9 {
        let length = if at % 3 == 0 { large.len() } else { at as usize };
        let effects = hedgerow_model::Effects::default();
        let commit = hedgerow_log::CommitRef {
            input: Some(&large[..length]),
            ..hedgerow_log::CommitRef::of(&effects)
        };
        let mut body = hedgerow_log::Body::default();
        body.encode(&commit, hedgerow_model::Topology::Directed);
        sizes.push(body.as_bytes().len());
        let appended = log.append(CommitTimestamp(at), 0, &mut body).unwrap();
        if at > 6 {
            log.settle(appended.at(), Durability::Sync).unwrap();
        }
    }
    drop(log);
    let mut found = Vec::new();
    let store = StoreFiles::open(files).unwrap();
    let replayed = store.replay(CommitTimestamp::ZERO, |record, _| {
        found.push(record.body.len());
        Ok::<(), StoreError>(())
    });
    assert_eq!((found, replayed.unwrap().torn), (sizes, None));
}

#[test]
fn a_buffered_log_loses_no_more_than_it_says() {
    let files = Arc::new(SimulatedFiles::new(1));
    let options = log_options(Durability::Buffered);
    let log = new_log(Arc::clone(&files) as _, options);
    let bound = options.buffer_bytes as u64 + options.unsynced_bytes;
    let (mut ends, mut largest, mut most) = (vec![0], 0, 0);
    for at in 1..=300 {
        commit(&log, 1);
        let length = body(CommitTimestamp(at)).as_bytes().len() as u64 + 40;
        ends.push(ends[at as usize - 1] + length);
        largest = largest.max(length);
        let unsafe_bytes = ends[at as usize] - ends[log.durable().0 as usize];
        assert!(unsafe_bytes <= bound + largest, "{unsafe_bytes} bytes could be lost at {at}");
        most = most.max(unsafe_bytes);
    }
    assert!(most > options.buffer_bytes as u64, "nothing was buffered");
    log.flush().unwrap();
    assert_eq!(log.durable(), CommitTimestamp(300));
}
