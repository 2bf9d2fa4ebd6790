//! File sizes are not trusted: reading takes little memory whatever size a file system reports.

use crate::targets::STORE;
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_log::{
    Body, CheckReport, CommitRef, Durability, Log, LogOptions, Manifest, Recovered, SealedSegment,
    StoreError, StoreFiles, StoreOptions, check, recover_to_last_valid,
};
use hedgerow_model::{Catalog, CommitTimestamp, Effects, KeyKind, Topology};
use hedgerow_testing::allocation::most_held;
use std::path::Path;
use std::sync::Arc;

/// Maximum memory for reading a store of a few commits, whatever sizes its files report.
const MOST: usize = 16 << 20;

/// A store of five commits that was not closed.
fn store() -> (tempfile::TempDir, Arc<dyn FileSystem>) {
    let (open, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = StoreOptions {
        engine: "rapid".to_owned(),
        keys: KeyKind::Number,
        topology: Topology::Directed,
        strict: false,
        catalog: Catalog::default(),
    };
    let store = StoreFiles::create(Arc::new(RealFiles::new(open.path())), options, STORE).unwrap();
    let options = LogOptions { segment_bytes: 4096, ..LogOptions::default() };
    let log = Log::start(store, &Recovered::default(), options).unwrap();
    for at in (1..=5).map(CommitTimestamp) {
        let (mut body, effects) = (Body::default(), Effects::default());
        let input = Some(&b"anything"[..]);
        let commit = CommitRef { input, ..CommitRef::of(&effects) };
        body.encode(&commit, Topology::Directed);
        let appended = log.append(at, 0, &mut body).unwrap();
        log.settle(appended.at(), Durability::Sync).unwrap();
    }
    // Copied before the log is dropped, which closes it.
    for entry in std::fs::read_dir(open.path()).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    drop(log);
    let files = Arc::new(RealFiles::new(folder.path()));
    (folder, files)
}

/// Opens, checks and repairs a store with little memory. Returns the results of opening and
/// checking.
fn read(files: &Arc<dyn FileSystem>) -> (Result<CommitTimestamp, StoreError>, CheckReport) {
    let (found, held) = most_held(|| {
        let store = StoreFiles::open(Arc::clone(files))?;
        Ok(store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(()))?.last)
    });
    assert!(held < MOST, "opening held {held} bytes");
    let (report, held) = most_held(|| check(files, CommitTimestamp::ZERO).unwrap());
    assert!(held < MOST, "checking held {held} bytes");
    assert_eq!(found.is_ok(), report.problems.is_empty(), "{found:?} and {:?}", report.problems);
    let (_, held) = most_held(|| recover_to_last_valid(Arc::clone(files)));
    assert!(held < MOST, "repairing held {held} bytes");
    (found, report)
}

fn extend(path: &Path, length: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

#[test]
fn zeros_behind_a_segment_are_not_read_into_memory() {
    let (folder, files) = store();
    extend(&folder.path().join("log-0000000001"), 200 << 30);
    assert_eq!(read(&files).0.unwrap(), CommitTimestamp(5));
}

#[test]
fn the_length_of_a_frame_is_not_trusted() {
    let (folder, files) = store();
    let segment = folder.path().join("log-0000000001");
    let end = StoreFiles::open_read_only(Arc::clone(&files)).unwrap();
    let mut ends = Vec::new();
    let replayed = end.replay(CommitTimestamp::ZERO, |record, place| {
        ends.push(place.offset + 11 + record.body.len() as u64);
        Ok::<(), StoreError>(())
    });
    assert_eq!(replayed.unwrap().last, CommitTimestamp(5));
    // After the last record: a record that claims to have four gigabytes.
    let file = files.open("log-0000000001", OpenMode::Write).unwrap();
    file.write_all_at(&[1, 2, 3, 4, 0xff, 0xff, 0xff, 0xef, 1, 5, 0], *ends.last().unwrap()).unwrap();
    extend(&segment, 5 << 30);
    let (found, report) = read(&files);
    assert_eq!((found.unwrap(), report.torn.unwrap().offset), (CommitTimestamp(5), *ends.last().unwrap()));
}

#[test]
fn the_end_of_a_sealed_segment_is_not_trusted() {
    let (folder, files) = store();
    extend(&folder.path().join("log-0000000001"), 200 << 30);
    let path = folder.path().join("MANIFEST");
    let mut manifest = Manifest::decode(&std::fs::read(&path).unwrap(), &path).unwrap();
    let sealed =
        SealedSegment { first: CommitTimestamp(1), last: CommitTimestamp(5), end: 200 << 30, wall_clock: 0 };
    manifest.segments[0].sealed = Some(sealed);
    std::fs::write(&path, manifest.encode()).unwrap();
    assert!(matches!(read(&files).0, Err(StoreError::Damaged { .. })));
}

#[test]
fn the_length_of_a_manifest_is_not_trusted() {
    for length in [1 << 30, 20 << 30] {
        let (folder, files) = store();
        extend(&folder.path().join("MANIFEST"), length);
        let (found, _) = read(&files);
        assert!(matches!(found, Err(StoreError::Damaged { .. })), "{found:?}");
    }
}

#[test]
fn the_length_of_a_lock_file_is_not_trusted() {
    let (folder, files) = store();
    extend(&folder.path().join("LOCK"), 20 << 30);
    let reader = StoreFiles::open_shared(Arc::clone(&files)).unwrap();
    assert!(matches!(StoreFiles::open(Arc::clone(&files)), Err(StoreError::BeingRead { .. })));
    drop(reader);
    assert_eq!(read(&files).0.unwrap(), CommitTimestamp(5));
}

#[test]
fn the_length_of_a_checkpoint_is_not_trusted() {
    let (folder, files) = store();
    let mut manifest = StoreFiles::open_read_only(Arc::clone(&files)).unwrap().manifest().clone();
    manifest.checkpoint =
        Some(hedgerow_log::CheckpointEntry { number: 1, at: CommitTimestamp(5), length: 200 << 30 });
    std::fs::write(folder.path().join("MANIFEST"), manifest.encode()).unwrap();
    let checkpoint = folder.path().join("checkpoint-0000000001");
    std::fs::copy("tests/checkpoint/version-1.checkpoint", &checkpoint).unwrap();
    // A trailer at the very end that declares all zeros before it an index.
    let header = std::fs::read(&checkpoint).unwrap()[..64].to_vec();
    let identity = u32::from_le_bytes(*header.last_chunk().unwrap());
    let (begin, chunks) = (header.len() as u64, (200_u64 << 30) / 40);
    let mut trailer = [begin.to_le_bytes(), chunks.to_le_bytes(), [0; 8]].concat();
    trailer.extend(crc32c::crc32c_append(identity, &trailer).to_le_bytes());
    trailer.extend(*b"HGCE");
    extend(&checkpoint, begin);
    let file = files.open("checkpoint-0000000001", OpenMode::Write).unwrap();
    file.write_all_at(&trailer, begin + chunks * 40).unwrap();
    let report = check_with_checkpoint(&files);
    assert!(
        report.problems.iter().any(|problem| matches!(problem, StoreError::Damaged { .. })),
        "{report:?}"
    );
}

/// Opens the checkpoint and checks the store, with little memory.
fn check_with_checkpoint(files: &Arc<dyn FileSystem>) -> CheckReport {
    let (opened, held) =
        most_held(|| StoreFiles::open_read_only(Arc::clone(files)).unwrap().open_checkpoint().map(drop));
    assert!(held < MOST && opened.is_err(), "{held} bytes, {opened:?}");
    let (report, held) = most_held(|| check(files, CommitTimestamp::ZERO).unwrap());
    assert!(held < MOST, "{held} bytes");
    report
}
