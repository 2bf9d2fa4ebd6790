//! Commits are read in order from any one on, while others are made.

use crate::workload::{STORE, body, is_right, log_options, store_options, wall_clock};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::{
    CheckpointEntry, CommitReader, Durability, Log, LogRecord, Manifest, Recovered, StoreError, StoreFiles,
    StreamEntry,
};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::simulated::SimulatedFiles;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

fn new_log(files: &SimulatedFiles, durability: Durability) -> Log {
    let store = StoreFiles::create(Arc::new(files.clone()), store_options(), STORE).unwrap();
    Log::start(store, &Recovered::default(), log_options(durability)).unwrap()
}

fn commit(log: &Log, count: u64) {
    for _ in 0..count {
        let at = log.last().next();
        let appended = log.append(at, wall_clock(at), &mut body(at)).unwrap();
        log.settle(appended.at(), Durability::None).unwrap();
    }
}

fn reader(files: &SimulatedFiles, after: u64) -> CommitReader {
    CommitReader::after(Arc::new(files.clone()), CommitTimestamp(after))
}

/// The manifest that another process reads.
fn manifest_of(files: &SimulatedFiles) -> Result<Manifest, StoreError> {
    Ok(StoreFiles::open_read_only(Arc::new(files.clone()))?.manifest().clone())
}

/// Reads at most `most` commits, each of which must be right and the next one. Returns their
/// number.
fn read(
    reader: &mut CommitReader,
    through: CommitTimestamp,
    most: u64,
    manifest: impl Fn() -> Result<Manifest, StoreError>,
) -> Result<u64, StoreError> {
    let (mut next, mut count) = (reader.next(), 0);
    let mut visit = |record: &LogRecord<'_>| {
        assert!(record.at == next && is_right(record), "{record:?}");
        (next, count) = (next.next(), count + 1);
        Ok(if count == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    reader.read::<StoreError>(through, manifest, &mut visit)?;
    assert_eq!(reader.next(), next);
    Ok(count)
}

#[derive(Clone, Debug)]
enum Step {
    Commit(u64),
    /// Read at most this many commits, by the log's manifest or by that of the files.
    Read(u64, bool),
    /// Begin a reader after this share of the commits.
    Begin(f64),
    Maintain,
    Seal,
    /// Fail with the commit after this many.
    Fail(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1..60_u64).prop_map(Step::Commit),
        4 => (prop_oneof![1..9_u64, Just(u64::MAX)], any::<bool>()).prop_map(|(most, own)| Step::Read(most, own)),
        1 => (0.0..1.0).prop_map(Step::Begin),
        1 => Just(Step::Maintain),
        1 => Just(Step::Seal),
        1 => (1..9_u64).prop_map(Step::Fail),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #[test]
    fn each_commit_is_read_once_and_in_order(steps in steps()) {
        let files = SimulatedFiles::new(1);
        let mut log = new_log(&files, Durability::Buffered);
        let mut reading = reader(&files, 0);
        for step in steps {
            match step {
                Step::Commit(count) => commit(&log, count),
                Step::Read(most, own) => {
                    log.flush().unwrap();
                    let left = log.durable().next().0 - reading.next().0;
                    let manifest = || if own { Ok(log.manifest()) } else { manifest_of(&files) };
                    prop_assert_eq!(read(&mut reading, log.durable(), most, manifest).unwrap(), left.min(most));
                }
                Step::Begin(share) => {
                    log.flush().unwrap();
                    let after = (log.last().0 as f64 * share) as u64;
                    reading = reader(&files, after);
                }
                Step::Maintain => log.maintain().unwrap(),
                Step::Seal => {
                    log.close().unwrap();
                    drop(log);
                    let store = StoreFiles::open(Arc::new(files.clone())).unwrap();
                    let recovered = store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(())).unwrap();
                    log = Log::start(store, &recovered, log_options(Durability::Buffered)).unwrap();
                }
                Step::Fail(after) => {
                    log.flush().unwrap();
                    let failing = CommitTimestamp(reading.next().0 + after);
                    let mut visit = |record: &LogRecord<'_>| match record.at == failing {
                        true => Err(StoreError::Log(hedgerow_log::LogError::Abandoned)),
                        false => Ok(ControlFlow::Continue(())),
                    };
                    let ended = reading.read(log.durable(), || Ok(log.manifest()), &mut visit);
                    prop_assert_eq!(ended.is_err(), failing <= log.durable());
                    prop_assert!(ended.is_ok() || reading.next() == failing);
                }
            }
        }
    }
}

#[test]
fn a_thread_reads_every_commit_beside_writers_and_pruning() {
    let files = SimulatedFiles::new(1);
    let log = new_log(&files, Durability::Buffered);
    const COMMITS: u64 = 6000;
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..COMMITS {
                commit(&log, 1);
                if number % 97 == 0 {
                    log.flush().unwrap();
                    log.maintain().unwrap();
                }
            }
            log.flush().unwrap();
        });
        let (mut reading, mut number) = (reader(&files, 0), 0);
        log.set_stream(StreamEntry::new("reader", CommitTimestamp::ZERO)).unwrap();
        while reading.next().0 <= COMMITS {
            read(&mut reading, log.durable(), u64::MAX, || Ok(log.manifest())).unwrap();
            number += 1;
            if number % 16 == 0 && reading.next().0 > 1 {
                let position = CommitTimestamp(reading.next().0 - 1);
                log.install_checkpoint(CheckpointEntry { number: 1, at: position, length: 0 }).unwrap();
                log.set_stream(StreamEntry::new("reader", position)).unwrap();
                log.prune(CommitTimestamp::ZERO).unwrap();
            }
            thread::yield_now();
        }
    });
    assert!(log.manifest().oldest_readable > CommitTimestamp::ZERO, "something was pruned");
}

#[test]
fn a_reader_that_comes_too_late_is_told() {
    let files = SimulatedFiles::new(1);
    let log = new_log(&files, Durability::Sync);
    commit(&log, 200);
    log.install_checkpoint(CheckpointEntry { number: 1, at: CommitTimestamp(150), length: 0 }).unwrap();
    assert!(log.prune(CommitTimestamp::ZERO).unwrap() > 0);
    let oldest = log.manifest().oldest_readable;
    let late = read(&mut reader(&files, oldest.0 - 1), log.durable(), 1, || Ok(log.manifest()));
    assert!(
        matches!(late, Err(StoreError::OutOfRetention { asked, oldest: found }) if asked.next() == found && found == oldest),
        "{late:?}"
    );
    let read = read(&mut reader(&files, oldest.0), log.durable(), u64::MAX, || Ok(log.manifest()));
    assert_eq!(read.unwrap(), 200 - oldest.0);
}

#[test]
fn a_damaged_commit_is_an_error_with_its_place() {
    let files = SimulatedFiles::new(1);
    let log = new_log(&files, Durability::Sync);
    commit(&log, 20);
    let name = log.manifest().segments[0].file_name();
    let file = files.open(&name, OpenMode::Write).unwrap();
    let mut bytes = file.read_from(0).unwrap();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[last] ^= 1;
    file.write_all_at(&bytes, 0).unwrap();
    let mut reading = reader(&files, 0);
    let damaged = read(&mut reading, log.durable(), u64::MAX, || Ok(log.manifest()));
    let is_there = |path: &std::path::Path, offset: u64| path.ends_with(&name) && offset > 0;
    assert!(
        matches!(&damaged, Err(StoreError::Damaged { path, offset, .. }) if is_there(path, *offset)),
        "{damaged:?}"
    );
    assert!(reading.next() > CommitTimestamp(1), "the commits before it were read");
}
