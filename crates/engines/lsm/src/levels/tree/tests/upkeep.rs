//! Full compaction, reports, and checks.

use super::*;
use crate::levels::check::check_files;
use hedgerow_log::files::OpenMode;
use hedgerow_model::{CompactProgress, FileTotals};
use std::ops::ControlFlow;

/// Moves everything to one level. Without older views, no version stays there that no view sees.
pub(super) fn compact_all(graph: &mut Graph) -> Result<(), EngineError> {
    let (live, mut progress) = (graph.live(), CompactProgress::default());
    let mut full = graph.tree.compact_all(&live);
    let mut observe = |next: CompactProgress| {
        assert!(progress.bytes <= next.bytes && next.bytes <= next.of, "{progress:?} {next:?}");
        progress = next;
        ControlFlow::Continue(())
    };
    while full.step(&mut observe)? == FullStep::Merged {
        graph.tree.remove_unread()?;
    }
    assert_eq!(progress.bytes, progress.of);
    let current = graph.tree.current();
    for adjacency in 0..COLUMNS.len() as u32 {
        let reports = current.reports(adjacency);
        assert!(reports.len() <= 1 && reports.iter().all(|report| report.level > 0), "{reports:?}");
        if graph.views.iter().all(|(at, _)| *at == graph.flushed) && graph.flushed == graph.now {
            let edges = graph.seen(graph.flushed).iter().filter(|((of, ..), _)| *of == adjacency).count();
            assert_eq!(reports.iter().map(|report| report.versions).sum::<u64>(), edges as u64);
        }
    }
    Ok(())
}

/// Returns a graph whose files are on several levels.
fn on_several_levels(files: &SimulatedFiles) -> Graph {
    let mut graph = Graph::new(files);
    for round in 0..8 {
        for change in 0..60 {
            let edge = (change % 3, (change * 7 + round * 11) % 30, (change * 13 + round * 29) % 60);
            graph.change(edge, (change % 5 > 0).then_some(round));
        }
        graph.flush().unwrap();
        while round < 7 && graph.tree.compact(&graph.live()).unwrap().is_some() {}
    }
    graph.tree.remove_unread().unwrap();
    graph
}

#[test]
fn a_full_compaction_can_be_stopped_anywhere_and_goes_on() {
    let files = directory();
    let graph = on_several_levels(&files);
    assert!(graph.tree.current().reports(2).len() > 2);
    let (live, mut stops) = (graph.live(), 0);
    // Each attempt reads one block more than the attempt before.
    for attempt in 1.. {
        let (mut full, mut blocks) = (graph.tree.compact_all(&live), 0);
        let mut observe = |_| {
            blocks += 1;
            if blocks < attempt { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let last = loop {
            match full.step(&mut observe).unwrap() {
                FullStep::Merged => {}
                last => break last,
            }
        };
        graph.tree.remove_unread().unwrap();
        graph.check();
        assert_eq!(edge_files(&files), graph.listed(), "a step that was stopped leaves no file");
        if last == FullStep::Done {
            break;
        }
        stops += 1;
    }
    assert!(stops > 3, "{stops}");
    // Nothing is left to do: each file is read once and stays.
    let (before, mut full) = (files.list().unwrap(), graph.tree.compact_all(&live));
    assert_eq!(full.step(&mut |_| ControlFlow::Continue(())).unwrap(), FullStep::Done);
    assert_eq!(files.list().unwrap(), before);
}

#[test]
fn each_damaged_file_is_found_with_its_place() {
    let files = directory();
    let graph = on_several_levels(&files);
    let checked = check_files(&shared(&files), &COLUMNS, &mut |_| {}).unwrap();
    let current = graph.tree.current();
    let reports: Vec<_> = (0..3).flat_map(|adjacency| current.reports(adjacency)).collect();
    assert_eq!(checked.versions, reports.iter().map(|report| report.versions).sum::<u64>());
    assert!(checked.deletions > 0 && checked.blocks > 10 && checked.problems.is_empty(), "{checked:?}");
    let names = files.list().unwrap();
    for name in &names {
        let length = files.open(name, OpenMode::Read).unwrap().length().unwrap();
        for at in (0..length).step_by(37) {
            let damaged = files.copy();
            let file = damaged.open(name, OpenMode::Write).unwrap();
            let byte = file.read_range(at..at + 1).unwrap()[0];
            file.write_all_at(&[byte ^ 0x11], at).unwrap();
            let found = check_files(&shared(&damaged), &COLUMNS, &mut |_| {}).unwrap();
            // Not for manifests: a damaged last record looks torn, and an older manifest belongs to
            // nothing.
            if name.contains("manifest") {
                continue;
            }
            // The error of a header or a footer has the offset of its checksum.
            let places: Vec<_> =
                found.problems.iter().map(|problem| (&problem.file, problem.offset)).collect();
            assert!(
                matches!(&places[..], [(file, Some(offset))] if *file == name && *offset <= at + 80),
                "{name} {at}: {found:?}"
            );
        }
        let damaged = files.copy();
        damaged.remove(name).unwrap();
        let found = check_files(&shared(&damaged), &COLUMNS, &mut |_| {}).unwrap();
        assert_eq!(found.problems.len(), 1, "{name}: {found:?}");
    }
    let stray = files.open("engine-00009999.edges", OpenMode::Create).unwrap();
    stray.write_all_at(b"what a crash left", 0).unwrap();
    let found = check_files(&shared(&files), &COLUMNS, &mut |_| {}).unwrap();
    assert_eq!((&found.unlisted[..], found.unlisted_bytes), (&["engine-00009999.edges".to_owned()][..], 17));
    assert_eq!(graph.tree.unlisted().unwrap(), FileTotals { files: 1, bytes: 17 });
    assert!(found.problems.is_empty());
}
