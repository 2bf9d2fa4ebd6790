//! Models of the commit pipeline, the registry and reclamation, run under many schedules.
//!
//! Built only with `--cfg hedgerow_shuttle`; see `cargo xtask shuttle`. The invariants are those of
//! `docs/concurrency.md`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(hedgerow_shuttle)]

mod append;
mod conflicts;
#[path = "../support/engines.rs"]
mod engines;
mod labels;
mod lsm;
mod parallel;
mod past;
mod records;
mod stale;
mod turns;

use crate::engines::MODELLED;
use hedgerow::{
    CheckpointOptions, EngineKind, Field, Graph, GraphOptions, Isolation, KeyKind, LabelId, ReadGraph,
    RecordSchema, Snapshot, Topology, Value, ValueType, WriteGraph,
};
use hedgerow_log::planted::{PlantedBug, plant};
use hedgerow_sync::Arc;
use hedgerow_testing::models;
use hedgerow_testing::simulated::SimulatedFiles;
use shuttle::thread;
use std::cell::Cell;

/// The label of graphs without a schema.
const EDGE: LabelId = LabelId::DEFAULT;

thread_local! {
    /// The engine of the running model: all its tasks share one thread of the operating system.
    static ENGINE: Cell<EngineKind> = const { Cell::new(MODELLED[0]) };
}

/// Engine `hybrid`.
const HYBRID: EngineKind = EngineKind::Erased(&crate::engines::HYBRID);

/// Runs a model with each engine in memory that reads what a commit changes.
fn check(model: fn()) {
    check_on(&MODELLED, model);
}

/// Runs a model with each of these engines.
fn check_on(engines: &[EngineKind], model: fn()) {
    for engine in engines {
        ENGINE.set(*engine);
        // An execution with files takes about four times as long.
        models::check_one_in(if engine.owns_files() { 4 } else { 1 }, model, 500);
    }
}

fn options(topology: Topology, keys: KeyKind) -> GraphOptions {
    let field = Field { name: "count".to_owned(), value_type: ValueType::I64, nullable: true };
    let schema = RecordSchema { fields: vec![field] };
    GraphOptions::new()
        .engine(ENGINE.get())
        .topology(topology)
        .keys(keys)
        .threads(1)
        .vertex_properties(schema)
}

fn graph(topology: Topology, keys: KeyKind) -> Graph {
    make(options(topology, keys))
}

/// Makes a graph: in a store if its engine keeps files, otherwise in memory.
fn make(options: GraphOptions) -> Graph {
    match ENGINE.get().owns_files() {
        true => make_synced(options),
        false => Graph::in_memory(options).unwrap(),
    }
}

/// Returns a graph in a store that syncs each commit before it is published.
fn synced(topology: Topology, keys: KeyKind) -> Graph {
    make_synced(options(topology, keys))
}

fn make_synced(options: GraphOptions) -> Graph {
    options.segment_bytes(1000).simulated().create_on(Arc::new(SimulatedFiles::new(1))).unwrap()
}

/// Does all deferred work: flushes and compacts files, archives, and frees what no snapshot sees.
fn catch_up(graph: &Graph) {
    if ENGINE.get().owns_files() {
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
    }
    graph.reclaim().unwrap();
}

/// A vertex that shares no lock unit with vertex 0. The tables of `hybrid` are small under the
/// model checker.
fn far() -> u64 {
    if ENGINE.get() == HYBRID { 33 } else { 66 }
}

fn has(snapshot: &Snapshot, source: u64, destination: u64) -> bool {
    snapshot.contains_edge(EDGE, source, destination).unwrap()
}

/// A snapshot shows a prefix of a stream, and counts it, while another writer changes vertices that
/// the stream locks.
#[test]
fn snapshots_show_beginnings_of_a_stream() {
    check(|| check_beginnings_of_a_stream(&graph(Topology::Directed, KeyKind::Dense)));
    check_on(&[HYBRID], || check_beginnings_of_a_stream(&graph(Topology::Directed, KeyKind::Dense)));
}

/// Like [`snapshots_show_beginnings_of_a_stream`], in a store, where the commits of a stream are
/// appended to the log together.
#[test]
fn snapshots_show_beginnings_of_a_stream_that_is_synced() {
    check(|| check_beginnings_of_a_stream(&synced(Topology::Directed, KeyKind::Dense)));
    check_on(&[HYBRID, lsm::LSM], || {
        check_beginnings_of_a_stream(&synced(Topology::Directed, KeyKind::Dense));
    });
}

fn check_beginnings_of_a_stream(graph: &Graph) {
    let far = far();
    graph.ingest(EDGE, &[(0u64, 7u64), (far, 7), (2 * far - 4, 7), (1, 7), (2, 7), (3, 7)]).unwrap();
    let streamed = [(0u64, 1u64), (far, 1), (2 * far - 4, 1)];
    let stream = {
        let graph = graph.clone();
        thread::spawn(move || assert!(graph.put_each(EDGE, &streamed).unwrap().changed.may_be(3)))
    };
    let other = {
        let graph = graph.clone();
        thread::spawn(move || assert!(graph.put_edge(EDGE, far, 2u64).unwrap().changed != Some(false)))
    };
    for _ in 0..2 {
        let snapshot = graph.snapshot().unwrap();
        let shown = streamed.map(|(source, destination)| has(&snapshot, source, destination));
        assert!(shown.is_sorted_by(|one, next| one >= next), "not a beginning: {shown:?}");
        let others = usize::from(has(&snapshot, far, 2));
        let edges = 6 + shown.iter().filter(|shown| **shown).count() + others;
        assert!(snapshot.edge_count().may_be(edges as u64));
    }
    stream.join().unwrap();
    other.join().unwrap();
    assert!(graph.snapshot().unwrap().edge_count().may_be(10));
}

/// Moves two edges in units far apart in one transaction. Returns true if it committed.
fn swap(graph: &Graph, from: u64, to: u64) -> bool {
    let transaction = graph.begin().unwrap();
    transaction.delete_edge(EDGE, 0u64, from).unwrap();
    transaction.delete_edge(EDGE, far(), from).unwrap();
    transaction.put_edge(EDGE, 0u64, to).unwrap();
    transaction.put_edge(EDGE, far(), to).unwrap();
    // A conflict with the other writer leaves both edges unchanged.
    transaction.commit().is_ok()
}

/// A snapshot shows a commit whole or not at all, and the same at each read, while writers replace
/// versions and reclamation frees them.
#[test]
fn snapshots_are_atomic_and_stable() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Dense);
        graph.ingest(EDGE, &[(0u64, 1u64), (66, 1)]).unwrap();
        let writers: Vec<_> = [(1, 2), (1, 3)]
            .map(|(from, to)| {
                let graph = graph.clone();
                thread::spawn(move || swap(&graph, from, to))
            })
            .into();
        let reader = {
            let graph = graph.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    let snapshot = graph.snapshot().unwrap();
                    let read = || [1, 2, 3].map(|to| (has(&snapshot, 0, to), has(&snapshot, 66, to)));
                    let first = read();
                    assert!(first.iter().all(|(one, other)| one == other), "half a commit: {first:?}");
                    assert!(first.iter().any(|(one, _)| *one), "neither before nor after: {first:?}");
                    graph.reclaim().unwrap();
                    assert_eq!(read(), first, "the snapshot changed");
                }
            })
        };
        writers.into_iter().for_each(|writer| _ = writer.join().unwrap());
        reader.join().unwrap();
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!(graph.memory().retained_bytes, 0);
    });
}

/// A commit that returned is in every snapshot opened after it, on any thread.
#[test]
fn returned_commits_are_seen() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Number);
        let threads: Vec<_> = (0..3u64)
            .map(|source| {
                let graph = graph.clone();
                thread::spawn(move || {
                    let commit = graph.put_edge(EDGE, source, 100u64).unwrap();
                    let snapshot = graph.snapshot().unwrap();
                    assert!(snapshot.timestamp() >= commit.at);
                    assert!(has(&snapshot, source, 100));
                    assert_eq!(snapshot.edge_count(), snapshot.timestamp().0);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 4);
    });
}

/// An edge never outlives its endpoint, whether the edge is put or the vertex deleted first, and
/// counts stay right.
#[test]
fn edges_do_not_dangle() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let model = match topology {
            Topology::Directed => || dangle(Topology::Directed),
            Topology::DirectedWithReverse => || dangle(Topology::DirectedWithReverse),
            Topology::Undirected => || dangle(Topology::Undirected),
        };
        check(model);
    }
}

fn dangle(topology: Topology) {
    // Three vertices under three locks, in each engine: only the lock of the far end serializes the
    // two commits.
    let graph = graph(topology, KeyKind::Dense);
    graph.ingest(EDGE, &[(0u64, 66u64), (129, 0)]).unwrap();
    let deleter = {
        let graph = graph.clone();
        thread::spawn(move || graph.delete_vertex(66u64).unwrap())
    };
    let putter = {
        let graph = graph.clone();
        thread::spawn(move || graph.put_edge(EDGE, 129u64, 66u64).unwrap())
    };
    let snapshot = graph.snapshot().unwrap();
    check_consistent(&snapshot);
    deleter.join().unwrap();
    putter.join().unwrap();
    check_consistent(&snapshot);
    let last = graph.snapshot().unwrap();
    check_consistent(&last);
    assert!(!has(&last, 0, 66));
}

/// Checks that both ends of every edge exist, and that the counts match a walk.
fn check_consistent(snapshot: &Snapshot) {
    let mut keys = Vec::new();
    snapshot.for_each_vertex(|_, key| keys.push(key)).unwrap();
    assert_eq!(snapshot.vertex_count(), keys.len() as u64);
    let mut entries = 0;
    for key in &keys {
        for neighbor in snapshot.neighbors(EDGE, key).unwrap() {
            assert!(keys.contains(&neighbor), "{key} has the dangling neighbor {neighbor}");
            entries += 1;
        }
    }
    let ends = if snapshot.topology().is_undirected() { 2 } else { 1 };
    assert_eq!(snapshot.edge_count().at_most() * ends, entries);
}

/// No increment by interactive transactions is lost: the first committer wins.
#[test]
fn increments_are_not_lost() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Number);
        let increment = |graph: &Graph| {
            graph
                .transact_with(Isolation::Snapshot, |transaction| {
                    let record = transaction.properties(7u64)?;
                    let count = match record.map(|record| record.values()[0].clone()) {
                        Some(Value::I64(count)) => count,
                        _ => 0,
                    };
                    transaction.set_properties(7u64, &[("count", Value::I64(count + 1))])
                })
                .unwrap();
        };
        graph.set_properties(7u64, &[("count", Value::I64(0))]).unwrap();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let graph = graph.clone();
                thread::spawn(move || (0..2).for_each(|_| increment(&graph)))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let record = graph.snapshot().unwrap().properties(7u64).unwrap().unwrap();
        assert_eq!(record.values()[0], Value::I64(4));
    });
}

/// Threads that put edges at the same new key agree on its vertex, and an aborted transaction
/// leaves no trace.
#[test]
fn a_new_key_gets_one_vertex() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Number);
        let threads: Vec<_> = (0..2u64)
            .map(|source| {
                let graph = graph.clone();
                thread::spawn(move || {
                    graph.put_edge(EDGE, 10 + source, 5u64).unwrap();
                    graph.put_edge(EDGE, 5u64, 20 + source).unwrap();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().at_most()), (5, 4));
        assert_eq!(snapshot.neighbors(EDGE, 5u64).unwrap().len(), 2);
        check_consistent(&snapshot);
    });
}

/// A transaction that gave a new key an id and then fails takes the id back before another thread
/// can use it, while others put edges at that key and at the key that gets the id next.
#[test]
fn an_aborted_commit_leaves_no_trace() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Number);
        graph.put_edge(EDGE, 1u64, 2u64).unwrap();
        let aborted = graph.begin().unwrap();
        aborted.put_edge(EDGE, 1u64, 5u64).unwrap();
        aborted.delete_edge(EDGE, 1u64, 2u64).unwrap();
        graph.delete_edge(EDGE, 1u64, 2u64).unwrap();
        graph.put_edge(EDGE, 1u64, 2u64).unwrap();
        let putters = [(2, 5), (1, 6)].map(|(source, destination): (u64, u64)| {
            let graph = graph.clone();
            thread::spawn(move || graph.put_edge(EDGE, source, destination).unwrap())
        });
        aborted.commit().unwrap_err();
        for putter in putters {
            putter.join().unwrap();
        }
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().at_most()), (4, 3));
        assert_eq!(snapshot.neighbors(EDGE, 2u64).unwrap(), [5]);
        assert!(has(&snapshot, 1, 2) && has(&snapshot, 1, 6));
        check_consistent(&snapshot);
    });
}

/// An edge put at a key goes to that key's vertex, even if its id may go to another key meanwhile.
#[test]
fn edges_do_not_follow_a_reused_id() {
    check(|| {
        let graph = graph(Topology::Undirected, KeyKind::Number);
        graph.ingest(EDGE, &[(1u64, 2u64), (1, 3)]).unwrap();
        let putter = {
            let graph = graph.clone();
            thread::spawn(move || graph.put_edge(EDGE, 1u64, 2u64).unwrap())
        };
        graph.delete_vertex(2u64).unwrap();
        graph.put_edge(EDGE, 3u64, 4u64).unwrap();
        putter.join().unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.neighbors(EDGE, 4u64).unwrap(), [3]);
        check_consistent(&snapshot);
    });
}

/// A reclamation that began before a snapshot was opened frees nothing that the snapshot reads.
#[test]
fn reclamation_beside_commits_spares_new_snapshots() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Dense);
        graph.put_edge(EDGE, 0u64, 1u64).unwrap();
        let reclaimer = {
            let graph = graph.clone();
            thread::spawn(move || {
                graph.reclaim().unwrap();
            })
        };
        let reader = {
            let graph = graph.clone();
            thread::spawn(move || {
                let snapshot = graph.snapshot().unwrap();
                let first = snapshot.neighbors(EDGE, 0u64).unwrap();
                thread::yield_now();
                assert_eq!(snapshot.neighbors(EDGE, 0u64).unwrap(), first);
                assert_eq!(snapshot.edge_count(), first.len() as u64);
            })
        };
        for destination in 2..5u64 {
            graph.put_edge(EDGE, 0u64, destination).unwrap();
        }
        reader.join().unwrap();
        reclaimer.join().unwrap();
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!(graph.memory().retained_bytes, 0);
    });
}

/// An id goes to another key only when no snapshot can read its former vertex.
#[test]
fn reused_ids_do_not_show_in_old_snapshots() {
    check(|| {
        let graph = graph(Topology::Undirected, KeyKind::Number);
        graph.put_edge(EDGE, 1u64, 2u64).unwrap();
        let reader = {
            let graph = graph.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    let snapshot = graph.snapshot().unwrap();
                    let vertices = || {
                        let mut keys = Vec::new();
                        snapshot
                            .for_each_vertex(|id, key| {
                                assert_eq!(snapshot.vertex_id(&key).unwrap(), Some(id));
                                keys.push(key);
                            })
                            .unwrap();
                        keys
                    };
                    let first = vertices();
                    assert_eq!(vertices(), first);
                    assert_eq!(first.len() as u64, snapshot.vertex_count());
                }
            })
        };
        graph.delete_vertex(2u64).unwrap();
        graph.put_edge(EDGE, 1u64, 3u64).unwrap();
        graph.delete_vertex(3u64).unwrap();
        graph.put_edge(EDGE, 1u64, 4u64).unwrap();
        reader.join().unwrap();
        check_consistent(&graph.snapshot().unwrap());
    });
}

// --- graphs in stores ------------------------------------------------------------------------

/// Writers of one vertex, and of one edge, with synced commits, and a reader that compares the
/// counts with the edges that it finds.
fn synced_writers_and_a_reader() {
    let graph = synced(Topology::Directed, KeyKind::Dense);
    graph.ingest(EDGE, &[(0u64, 9u64), (1, 9), (2, 9)]).unwrap();
    let writers: Vec<_> = [(1u64, true), (2, true), (1, false)]
        .map(|(destination, put)| {
            let graph = graph.clone();
            thread::spawn(move || {
                let before = graph.snapshot().unwrap().timestamp();
                let changed = match put {
                    true => graph.put_edge(EDGE, 0u64, destination).unwrap().changed,
                    false => graph.delete_edge(EDGE, 0u64, destination).unwrap().changed,
                };
                let snapshot = graph.snapshot().unwrap();
                assert!(snapshot.timestamp() > before || changed == Some(false));
                assert!(destination == 1 || has(&snapshot, 0, destination));
            })
        })
        .into();
    for _ in 0..3 {
        let snapshot = graph.snapshot().unwrap();
        let read = || snapshot.neighbors(EDGE, 0u64).unwrap();
        let first = read();
        assert_eq!(first.len() as u64 + 2, snapshot.edge_count().at_most());
        graph.reclaim().unwrap();
        assert_eq!(read(), first, "the snapshot changed");
        thread::yield_now();
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert!(!graph.reclaim().unwrap().more);
    assert!(has(&graph.snapshot().unwrap(), 0, 2));
    assert_eq!(graph.memory().retained_bytes, 0);
}

/// A snapshot shows exactly the commits up to its timestamp, even if later ones are stamped
/// already, and writers fill the next batch.
#[test]
fn what_is_durable_is_what_is_seen() {
    check(synced_writers_and_a_reader);
}

/// The model finds the planted bug.
#[test]
fn an_edit_of_what_is_not_published_is_found() {
    for engine in MODELLED {
        ENGINE.set(engine);
        plant(Some(PlantedBug::EditUnpublished));
        let found = std::panic::catch_unwind(|| {
            models::check_random(synced_writers_and_a_reader, 20_000);
            models::check_few_preemptions(synced_writers_and_a_reader, 20_000);
        });
        plant(None);
        assert!(found.is_err(), "{engine:?}");
    }
}

/// No increment is lost if transactions begin behind the last stamp: the first committer wins.
#[test]
fn synced_increments_are_not_lost() {
    check(|| {
        let graph = synced(Topology::Directed, KeyKind::Number);
        let increment = |graph: &Graph| {
            let run = |transaction: &hedgerow::WriteTxn| {
                let count = match transaction.properties(1u64)?.map(|record| record.values()[0].clone()) {
                    Some(Value::I64(count)) => count,
                    _ => 0,
                };
                transaction.set_properties(1u64, &[("count", Value::I64(count + 1))])
            };
            graph.transact(run).unwrap();
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let graph = graph.clone();
                thread::spawn(move || increment(&graph))
            })
            .collect();
        increment(&graph);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let record = graph.snapshot().unwrap().properties(1u64).unwrap().unwrap();
        assert_eq!(record.values()[0], Value::I64(3));
    });
}

/// Vertices come and go in unpublished batches: a snapshot finds the keys of its timestamp.
#[test]
fn ids_are_not_used_again_before_the_deletion_is_published() {
    check(|| {
        let graph = synced(Topology::Directed, KeyKind::Number);
        graph.add_vertex(1u64).unwrap();
        let writer = {
            let graph = graph.clone();
            thread::spawn(move || {
                graph.delete_vertex(1u64).unwrap();
                graph.add_vertex(2u64).unwrap();
            })
        };
        let other = {
            let graph = graph.clone();
            thread::spawn(move || assert!(graph.add_vertex(3u64).unwrap().changed == Some(true)))
        };
        for _ in 0..2 {
            let snapshot = graph.snapshot().unwrap();
            check_consistent(&snapshot);
            let mut keys = 0;
            snapshot
                .for_each_vertex(|id, key| {
                    assert_eq!(snapshot.vertex_id(&key).unwrap(), Some(id));
                    keys += 1;
                })
                .unwrap();
            assert_eq!(snapshot.vertex_count(), keys);
        }
        writer.join().unwrap();
        other.join().unwrap();
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 2);
    });
}

/// A stream and a close run concurrently: acknowledged commits are there, refused ones are not.
#[test]
fn a_close_meets_commits() {
    check(|| {
        let files = SimulatedFiles::new(1);
        let options = options(Topology::Directed, KeyKind::Dense).segment_bytes(1000).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        graph.ingest(EDGE, &[(0u64, 9u64)]).unwrap();
        let writer = {
            let graph = graph.clone();
            thread::spawn(move || {
                (1..4u64).filter(|to| graph.put_edge(EDGE, 0u64, *to).is_ok()).count() as u64
            })
        };
        graph.close().unwrap();
        let told = writer.join().unwrap();
        drop(graph);
        let graph = options.open_on(Arc::new(files)).unwrap();
        let edges = graph.snapshot().unwrap().edge_count();
        assert_eq!(edges, 1 + told);
    });
}
