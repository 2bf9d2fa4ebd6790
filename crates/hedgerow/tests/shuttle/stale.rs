//! Stale views of an engine with an edge log, concurrent with writers and archiving.

use crate::{EDGE, HYBRID, has, options};
use hedgerow::{Graph, KeyKind, SnapshotOptions, Topology, WriteGraph};
use hedgerow_testing::models;
use shuttle::thread;

/// Vertices whose edges change together.
const OWNERS: [u64; 2] = [0, 4];

/// Moves the edges of both owners from one neighbor to another, unless another writer commits
/// first.
fn swap(graph: &Graph, from: u64, to: u64) {
    let transaction = graph.begin().unwrap();
    for owner in OWNERS {
        transaction.delete_edge(EDGE, owner, from).unwrap();
        transaction.put_edge(EDGE, owner, to).unwrap();
    }
    drop(transaction.commit());
}

/// A stale view shows commits as a whole, and stays the same while writers change its vertices and
/// another state is archived.
#[test]
fn stale_views_are_atomic_and_stay() {
    let model = || {
        let options = options(Topology::Directed, KeyKind::Dense);
        let graph = Graph::in_memory(options.engine(HYBRID)).unwrap();
        graph.ingest(EDGE, &OWNERS.map(|owner| (owner, 1u64))).unwrap();
        graph.reclaim().unwrap();
        let writers: Vec<_> = [(1, 2), (1, 3)]
            .map(|(from, to)| {
                let graph = graph.clone();
                thread::spawn(move || swap(&graph, from, to))
            })
            .into();
        let archiver = {
            let graph = graph.clone();
            thread::spawn(move || (0..2).for_each(|_| assert!(graph.reclaim().is_ok())))
        };
        let reader = {
            let graph = graph.clone();
            thread::spawn(move || {
                let mut before = 0;
                for _ in 0..2 {
                    let stale = graph.snapshot_with(SnapshotOptions::stale()).unwrap();
                    let read = || {
                        let shown = [1, 2, 3].map(|to| OWNERS.map(|owner| has(&stale, owner, to)));
                        assert!(shown.iter().all(|[one, other]| one == other), "half of a commit: {shown:?}");
                        shown
                    };
                    let first = read();
                    let pairs = first.iter().filter(|[one, _]| *one).count();
                    assert_eq!(stale.edge_count().exact(), Some(2 * pairs as u64));
                    graph.reclaim().unwrap();
                    assert_eq!(read(), first, "the view changed");
                    assert!(stale.timestamp().0 >= before, "a later view is older");
                    before = stale.timestamp().0;
                }
            })
        };
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        archiver.join().unwrap();
        reader.join().unwrap();
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!((graph.memory().retained_bytes, graph.snapshots().len()), (0, 0));
    };
    models::check(model, 500);
}
