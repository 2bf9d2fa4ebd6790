//! Cuts the log at every byte.

use crate::harness::replay;
use crate::workload::{STORE, body, content, log_options, store_options, wall_clock};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::{Durability, Log, LogOptions, Recovered, StoreError, StoreFiles};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;

/// A store of `count` commits in batches of up to three, closed or not.
pub fn store_of(count: u64, close: bool) -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    let store = StoreFiles::create(Arc::new(files.clone()), store_options(), STORE).unwrap();
    let options = LogOptions { buffer_bytes: usize::MAX, ..log_options(Durability::None) };
    let log = Log::start(store, &Recovered::default(), options).unwrap();
    for at in (1..=count).map(CommitTimestamp) {
        let appended = log.append(at, wall_clock(at), &mut body(at)).unwrap();
        let asked = if at.0 % 3 == 0 || at.0 == count { Durability::Sync } else { Durability::None };
        log.settle(appended.at(), asked).unwrap();
    }
    if close {
        log.close().unwrap();
    }
    files.copy()
}

/// The position of each commit: the file, the start and the end.
pub fn places(files: &SimulatedFiles) -> Vec<(String, u64, u64)> {
    let store = StoreFiles::open_read_only(Arc::new(files.clone())).unwrap();
    let mut places: Vec<(String, u64, u64)> = Vec::new();
    let replayed = store.replay(CommitTimestamp::ZERO, |record, place| {
        let name = place.path.file_name().unwrap().to_str().unwrap().to_owned();
        // The times take a few bytes before the body.
        let length = files.open(&name, OpenMode::Read)?;
        let mut header = [0; 4];
        length.read_exact_at(&mut header, place.offset + 4)?;
        let end = place.offset + 9 + u64::from(u32::from_le_bytes(header));
        assert!(
            end - place.offset > record.body.len() as u64 && record.body.len() > content(record.at).len()
        );
        places.push((name, place.offset, end));
        Ok::<(), StoreError>(())
    });
    replayed.unwrap();
    places
}

/// Replaces a file's content from `begin` on with zeros, as a loss of power leaves it.
fn erase(files: &SimulatedFiles, name: &str, begin: u64) {
    let file = files.open(name, OpenMode::Write).unwrap();
    let length = file.length().unwrap();
    file.write_all_at(&vec![0; (length - begin) as usize], begin).unwrap();
}

#[test]
fn a_log_that_lost_its_end_keeps_its_longest_prefix() {
    let files = store_of(40, false);
    let places = places(&files);
    let last_segment = &places.last().unwrap().0;
    let whole = places.iter().filter(|(name, ..)| name != last_segment).count();
    let end = places.last().unwrap().2;
    assert!(whole > 10 && places.len() - whole > 5);
    let known = StoreFiles::open_read_only(Arc::new(files.clone())).unwrap().manifest().durable;
    for begin in 0..=end {
        let found = files.copy();
        erase(&found, last_segment, begin);
        let expected = places.iter().filter(|(name, _, end)| name != last_segment || *end <= begin).count();
        let expected = CommitTimestamp(expected as u64);
        let is_reported = |found: &SimulatedFiles| {
            let store = StoreFiles::open(Arc::new(found.clone())).unwrap();
            matches!(replay(&store), Err(StoreError::Damaged { .. }))
        };
        assert_eq!(is_reported(&found), expected < CommitTimestamp(40), "lost from {begin} on");
        // The mark may be lost, too.
        found.remove("DURABLE").unwrap();
        assert_eq!(is_reported(&found), expected < known, "lost from {begin} on");
        if expected < known {
            continue;
        }
        let store = StoreFiles::open(Arc::new(found.clone())).unwrap();
        let (recovered, right) = replay(&store).unwrap();
        assert!(right);
        assert_eq!(recovered.last, expected, "lost from {begin} on");
        // The log can continue after its remaining commits.
        let log = Log::start(store, &recovered, log_options(Durability::Sync)).unwrap();
        let at = log.last().next();
        let appended = log.append(at, wall_clock(at), &mut body(at)).unwrap();
        log.settle(appended.at(), Durability::Sync).unwrap();
        drop(log);
        let (recovered, right) = replay(&StoreFiles::open(Arc::new(found)).unwrap()).unwrap();
        assert!(right);
        assert_eq!((recovered.last, recovered.torn), (at, None));
    }
}

/// A segment is used only once its file is durable at full length.
#[test]
fn a_segment_that_is_too_short_is_damaged_where_it_ends() {
    let files = store_of(40, false);
    let (segment, _, end) = places(&files).pop().unwrap();
    let length = files.open(&segment, OpenMode::Read).unwrap().length().unwrap();
    for cut in (0..end).chain([length - 1]) {
        let found = files.copy();
        found.remove("DURABLE").unwrap();
        found.open(&segment, OpenMode::Write).unwrap().set_length(cut).unwrap();
        let store = StoreFiles::open(Arc::new(found.clone())).unwrap();
        match replay(&store) {
            Err(StoreError::Damaged { path, offset, .. }) => {
                assert!(path.ends_with(&segment) && offset == cut, "{offset} of {}", path.display());
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
}

#[test]
fn a_cut_before_the_last_segment_is_damage() {
    for close in [false, true] {
        let files = store_of(40, close);
        let places = places(&files);
        let last_segment = &places.last().unwrap().0;
        for (name, _, end) in places.iter().filter(|(name, ..)| close || name != last_segment) {
            for cut in [0, 63, end - 1] {
                let found = files.copy();
                found.open(name, OpenMode::Write).unwrap().set_length(cut).unwrap();
                let store = StoreFiles::open(Arc::new(found)).unwrap();
                let error = replay(&store).unwrap_err();
                assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            }
        }
    }
}
