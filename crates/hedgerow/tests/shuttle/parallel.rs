//! Counts of parallel edges, concurrent with writers.

use crate::{check, options};
use hedgerow::{
    Direction, EdgeSchema, EdgeUpdate, Field, Graph, KeyKind, LabelId, LabelSchema, ParallelSchema,
    ReadGraph, Record, RecordSchema, Snapshot, Topology, ValueType, WriteGraph,
};
use shuttle::thread;

const PAYS: LabelId = LabelId::DEFAULT;

fn graph(topology: Topology) -> Graph {
    let amount = Field { name: "amount".to_owned(), value_type: ValueType::I64, nullable: true };
    let payments = ParallelSchema { key: "number".to_owned(), record: RecordSchema { fields: vec![amount] } };
    let label = LabelSchema { name: "pays".to_owned(), edges: EdgeSchema::Parallel(payments) };
    Graph::in_memory(options(topology, KeyKind::Dense).label_schema(label)).unwrap()
}

fn put(graph: &Graph, from: u64, to: u64, number: u64) {
    let update = EdgeUpdate::put().set("amount", 1);
    assert!(graph.update_parallel_edge(PAYS, from, to, number, &update).unwrap().changed);
}

/// Checks that the degree of each vertex equals the number of its edges.
fn check_counts(snapshot: &Snapshot) {
    for direction in [Direction::Out, Direction::In] {
        for vertex in [0u64, 66] {
            let counted = snapshot.parallel_degree((PAYS, direction), vertex).unwrap();
            let read = snapshot.parallel_neighbors::<Record>((PAYS, direction), vertex, ..).unwrap();
            assert_eq!(counted, read.len() as u64, "{direction:?} of {vertex} at {}", snapshot.timestamp());
        }
    }
}

/// The number of a vertex's edges is that of the snapshot, while commits change or delete one end
/// or both.
#[test]
fn counts_of_parallel_edges_are_those_of_the_snapshot() {
    check(|| {
        let graph = graph(Topology::DirectedWithReverse);
        put(&graph, 0, 66, 1);
        let edges = {
            let graph = graph.clone();
            thread::spawn(move || {
                put(&graph, 0, 66, 2);
                put(&graph, 66, 0, 1);
            })
        };
        let vertices = {
            let graph = graph.clone();
            thread::spawn(move || {
                graph.delete_vertex(66u64).unwrap();
            })
        };
        for _ in 0..2 {
            let snapshot = graph.snapshot().unwrap();
            check_counts(&snapshot);
            thread::yield_now();
            check_counts(&snapshot);
        }
        edges.join().unwrap();
        vertices.join().unwrap();
        check_counts(&graph.snapshot().unwrap());
    });
}
