use super::*;
use hedgerow_model::{CommitTimestamp, Counts, DeferredOutcome, EdgeOutcome, LabelId, ParallelOutcome};
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use proptest::prelude::*;

fn directory() -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    files
}

fn open(files: &SimulatedFiles) -> Result<Manifest, EngineError> {
    let mut manifest = Manifest::open(Arc::new(files.clone()))?;
    manifest.begin_edits()?;
    Ok(manifest)
}

/// Writes an edge file, and applies edit number `step`, which adds the file; every third edit also
/// removes the file before.
fn step(files: &SimulatedFiles, manifest: &mut Manifest, step: u64) -> Result<(), EngineError> {
    let name = FileEntry::name_of(step);
    let unwritten = |error| WriteError::new(FileEntry::name_of(step), error);
    let file = files.open(&name, OpenMode::Create).map_err(unwritten)?;
    file.write_all_at(&step.to_le_bytes(), 0).and_then(|()| file.sync()).map_err(unwritten)?;
    manifest.apply(&edit(step))
}

fn counts(step: u64) -> Counts {
    let mut counts = Counts { vertex_bound: step as u32, vertices: step / 2, ..Counts::default() };
    counts.add(&[EdgeOutcome { label: LabelId(0), added: step, removed: 0 }]);
    if step.is_multiple_of(2) {
        counts.add_deferred(&[DeferredOutcome { label: LabelId(2), puts: 2 * step, deletions: step }]);
        counts.add_parallel(&[ParallelOutcome { label: LabelId(2), net: 7 }]);
    }
    counts
}

fn edit(step: u64) -> Edit {
    Edit {
        added: vec![FileEntry { number: step, adjacency: 1, level: step as u32 % 4, bytes: 8 }],
        removed: if step.is_multiple_of(3) { vec![step - 1] } else { Vec::new() },
        flushed: FlushPoint {
            durable_through: CommitTimestamp(step * 10),
            counts: counts(step),
            note: vec![step as u8; step as usize % 5],
        },
    }
}

fn state_after(steps: u64) -> LevelState {
    let mut state = LevelState::default();
    (1..=steps).for_each(|step| state.apply(&edit(step)));
    state
}

const STEPS: u64 = 60;

#[test]
fn the_state_is_that_after_all_edits() {
    let files = directory();
    for number in 1..=STEPS {
        // Each reopening continues the log.
        let mut manifest = open(&files).unwrap();
        assert_eq!(*manifest.state(), state_after(number - 1));
        step(&files, &mut manifest, number).unwrap();
    }
    assert_eq!(*open(&files).unwrap().state(), state_after(STEPS));
    let names = files.list().unwrap();
    assert_eq!(names.iter().filter(|name| number_of(name).is_some()).count(), 1, "one manifest: {names:?}");
    assert_eq!(names.len(), 1 + state_after(STEPS).files.len(), "replaced files are removed: {names:?}");
}

#[test]
fn a_loss_of_power_keeps_every_edit_that_was_made() {
    let files = directory();
    files.keep_crash_images();
    let mut manifest = open(&files).unwrap();
    let mut ends = vec![0];
    for number in 1..=STEPS {
        step(&files, &mut manifest, number).unwrap();
        ends.push(files.operations());
    }
    for image in files.take_crash_images() {
        let made = ends.partition_point(|end| *end < image.operation()) as u64 - 1;
        for (seed, survival) in (0..3).flat_map(|seed| Survival::ALL.map(|survival| (seed, survival))) {
            let found = image.after_crash(survival, seed);
            let mut manifest = open(&found).unwrap();
            let state = manifest.state().clone();
            assert!(
                [made, made + 1].map(state_after).contains(&state),
                "{survival:?} at {}",
                image.operation()
            );
            for number in state.files.keys() {
                let file = found.open(&FileEntry::name_of(*number), OpenMode::Read).unwrap();
                assert_eq!(file.read_from(0).unwrap(), number.to_le_bytes(), "files of the state are whole");
            }
            let next = state.flushed.durable_through.0 / 10 + 1;
            step(&found, &mut manifest, next).unwrap();
            assert_eq!(*open(&found).unwrap().state(), state_after(next));
        }
    }
}

#[test]
fn after_a_failure_the_next_edit_succeeds() {
    let intact = directory();
    let mut manifest = open(&intact).unwrap();
    (1..=12).for_each(|number| step(&intact, &mut manifest, number).unwrap());
    for kind in FaultKind::ALL {
        for at in 2..=intact.operations() {
            let files = directory();
            files.inject(Fault { at, kind, sticky: false });
            let Ok(mut manifest) = open(&files) else { continue };
            for number in 1..=12 {
                if step(&files, &mut manifest, number).is_err() {
                    assert_eq!(*manifest.state(), state_after(number - 1));
                    assert_eq!(files.faults_met(), 1);
                    step(&files, &mut manifest, number).unwrap();
                    let after_loss = files.after_crash(Survival::Nothing, at);
                    assert_eq!(*open(&after_loss).unwrap().state(), state_after(number), "{kind:?} at {at}");
                }
            }
            files.heal();
            assert_eq!(*open(&files).unwrap().state(), state_after(12), "{kind:?} at {at}");
        }
    }
}

#[test]
fn what_a_damaged_manifest_may_name_stays() {
    let files = directory();
    let mut manifest = open(&files).unwrap();
    (1..=2).for_each(|number| step(&files, &mut manifest, number).unwrap());
    for name in [name_of(9), FileEntry::name_of(3)] {
        files.open(&name, OpenMode::Create).unwrap().write_all_at(b"damaged", 0).unwrap();
    }
    let mut manifest = open(&files).unwrap();
    assert_eq!(*manifest.state(), state_after(2));
    let names = files.list().unwrap();
    assert!(names.contains(&name_of(9)) && names.contains(&FileEntry::name_of(3)), "{names:?}");
    // An edit begins a newer manifest.
    step(&files, &mut manifest, 4).unwrap();
    let with_edit = manifest.state().clone();
    assert_eq!(*open(&files).unwrap().state(), with_edit);
}

/// Files with other names are not the engine's: they are ignored, and stay.
#[test]
fn only_names_that_the_engine_gives_are_its_own() {
    let files = directory();
    let mut manifest = open(&files).unwrap();
    step(&files, &mut manifest, 1).unwrap();
    drop(manifest);
    let foreign = [
        "engine-manifest-9",
        "engine-manifest-+0000009",
        "engine-manifest-",
        "engine-7.edges",
        "engine-+0000007.edges",
        "engine-00000007.other",
        "engine-00000007.edges.records",
        "engine-00000007",
    ];
    for name in foreign {
        files.open(name, OpenMode::Create).unwrap();
    }
    let manifest = open(&files).unwrap();
    assert_eq!((manifest.state(), manifest.next_file()), (&state_after(1), Ok(2)));
    let names = files.list().unwrap();
    assert!(foreign.iter().all(|name| names.iter().any(|other| other == name)), "{names:?}");
}

#[test]
fn a_manifest_of_another_version_is_refused_as_such() {
    let files = directory();
    let mut manifest = open(&files).unwrap();
    step(&files, &mut manifest, 1).unwrap();
    let name = name_of(1);
    files.open(&name, OpenMode::Write).unwrap().write_all_at(&header(FORMAT_VERSION + 1), 0).unwrap();
    let error = open(&files).unwrap_err().to_string();
    assert!(error.contains("engine-manifest-00000001 at byte 8") && error.contains("format"), "{error}");
}

proptest! {
    #[test]
    fn damage_is_an_error_or_takes_the_last_edit(place in any::<prop::sample::Index>(), change in 1..=255u8) {
        let files = directory();
        let mut manifest = open(&files).unwrap();
        (1..=6).for_each(|number| step(&files, &mut manifest, number).unwrap());
        let file = files.open(&name_of(1), OpenMode::Write).unwrap();
        let place = place.index(file.length().unwrap() as usize) as u64;
        let byte = file.read_range(place..place + 1).unwrap()[0];
        file.write_all_at(&[byte ^ change], place).unwrap();
        match open(&files) {
            Ok(manifest) => {
                prop_assert_eq!(manifest.state(), &state_after(5));
                prop_assert_eq!(manifest.next_file(), Ok(7), "the file of the lost edit is not overwritten");
            }
            Err(error) => prop_assert!(error.to_string().contains("engine-manifest-00000001"), "{}", error),
        }
        let names = files.list().unwrap();
        prop_assert!((1..=6).all(|step| names.contains(&FileEntry::name_of(step))), "a file is lost: {names:?}");
    }

    #[test]
    fn any_bytes_are_a_manifest_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        has_header in any::<bool>(),
    ) {
        let files = directory();
        let bytes = if has_header { [header(FORMAT_VERSION), bytes].concat() } else { bytes };
        files.open(&name_of(1), OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
        let _ = open(&files);
    }
}
