//! Bytes change, sectors are lost or swapped, files are truncated, lost or exchanged.

use crate::cuts::{places, store_of};
use crate::harness::replay;
use crate::workload::is_right;
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::{Manifest, StoreError, StoreFiles, check, recover_to_last_valid};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::path::Path;
use std::sync::Arc;

const COMMITS: u64 = 60;

fn names(files: &SimulatedFiles) -> Vec<String> {
    let mut names = files.list().unwrap();
    names.retain(|name| name != "LOCK");
    names.sort();
    names
}

fn change(files: &SimulatedFiles, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let file = files.open(name, OpenMode::Write).unwrap();
    let mut bytes = file.read_from(0).unwrap();
    change(&mut bytes);
    file.set_length(bytes.len() as u64).unwrap();
    file.write_all_at(&bytes, 0).unwrap();
}

fn sector(random: &mut StdRng, bytes: usize, size: usize) -> std::ops::Range<usize> {
    let start = random.random_range(0..bytes.div_ceil(size)) * size;
    start..bytes.min(start + size)
}

/// Number of the last commits, which are in one batch. Nothing after them in the log states that
/// they were durable.
const LAST_BATCH: u64 = 3;

/// The kind of store to damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Closed,
    NotClosed,
    /// Not closed, and the loss of power took the mark.
    WithoutMark,
}

impl Kind {
    pub fn store(self) -> SimulatedFiles {
        let files = store_of(COMMITS, self == Kind::Closed);
        if self == Kind::WithoutMark {
            files.remove("DURABLE").unwrap();
        }
        files
    }

    /// Number of leading commits that are present, or whose loss is reported, after this damage.
    fn kept(self, what: &str) -> u64 {
        // Swapping sectors of two files can take the end of the log together with the mark that
        // would reveal it.
        let is_of_both = what.ends_with("swapped") && what.contains("DURABLE");
        match self {
            Kind::Closed => COMMITS,
            Kind::NotClosed if !is_of_both => COMMITS,
            // Such damage looks like a loss of power while the last batch was written.
            Kind::WithoutMark if what.starts_with("bit") => COMMITS - LAST_BATCH,
            // Damage that takes all later batches looks like a loss of power, too.
            Kind::NotClosed | Kind::WithoutMark => 0,
        }
    }
}

/// Does one kind of damage. Returns its description.
fn damage(files: &SimulatedFiles, random: &mut StdRng) -> String {
    damage_of(random.random_range(0..7), files, random)
}

fn damage_of(kind: u32, files: &SimulatedFiles, random: &mut StdRng) -> String {
    let names = names(files);
    let name = &names[random.random_range(0..names.len())];
    let length = files.open(name, OpenMode::Read).unwrap().length().unwrap() as usize;
    if length == 0 {
        return String::new();
    }
    match kind {
        0 | 1 => {
            let (place, bit) = (random.random_range(0..length), random.random_range(0..8));
            change(files, name, |bytes| bytes[place] ^= 1 << bit);
            format!("bit {bit} of byte {place} of {name}")
        }
        2 => {
            let range = sector(random, length, 512);
            change(files, name, |bytes| bytes[range.clone()].fill(0));
            format!("zeros in {range:?} of {name}")
        }
        3 => {
            let other = &names[random.random_range(0..names.len())];
            let there = files.open(other, OpenMode::Read).unwrap().read_from(0).unwrap();
            let (to, from) = (sector(random, length, 512), sector(random, there.len().max(1), 512));
            let taken = there.get(from.clone()).unwrap_or_default().to_vec();
            let here = files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap()[to.clone()].to_vec();
            change(files, name, |bytes| {
                let count = taken.len().min(to.len());
                bytes[to.start..to.start + count].copy_from_slice(&taken[..count]);
            });
            change(files, other, |bytes| {
                let count = here.len().min(from.len());
                let end = bytes.len().min(from.start + count);
                bytes[from.start..end].copy_from_slice(&here[..end - from.start]);
            });
            format!("{to:?} of {name} and {from:?} of {other} swapped")
        }
        4 => {
            let cut = random.random_range(0..length);
            change(files, name, |bytes| bytes.truncate(cut));
            format!("{name} cut at {cut}")
        }
        5 => {
            files.remove(name).unwrap();
            format!("{name} removed")
        }
        _ => {
            let bytes = files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap();
            let other = &names[random.random_range(0..names.len())];
            let file = files.open(other, OpenMode::Create).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
            format!("{name} copied over {other}")
        }
    }
}

/// Damages a store. Every read returns a typed error or all commits, except after damage that looks
/// like a loss of power. Returns true if the damage is reported.
pub fn damage_one(intact: &SimulatedFiles, seed: u64, kind: Kind) -> Result<bool, String> {
    let files = intact.copy();
    let mut random = StdRng::seed_from_u64(seed);
    let what = damage(&files, &mut random);
    let wrong = |how: &str| Err(format!("seed {seed}, {what}: {how}"));
    let shared: Arc<dyn FileSystem> = Arc::new(files.clone());
    let kept = kind.kept(&what);
    let (mut applied, mut right) = (0, true);
    let outcome = StoreFiles::open(Arc::clone(&shared)).and_then(|store| {
        store.replay(CommitTimestamp::ZERO, |record, _| {
            applied += 1;
            right &= is_right(&record) && record.at == CommitTimestamp(applied);
            Ok::<(), StoreError>(())
        })
    });
    let report = check(&shared, CommitTimestamp::ZERO);
    match (outcome, report) {
        _ if !right => wrong("it contains what was never committed"),
        (Ok(recovered), _) if recovered.last.0 < kept => {
            wrong(&format!("{} is lost without an error", recovered.last.next()))
        }
        (Ok(_), Ok(report)) if report.problems.is_empty() => Ok(false),
        (Ok(_), report) => wrong(&format!("only a check reports it: {report:?}")),
        (Err(_), Ok(report)) if report.problems.is_empty() => wrong("a check reports nothing"),
        (Err(_), _) => repair(&files, applied).map_or_else(|how| wrong(&how), |()| Ok(true)),
    }
}

/// Checks that a repaired store has all commits before the damage, and that the cut parts are kept.
fn repair(files: &SimulatedFiles, valid: u64) -> Result<(), String> {
    // The mark is removed together with the commits to which it refers.
    let logs = |files: &SimulatedFiles| names(files).into_iter().filter(|name| name != "DURABLE").count();
    let before = logs(files);
    let Ok(repair) = recover_to_last_valid(Arc::new(files.clone())) else {
        // Without a valid manifest, nothing can be repaired.
        let manifest = files.open("MANIFEST", OpenMode::Read).and_then(|file| file.read_from(0));
        let manifest = manifest.map(|bytes| Manifest::decode(&bytes, Path::new("MANIFEST")));
        return match manifest {
            Ok(Ok(_)) => Err("it cannot be repaired".to_owned()),
            _ => Ok(()),
        };
    };
    if repair.last != CommitTimestamp(valid) || logs(files) != before + repair.cuts.len() {
        return Err(format!("{valid} commits are valid, but it did {repair:?}"));
    }
    let store = StoreFiles::open(Arc::new(files.clone())).map_err(|error| error.to_string())?;
    match replay(&store) {
        Ok((recovered, true)) if recovered.last == CommitTimestamp(valid) && recovered.torn.is_none() => {
            Ok(())
        }
        other => Err(format!("after the repair: {other:?}")),
    }
}

#[test]
fn damage_is_reported_or_without_effect() {
    let samples = std::env::var("DAMAGE_SAMPLES").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let sample = Sample::of_run();
    for kind in [Kind::Closed, Kind::NotClosed, Kind::WithoutMark] {
        let intact = kind.store();
        let reported = sample.cases(samples).filter(|seed| damage_one(&intact, *seed, kind).unwrap()).count();
        eprintln!("{reported} of {samples} samples of damage refused, {kind:?}");
        assert!(reported as u64 > samples / 4 && (reported as u64) < samples, "{reported} of {samples}");
    }
}

/// Puts bytes of other segments after the end of the last one, as a file system that does not write
/// zeros may leave them there. These bytes must not be valid at any offset.
pub fn leave_remains(intact: &SimulatedFiles, seed: u64) -> Result<(), String> {
    let files = intact.copy();
    let mut random = StdRng::seed_from_u64(seed);
    let (last, _, end) = places(&files).pop().unwrap();
    let older: Vec<String> =
        names(&files).into_iter().filter(|name| name.starts_with("log-") && *name < last).collect();
    let older = &older[random.random_range(0..older.len())];
    let older = files.open(older, OpenMode::Read).unwrap().read_from(0).unwrap();
    let place = end as usize + random.random_range(0..50);
    change(&files, &last, |bytes| {
        let remains = &older[random.random_range(0..older.len())..];
        let remains = &remains[..remains.len().min(bytes.len().saturating_sub(place))];
        bytes[place..place + remains.len()].copy_from_slice(remains);
    });
    match StoreFiles::open(Arc::new(files)).and_then(|store| replay(&store)) {
        Ok((recovered, true)) if recovered.last == CommitTimestamp(COMMITS) => Ok(()),
        other => Err(format!("seed {seed}: {other:?}")),
    }
}

#[test]
fn remains_of_other_segments_are_not_valid() {
    let intact = store_of(COMMITS, false);
    let sample = Sample::of_run();
    sample.cases(2000).for_each(|seed| leave_remains(&intact, seed).unwrap());
}

/// A segment of another store is refused, and so is a segment that is too new for the manifest.
#[test]
fn foreign_files_are_refused() {
    let files = store_of(COMMITS, true);
    let other = SimulatedFiles::new(1);
    let options = crate::workload::store_options();
    let store = StoreFiles::create(Arc::new(other.clone()), options, [9; 16]).unwrap();
    let options = crate::workload::log_options(hedgerow_log::Durability::Sync);
    let log = hedgerow_log::Log::start(store, &hedgerow_log::Recovered::default(), options).unwrap();
    let appended = log.append(CommitTimestamp(1), 0, &mut crate::workload::body(CommitTimestamp(1))).unwrap();
    log.settle(appended.at(), hedgerow_log::Durability::Sync).unwrap();
    let foreign = other.open("log-0000000001", OpenMode::Read).unwrap().read_from(0).unwrap();
    let here = files.copy();
    change(&here, "log-0000000001", |bytes| *bytes = foreign);
    let store = StoreFiles::open(Arc::new(here)).unwrap();
    assert!(matches!(replay(&store), Err(StoreError::Foreign { .. })));

    let old = store_of(5, false);
    let manifest = old.open("MANIFEST", OpenMode::Read).unwrap().read_from(0).unwrap();
    change(&files, "MANIFEST", |bytes| *bytes = manifest);
    let store = StoreFiles::open(Arc::new(files)).unwrap();
    assert!(matches!(replay(&store), Err(StoreError::Foreign { .. })));
}
