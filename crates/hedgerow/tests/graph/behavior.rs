//! Guarantees to users of a graph, one per test.

use crate::engines::in_memory;
use crate::oracle;
use hedgerow::{
    Direction, ErrorKind, Field, Graph, GraphOptions, Isolation, KeyKind, LabelId, ReadGraph, RecordSchema,
    Snapshot, Topology, Value, ValueType, WriteGraph, WriteTxn,
};
use std::thread;
use std::time::Duration;

/// The label of graphs without a schema.
const EDGE: LabelId = LabelId::DEFAULT;

fn graph(options: GraphOptions) -> Graph {
    Graph::in_memory(options).unwrap()
}

fn directed() -> Graph {
    graph(GraphOptions::new())
}

fn kind<T: std::fmt::Debug>(result: Result<T, hedgerow::Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

// --- snapshots -------------------------------------------------------------------------------

#[test]
fn a_snapshot_goes_to_any_thread_and_outlives_the_graph() {
    fn travels<T: Send + Sync + Clone + 'static>(_: &T) {}
    let graph = directed();
    graph.put_edge(EDGE, 1, 2).unwrap();
    let snapshot = graph.snapshot().unwrap();
    travels(&snapshot);
    graph.put_edge(EDGE, 1, 3).unwrap();
    drop(graph);
    let clone = snapshot.clone();
    thread::spawn(move || assert_eq!(clone.neighbors(EDGE, 1).unwrap(), [2])).join().unwrap();
    assert_eq!(snapshot.edge_count(), 1);
}

#[test]
fn open_snapshots_are_listed_with_what_they_keep() {
    let graph = directed();
    graph.ingest(EDGE, &(0..1000u64).map(|to| (1, 100 + to)).collect::<Vec<_>>()).unwrap();
    let old = graph.snapshot().unwrap();
    let same = graph.snapshot().unwrap();
    graph.put_edge(EDGE, 1, 2).unwrap();
    graph.put_edge(EDGE, 1, 3).unwrap();
    thread::sleep(Duration::from_millis(2));
    let listed = graph.snapshots();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].timestamp, listed[0].handles, listed[0].behind), (old.timestamp(), 2, 2));
    assert!(listed[0].retained_bytes >= 4000 && listed[0].age >= Duration::from_millis(2));
    assert!(old.age() >= listed[0].age / 2 && old.age() > Duration::ZERO);
    drop((old, same));
    assert!(graph.snapshots().is_empty());
    assert!(graph.reclaim().unwrap().bytes >= 4000);
    assert_eq!(graph.memory().retained_bytes, 0);
}

#[test]
fn a_snapshot_held_through_a_million_updates_costs_one_copy_of_what_changed() {
    let graph = graph(GraphOptions::new().keys(KeyKind::Dense));
    for vertex in 0..64u64 {
        graph.put_edge(EDGE, vertex, 1000u64).unwrap();
    }
    let held = graph.snapshot().unwrap();
    for update in 0..1_000_000u64 {
        let (source, destination) = (update % 64, 2000 + update / 64 % 16);
        if update / 1024 % 2 == 0 {
            graph.put_edge(EDGE, source, destination).unwrap();
        } else {
            graph.delete_edge(EDGE, source, destination).unwrap();
        }
        if update % 100_000 == 0 {
            assert!(graph.memory().retained_bytes < 100_000, "{:?}", graph.memory());
        }
    }
    assert_eq!(held.edge_count(), 64);
    assert_eq!(held.neighbors(EDGE, 5u64).unwrap(), [1000]);
    assert!(graph.memory().retained_bytes < 100_000, "{:?}", graph.memory());
    drop(held);
    graph.reclaim().unwrap();
    assert_eq!(graph.memory().retained_bytes, 0);
}

#[test]
fn ten_thousand_snapshots_each_keep_their_state() {
    let graph = directed();
    let snapshots: Vec<Snapshot> = (0..10_000u64)
        .map(|commit| {
            graph.put_edge(EDGE, commit % 7, commit).unwrap();
            graph.snapshot().unwrap()
        })
        .collect();
    assert_eq!(graph.snapshots().len(), 10_000);
    for (commit, snapshot) in (0..10_000u64).zip(&snapshots) {
        assert_eq!(snapshot.edge_count(), commit + 1);
        assert!(snapshot.contains_edge(EDGE, commit % 7, commit).unwrap());
        assert!(!snapshot.contains_edge(EDGE, (commit + 1) % 7, commit + 1).unwrap());
    }
    // Closes every second snapshot first, so that the others have gaps around them.
    let mut kept = Vec::new();
    for (position, snapshot) in snapshots.into_iter().enumerate() {
        if position % 2 == 0 {
            kept.push((position as u64, snapshot));
        }
    }
    assert!(!graph.reclaim().unwrap().more);
    for (commit, snapshot) in &kept {
        assert_eq!(snapshot.neighbors(EDGE, commit % 7).unwrap().len() as u64, commit / 7 + 1);
    }
    drop(kept);
    graph.put_edge(EDGE, 1, 1).unwrap();
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
}

#[test]
fn writers_reclaim_in_passing() {
    let graph = graph(GraphOptions::new().keys(KeyKind::Dense));
    for round in 0..20_000u64 {
        let snapshot = graph.snapshot().unwrap();
        graph.put_edge(EDGE, round % 512, round).unwrap();
        drop(snapshot);
    }
    assert!(graph.memory().retained_bytes < 200_000, "{:?}", graph.memory());
}

// --- transactions ----------------------------------------------------------------------------

#[test]
fn a_dropped_transaction_leaves_nothing() {
    let graph = directed();
    let transaction = graph.begin().unwrap();
    transaction.put_edge(EDGE, 1, 2).unwrap();
    drop(transaction);
    let snapshot = graph.snapshot().unwrap();
    assert_eq!((snapshot.vertex_count(), snapshot.edge_count().at_most()), (0, 0));
}

#[test]
fn a_writer_that_panics_inside_a_transaction_leaves_nothing_and_blocks_no_other() {
    let graph = directed();
    graph.put_edge(EDGE, 1, 2).unwrap();
    let panicked = thread::scope(|scope| {
        let interactive = scope.spawn(|| {
            graph.transact(|transaction| -> Result<(), hedgerow::Error> {
                transaction.delete_vertex(1)?;
                panic!("in the middle");
            })
        });
        let declared = scope.spawn(|| {
            graph.transact_declared(&[1u64, 2], |transaction| -> Result<(), hedgerow::Error> {
                transaction.put_edge(EDGE, 2, 1)?;
                panic!("in the middle");
            })
        });
        (interactive.join().is_err(), declared.join().is_err())
    });
    assert_eq!(panicked, (true, true));
    graph.put_edge(EDGE, 2, 3).unwrap();
    assert!(graph.delete_vertex(1).unwrap().changed == Some(true));
    assert_eq!(graph.snapshot().unwrap().edge_count(), 1);
    assert!(graph.snapshots().is_empty());
}

#[test]
fn the_first_committer_wins_and_a_retry_succeeds() {
    let graph = directed();
    graph.put_edge(EDGE, 1, 2).unwrap();
    let first = graph.begin().unwrap();
    let second = graph.begin().unwrap();
    first.delete_edge(EDGE, 1, 2).unwrap();
    second.delete_edge(EDGE, 1, 2).unwrap();
    first.commit().unwrap();
    assert_eq!(kind(second.commit()), ErrorKind::Conflict);
    let mut attempts = 0;
    graph
        .transact(|transaction| {
            attempts += 1;
            if attempts == 1 {
                graph.put_edge(EDGE, 1, 2)?;
            }
            transaction.put_edge(EDGE, 1, 2)
        })
        .unwrap();
    assert_eq!(attempts, 2);
}

#[test]
fn different_edges_of_one_vertex_do_not_conflict() {
    let graph = directed();
    let first = graph.begin().unwrap();
    let second = graph.begin().unwrap();
    first.put_edge(EDGE, 1, 2).unwrap();
    second.put_edge(EDGE, 1, 3).unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    assert_eq!(graph.neighbors(EDGE, 1).unwrap().len(), 2);
}

#[test]
fn deleting_a_vertex_conflicts_with_edges_put_at_it_since() {
    let graph = directed();
    graph.put_edge(EDGE, 1, 2).unwrap();
    let transaction = graph.begin().unwrap();
    transaction.delete_vertex(2).unwrap();
    graph.put_edge(EDGE, 3, 2).unwrap();
    assert_eq!(kind(transaction.commit()), ErrorKind::Conflict);
}

#[test]
fn a_transaction_conflicts_with_bulk_ingest_too_large_to_record() {
    let graph = directed();
    let transaction = graph.begin().unwrap();
    transaction.put_edge(EDGE, 1, 2).unwrap();
    graph.ingest(EDGE, &(0..70_000u64).map(|edge| (edge, edge + 1)).collect::<Vec<_>>()).unwrap();
    assert_eq!(kind(transaction.commit()), ErrorKind::Conflict);
    assert_eq!(graph.snapshot().unwrap().edge_count(), 70_000);
}

/// Commits of thousands of edges are recorded as lists. Equal edges make this commit the largest
/// that is recorded.
#[test]
fn a_transaction_conflicts_with_what_a_bulk_write_changed_and_nothing_else() {
    let edges: Vec<_> = (0..1 << 15).map(|edge| 10 + edge % 5_000).map(|key| (key, key + 1)).collect();
    type Stage = fn(&WriteTxn) -> Result<(), hedgerow::Error>;
    let touching: [(&str, Stage); 3] = [
        ("an edge", |staged| staged.put_edge(EDGE, 13, 12)),
        ("the neighbors of a vertex", |staged| staged.delete_vertex(20)),
        ("a key", |staged| staged.contains_vertex(77).map(drop).and_then(|()| staged.put_edge(EDGE, 1, 3))),
    ];
    for engine in in_memory() {
        for topology in [Topology::Undirected, Topology::DirectedWithReverse] {
            let graph = || {
                let options = oracle::options(topology, KeyKind::Number).engine(engine);
                let graph = graph(options);
                graph.put_each(EDGE, &[(1, 2), (20, 2)]).unwrap();
                graph
            };
            for (what, stage) in touching {
                let graph = graph();
                let [touched, other] = [0; 2].map(|_| graph.begin_with(Isolation::Serializable).unwrap());
                stage(&touched).unwrap();
                other.put_edge(EDGE, 1, 2).unwrap();
                let mut edges = edges.clone();
                edges.extend((topology == Topology::DirectedWithReverse).then_some((13, 12)));
                graph.ingest(EDGE, &edges).unwrap();
                assert_eq!(kind(touched.commit()), ErrorKind::Conflict, "{what} on {engine} {topology}");
                other.commit().unwrap();
            }
        }
    }
}

#[test]
fn a_declared_transaction_touches_only_what_it_declared() {
    let graph = directed();
    let undeclared = graph.transact_declared(&[1u64, 2], |transaction| transaction.put_edge(EDGE, 1, 3));
    assert_eq!(kind(undeclared), ErrorKind::InvalidInput);
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 0);
    let ((), commit) =
        graph.transact_declared(&[2u64, 1, 2], |transaction| transaction.put_edge(EDGE, 1, 2)).unwrap();
    assert_eq!((commit.edges_added.at_most(), commit.vertices_added), (1, 2));
}

// --- labels, limits --------------------------------------------------------------------

#[test]
fn a_strict_graph_has_no_edges_without_vertices() {
    let graph = graph(GraphOptions::new().strict(true));
    assert_eq!(kind(graph.put_edge(EDGE, 1, 2)), ErrorKind::NotFound);
    assert_eq!(kind(graph.ingest(EDGE, &[(1u64, 2u64)])), ErrorKind::NotFound);
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 0);
    graph.add_vertex(1).unwrap();
    assert_eq!(kind(graph.put_edge(EDGE, 1, 2)), ErrorKind::NotFound);
    graph
        .transact(|transaction| transaction.add_vertex(2).and_then(|()| transaction.put_edge(EDGE, 1, 2)))
        .unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count(), 1);
}

#[test]
fn labels_and_values_are_checked() {
    let graph = graph(oracle::options(Topology::Directed, KeyKind::Number));
    let pays = graph.catalog().label_id("pays").unwrap();
    assert_eq!(kind(graph.label::<()>("nothing")), ErrorKind::InvalidInput);
    assert_eq!(kind(graph.put_edge_with(LabelId(9), 1, 2, ())), ErrorKind::InvalidInput);
    assert_eq!(kind(graph.put_edge_with(pays, 1, 2, ())), ErrorKind::InvalidInput);
    assert_eq!(kind(graph.put_edge_with(pays, 1, 2, 3u32)), ErrorKind::InvalidInput);
    graph.put_edge_with(pays, 1, 2, 2.5).unwrap();
    assert_eq!(graph.get_edge::<f64>(pays, 1, 2).unwrap(), Some(2.5));
    assert_eq!(graph.get_edge::<()>(pays, 1, 2).unwrap(), Some(()));
    assert_eq!(kind(graph.get_edge::<u32>(pays, 1, 2)), ErrorKind::InvalidInput);
    assert!(!graph.contains_edge(EDGE, 1, 2).unwrap(), "another label");
    assert_eq!(kind(graph.set_properties(1, &[("age", Value::F64(1.0))])), ErrorKind::InvalidInput);
    assert_eq!(kind(graph.set_properties(1, &[("size", Value::I64(1))])), ErrorKind::InvalidInput);
    let snapshot = graph.snapshot().unwrap();
    for key in [1, 77] {
        assert_eq!(kind(snapshot.degree((pays, Direction::In), key)), ErrorKind::InvalidInput);
        assert_eq!(kind(snapshot.degree((LabelId(9), Direction::Out), key)), ErrorKind::InvalidInput);
    }
}

#[test]
fn vertices_cannot_have_to_have_a_property() {
    let fields = vec![Field { name: "age".to_owned(), value_type: ValueType::I64, nullable: false }];
    let required = GraphOptions::new().vertex_properties(RecordSchema { fields });
    assert_eq!(kind(Graph::in_memory(required)), ErrorKind::InvalidInput);
}

#[test]
fn a_commit_without_changes_takes_no_timestamp() {
    let graph = directed();
    let first = graph.put_edge(EDGE, 1, 2).unwrap();
    let again = graph.put_edge(EDGE, 1, 2).unwrap();
    assert_eq!((first.changed, again.changed), (Some(true), Some(false)));
    assert_eq!(again.at, first.at);
    assert!(graph.ingest(EDGE, &[(1u64, 2u64)]).unwrap().changed == Some(false));
    assert!(graph.ingest::<(u64, u64)>(EDGE, &[]).unwrap().changed == Some(false));
    assert!(graph.delete_edge(EDGE, 2, 1).unwrap().changed == Some(false));
    assert!(graph.delete_vertex(3).unwrap().changed == Some(false));
    assert_eq!(graph.snapshot().unwrap().timestamp(), first.at);
}

#[test]
fn commits_on_the_threads_of_another_pool_do_not_wait_for_themselves() {
    let graph = directed();
    let edges: Vec<(u64, u64)> = (0..120_000).map(|edge| (edge % 300, edge)).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| {
        use rayon::prelude::*;
        edges.par_chunks(10_000).for_each(|chunk| {
            let puts = |transaction: &hedgerow::WriteTxn| {
                chunk
                    .iter()
                    .try_for_each(|(source, destination)| transaction.put_edge(EDGE, source, destination))
            };
            graph.transact(puts).unwrap();
            graph.ingest(EDGE, chunk).unwrap();
        });
    });
    assert_eq!(graph.snapshot().unwrap().edge_count(), 120_000);
}

#[test]
fn many_vertices_come_and_go_in_one_transaction() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let graph = graph(GraphOptions::new().topology(topology));
        let add = |transaction: &hedgerow::WriteTxn| {
            (0..20_000u64)
                .try_for_each(|vertex| transaction.put_edge(EDGE, vertex, (vertex * 7 + 1) % 20_000))
        };
        graph.transact(add).unwrap();
        let delete = |transaction: &hedgerow::WriteTxn| {
            transaction.put_edge(EDGE, 3, 4)?;
            (0..20_000u64).step_by(2).try_for_each(|vertex| transaction.delete_vertex(vertex))?;
            transaction.put_edge(EDGE, 3, 4)
        };
        graph.transact(delete).unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.vertex_count(), 10_001);
        // The successor of an odd vertex is even, so every edge lost an end.
        assert_eq!(snapshot.edge_count(), 1);
        assert!(snapshot.contains_edge(EDGE, 3, 4).unwrap());
    }
}

#[test]
fn self_loops_and_duplicates_count_once() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let graph = graph(GraphOptions::new().topology(topology));
        let commit = graph.ingest(EDGE, &[(1u64, 1u64), (1, 2), (1, 1), (1, 2)]).unwrap();
        assert_eq!(commit.edges_added, 2);
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.edge_count(), 2);
        assert_eq!(snapshot.degree((EDGE, Direction::Out), 1).unwrap(), 2);
        assert!(graph.delete_vertex(1).unwrap().changed == Some(true));
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().at_most()), (1, 0));
    }
}

#[test]
fn vertices_that_come_and_go_beside_an_old_snapshot_use_few_ids() {
    let graph = graph(GraphOptions::new().topology(Topology::Undirected));
    graph.put_edge(EDGE, 1, 2).unwrap();
    let held = graph.snapshot().unwrap();
    for _ in 0..20_000 {
        graph.delete_vertex(1).unwrap();
        graph.put_edge(EDGE, 1, 2).unwrap();
    }
    let now = graph.snapshot().unwrap();
    // The held vertex, the present one, and a third while both exist.
    assert!(now.vertex_bound() <= 4, "{}", now.vertex_bound());
    assert_ne!(now.vertex_id(1).unwrap(), held.vertex_id(1).unwrap());
    for snapshot in [&held, &now] {
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().at_most()), (2, 1));
        assert_eq!(snapshot.neighbors(EDGE, 2).unwrap(), [1]);
        assert_eq!(snapshot.key(snapshot.vertex_id(1).unwrap().unwrap()).unwrap(), Some(1.into()));
    }
}
