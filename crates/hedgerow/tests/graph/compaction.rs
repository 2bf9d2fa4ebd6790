//! Garbage collection by writers, by a thread, or not at all. On every engine.

use crate::oracle::{ENGINES, counts_later};
use hedgerow::{
    Compaction, EdgeSchema, EngineKind, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, ReadGraph,
    WriteGraph,
};
use std::time::{Duration, Instant};

const VERTICES: u64 = 512;

/// Edges per vertex.
const DEGREE: u64 = 32;

fn options(engine: EngineKind, compaction: Compaction) -> GraphOptions {
    let edges = EdgeSchema::Value(hedgerow::ColumnType::U32);
    GraphOptions::new()
        .engine(engine)
        .keys(KeyKind::Dense)
        .label_schema(LabelSchema { name: "weighs".to_owned(), edges })
        .compaction(compaction)
}

/// Gives all edges another value, in some commits.
fn change_all(graph: &Graph, value: u32) {
    for source in (0..VERTICES).step_by(64) {
        let sources = source..source + 64;
        let edges: Vec<(u64, u64, u32)> =
            sources.flat_map(|source| (0..DEGREE).map(move |to| (source, to, value))).collect();
        graph.ingest(LabelId::DEFAULT, &edges).unwrap();
    }
}

/// Changes everything under snapshots that are closed at the end. Returns the bytes before, and
/// just after the last snapshot was closed.
fn churn(graph: &Graph) -> (usize, usize) {
    change_all(graph, 0);
    graph.reclaim().unwrap();
    let before = graph.memory().total_bytes();
    let mut snapshots = Vec::new();
    for value in 1..8 {
        snapshots.push(graph.snapshot().unwrap());
        change_all(graph, value);
    }
    let held = graph.memory().total_bytes();
    assert!(held > before + before / 4, "{held} bytes after {before}");
    drop(snapshots);
    (before, held)
}

fn check(graph: &Graph, value: u32) {
    let snapshot = graph.snapshot().unwrap();
    assert!(snapshot.edge_count().may_be(VERTICES * DEGREE));
    let last = snapshot.get_edge::<u32>(LabelId::DEFAULT, VERTICES - 1, DEGREE - 1).unwrap();
    assert_eq!(last, Some(value));
}

/// No commits run: the closing snapshots wake the thread.
#[test]
fn in_the_background_memory_shrinks_without_a_commit() {
    for engine in ENGINES {
        let graph = Graph::in_memory(options(engine, Compaction::InBackground)).unwrap();
        let (before, _) = churn(&graph);
        let deadline = Instant::now() + Duration::from_secs(60);
        while graph.memory().retained_bytes > 0 {
            assert!(Instant::now() < deadline, "{engine:?}: {:?} after {before}", graph.memory());
            std::thread::yield_now();
        }
        check(&graph, 7);
    }
}

#[test]
fn by_writers_memory_shrinks_with_commits() {
    for engine in ENGINES {
        let graph = Graph::in_memory(options(engine, Compaction::ByWriters)).unwrap();
        let (_, held) = churn(&graph);
        assert!(graph.memory().total_bytes() <= held, "{engine:?}");
        for commit in 0..200u64 {
            graph.put_edge_with(LabelId::DEFAULT, commit % VERTICES, 0u64, 7u32).unwrap();
            graph
                .put_edge_with(LabelId::DEFAULT, commit % VERTICES, DEGREE - 1, 7 + (commit % 2) as u32)
                .unwrap();
        }
        assert_eq!(graph.memory().retained_bytes, 0, "{engine:?}");
    }
}

/// Threads write under their own snapshots and end. No commit follows: the snapshot that closes
/// last, and each that closes later, frees garbage, up to the amount that a commit frees.
#[test]
fn by_writers_snapshots_that_close_last_free_what_all_kept() {
    for engine in ENGINES {
        let graph = Graph::in_memory(options(engine, Compaction::ByWriters)).unwrap();
        change_all(&graph, 0);
        let last = graph.snapshot().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let graph = &graph;
                scope.spawn(move || {
                    for round in 0..8 {
                        let _snapshot = graph.snapshot().unwrap();
                        change_all(graph, 1 + 4 * round + thread);
                    }
                });
            }
        });
        let snapshots: Vec<_> = (0..24)
            .map(|value| {
                let snapshot = graph.snapshot().unwrap();
                change_all(&graph, 100 + value);
                snapshot
            })
            .collect();
        let held = graph.memory().retained_bytes;
        assert!(held > 2 << 20, "{engine:?}: {held} bytes");
        drop(snapshots);
        drop(last);
        let mut left = graph.memory().retained_bytes;
        assert!(left < held, "{engine:?}: {left} of {held} bytes are left");
        while left >= 1 << 20 {
            drop(graph.snapshot().unwrap());
            let before = std::mem::replace(&mut left, graph.memory().retained_bytes);
            assert!(left < before, "{engine:?}: {left} of {held} bytes are left");
        }
        check(&graph, 123);
    }
}

#[test]
fn off_nothing_shrinks_until_it_is_asked_for() {
    for engine in ENGINES {
        let graph = Graph::in_memory(options(engine, Compaction::Off)).unwrap();
        let (_, held) = churn(&graph);
        (8..12).for_each(|value| change_all(&graph, value));
        let grown = graph.memory();
        // Edges that wait in a log are not counted by versions.
        let is_retained = grown.retained_bytes > 0 || counts_later(engine);
        assert!(grown.total_bytes() >= held && is_retained, "{engine:?}: {grown:?} after {held}");
        while graph.reclaim().unwrap().more {}
        assert_eq!(graph.memory().retained_bytes, 0, "{engine:?}");
        check(&graph, 11);
    }
}

/// Dropping the last handle ends the thread, too, whatever it is doing, and releases the store.
#[test]
fn a_store_is_free_when_its_last_handle_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    for engine in [EngineKind::Rapid, EngineKind::Tel] {
        for round in 0..6u32 {
            let options = options(engine, Compaction::InBackground).durability(hedgerow::Durability::None);
            let graph = match round {
                0 if engine == EngineKind::Rapid => options.create(&path).unwrap(),
                _ => options.open(&path).unwrap(),
            };
            let snapshot = graph.snapshot().unwrap();
            change_all(&graph, round);
            drop(snapshot);
            check(&graph, round);
        }
    }
}
