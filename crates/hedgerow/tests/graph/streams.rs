//! Streams of edges, one commit per edge: equivalent to single calls, and concurrent with readers
//! and writers.

use crate::engines::in_memory;
use crate::oracle::{
    ENGINES, LABELS, Oracle, PARALLEL, Stream, are_commits, counts_later, domain, is_count, options, stage,
};
use hedgerow::{
    Commit, Commits, Count, EngineKind, ErrorKind, Graph, GraphOptions, History, Key, KeyKind, LabelId,
    Properties, ReadGraph, Record, Topology, Value, WriteGraph,
};
use hedgerow_model::Operation;
use hedgerow_testing::flag::RaiseOnDrop;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

/// Returns a mostly short stream between few keys, so that edges repeat and vertices are missing.
fn random_stream(keys: &[Key], random: &mut SmallRng) -> Stream {
    let mut key = || keys[random.random_range(0..keys.len())].clone();
    let ends: Vec<_> = (0..60).map(|_| (key(), key())).collect();
    let length = random.random_range(1..60);
    let edge = |(source, destination)| (source, destination, random.random_range(0..4));
    let edges = ends.into_iter().take(length).map(edge).collect();
    let label = LABELS[random.random_range(0..5)];
    Stream { label, deletes: label == PARALLEL || random.random_range(0..3) == 0, edges }
}

/// Makes the changes of the stream by single commits, and returns their effects.
fn run_one_by_one(stream: &Stream, graph: &Graph) -> Commits {
    let mut done = Commits::default();
    for operation in stream.operations() {
        let transaction = graph.begin().unwrap();
        stage(&transaction, &operation).unwrap();
        let commit = transaction.commit().unwrap();
        done.committed += 1;
        done.edges_added += commit.edges_added;
        done.edges_removed += commit.edges_removed;
        done.vertices_added += commit.vertices_added;
        done.changed += commit.changed.map_or(Count::between(0, 1), |changed| u64::from(changed).into());
        if commit.changed != Some(false) {
            done.at = commit.at;
        }
    }
    done
}

/// A stream leaves the state and the timestamps that single commits leave.
#[test]
fn a_stream_is_one_commit_after_the_other() {
    for (number, engine) in (0..).zip(ENGINES) {
        for (seed, topology) in (number..).zip(TOPOLOGIES) {
            check_against_single_commits(engine, topology, KEY_KINDS[seed % 3], seed as u64);
        }
    }
}

fn check_against_single_commits(engine: EngineKind, topology: Topology, kind: KeyKind, seed: u64) {
    let new = || Graph::in_memory(options(topology, kind).engine(engine)).unwrap();
    let (graph, twin) = (new(), new());
    let keys = domain(kind, 40);
    let mut random = SmallRng::seed_from_u64(seed);
    let mut oracle = Oracle::new(topology);
    let mut held = Vec::new();
    for round in 0..40 {
        let stream = random_stream(&keys, &mut random);
        let (commits, single) = (stream.run(&graph).unwrap(), run_one_by_one(&stream, &twin));
        // A commit without changes has a timestamp only in a stream.
        let at = if counts_later(engine) { commits.at } else { single.at };
        let expected = Commits { at, ..single };
        assert!(are_commits(engine, commits, expected), "{commits:?} instead of {expected:?}");
        stream.operations().for_each(|operation| oracle.apply(&operation));
        if round % 4 == 3 {
            let key = &keys[random.random_range(0..keys.len())];
            let (commit, single) = (graph.delete_vertex(key).unwrap(), twin.delete_vertex(key).unwrap());
            let at = if counts_later(engine) { commit.at } else { single.at };
            assert_eq!(commit, Commit { at, ..single });
            oracle.apply(&Operation::DeleteVertex { key: key.clone() });
        }
        if round % 10 == 5 {
            held.push((graph.snapshot().unwrap(), oracle.clone()));
        }
    }
    held.push((graph.snapshot().unwrap(), oracle));
    let timestamps = [&graph, &twin].map(|graph| graph.snapshot().unwrap().timestamp());
    assert!(timestamps[0] == timestamps[1] || timestamps[0] > timestamps[1] && counts_later(engine));
    held.iter().for_each(|(snapshot, oracle)| oracle.check(snapshot, &keys));
    drop(held);
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
}

const WRITERS: u64 = 3;
const EDGES: u64 = 3000;

/// Every snapshot shows a prefix of each writer's stream, and the total number of edges that its
/// timestamp implies.
#[test]
fn every_snapshot_shows_beginnings_of_the_streams() {
    for (engine, topology) in ENGINES.into_iter().zip(TOPOLOGIES.into_iter().cycle()) {
        check_beginnings(engine, topology);
    }
}

/// Returns the edges of a writer: from vertices in different partitions, shared by all writers, to
/// vertices of its own.
fn edges_of(writer: u64) -> Vec<(u64, u64)> {
    let source = |number: u64| number * 67 % 1000;
    (0..EDGES).map(|number| (source(number), 1000 + writer * EDGES + number)).collect()
}

fn check_beginnings(engine: EngineKind, topology: Topology) {
    let options = GraphOptions::new().engine(engine).topology(topology).keys(KeyKind::Dense);
    let graph = Graph::in_memory(options).unwrap();
    let all: Vec<u64> = (0..1000 + WRITERS * EDGES).collect();
    graph.transact(|transaction| all.iter().try_for_each(|vertex| transaction.add_vertex(*vertex))).unwrap();
    let base = graph.snapshot().unwrap().timestamp().0;
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                check_beginning(&graph, base);
            }
            check_beginning(&graph, base)
        });
        let write = |writer| {
            let graph = &graph;
            move || {
                for some in edges_of(writer).chunks(500) {
                    graph.put_each(LabelId::DEFAULT, some).unwrap();
                }
            }
        };
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
        {
            let _done = RaiseOnDrop(&done);
            writers.into_iter().for_each(|writer| writer.join().unwrap());
        }
        assert_eq!(reader.join().unwrap(), WRITERS * EDGES);
    });
}

/// Returns the number of edges in a new snapshot, after checking that they are prefixes.
fn check_beginning(graph: &Graph, base: u64) -> u64 {
    let snapshot = graph.snapshot().unwrap();
    let shown = |writer| {
        let edges = edges_of(writer);
        let is_shown = |(source, destination): &(u64, u64)| {
            snapshot.contains_edge(LabelId::DEFAULT, *source, *destination).unwrap()
        };
        let shown = edges.partition_point(is_shown);
        assert!(edges[..shown].iter().all(is_shown), "a gap in what writer {writer} streamed");
        assert!(!edges[shown..].iter().any(is_shown), "an edge of writer {writer} before those before it");
        shown as u64
    };
    let shown = (0..WRITERS).map(shown).sum();
    assert_eq!(snapshot.timestamp().0 - base, shown, "each edge has a timestamp of its own");
    assert!(snapshot.edge_count().may_be(shown));
    shown
}

/// The edges before an invalid edge are committed, the edges behind it are not, and the error has
/// its position.
#[test]
fn a_stream_ends_at_the_first_error() {
    let number = |number: u64| Key::Number(number);
    let mut edges: Vec<_> = (0..100).map(|at| (number(at), number(at + 1))).collect();
    edges[70].1 = Key::Text("seventy".into());
    let graph = Graph::in_memory(GraphOptions::new()).unwrap();
    let failed = graph.put_each(LabelId::DEFAULT, &edges).unwrap_err();
    assert_eq!((failed.committed.committed, failed.committed.edges_added.at_most()), (70, 70));
    assert_eq!(failed.error.kind(), ErrorKind::InvalidInput);
    assert!(failed.to_string().contains("edge 70 of the stream"), "{failed}");
    assert_eq!(graph.snapshot().unwrap().edge_count(), 70);

    let strict = Graph::in_memory(GraphOptions::new().strict(true)).unwrap();
    assert!((0..50u64).all(|vertex| strict.add_vertex(vertex).unwrap().changed == Some(true)));
    let edges: Vec<_> = (0..60u64).map(|at| (at, at + 1)).collect();
    let failed = strict.put_each(LabelId::DEFAULT, &edges).unwrap_err();
    assert_eq!((failed.committed.committed, failed.error.kind()), (49, ErrorKind::NotFound));

    let failed = graph.put_each(LabelId(7), &edges).unwrap_err();
    assert_eq!((failed.committed, failed.error.kind()), (Commits::default(), ErrorKind::InvalidInput));
    assert_eq!(graph.delete_each::<(u64, u64)>(LabelId::DEFAULT, &[]).unwrap(), Commits::default());
}

#[derive(Properties, Clone, Debug, PartialEq)]
struct Payment {
    amount: f64,
    note: Option<String>,
}

/// Streams of structs, and of records whose properties are known only at run time, in memory and in
/// stores.
#[test]
fn records_are_streamed_as_numbers_are() {
    for engine in in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let options = GraphOptions::new()
            .engine(engine)
            .label::<Payment>("pays")
            .parallel_label::<Payment>("owes", "number");
        let graphs = [Graph::in_memory(options.clone()).unwrap(), options.create(folder.path()).unwrap()];
        for graph in &graphs {
            let pays = graph.label::<Payment>("pays").unwrap();
            let payment = |number: u64| Payment { amount: number as f64, note: Some(format!("to {number}")) };
            let payments: Vec<_> = (0..100u64).map(|at| (at % 7, at, payment(at))).collect();
            let done = graph.put_each(pays, &payments).unwrap();
            assert_eq!((done.committed, done.edges_added.at_most()), (100, 100));
            assert_eq!(done.changed, 100);
            assert_eq!((done.vertices_added, done.at), (100, graph.snapshot().unwrap().timestamp()));
            assert_eq!(graph.get_edge(pays, 3, 94).unwrap(), Some(payment(94)));
            assert_eq!(graph.put_each(pays, &payments).unwrap().changed, 0, "they are there");

            let untyped = graph.label::<Record>("pays").unwrap();
            let record = |amount: Value| Record::new(vec![amount, Value::Null]);
            let mut records: Vec<_> = (0..50u64).map(|at| (at % 7, at, record(Value::F64(0.5)))).collect();
            records[30].2 = record(Value::Null);
            let failed = graph.put_each(untyped, &records).unwrap_err();
            assert_eq!((failed.committed.committed, failed.committed.changed.exact()), (30, Some(30)));
            assert_eq!(failed.error.kind(), ErrorKind::InvalidInput);
            assert!(failed.to_string().contains("\"amount\""), "{failed}");
            assert_eq!(graph.get_edge(pays, 1, 29).unwrap(), Some(Payment { amount: 0.5, note: None }));
            assert_eq!(graph.get_edge(pays, 2, 30).unwrap(), Some(payment(30)));

            let parallel = graph.label::<Payment>("owes").unwrap();
            let failed = graph.put_each(parallel, &payments).unwrap_err();
            assert_eq!(
                (failed.committed, failed.error.kind()),
                (Commits::default(), ErrorKind::InvalidInput)
            );
            let ends: Vec<_> =
                payments.iter().map(|(source, destination, _)| (*source, *destination)).collect();
            assert_eq!(graph.delete_each(pays, &ends).unwrap().edges_removed, 100);
        }
        graphs[1].close().unwrap();
        let again = GraphOptions::new().open(folder.path()).unwrap();
        assert_eq!(again.snapshot().unwrap().vertex_count(), 100);
    }
}

/// With history every state is kept, so the deletion of an edge that does not exist makes none,
/// even in an engine that counts later.
#[test]
fn a_stream_with_history_deletes_only_edges_that_exist() {
    for engine in in_memory() {
        let options = GraphOptions::new().engine(engine).history(History::All).label::<()>("knows");
        let graph = Graph::in_memory(options).unwrap();
        let knows = graph.label::<()>("knows").unwrap();
        let before = graph.put_each(knows, &[(1, 2), (2, 3), (3, 4)]).unwrap();
        let deleted = graph.delete_each(knows, &[(1, 2), (4, 1), (3, 4)]).unwrap();
        assert_eq!((deleted.committed, deleted.changed, deleted.edges_removed), (3, 2.into(), 2.into()));
        assert_eq!(deleted.at.0, before.at.0 + 2, "{engine}");
    }
}

#[test]
fn a_stream_ends_at_the_memory_limit() {
    let graph = Graph::in_memory(GraphOptions::new().keys(KeyKind::Dense).memory_limit(200_000)).unwrap();
    let edges: Vec<_> = (0..1_000_000u64).map(|at| (at % 997, at)).collect();
    let failed = graph.put_each(LabelId::DEFAULT, &edges).unwrap_err();
    assert!(failed.error.memory_limit().is_some());
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.edge_count(), failed.committed.committed as u64);
    drop(snapshot);
    let put = &edges[..failed.committed.committed];
    assert_eq!(graph.delete_each(LabelId::DEFAULT, put).unwrap().edges_removed, put.len() as u64);
    assert_eq!(graph.snapshot().unwrap().edge_count(), 0);
}

/// A stream conflicts with an open transaction that began before it.
#[test]
fn streams_are_in_conflict_with_transactions() {
    for engine in ENGINES {
        let graph = Graph::in_memory(GraphOptions::new().engine(engine)).unwrap();
        let edges: Vec<_> = (0..200u64).map(|at| (at, at + 100)).collect();
        graph.ingest(LabelId::DEFAULT, &edges).unwrap();
        let same = graph.begin().unwrap();
        let other = graph.begin().unwrap();
        same.put_edge(LabelId::DEFAULT, 70u64, 170u64).unwrap();
        other.put_edge(LabelId::DEFAULT, 70u64, 171u64).unwrap();
        let removed = graph.delete_each(LabelId::DEFAULT, &edges).unwrap().edges_removed;
        assert!(is_count(engine, removed, 200));
        assert_eq!(same.commit().unwrap_err().kind(), ErrorKind::Conflict);
        assert!(other.commit().unwrap().changed != Some(false));
    }
}
