//! Each fault and each kind of survival works as documented.

use super::{Fault, FaultKind, SimulatedFiles, Survival};
use hedgerow_log::files::{FileSystem, LockError, OpenMode};
use std::collections::BTreeSet;

fn files() -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    files
}

/// Creates a durable file of two sectors of `a`.
fn with_file() -> SimulatedFiles {
    let files = files();
    let file = files.open("file", OpenMode::Create).unwrap();
    file.write_all_at(&[b'a'; 1024], 0).unwrap();
    file.sync().unwrap();
    files.sync_directory().unwrap();
    files
}

fn content(files: &SimulatedFiles, name: &str) -> Option<Vec<u8>> {
    match files.open(name, OpenMode::Read) {
        Ok(file) => Some(file.read_from(0).unwrap()),
        Err(error) if error.is_not_found() => None,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the contents of a file with 200 seeds.
fn found(files: &SimulatedFiles, survival: Survival, name: &str) -> BTreeSet<Option<Vec<u8>>> {
    (0..200).map(|seed| content(&files.after_crash(survival, seed), name)).collect()
}

fn letters(parts: &[(u8, usize)]) -> Option<Vec<u8>> {
    Some(parts.iter().flat_map(|(letter, count)| vec![*letter; *count]).collect())
}

#[test]
fn synced_content_survives_and_the_rest_as_requested() {
    let files = with_file();
    let file = files.open("file", OpenMode::Write).unwrap();
    file.write_all_at(&[b'b'; 1024], 0).unwrap();
    file.write_all_at(&[b'c'; 1024], 0).unwrap();
    let of = |parts: &[(u8, usize)]| letters(parts);
    let whole = |letter| of(&[(letter, 1024)]);
    assert_eq!(found(&files, Survival::Nothing, "file"), [whole(b'a')].into());
    assert_eq!(found(&files, Survival::Everything, "file"), [whole(b'c')].into());
    let torn = |first, second| of(&[(first, 512), (second, 512)]);
    let prefixes = [whole(b'a'), torn(b'b', b'a'), whole(b'b'), torn(b'c', b'b'), whole(b'c')];
    assert_eq!(found(&files, Survival::Prefix, "file"), prefixes.into());
    let letters = [b'a', b'b', b'c'];
    let sectors = letters.iter().flat_map(|first| letters.iter().map(|second| torn(*first, *second)));
    assert_eq!(found(&files, Survival::Sectors, "file"), sectors.collect());
    assert_eq!(found(&files, Survival::Pages, "file"), letters.map(whole).into());
    file.sync().unwrap();
    for survival in Survival::ALL {
        assert_eq!(found(&files, survival, "file"), [whole(b'c')].into());
    }
}

#[test]
fn lengths_survive_apart_from_content() {
    let files = with_file();
    let file = files.open("file", OpenMode::Write).unwrap();
    file.write_all_at(&[b'b'; 1024], 1024).unwrap();
    let found_sectors = found(&files, Survival::Sectors, "file");
    for expected in [
        letters(&[(b'a', 1024)]),
        letters(&[(b'a', 1024), (0, 1024)]),
        letters(&[(b'a', 1024), (0, 512), (b'b', 512)]),
        letters(&[(b'a', 1024), (b'b', 1024)]),
    ] {
        assert!(found_sectors.contains(&expected));
    }
    file.sync().unwrap();
    file.set_length(512).unwrap();
    let lengths = found(&files, Survival::Sectors, "file").into_iter().map(|content| content.unwrap().len());
    assert_eq!(lengths.collect::<BTreeSet<_>>(), [512, 2048].into());
}

#[test]
fn entries_are_durable_after_a_sync_of_the_directory_only() {
    let files = files();
    let file = files.open("new", OpenMode::Create).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    file.sync().unwrap();
    let there = Some(b"x".to_vec());
    assert_eq!(found(&files, Survival::Nothing, "new"), [None].into());
    assert_eq!(found(&files, Survival::Everything, "new"), [there.clone()].into());
    for survival in [Survival::Prefix, Survival::Sectors, Survival::Pages] {
        assert_eq!(found(&files, survival, "new"), [None, there.clone()].into());
    }
    files.sync_directory().unwrap();
    files.rename("new", "newer").unwrap();
    let mut pairs = BTreeSet::new();
    for seed in 0..50 {
        let after = files.after_crash(Survival::Sectors, seed);
        pairs.insert((content(&after, "new").is_some(), content(&after, "newer").is_some()));
    }
    assert_eq!(pairs, [(true, false), (false, true)].into(), "a rename is atomic");
    files.sync_directory().unwrap();
    files.remove("newer").unwrap();
    assert_eq!(found(&files, Survival::Nothing, "newer"), [there.clone()].into());
    assert_eq!(found(&files, Survival::Pages, "newer"), [None, there].into());
}

#[test]
fn a_name_can_survive_without_content() {
    let files = files();
    let file = files.open("new", OpenMode::Create).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    files.sync_directory().unwrap();
    assert_eq!(content(&files.after_crash(Survival::Nothing, 0), "new"), Some(Vec::new()));
}

#[test]
fn a_crash_interrupts_the_operation_and_fails_all_later_ones() {
    let files = with_file();
    let file = files.open("file", OpenMode::Write).unwrap();
    files.crash_at(files.operations() + 2);
    file.write_all_at(b"b", 0).unwrap();
    assert!(file.sync().is_err());
    assert!(files.is_crashed());
    assert!(file.read_from(0).is_err() && files.list().is_err() && files.sync_directory().is_err());
    assert!(file.write_at(b"c", 0).is_err());
    // The sync was interrupted: its changes may or may not be durable.
    let first = |survival| content(&files.after_crash(survival, 0), "file").unwrap()[0];
    assert_eq!((first(Survival::Nothing), first(Survival::Everything)), (b'a', b'b'));
}

#[test]
fn images_equal_the_disks_after_crashes() {
    let run = |files: &SimulatedFiles| {
        let file = files.open("file", OpenMode::Write)?;
        file.write_all_at(&[b'b'; 700], 100)?;
        file.sync()?;
        files.rename("file", "other")?;
        files.sync_directory()
    };
    let recorded = with_file();
    let before = recorded.operations();
    recorded.keep_crash_images();
    run(&recorded).unwrap();
    let images = recorded.take_crash_images();
    assert_eq!(images.len(), 4);
    for image in images {
        let crashed = with_file();
        assert_eq!(crashed.operations(), before);
        crashed.crash_at(image.operation());
        assert!(run(&crashed).is_err());
        for survival in Survival::ALL {
            for seed in 0..20 {
                let (one, other) = (image.after_crash(survival, seed), crashed.after_crash(survival, seed));
                for name in ["file", "other"] {
                    assert_eq!(content(&one, name), content(&other, name));
                }
            }
        }
    }
}

#[test]
fn faults_hit_the_operation_that_they_are_for() {
    for sticky in [false, true] {
        let files = with_file();
        let file = files.open("file", OpenMode::Write).unwrap();
        files.inject(Fault { at: files.operations() + 1, kind: FaultKind::NoSpace, sticky });
        assert_eq!(file.length().unwrap(), 1024, "takes no room");
        let error = file.write_all_at(b"xx", 0).unwrap_err();
        assert_eq!(error.source.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(file.write_all_at(b"xx", 0).is_err(), sticky);
        files.heal();
        file.write_all_at(b"xx", 0).unwrap();
    }
    let files = with_file();
    files.inject(Fault { at: 1, kind: FaultKind::TooManyFiles, sticky: false });
    assert_eq!(files.open("file", OpenMode::Read).unwrap_err().source.raw_os_error(), Some(24));
    assert_eq!(files.faults_met(), 1);
    files.open("file", OpenMode::Read).unwrap();
}

#[test]
fn a_short_transfer_is_no_error() {
    let files = with_file();
    let file = files.open("file", OpenMode::Write).unwrap();
    files.inject(Fault { at: 1, kind: FaultKind::Short, sticky: true });
    let written = file.write_at(&[b'b'; 1024], 0).unwrap();
    assert!((1..=1024).contains(&written));
    file.write_all_at(&[b'c'; 1024], 0).unwrap();
    assert_eq!(Some(file.read_from(0).unwrap()), letters(&[(b'c', 1024)]));
}

#[test]
fn a_later_sync_does_not_recover_what_a_failed_one_lost() {
    let files = with_file();
    let file = files.open("file", OpenMode::Write).unwrap();
    file.write_all_at(&[b'b'; 512], 0).unwrap();
    files.inject(Fault { at: 1, kind: FaultKind::Device, sticky: false });
    assert!(file.sync().is_err());
    file.write_all_at(&[b'c'; 512], 512).unwrap();
    file.sync().unwrap();
    assert_eq!(Some(file.read_from(0).unwrap()), letters(&[(b'b', 512), (b'c', 512)]), "it can be read");
    assert_eq!(found(&files, Survival::Everything, "file"), [letters(&[(b'a', 512), (b'c', 512)])].into());

    files.rename("file", "other").unwrap();
    files.inject(Fault { at: 1, kind: FaultKind::Device, sticky: false });
    assert!(files.sync_directory().is_err());
    files.sync_directory().unwrap();
    assert_eq!(found(&files, Survival::Everything, "other"), [None].into());
}

#[test]
fn a_lock_is_held_once_until_dropped() {
    let files = files();
    let held = files.lock("LOCK").unwrap();
    assert!(matches!(files.lock("LOCK"), Err(LockError::Held { holder: Some(_), .. })));
    // A crash releases the lock.
    files.after_crash(Survival::Everything, 0).lock("LOCK").unwrap();
    drop(held);
    files.lock("LOCK").unwrap();
}
