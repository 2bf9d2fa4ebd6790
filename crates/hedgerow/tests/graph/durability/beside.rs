//! Processes that read a store while another process writes to it, or while it is read only.

use crate::oracle::{Oracle, options};
use hedgerow::{
    CheckpointOptions, ErrorKind, Graph, GraphOptions, KeyKind, LabelId, Topology, WriteGraph, store,
};
use hedgerow_testing::flag::RaiseOnDrop;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn small() -> GraphOptions {
    GraphOptions::new().segment_bytes(4096)
}

/// Returns the names and the content of all files.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

/// Segments and checkpoints come and go, and commits are half written.
#[test]
fn a_check_beside_a_writer_finds_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let graph = small().create(folder.path()).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = RaiseOnDrop(&is_over);
        scope.spawn(|| {
            let mut key = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                let edges: Vec<(u64, u64)> = (key..key + 20).map(|key| (key % 1000, key)).collect();
                graph.put_each(LabelId::DEFAULT, &edges).unwrap();
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
                key += 20;
            }
        });
        for _ in 0..30 {
            let report = store::check(folder.path()).unwrap();
            assert!(report.problems.is_empty(), "{:?}", report.problems);
        }
    });
}

/// Looking up the writer keeps no writer away.
#[test]
fn to_ask_for_the_writer_is_noticed_by_none() {
    let folder = tempfile::tempdir().unwrap();
    small().create(folder.path()).unwrap().close().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = RaiseOnDrop(&is_over);
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    store::holder(folder.path()).unwrap();
                }
            });
        }
        for key in 0..30_u64 {
            let graph = Graph::open(folder.path()).unwrap();
            graph.put_edge(LabelId::DEFAULT, key, key + 1).unwrap();
            assert_eq!(store::holder(folder.path()).unwrap().unwrap().process, Some(std::process::id()));
            graph.close().unwrap();
        }
    });
    assert_eq!(store::holder(folder.path()).unwrap(), None);
}

/// A store is read as a killed process left it, without a lock file, and stays the same to the
/// byte.
#[test]
fn reading_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (original, copy) = (folder.path().join("original"), folder.path().join("copy"));
    let options = options(Topology::Directed, KeyKind::Number).segment_bytes(4096);
    let graph = options.create(&original).unwrap();
    graph.put_each(LabelId::DEFAULT, &(0..100_u64).map(|key| (key, key + 1)).collect::<Vec<_>>()).unwrap();
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_each(LabelId::DEFAULT, &(0..100_u64).map(|key| (key, key + 2)).collect::<Vec<_>>()).unwrap();
    let expected = Oracle::of_snapshot(&graph.snapshot().unwrap());
    std::fs::create_dir(&copy).unwrap();
    for (name, bytes) in files(&original) {
        if name != "LOCK" {
            std::fs::write(copy.join(name), bytes).unwrap();
        }
    }
    let before = files(&copy);
    let readers = [(); 2].map(|()| GraphOptions::new().read_only().open(&copy).unwrap());
    for reader in &readers {
        assert_eq!(Oracle::of_snapshot(&reader.snapshot().unwrap()), expected);
        assert_eq!(reader.put_edge(LabelId::DEFAULT, 1, 2).unwrap_err().kind(), ErrorKind::ReadOnly);
    }
    let past = GraphOptions::new().as_of(hedgerow::CommitTimestamp(150)).open(&copy).unwrap();
    assert_eq!(past.snapshot().unwrap().edge_count(), 150);
    assert!(store::check(&copy).unwrap().problems.is_empty());
    assert_eq!(store::holder(&copy).unwrap(), None);
    assert_eq!(files(&copy), before);

    let refused = GraphOptions::new().read_only().open(&original).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked, "{refused}");
}

/// A writer whose lock file was removed does not damage the checkpoint of the next writer.
#[test]
fn a_writer_that_lost_its_lock_makes_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let first = small().create(folder.path()).unwrap();
    first.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    std::fs::remove_file(folder.path().join("LOCK")).unwrap();
    let second = Graph::open(folder.path()).unwrap();
    second.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
    second.checkpoint(&CheckpointOptions::new()).unwrap();
    assert_eq!(first.checkpoint(&CheckpointOptions::new()).unwrap_err().kind(), ErrorKind::LogFailed);
    assert_eq!(first.put_edge(LabelId::DEFAULT, 3, 4).unwrap_err().kind(), ErrorKind::LogFailed);
    assert!(first.close().is_err());
    second.put_edge(LabelId::DEFAULT, 4, 5).unwrap();
    drop((first, second));
    assert!(store::check(folder.path()).unwrap().problems.is_empty());
    assert_eq!(Graph::open(folder.path()).unwrap().snapshot().unwrap().edge_count(), 3);
}

/// A store from elsewhere cannot redirect writes out of its directory, and its pipes block no
/// reader.
#[test]
fn links_and_pipes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, outside) = (folder.path().join("store"), folder.path().join("outside"));
    for name in
        ["LOCK", "MANIFEST", "MANIFEST.new", "DURABLE", "checkpoint-0000000001.unfinished", "log-0000000003"]
    {
        for is_link in [true, false] {
            std::fs::write(&outside, "untouched").unwrap();
            small().create(&path).unwrap().close().unwrap();
            let _ = std::fs::remove_file(path.join(name));
            match is_link {
                true => std::os::unix::fs::symlink(&outside, path.join(name)).unwrap(),
                false => {
                    let made = std::process::Command::new("mkfifo").arg(path.join(name)).status().unwrap();
                    assert!(made.success());
                }
            }
            let _ = store::holder(&path);
            let _ = store::check(&path);
            let _ = GraphOptions::new().read_only().open(&path);
            if let Ok(graph) = Graph::open(&path) {
                graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
                graph.close().unwrap();
            } else {
                assert!(["LOCK", "MANIFEST", "DURABLE"].contains(&name), "{name}");
            }
            let _ = store::recover_to_last_valid(&path);
            assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched", "{name}");
            std::fs::remove_dir_all(&path).unwrap();
        }
    }
}
