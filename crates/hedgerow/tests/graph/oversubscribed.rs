//! Many more threads than cores on one graph, on every engine of the library: a thread that loses
//! its core must not stop the others, and no snapshot shows a part of a commit.
//!
//! Takes `OVERSUBSCRIBED_SECONDS` per engine, one second if that is not set.

use crate::engines::in_memory;
use hedgerow::{EngineKind, Graph, GraphOptions, LabelId, Snapshot};
use hedgerow::{ReadGraph, WriteGraph};
use hedgerow_testing::flag::RaiseOnDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Threads per core.
const THREADS_PER_CORE: usize = 16;

/// Vertices of the pairs that writers connect and separate.
const PAIRED: u64 = 64;

fn duration() -> Duration {
    let seconds = std::env::var("OVERSUBSCRIBED_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}

/// A sequence of numbers that look random.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns both ends of a pair, whose edges there and back are put and deleted together.
fn pair(random: &mut u64) -> (u64, u64) {
    let one = next(random) % PAIRED;
    (one, PAIRED + one)
}

/// Connects a pair, or separates it.
fn change_pair(graph: &Graph, random: &mut u64) {
    let ((one, other), connect) = (pair(random), next(random).is_multiple_of(2));
    let changed = graph.transact(|transaction| {
        for (from, to) in [(one, other), (other, one)] {
            match connect {
                true => transaction.put_edge(LabelId::DEFAULT, from, to)?,
                false => transaction.delete_edge(LabelId::DEFAULT, from, to)?,
            }
        }
        Ok(())
    });
    changed.unwrap();
}

/// Checks that a snapshot shows both edges of each pair, or neither.
fn check_pairs(snapshot: &Snapshot, random: &mut u64) {
    for _ in 0..8 {
        let (one, other) = pair(random);
        let [there, back] = [(one, other), (other, one)]
            .map(|(from, to)| snapshot.contains_edge(LabelId::DEFAULT, from, to).unwrap());
        assert_eq!(there, back, "a part of a commit, between {one} and {other}");
    }
}

/// Puts edges of its own vertex, of which each `thread` has one, as a stream, and deletes some.
fn stream(graph: &Graph, thread: u64, random: &mut u64) {
    let first = next(random) % 1000;
    let edges: Vec<(u64, u64)> = (0..20).map(|edge| (10_000 + thread, 20_000 + first + edge)).collect();
    graph.put_each(LabelId::DEFAULT, &edges).unwrap();
    graph.delete_each(LabelId::DEFAULT, &edges[..5]).unwrap();
}

/// Runs one of the roles of threads once.
fn work(graph: &Graph, thread: u64, random: &mut u64) {
    match thread % 5 {
        0 => change_pair(graph, random),
        1 => stream(graph, thread, random),
        2 => {
            let edge = (30_000 + next(random) % 1000, 30_000 + next(random) % 1000);
            graph.ingest(LabelId::DEFAULT, &[edge, (edge.1, edge.0)]).unwrap();
            graph.reclaim().unwrap();
        }
        _ => check_pairs(&graph.snapshot().unwrap(), random),
    }
}

fn oversubscribe(graph: &Graph, engine: EngineKind) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (end, done) = (Instant::now() + duration(), AtomicBool::new(false));
    let counts: Vec<AtomicU64> = (0..cores * THREADS_PER_CORE).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for (thread, count) in (0..).zip(&counts) {
            let done = &done;
            scope.spawn(move || {
                let _ended = RaiseOnDrop(done);
                let mut random = thread;
                // Each has its turn, however long that takes.
                while count.load(Ordering::Relaxed) == 0
                    || !done.load(Ordering::Relaxed) && Instant::now() < end
                {
                    work(graph, thread, &mut random);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let snapshot = graph.snapshot().unwrap();
    (0..PAIRED).for_each(|seed| check_pairs(&snapshot, &mut { seed }));
    let done: u64 = counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    eprintln!("{engine}: {done} operations by {} threads", counts.len());
}

#[test]
fn threads_that_outnumber_cores_make_progress_and_see_whole_commits() {
    for engine in in_memory() {
        oversubscribe(&Graph::in_memory(GraphOptions::new().engine(engine)).unwrap(), engine);
    }
    for engine in [EngineKind::default(), EngineKind::Lsm] {
        let folder = tempfile::tempdir().unwrap();
        let graph = GraphOptions::new().engine(engine).create(folder.path()).unwrap();
        oversubscribe(&graph, engine);
        graph.close().unwrap();
        let shown = |graph: &Graph| graph.snapshot().unwrap().vertex_count();
        let before = shown(&graph);
        drop(graph);
        assert_eq!(shown(&Graph::open(folder.path()).unwrap()), before, "{engine}");
    }
}
