//! Full compaction of an engine's own files, its reports, and checks and repairs of damage.

use super::own_files::{LSM, on_files};
use crate::engines::in_memory;
use crate::oracle::Oracle;
use hedgerow::store::{StoreError, StoredPart, check_on, recover_on};
use hedgerow::{
    CancelToken, CheckpointOptions, CompactOptions, EngineKind, ErrorKind, Graph, GraphOptions, LabelId,
    ReadGraph, WriteGraph,
};
use hedgerow_log::files::{EngineFiles, FileSystem, OpenMode};
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const KNOWS: LabelId = LabelId::DEFAULT;

fn options() -> GraphOptions {
    on_files(EngineKind::Erased(&LSM))
}

/// Bytes of a segment of the log that holds all commits, so that none is pruned.
const WHOLE_LOG: u64 = 256 << 10;

/// Bytes of a segment so small that flushes prune some segments.
const PART_OF_LOG: u64 = 8 << 10;

/// Returns a graph whose edges are on several levels, half of them deleted.
fn graph_on(files: &SimulatedFiles, segment_bytes: u64) -> Graph {
    let graph = options().segment_bytes(segment_bytes).create_on(Arc::new(files.clone())).unwrap();
    for edge in 0..600 {
        graph.put_edge(KNOWS, edge % 30, 100 + edge).unwrap();
    }
    for edge in (0..600).step_by(2) {
        graph.delete_edge(KNOWS, edge % 30, 100 + edge).unwrap();
    }
    graph
}

fn shared(files: &SimulatedFiles) -> Arc<dyn FileSystem> {
    Arc::new(files.clone())
}

#[test]
fn a_full_compaction_leaves_one_level_without_deletions() {
    let files = SimulatedFiles::new(1);
    let graph = graph_on(&files, PART_OF_LOG);
    let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
    let reported = Arc::new(AtomicU64::default());
    let seen = Arc::clone(&reported);
    let options = CompactOptions::new().reporting_to(move |progress| {
        assert!(progress.bytes <= progress.of);
        assert!(seen.fetch_max(progress.bytes, Ordering::Relaxed) <= progress.bytes);
    });
    let compacted = graph.compact(&options).unwrap();
    assert_eq!(reported.load(Ordering::Relaxed), compacted.before.bytes);
    assert!(compacted.after.bytes < compacted.before.bytes, "{compacted:?}");
    // Each edge counts at both ends, and each vertex once.
    assert_eq!(compacted.versions_after, 2 * 300 + 630);
    let report = graph.engine_report().unwrap().unwrap();
    assert_eq!((report.totals().files, report.unlisted.files), (compacted.after, 0));
    let parts: Vec<_> = report.parts.iter().map(|part| (part.part, part.levels.len())).collect();
    let edges = StoredPart::Edges { label: KNOWS, direction: hedgerow::Direction::Out };
    assert_eq!(parts, [(StoredPart::Vertices, 1), (edges, 1)]);
    assert!(report.parts.iter().all(|part| part.levels[0].level > 0));
    assert!(report.memory.index_bytes > 0 && report.memory.vertex_bytes > 0);
    assert!(report.memory.total_bytes() <= graph.memory().total_bytes());
    assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
    // Nothing is left to compact.
    let again = graph.compact(&CompactOptions::new()).unwrap();
    assert_eq!((again.before, again.after), (compacted.after, compacted.after));
    graph.close().unwrap();
    assert_eq!(graph.compact(&CompactOptions::new()).unwrap_err().kind(), ErrorKind::Closed);
    drop(graph);
    let checked = check_on(&shared(&files)).unwrap();
    let found = checked.engine_files.unwrap();
    assert!(checked.problems.is_empty() && found.unlisted.is_empty(), "{:?}", checked.problems);
    assert_eq!((found.versions, found.deletions, found.replaced), (compacted.versions_after, 0, 0));
    assert_eq!(found.files.bytes, compacted.after.bytes + manifest_bytes(&files));
    let graph = options_of_lsm().open_on(Arc::new(files)).unwrap();
    assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
    assert_eq!(graph.snapshot().unwrap().edge_count_of(KNOWS), 300, "each edge was met");
    assert!(graph.engine_report().unwrap().unwrap().cache.misses > 0);
}

fn options_of_lsm() -> GraphOptions {
    on_files(EngineKind::Lsm)
}

fn manifest_bytes(files: &SimulatedFiles) -> u64 {
    let names = files.list().unwrap();
    let name = names.iter().find(|name| name.contains("manifest")).unwrap();
    files.open(name, OpenMode::Read).unwrap().length().unwrap()
}

#[test]
fn snapshots_keep_what_they_see_through_a_full_compaction() {
    let graph = graph_on(&SimulatedFiles::new(1), PART_OF_LOG);
    let before = graph.snapshot().unwrap();
    let shown = Oracle::of_snapshot(&before);
    for edge in 0..600 {
        graph.delete_edge(KNOWS, edge % 30, 100 + edge).unwrap();
    }
    let compacted = graph.compact(&CompactOptions::new()).unwrap();
    assert!(compacted.versions_after > 630, "{compacted:?}");
    assert_eq!(Oracle::of_snapshot(&before), shown);
    drop(before);
    let compacted = graph.compact(&CompactOptions::new()).unwrap();
    assert_eq!(compacted.versions_after, 630, "only the vertices are left");
}

#[test]
fn a_cancelled_compaction_changes_nothing_that_is_seen() {
    let graph = graph_on(&SimulatedFiles::new(1), PART_OF_LOG);
    let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
    let cancelled_after = |blocks: u64| {
        let (token, left) = (CancelToken::new(), AtomicU64::new(blocks));
        let raised = token.clone();
        let options = CompactOptions::new().cancelled_by(&token).reporting_to(move |_| {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                raised.cancel();
            }
        });
        graph.compact(&options)
    };
    let mut cancelled = 0;
    while let Err(error) = cancelled_after(1 + cancelled) {
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
        cancelled += 1;
    }
    assert!(cancelled > 3, "{cancelled}");
    graph.put_edge(KNOWS, 1, 2).unwrap();
}

#[test]
fn engines_without_files_have_nothing_to_compact() {
    for engine in in_memory() {
        let graph = on_files(engine).create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
        graph.put_edge(KNOWS, 1, 2).unwrap();
        let refused = graph.compact(&CompactOptions::new()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("`Graph::checkpoint`"), "{refused}");
        assert_eq!(graph.engine_report().unwrap(), None);
    }
}

/// Changes a byte of the engine's first file with this suffix. Returns its name and the offset.
fn damage(files: &SimulatedFiles, suffix: &str) -> (String, u64) {
    let mut names = files.list().unwrap();
    names.retain(|name| name.starts_with(EngineFiles::PREFIX) && name.ends_with(suffix));
    names.sort();
    let file = files.open(&names[0], OpenMode::Write).unwrap();
    let at = file.length().unwrap() / 3;
    let byte = file.read_range(at..at + 1).unwrap()[0];
    file.write_all_at(&[byte ^ 0x40], at).unwrap();
    (names[0].clone(), at)
}

#[test]
fn damage_of_the_engines_files_is_found_and_the_log_replaces_them() {
    for suffix in [".edges", ".records"] {
        let files = SimulatedFiles::new(1);
        let graph = graph_on(&files, WHOLE_LOG);
        let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
        graph.close().unwrap();
        drop(graph);
        let (name, at) = damage(&files, suffix);
        let checked = check_on(&shared(&files)).unwrap();
        let [StoreError::Damaged { path, offset, .. }] = &checked.problems[..] else {
            panic!("{suffix}: {:?}", checked.problems);
        };
        assert!(path.ends_with(&name) && *offset <= at, "{path:?} {offset}");
        let repair = recover_on(shared(&files)).unwrap();
        assert!(repair.cuts.is_empty() && repair.set_aside.contains(&format!("cut-{name}")), "{repair:?}");
        assert!(check_on(&shared(&files)).unwrap().problems.is_empty());
        let graph = options_of_lsm().open_on(Arc::new(files)).unwrap();
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
        graph.put_edge(KNOWS, 1, 2).unwrap();
    }
}

#[test]
fn damage_that_the_log_cannot_replace_is_refused_and_changes_nothing() {
    let files = SimulatedFiles::new(1);
    let graph = graph_on(&files, PART_OF_LOG);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.close().unwrap();
    drop(graph);
    assert!(recover_on(shared(&files)).unwrap().set_aside.is_empty(), "there is nothing to repair");
    let (name, _) = damage(&files, ".edges");
    let names = files.list().unwrap();
    let refused = recover_on(shared(&files)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Storage);
    let message = refused.to_string();
    assert!(message.contains(&name) && message.contains("bring back a copy of the store"), "{message}");
    assert_eq!(files.list().unwrap(), names);
}

#[test]
fn the_log_is_cut_behind_what_the_files_have() {
    let files = SimulatedFiles::new(1);
    let graph = graph_on(&files, PART_OF_LOG);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    for edge in 0..8 {
        graph.put_edge(KNOWS, 5000 + edge, 1).unwrap();
    }
    let in_files = graph.store_info().unwrap().oldest_readable;
    graph.close().unwrap();
    drop(graph);
    let last = files.list().unwrap().into_iter().filter(|name| name.starts_with("log-")).max().unwrap();
    damage_log(&files, &last, |end| end - 100);
    assert_eq!(check_on(&shared(&files)).unwrap().problems.len(), 1);
    let repair = recover_on(shared(&files)).unwrap();
    assert!(repair.set_aside.is_empty() && !repair.cuts.is_empty() && repair.last >= in_files, "{repair:?}");
    assert!(check_on(&shared(&files)).unwrap().problems.is_empty());
    let graph = options_of_lsm().open_on(Arc::new(files)).unwrap();
    assert!(graph.contains_edge(KNOWS, 5000, 1).unwrap() && !graph.contains_edge(KNOWS, 5007, 1).unwrap());
}

/// Changes a byte of a segment of the log. `at` maps the offset of the last nonzero byte to the
/// offset of the change.
fn damage_log(files: &SimulatedFiles, name: &str, at: impl FnOnce(usize) -> usize) {
    let file = files.open(name, OpenMode::Write).unwrap();
    let bytes = file.read_from(0).unwrap();
    let at = at(bytes.iter().rposition(|byte| *byte != 0).unwrap());
    file.write_all_at(&[bytes[at] ^ 0x55], at as u64).unwrap();
}

#[test]
fn a_log_that_ends_before_the_files_is_cut_whole() {
    let files = SimulatedFiles::new(1);
    let graph = options().segment_bytes(WHOLE_LOG).create_on(Arc::new(files.clone())).unwrap();
    for edge in 0..600 {
        graph.put_edge(KNOWS, edge, 1000 + edge).unwrap();
        if edge == 590 {
            graph.checkpoint(&CheckpointOptions::new()).unwrap();
        }
    }
    let in_files = graph.store_info().unwrap().oldest_readable;
    assert!(in_files.0 < 600, "few commits are no reason to flush");
    graph.close().unwrap();
    drop(graph);
    let log = files.list().unwrap().into_iter().find(|name| name.starts_with("log-")).unwrap();
    damage_log(&files, &log, |end| end / 10);
    assert!(!check_on(&shared(&files)).unwrap().problems.is_empty());
    let repair = recover_on(shared(&files)).unwrap();
    assert!(repair.set_aside.is_empty() && !repair.cuts.is_empty(), "{repair:?}");
    assert_eq!((repair.last, repair.durable.0), (in_files, 600));
    assert!(check_on(&shared(&files)).unwrap().problems.is_empty());
    let open = || options_of_lsm().open_on(Arc::new(files.clone())).unwrap();
    let graph = open();
    assert_eq!(graph.snapshot().unwrap().timestamp(), in_files);
    assert!(graph.contains_edge(KNOWS, in_files.0 - 1, in_files.0 + 999).unwrap());
    assert!(!graph.contains_edge(KNOWS, in_files.0, in_files.0 + 1000).unwrap());
    graph.put_edge(KNOWS, 7000, 7001).unwrap();
    drop(graph);
    assert_eq!(open().snapshot().unwrap().timestamp(), in_files.next());
}

/// Changes one file of the engine at random, and describes the change.
fn mutate(files: &SimulatedFiles, random: &mut StdRng) -> String {
    let mut names = files.list().unwrap();
    names.retain(|name| name.starts_with(EngineFiles::PREFIX));
    names.sort();
    let name = &names[random.random_range(0..names.len())];
    let read = |name: &str| files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap();
    let mut bytes = read(name);
    let at = random.random_range(0..bytes.len());
    let what = match random.random_range(0..5) {
        0 | 1 => {
            bytes[at] ^= 1 << random.random_range(0..8);
            format!("a bit of byte {at} of {name}")
        }
        2 => {
            bytes.truncate(at);
            format!("{name} cut at {at}")
        }
        3 => {
            files.remove(name).unwrap();
            return format!("{name} removed");
        }
        _ => {
            // The replacement has another length: a file of the same type and length would look
            // right, because no file contains its own number.
            let length = bytes.len();
            let other = names.iter().cycle().skip(random.random_range(0..names.len()));
            let other = other.take(names.len()).find(|other| read(other).len() != length).unwrap();
            bytes = read(other);
            format!("{other} in the place of {name}")
        }
    };
    files.open(name, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    what
}

#[test]
fn check_open_and_recover_agree_on_changed_files_of_the_engine() {
    for is_pruned in [false, true] {
        let base = SimulatedFiles::new(1);
        let graph = graph_on(&base, if is_pruned { PART_OF_LOG } else { WHOLE_LOG });
        let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
        graph.close().unwrap();
        drop(graph);
        let mut random = StdRng::seed_from_u64(5);
        let (mut damaged, mut repaired) = (0, 0);
        for _ in 0..150 {
            let files = base.copy();
            let what = mutate(&files, &mut random);
            let problems = check_on(&shared(&files)).unwrap().problems;
            if !problems.is_empty() {
                damaged += 1;
                match recover_on(shared(&files)) {
                    Ok(repair) => assert!(!repair.set_aside.is_empty(), "{what}: {repair:?}"),
                    Err(refused) => {
                        assert!(is_pruned && refused.kind() == ErrorKind::Storage, "{what}: {refused}");
                        continue;
                    }
                }
                repaired += 1;
                let left = check_on(&shared(&files)).unwrap().problems;
                assert!(left.is_empty(), "{what}: {left:?}");
            }
            let graph = options_of_lsm().open_on(Arc::new(files)).unwrap();
            assert!(Oracle::of_snapshot(&graph.snapshot().unwrap()) == shown, "{what}");
        }
        assert!(damaged > 100 && is_pruned == (repaired == 0), "{damaged} {repaired}");
    }
}
