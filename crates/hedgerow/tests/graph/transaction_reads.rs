//! Snapshots of transactions: kernels, iterators and paths over staged writes.

use crate::engines::ENGINES;
use hedgerow::kernels::{BuildOptions, Kernel, PageRank, Wcc};
use hedgerow::prelude::*;
use hedgerow::{Edge, ErrorKind, Isolation, Newest, Topology};

fn graph(engine: EngineKind, topology: Topology) -> (Graph, Label<u64>) {
    let options = GraphOptions::new().engine(engine).topology(topology).label::<u64>("calls");
    let graph = Graph::in_memory(options).unwrap();
    let calls = graph.label::<u64>("calls").unwrap();
    graph.ingest(calls, &[(1, 2, 7_u64), (2, 3, 5), (4, 5, 1)]).unwrap();
    (graph, calls)
}

#[test]
fn kernels_iterators_and_paths_see_what_a_transaction_staged() {
    for engine in ENGINES {
        let (graph, calls) = graph(engine, Topology::Undirected);
        let transaction = graph.begin().unwrap();
        let components = |transaction: &WriteTxn| {
            let snapshot = transaction.snapshot().unwrap();
            let found = snapshot.run(Wcc::default().label(calls)).unwrap();
            let copy = snapshot.to_csr::<()>(calls, BuildOptions::default()).unwrap();
            assert_eq!(Wcc::default().run(&copy).unwrap().components, found.components);
            found.count
        };
        assert_eq!(components(&transaction), 2, "{engine:?}");
        transaction.put_edge_with(calls, 3, 4, 2).unwrap();
        assert_eq!(components(&transaction), 1);
        transaction.put_edge_with(calls, 8, 9, 3).unwrap();
        assert_eq!(components(&transaction), 2);
        transaction.delete_vertex(3).unwrap();
        assert_eq!(components(&transaction), 3);
        transaction.put_edge_with(calls, 9, 5, 4).unwrap();

        let snapshot = transaction.snapshot().unwrap();
        assert_eq!((snapshot.vertex_count(), snapshot.timestamp()), (6, transaction.began_at()));
        let edge = |source: u64, destination: u64, data| Edge {
            source: source.into(),
            destination: destination.into(),
            data,
        };
        let edges: Vec<_> = snapshot.all_edges::<u64>(calls).unwrap().map(Result::unwrap).collect();
        assert_eq!(edges, [edge(1, 2, 7), edge(4, 5, 1), edge(5, 9, 4), edge(8, 9, 3)]);
        assert_eq!(snapshot.exact_edge_count_of(calls).unwrap(), 4);
        let keys: Vec<_> = snapshot.vertices().map(|vertex| vertex.unwrap().1).collect();
        assert_eq!(keys, [1, 2, 4, 5, 8, 9]);
        let ranks = snapshot.run(PageRank::default().label(calls)).unwrap().ranks;
        assert_eq!(snapshot.with_keys(&ranks).unwrap().len(), 6);
        let path = snapshot.path(calls, 4, 8).unwrap().unwrap();
        assert_eq!(path.vertices, [4, 5, 9, 8]);
        let newest = snapshot.newest(calls, 9, &Newest::most(1)).unwrap();
        assert_eq!(newest, [(Key::from(5), 4)]);
        assert_eq!(snapshot.with_edges(calls, |edges| edges.get(8, 9)).unwrap(), Some(3));

        transaction.commit().unwrap();
        assert_eq!(graph.snapshot().unwrap().all_edges::<u64>(calls).unwrap().count(), 4);
        assert_eq!(snapshot.degree(calls, 9).unwrap(), 2, "a snapshot outlives its transaction");
    }
}

#[test]
fn a_transaction_may_write_while_it_iterates_over_its_own_snapshot() {
    for engine in ENGINES {
        let (graph, calls) = graph(engine, Topology::Directed);
        let transaction = graph.begin().unwrap();
        transaction.put_edge_with(calls, 5, 6, 8).unwrap();
        let mut seen = 0;
        for edge in transaction.snapshot().unwrap().all_edges::<u64>(calls).unwrap() {
            let Edge { source, destination, data } = edge.unwrap();
            transaction.put_edge_with(calls, destination, source, data).unwrap();
            seen += 1;
        }
        assert_eq!((seen, transaction.degree(calls, 6).unwrap()), (4, 1), "{engine:?}");
        let reversed = transaction.snapshot().unwrap();
        reversed
            .for_each_vertex(|_, key| transaction.add_vertex(key.as_u64().unwrap() + 100).unwrap())
            .unwrap();
        assert_eq!(transaction.commit().unwrap().vertices_added, 7);
        assert_eq!(graph.snapshot().unwrap().exact_edge_count_of(calls).unwrap(), 8);
    }
}

#[test]
fn a_serializable_snapshot_depends_on_the_whole_graph() {
    for engine in ENGINES {
        let (graph, calls) = graph(engine, Topology::Directed);
        let commit = |isolation, comes_first: bool| {
            let transaction = graph.begin_with(isolation).unwrap();
            assert_eq!(transaction.snapshot().unwrap().exact_edge_count_of(calls).unwrap(), 3);
            transaction.put_edge_with(calls, 1, 2, 9).unwrap();
            if comes_first {
                // Nothing that the transaction named.
                graph.put_edge_with(calls, 4, 5, 6).unwrap();
            }
            transaction.commit()
        };
        commit(Isolation::Serializable, false).unwrap();
        let refused = commit(Isolation::Serializable, true).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{engine:?}");
        commit(Isolation::Snapshot, true).unwrap();
    }
}

#[test]
fn the_largest_id_can_be_staged() {
    let largest = u64::from(u32::MAX) - 1;
    for engine in ENGINES {
        let options = GraphOptions::new().engine(engine).keys(hedgerow::KeyKind::Dense).label::<()>("knows");
        let graph = Graph::in_memory(options).unwrap();
        let knows = graph.label::<()>("knows").unwrap();
        let transaction = graph.begin().unwrap();
        transaction.put_edge(knows, 0, largest).unwrap();
        let mut keys = Vec::new();
        transaction.snapshot().unwrap().for_each_vertex(|_, key| keys.push(key)).unwrap();
        assert_eq!(keys, [0, largest], "{engine:?}");
    }
}

#[test]
fn many_new_vertices_are_iterated_over() {
    for engine in ENGINES {
        let (graph, calls) = graph(engine, Topology::DirectedWithReverse);
        let transaction = graph.begin().unwrap();
        for vertex in 100..900 {
            transaction.put_edge_with(calls, vertex, vertex % 3, vertex).unwrap();
        }
        transaction.delete_vertex(2).unwrap();
        let snapshot = transaction.snapshot().unwrap();
        let edges: Vec<_> = snapshot.all_edges::<u64>(calls).unwrap().map(Result::unwrap).collect();
        assert_eq!(edges.len(), 534, "{engine:?}: one is stored, and a third of the new ones is gone");
        assert_eq!(snapshot.vertices().count(), 805);
        assert_eq!(snapshot.degree((calls.id(), Direction::In), 0).unwrap(), 266);
    }
}

#[test]
fn unarchived_edges_are_those_of_commits() {
    let mut listed = 0;
    for engine in ENGINES {
        let (graph, calls) = graph(engine, Topology::Directed);
        let transaction = graph.begin().unwrap();
        let before = transaction.snapshot().unwrap().unarchived_edges::<u64>(calls).unwrap();
        transaction.put_edge_with(calls, 5, 6, 8).unwrap();
        assert_eq!(transaction.snapshot().unwrap().unarchived_edges::<u64>(calls).unwrap(), before);
        listed += before.len();
    }
    assert_eq!(listed, 3, "one of the engines has a log, and archives nothing so soon");
}
