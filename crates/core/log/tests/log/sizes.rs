//! A store takes about as much space as its content, however often it is opened and however it is
//! left.

use crate::harness::replay;
use crate::workload::{STORE, body, log_options, store_options, wall_clock};
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_log::{
    Body, CheckpointEntry, CommitRef, Durability, Log, LogOptions, Recovered, SegmentEntry, StoreError,
    StoreFiles, recover_to_last_valid,
};
use hedgerow_model::{CommitTimestamp, Effects, Topology};
use hedgerow_testing::simulated::SimulatedFiles;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

/// The end of a session.
#[derive(Clone, Copy, Debug)]
enum End {
    Close,
    Drop,
    Kill,
}

fn create(files: &SimulatedFiles, options: LogOptions) -> Log {
    let store = StoreFiles::create(Arc::new(files.clone()), store_options(), STORE).unwrap();
    Log::start(store, &Recovered::default(), options).unwrap()
}

fn open(files: &dyn CloneFiles, options: LogOptions) -> Log {
    let store = StoreFiles::open(files.shared()).unwrap();
    let after = store.manifest().checkpoint.map_or(CommitTimestamp::ZERO, |checkpoint| checkpoint.at);
    let recovered = store.replay(after, |_, _| Ok::<(), StoreError>(())).unwrap();
    Log::start(store, &recovered, options).unwrap()
}

/// Files that can be shared.
trait CloneFiles {
    fn shared(&self) -> Arc<dyn FileSystem>;
}

impl<F: FileSystem + Clone + 'static> CloneFiles for F {
    fn shared(&self) -> Arc<dyn FileSystem> {
        Arc::new(self.clone())
    }
}

fn commit(log: &Log) {
    let at = log.last().next();
    let appended = log.append(at, wall_clock(at), &mut body(at)).unwrap();
    log.settle(appended.at(), Durability::Sync).unwrap();
}

/// A commit of `bytes` bytes.
fn commit_large(log: &Log, bytes: usize) {
    let (effects, input, at) = (Effects::default(), vec![7; bytes], log.last().next());
    let mut body = Body::default();
    body.encode(&CommitRef { input: Some(&input), ..CommitRef::of(&effects) }, Topology::Directed);
    let appended = log.append(at, wall_clock(at), &mut body).unwrap();
    log.settle(appended.at(), Durability::Sync).unwrap();
}

fn end(files: &SimulatedFiles, log: Log, end: End) {
    match end {
        End::Close => log.close().unwrap(),
        End::Drop => drop(log),
        End::Kill => files.kill_process(),
    }
}

fn length(files: &dyn FileSystem, name: &str) -> u64 {
    files.open(name, OpenMode::Read).unwrap().length().unwrap()
}

fn segments(files: &SimulatedFiles) -> Vec<SegmentEntry> {
    StoreFiles::open_read_only(files.shared()).unwrap().manifest().segments.clone()
}

/// Checks that every segment ends with its last record. Returns the bytes of the segments.
fn check_cut(files: &SimulatedFiles) -> u64 {
    let segments = segments(files);
    let mut names: Vec<_> =
        files.list().unwrap().into_iter().filter(|name| name.starts_with("log-")).collect();
    names.sort();
    assert!(names.iter().eq(&segments.iter().map(SegmentEntry::file_name).collect::<Vec<_>>()));
    let ends = segments.iter().map(|entry| entry.sealed.unwrap().end);
    assert!(names.iter().map(|name| length(files, name)).eq(ends.clone()), "{segments:?}");
    ends.sum()
}

#[test]
fn a_store_that_is_opened_often_has_few_small_segments() {
    const SESSIONS: u64 = 150;
    for (how, durability) in [
        (End::Close, Durability::Sync),
        (End::Drop, Durability::Buffered),
        (End::Kill, Durability::Sync),
        (End::Close, Durability::None),
    ] {
        let options = LogOptions { durability, ..LogOptions::default() };
        let files = SimulatedFiles::new(1);
        end(&files, create(&files, options), how);
        let (mut copied, mut bytes) = (0, 0);
        for session in 0..SESSIONS {
            let former = segments(&files);
            let log = open(&files, options);
            let segments = log.manifest().segments;
            assert!(segments.len() <= 16, "{} segments in session {session}, {how:?}", segments.len());
            let is_new = |entry: &&SegmentEntry| former.iter().all(|former| former.number != entry.number);
            copied += segments.iter().filter(is_new).filter_map(|new| Some(new.sealed?.end)).sum::<u64>();
            commit(&log);
            end(&files, log, how);
            bytes += body(CommitTimestamp(session + 1)).as_bytes().len() as u64;
        }
        open(&files, options).close().unwrap();
        // A segment and a record have a header each.
        let found = check_cut(&files);
        assert!(found <= bytes + SESSIONS * 30 + 16 * 81, "{found} bytes for {bytes}, {how:?}");
        assert!(copied > bytes && copied <= 8 * bytes, "{copied} bytes were copied for {bytes}");
        let (recovered, right) = replay(&StoreFiles::open_read_only(files.shared()).unwrap()).unwrap();
        assert!(right);
        assert_eq!((recovered.last, recovered.torn), (CommitTimestamp(SESSIONS), None));
    }
}

/// Segments grow, a large commit begins a segment, and a segment is created ahead of its use: no
/// unused space stays.
#[test]
fn segments_are_cut_after_their_last_records() {
    for how in [End::Close, End::Drop, End::Kill] {
        let files = SimulatedFiles::new(1);
        let log = create(&files, LogOptions::default());
        for bytes in [100, 60 << 10, 300 << 10, 3 << 20, 500 << 10, 100] {
            log.maintain().unwrap();
            commit_large(&log, bytes);
        }
        let lengths: Vec<u64> = log.manifest().segments.iter().map(|entry| entry.length).collect();
        assert_eq!(lengths, [64 << 10, 1 << 20, 16 << 20, 16 << 20]);
        end(&files, log, how);
        open(&files, LogOptions::default()).close().unwrap();
        let bytes = check_cut(&files);
        assert!(bytes < (4 << 20), "{bytes} bytes, {how:?}");
    }
}

#[test]
fn small_segments_are_not_joined_with_much_larger_ones() {
    let files = SimulatedFiles::new(1);
    let log = create(&files, LogOptions::default());
    commit_large(&log, 300 << 10);
    log.close().unwrap();
    for _ in 0..40 {
        let log = open(&files, LogOptions::default());
        assert_eq!(log.manifest().segments[0].number, 1);
        commit(&log);
        log.close().unwrap();
    }
    check_cut(&files);
}

/// Opening does not read segments whose commits are in the checkpoint; their damage prevents
/// nothing.
#[test]
fn damaged_segments_are_not_joined() {
    let files = SimulatedFiles::new(1);
    let options = log_options(Durability::Sync);
    create(&files, options).close().unwrap();
    let options = LogOptions { segment_bytes: 1 << 20, ..options };
    for _ in 0..8 {
        let log = open(&files, options);
        commit(&log);
        let at = log.last();
        log.install_checkpoint(CheckpointEntry { number: at.0, at, length: 0 }).unwrap();
        log.close().unwrap();
    }
    let before = segments(&files);
    files.open(&before[3].file_name(), OpenMode::Write).unwrap().write_all_at(b"wrong", 90).unwrap();
    for _ in 0..3 {
        let log = open(&files, options);
        commit(&log);
        log.close().unwrap();
    }
    let after = segments(&files);
    assert_eq!(after[..8], before);
    assert_eq!(after.len(), 11);
    check_cut(&files);
    open(&files, options).prune(CommitTimestamp::ZERO).unwrap();
}

#[test]
fn a_repair_keeps_no_unused_space() {
    let files = SimulatedFiles::new(1);
    let log = create(&files, LogOptions::default());
    commit_large(&log, 100);
    commit_large(&log, 100);
    files.kill_process();
    files.open("log-0000000001", OpenMode::Write).unwrap().write_all_at(b"wrong", 90).unwrap();
    let repair = recover_to_last_valid(files.shared()).unwrap();
    assert_eq!(repair.last, CommitTimestamp::ZERO);
    open(&files, LogOptions::default()).close().unwrap();
    let bytes: u64 = files.list().unwrap().iter().map(|name| length(&files, name)).sum();
    assert!(bytes < 1000, "{bytes} bytes are left");
}

#[test]
fn real_files_take_no_more_blocks_than_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let files = RealFiles::new(folder.path().join("store"));
    let store = StoreFiles::create(files.shared(), store_options(), STORE).unwrap();
    let mut log = Log::start(store, &Recovered::default(), LogOptions::default()).unwrap();
    for session in 0..20 {
        commit(&log);
        match session % 2 {
            0 => log.close().unwrap(),
            _ => drop(log),
        }
        log = open(&files, LogOptions::default());
    }
    log.close().unwrap();
    let blocks = |name: &String| std::fs::metadata(files.location().join(name)).unwrap().blocks() * 512;
    let allocated: u64 = files.list().unwrap().iter().map(blocks).sum();
    assert!(allocated <= 128 << 10, "{allocated} bytes are allocated");
}
