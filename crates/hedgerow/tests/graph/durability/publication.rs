//! With synced commits, no reader and no caller learns of a commit that a loss of power could undo.

use super::gate::GatedFiles;
use hedgerow::{
    Durability, ErrorKind, Graph, GraphOptions, Isolation, KeyKind, LabelId, LabelSchema, ReadGraph, Record,
    RecordSchema, Topology, Value, ValueType, WriteGraph,
};
use std::sync::Arc;
use std::thread;

fn graph(durability: Durability) -> (GatedFiles, Graph) {
    let files = GatedFiles::new();
    let options = GraphOptions::new().topology(Topology::Undirected).durability(durability).simulated();
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    (files, graph)
}

#[test]
fn a_commit_is_seen_when_it_is_durable_and_not_before() {
    let (files, graph) = graph(Durability::Sync);
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let before = graph.snapshot().unwrap();
    files.shut();
    thread::scope(|scope| {
        let writer = scope.spawn(|| graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap());
        files.wait_for_arrival();
        let meanwhile = graph.snapshot().unwrap();
        assert_eq!((meanwhile.timestamp(), meanwhile.edge_count().at_most()), (before.timestamp(), 1));
        assert_eq!((meanwhile.vertex_count(), meanwhile.vertex_bound()), (2, 2));
        assert!(!graph.contains_edge(LabelId::DEFAULT, 2, 3).unwrap());
        // A writer that finds the edge in place waits, too, and so does a transaction that declared
        // it.
        let second = scope.spawn(|| graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap());
        let failed = scope.spawn(|| {
            graph.transact_declared(&[2u64, 3], |transaction| {
                assert!(transaction.get_edge::<()>(hedgerow::LabelId::DEFAULT, 2u64, 3u64)?.is_some());
                Err::<(), _>(graph.label::<()>("nothing").unwrap_err())
            })
        });
        for _ in 0..100 {
            thread::yield_now();
            assert!(!writer.is_finished() && !second.is_finished() && !failed.is_finished());
        }
        files.open();
        let commit = writer.join().unwrap();
        assert_eq!(commit.at, before.timestamp().next());
        assert!(second.join().unwrap().changed == Some(false));
        failed.join().unwrap().unwrap_err();
        let after = graph.snapshot().unwrap();
        assert!(after.timestamp() >= commit.at && after.contains_edge(LabelId::DEFAULT, 2, 3).unwrap());
    });
}

#[test]
fn a_transaction_that_begins_meanwhile_is_in_conflict() {
    for isolation in [Isolation::Snapshot, Isolation::Serializable] {
        let (files, graph) = graph(Durability::Sync);
        graph.ingest(LabelId::DEFAULT, &[(1u64, 2u64), (2, 3), (3, 4)]).unwrap();
        files.shut();
        thread::scope(|scope| {
            let writer = scope.spawn(|| graph.delete_edge(LabelId::DEFAULT, 1, 2).unwrap());
            files.wait_for_arrival();
            let transaction = graph.begin_with(isolation).unwrap();
            assert!(
                transaction.contains_edge(LabelId::DEFAULT, 1, 2).unwrap(),
                "the deletion is not published yet"
            );
            match isolation {
                Isolation::Snapshot => transaction.put_edge(LabelId::DEFAULT, 1, 2).unwrap(),
                Isolation::Serializable => transaction.put_edge(LabelId::DEFAULT, 3, 4).unwrap(),
            }
            assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::Conflict);
            let read_only = graph.begin_with(isolation).unwrap();
            assert_eq!(read_only.commit().unwrap().at, graph.snapshot().unwrap().timestamp());
            // A retried transaction begins after the other commit is published.
            let again = scope.spawn(|| {
                let mut tries = 0;
                let tried = graph.transact(|transaction| {
                    tries += 1;
                    transaction.put_edge(LabelId::DEFAULT, 1, 2)
                });
                tried.map(|()| tries)
            });
            for _ in 0..100 {
                thread::yield_now();
            }
            files.open();
            assert!(writer.join().unwrap().changed != Some(false));
            assert!(again.join().unwrap().unwrap() <= 2);
        });
        assert!(graph.contains_edge(LabelId::DEFAULT, 1, 2).unwrap());
    }
}

#[test]
fn without_a_sync_commits_are_seen_at_once() {
    for durability in [Durability::Buffered, Durability::None] {
        let (files, graph) = graph(durability);
        files.shut();
        graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
        assert!(graph.contains_edge(LabelId::DEFAULT, 1, 2).unwrap());
        thread::scope(|scope| {
            // A commit can request more durability than the graph.
            let writer = scope.spawn(|| {
                let transaction = graph.begin().unwrap();
                transaction.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
                transaction.commit_with(Durability::Sync).unwrap()
            });
            files.wait_for_arrival();
            assert!(graph.contains_edge(LabelId::DEFAULT, 2, 3).unwrap());
            assert!(!writer.is_finished());
            files.open();
            let commit = writer.join().unwrap();
            assert!(graph.store_info().unwrap().durable >= commit.at);
        });
    }
}

/// A stream waits once, for its end, instead of for each of its commits.
#[test]
fn a_stream_is_synced_as_a_whole() {
    let (files, graph) = graph(Durability::Sync);
    let edges: Vec<(u64, u64)> = (0..500).map(|number| (number % 40, 1000 + number)).collect();
    let before = files.inner.operations();
    let commits = graph.put_each(LabelId::DEFAULT, &edges).unwrap();
    assert_eq!((commits.changed.exact(), graph.snapshot().unwrap().edge_count().at_most()), (Some(500), 500));
    assert!(files.inner.operations() - before < 10);
    assert_eq!(graph.snapshot().unwrap().timestamp(), commits.at);
    let files = GatedFiles::new();
    let label = LabelSchema::with_record("pays", RecordSchema::new().field("amount", ValueType::I64));
    let options = GraphOptions::new().label_schema(label).durability(Durability::Sync).simulated();
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    let payments: Vec<(u64, u64, Record)> = edges
        .iter()
        .map(|(source, destination)| (*source, *destination, Record::new(vec![Value::I64(1)])))
        .collect();
    let before = files.inner.operations();
    assert_eq!(graph.put_each(LabelId::DEFAULT, &payments).unwrap().changed, 500);
    assert_eq!(graph.delete_each(LabelId::DEFAULT, &edges).unwrap().edges_removed, 500);
    assert!(files.inner.operations() - before < 20);
}

/// Superseded versions are freed without a later snapshot, and ids are used again.
#[test]
fn synced_commits_leave_no_garbage() {
    let files = GatedFiles::new();
    let options = GraphOptions::new().keys(KeyKind::Number).segment_bytes(1 << 20).simulated();
    let graph = options.create_on(Arc::new(files)).unwrap();
    let spokes: Vec<(u64, u64)> = (0..200).map(|number| (0, number)).collect();
    graph.ingest(LabelId::DEFAULT, &spokes).unwrap();
    let mut most = 0;
    for round in 0..2000u64 {
        graph.put_edge(LabelId::DEFAULT, 0, 1000 + round).unwrap();
        graph.delete_vertex(1000 + round).unwrap();
        most = most.max(graph.memory().retained_bytes);
    }
    assert!(most < 100_000, "{most} bytes");
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
    assert!(graph.snapshot().unwrap().vertex_bound() < 250);
}
