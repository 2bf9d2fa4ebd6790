//! Checks of isolation on recorded histories of concurrent writers and readers.
//!
//! The number of rounds grows with the environment variable `HISTORY_ROUNDS`.

use crate::oracle::{ENGINES, Oracle, domain, operation, options, stage};
use hedgerow::{
    Commit, CommitTimestamp, Direction, EngineKind, ErrorKind, Graph, GraphOptions, Isolation, Key, KeyKind,
    LabelId, ReadGraph, Snapshot, Topology, Value, WriteGraph,
};
use hedgerow_model::Operation;
use hedgerow_testing::simulated::SimulatedFiles;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

fn rounds() -> u64 {
    std::env::var("HISTORY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5)
}

/// Returns a graph in memory, and a graph whose commits are synced before they are published.
fn graphs(options: &GraphOptions) -> [Graph; 2] {
    let in_store = options.clone().segment_bytes(10_000).simulated();
    [
        Graph::in_memory(options.clone()).unwrap(),
        in_store.create_on(Arc::new(SimulatedFiles::new(1))).unwrap(),
    ]
}

/// A committed transaction.
struct Committed {
    at: CommitTimestamp,
    changed: bool,
    operations: Vec<Operation>,
}

fn random_operations(keys: &[Key], random: &mut SmallRng) -> Vec<Operation> {
    let count = random.random_range(1..5);
    (0..count).map(|_| operation(keys, random.random())).collect()
}

/// Every snapshot of any thread equals the replay of exactly the commits up to its timestamp, and
/// includes each commit that returned before it was opened.
#[test]
fn snapshots_are_prefixes_of_the_commit_order() {
    for round in 0..rounds() {
        for (seed, topology) in
            (round * 3..).zip([Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected])
        {
            // Over the rounds, every kind of key meets every topology.
            let kind = KEY_KINDS[(2 + seed + seed / 3) as usize % 3];
            for engine in ENGINES {
                let graphs = graphs(&options(topology, kind).engine(engine));
                graphs.iter().for_each(|graph| check_prefixes(graph, engine, topology, kind, seed));
            }
        }
    }
}

fn check_prefixes(graph: &Graph, engine: EngineKind, topology: Topology, kind: KeyKind, seed: u64) {
    let keys = domain(kind, 12);
    let returned = AtomicU64::new(0);
    let (history, seen) = thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (keys, returned) = (&keys, &returned);
                scope.spawn(move || write_randomly(graph, keys, returned, seed * 100 + writer))
            })
            .collect();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let returned = &returned;
                scope.spawn(move || read_repeatedly(graph, returned))
            })
            .collect();
        let history: Vec<Committed> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        let seen: Vec<(CommitTimestamp, Oracle)> =
            readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect();
        (history, seen)
    });
    replay(engine, topology, history, seen);
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
}

fn write_randomly(graph: &Graph, keys: &[Key], returned: &AtomicU64, seed: u64) -> Vec<Committed> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut history = Vec::new();
    for _ in 0..300 {
        let operations = random_operations(keys, &mut random);
        let transaction = graph.begin().unwrap();
        let updates = operations.iter().filter_map(|operation| stage(&transaction, operation).unwrap());
        let conditions_failed = updates.filter(|updated| !updated.held).count() as u64;
        match transaction.commit() {
            Ok(commit) => {
                returned.fetch_max(commit.at.0, Ordering::SeqCst);
                assert_eq!(commit.conditions_failed, conditions_failed, "decided on a state that is gone");
                history.push(Committed { at: commit.at, changed: commit.changed != Some(false), operations });
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
        }
    }
    history
}

fn read_repeatedly(graph: &Graph, returned: &AtomicU64) -> Vec<(CommitTimestamp, Oracle)> {
    let mut held: Vec<Snapshot> = Vec::new();
    let mut seen = Vec::new();
    for round in 0..120 {
        let before = returned.load(Ordering::SeqCst);
        let snapshot = graph.snapshot().unwrap();
        assert!(snapshot.timestamp().0 >= before, "a commit that had returned is missing");
        seen.push((snapshot.timestamp(), Oracle::of_snapshot(&snapshot)));
        held.push(snapshot);
        if round % 7 == 6 {
            for old in held.drain(..) {
                seen.push((old.timestamp(), Oracle::of_snapshot(&old)));
            }
        }
    }
    seen
}

fn replay(
    engine: EngineKind,
    topology: Topology,
    mut history: Vec<Committed>,
    mut seen: Vec<(CommitTimestamp, Oracle)>,
) {
    // A commit without changes took no timestamp: it saw the commit that it names, and follows it.
    history.sort_by_key(|commit| (commit.at, !commit.changed));
    seen.sort_by_key(|(at, _)| *at);
    let mut oracle = Oracle::new(topology);
    let mut commits = history.iter().peekable();
    for (at, state) in &seen {
        while let Some(commit) = commits.next_if(|commit| commit.at <= *at) {
            commit.operations.iter().for_each(|operation| oracle.apply(operation));
        }
        assert_eq!(
            &oracle, state,
            "{engine}: the snapshot at {at} is not the replay of the commits up to it"
        );
    }
}

/// Each committed serializable transaction read the state at its place in the order of commits.
#[test]
fn serializable_transactions_equal_their_serial_replay() {
    for seed in 0..3 * rounds() {
        let kind = KEY_KINDS[seed as usize % 3];
        for engine in ENGINES {
            let graphs = graphs(&options(Topology::Undirected, kind).engine(engine));
            graphs.iter().for_each(|graph| check_serial_replay(graph, kind, seed));
        }
    }
}

fn check_serial_replay(graph: &Graph, kind: KeyKind, seed: u64) {
    let keys = domain(kind, 8);
    let mut history: Vec<(Commit, Vec<Read>, Vec<Operation>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|writer| {
                let keys = &keys;
                scope.spawn(move || read_and_write(graph, keys, seed * 10 + writer))
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    history.sort_by_key(|(commit, _, _)| (commit.at, commit.changed == Some(false)));
    let mut oracle = Oracle::new(Topology::Undirected);
    for (commit, reads, operations) in &history {
        for read in reads {
            read.check(&oracle, commit.at);
        }
        operations.iter().for_each(|operation| oracle.apply(operation));
    }
    assert_eq!(oracle, Oracle::of_snapshot(&graph.snapshot().unwrap()));
}

/// A read of a transaction.
enum Read {
    Vertex(Key, bool),
    Edge(Key, Key, bool),
    Neighbors(Key, Vec<Key>),
    Age(Key, Option<Value>),
}

impl Read {
    fn check(&self, oracle: &Oracle, at: CommitTimestamp) {
        match self {
            Read::Vertex(key, exists) => {
                assert_eq!(oracle.vertices.contains_key(key), *exists, "vertex {key} before {at}");
            }
            Read::Edge(source, destination, exists) => {
                let edge = oracle.edge(LabelId::DEFAULT, source, destination);
                assert_eq!(edge.is_some(), *exists, "edge {source} {destination} before {at}");
            }
            Read::Neighbors(key, neighbors) => {
                let expected = oracle.neighbors(LabelId::DEFAULT, Direction::Out, key);
                assert_eq!(&expected.into_keys().collect::<Vec<_>>(), neighbors, "of {key} before {at}");
            }
            Read::Age(key, age) => {
                let expected = oracle.vertices.get(key).map(|record| record[0].clone());
                assert_eq!(&expected, age, "age of {key} before {at}");
            }
        }
    }
}

fn read_and_write(graph: &Graph, keys: &[Key], seed: u64) -> Vec<(Commit, Vec<Read>, Vec<Operation>)> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut history = Vec::new();
    for _ in 0..250 {
        let transaction = graph.begin_with(Isolation::Serializable).unwrap();
        let reads = random_reads(&transaction, keys, &mut random);
        let operations = random_operations(keys, &mut random);
        operations.iter().for_each(|operation| {
            stage(&transaction, operation).unwrap();
        });
        match transaction.commit() {
            Ok(commit) => history.push((commit, reads, operations)),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
        }
    }
    history
}

fn random_reads(transaction: &hedgerow::WriteTxn, keys: &[Key], random: &mut SmallRng) -> Vec<Read> {
    let mut reads = Vec::new();
    for _ in 0..random.random_range(0..3) {
        let key = keys[random.random_range(0..keys.len())].clone();
        let other = keys[random.random_range(0..keys.len())].clone();
        reads.push(match random.random_range(0..4) {
            0 => Read::Vertex(key.clone(), transaction.contains_vertex(&key).unwrap()),
            1 => Read::Edge(
                key.clone(),
                other.clone(),
                transaction.contains_edge(LabelId::DEFAULT, &key, &other).unwrap(),
            ),
            2 => {
                let mut neighbors = transaction.neighbors(LabelId::DEFAULT, &key).unwrap();
                neighbors.sort();
                Read::Neighbors(key, neighbors)
            }
            _ => {
                let record = transaction.properties(&key).unwrap();
                Read::Age(key, record.map(|record| record.values()[0].clone()))
            }
        });
    }
    reads
}

/// Concurrent transactions read, add and write: no increment is lost, at either isolation.
#[test]
fn no_update_is_lost() {
    let isolations = [Isolation::Snapshot, Isolation::Serializable];
    for (isolation, engine) in
        isolations.into_iter().flat_map(|isolation| ENGINES.map(|engine| (isolation, engine)))
    {
        for graph in graphs(&options(Topology::Directed, KeyKind::Number).engine(engine)) {
            graph.set_properties(1u64, &[("age", Value::I64(0))]).unwrap();
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..100).for_each(|_| increment(&graph, isolation)));
                }
            });
            let age = graph.snapshot().unwrap().properties(1u64).unwrap().unwrap().values()[0].clone();
            assert_eq!(age, Value::I64(400));
        }
    }
}

fn increment(graph: &Graph, isolation: Isolation) {
    let run = |transaction: &hedgerow::WriteTxn| {
        let record = transaction.properties(1u64)?.expect("it was set before");
        let Value::I64(age) = record.values()[0] else { panic!("not a number") };
        transaction.set_properties(1u64, &[("age", Value::I64(age + 1))])
    };
    graph.transact_with(isolation, run).unwrap();
}

/// Runs declared transactions, which lock at the start instead of retrying.
#[test]
fn declared_transactions_lose_no_update_and_never_conflict() {
    for graph in graphs(&options(Topology::Directed, KeyKind::Number)) {
        check_declared(&graph);
    }
}

fn check_declared(graph: &Graph) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let increment = |transaction: &hedgerow::DeclaredTxn<'_>| {
                        let record = transaction.properties(1u64)?;
                        let age = match record.map(|record| record.values()[0].clone()) {
                            Some(Value::I64(age)) => age,
                            _ => 0,
                        };
                        transaction.set_properties(1u64, &[("age", Value::I64(age + 1))])?;
                        transaction.put_edge(LabelId::DEFAULT, 1u64, 2u64)
                    };
                    graph.transact_declared(&[1u64, 2u64], increment).unwrap();
                }
            });
        }
    });
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.properties(1u64).unwrap().unwrap().values()[0], Value::I64(400));
    assert_eq!(snapshot.edge_count(), 1);
}

/// Two transactions each read something that the other writes: both commit at snapshot isolation,
/// one at serializable.
#[test]
fn write_skew_needs_serializable() {
    for (isolation, both_commit) in [(Isolation::Snapshot, true), (Isolation::Serializable, false)] {
        let graph = Graph::in_memory(options(Topology::Directed, KeyKind::Number)).unwrap();
        graph.ingest(LabelId::DEFAULT, &[(1u64, 10u64), (2, 20)]).unwrap();
        let first = graph.begin_with(isolation).unwrap();
        let second = graph.begin_with(isolation).unwrap();
        assert!(first.contains_edge(LabelId::DEFAULT, 2u64, 20u64).unwrap());
        assert!(second.contains_edge(LabelId::DEFAULT, 1u64, 10u64).unwrap());
        first.delete_edge(LabelId::DEFAULT, 1u64, 10u64).unwrap();
        second.delete_edge(LabelId::DEFAULT, 2u64, 20u64).unwrap();
        first.commit().unwrap();
        assert_eq!(second.commit().is_ok(), both_commit);
    }
}

/// Phantoms conflict: a key that was absent, and a set of neighbors that grew.
#[test]
fn serializable_sees_what_was_not_there() {
    let graph = Graph::in_memory(options(Topology::Directed, KeyKind::Number)).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1u64, 2u64).unwrap();
    let absent = graph.begin_with(Isolation::Serializable).unwrap();
    let counted = graph.begin_with(Isolation::Serializable).unwrap();
    assert!(!absent.contains_vertex(3u64).unwrap());
    assert_eq!(counted.neighbors(LabelId::DEFAULT, 1u64).unwrap().len(), 1);
    graph.put_edge(LabelId::DEFAULT, 1u64, 3u64).unwrap();
    absent.put_edge(LabelId::DEFAULT, 8u64, 9u64).unwrap();
    counted.put_edge(LabelId::DEFAULT, 8u64, 9u64).unwrap();
    assert_eq!(absent.commit().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(counted.commit().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(graph.snapshot().unwrap().edge_count(), 2);
}
