//! Commits with many locks, concurrent with commits with few.

use crate::{check, graph};
use hedgerow::{KeyKind, LabelId, Topology, WriteGraph};
use shuttle::thread;

/// Deletions of vertices, which take every lock, and writes of edges, which take one or two, wait
/// for each other and all end.
#[test]
fn commits_of_many_locks_and_of_few_all_end() {
    check(|| {
        let graph = graph(Topology::Directed, KeyKind::Number);
        for vertex in 0..4u64 {
            graph.put_edge(LabelId::DEFAULT, vertex, vertex + 1).unwrap();
        }
        let mut threads = Vec::new();
        for vertex in [0, 1u64] {
            let deleting = graph.clone();
            threads.push(thread::spawn(move || {
                assert!(deleting.delete_vertex(vertex).unwrap().changed == Some(true));
            }));
            let putting = graph.clone();
            threads.push(thread::spawn(move || {
                putting.put_edge(LabelId::DEFAULT, 2, 10 + vertex).unwrap();
                putting.put_edge(LabelId::DEFAULT, 3, 2 + vertex).unwrap();
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let snapshot = graph.snapshot().unwrap();
        // Edges from 2 to 3, 10 and 11; from 3 to 2, 3 and 4.
        assert_eq!((snapshot.edge_count().at_most(), snapshot.vertex_count()), (6, 5));
    });
}
