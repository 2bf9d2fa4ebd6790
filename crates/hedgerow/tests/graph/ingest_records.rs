//! Edges with records: bulk and single writes have equal effects, on every engine and after
//! reopening the store; and writes that change nothing.

use crate::oracle::ENGINES;
use hedgerow::{
    Direction, Durability, EdgeSchema, EdgeUpdate, EngineKind, Error, ErrorKind, Field, Graph, GraphOptions,
    Key, LabelId, LabelSchema, ParallelSchema, ReadGraph, Record, RecordSchema, Snapshot, Topology, Value,
    ValueType, WriteGraph,
};
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const PAYS: LabelId = LabelId(0);

/// Payments with an amount, which is not null, and a note.
fn schema() -> RecordSchema {
    let amount = Field { name: "amount".to_owned(), value_type: ValueType::F64, nullable: false };
    let note = Field { name: "note".to_owned(), value_type: ValueType::String, nullable: true };
    RecordSchema { fields: vec![amount, note] }
}

fn options(topology: Topology, engine: EngineKind) -> GraphOptions {
    let edges = EdgeSchema::Record(schema());
    GraphOptions::new()
        .topology(topology)
        .engine(engine)
        .label_schema(LabelSchema { name: "pays".to_owned(), edges })
}

fn record(amount: f64, note: &str) -> Record {
    Record::new(vec![Value::F64(amount), if note.is_empty() { Value::Null } else { note.into() }])
}

/// Returns the visible edges of the vertices below `keys`.
fn seen(snapshot: &Snapshot, keys: u64) -> Vec<Vec<(Key, Record)>> {
    let directions = [Direction::Out, Direction::In];
    let stored = directions.into_iter().filter(|direction| snapshot.topology().stored(*direction).is_some());
    stored
        .flat_map(|direction| (0..keys).map(move |key| (direction, key)))
        .map(|(direction, key)| snapshot.edges::<Record>((PAYS, direction), key).unwrap())
        .collect()
}

fn edges() -> impl Strategy<Value = Vec<(u64, u64, u8)>> {
    prop::collection::vec((0..12_u64, 0..12_u64, 0..4_u8), 0..80)
}

proptest! {
    #![proptest_config(one_case_in(10))]

    #[test]
    fn in_bulk_edges_are_what_they_are_one_by_one(batches in prop::collection::vec(edges(), 1..5)) {
        for engine in ENGINES {
            for topology in TOPOLOGIES {
                let [bulk, single] =
                    [(); 2].map(|()| Graph::in_memory(options(topology, engine)).unwrap());
                let mut held = Vec::new();
                for batch in &batches {
                    let edge = |(source, destination, amount): &(u64, u64, u8)| {
                        (*source, *destination, record(f64::from(*amount), ["", "rent", ""][usize::from(*amount) % 3]))
                    };
                    let batch: Vec<_> = batch.iter().map(edge).collect();
                    let before = bulk.snapshot().unwrap().edge_count();
                    let commit = bulk.ingest(PAYS, &batch).unwrap();
                    let transaction = single.begin().unwrap();
                    for (source, destination, record) in &batch {
                        let mut put = EdgeUpdate::put().set("amount", record.values()[0].clone());
                        if record.values()[1] != Value::Null {
                            put = put.set("note", record.values()[1].clone());
                        }
                        transaction.update_edge(PAYS, source, destination, &put).unwrap();
                    }
                    let expected = transaction.commit().unwrap();
                    let outcome = |commit: hedgerow::Commit| (commit.changed, commit.edges_added, commit.vertices_added);
                    prop_assert_eq!(outcome(commit), outcome(expected));
                    prop_assert_eq!(bulk.snapshot().unwrap().edge_count(), before + commit.edges_added);
                    // The same batch again changes nothing.
                    prop_assert!(bulk.ingest(PAYS, &last_of_each(topology, &batch)).unwrap().changed == Some(false));
                    let snapshot = bulk.snapshot().unwrap();
                    prop_assert_eq!(seen(&snapshot, 12), seen(&single.snapshot().unwrap(), 12));
                    held.push((seen(&snapshot, 12), snapshot));
                }
                for (expected, snapshot) in held {
                    prop_assert_eq!(seen(&snapshot, 12), expected);
                }
                bulk.reclaim().unwrap();
                prop_assert_eq!(bulk.memory().retained_bytes, 0);
            }
        }
    }
}

/// Returns the last of each set of equal edges.
fn last_of_each(topology: Topology, edges: &[(u64, u64, Record)]) -> Vec<(u64, u64, Record)> {
    let ends = |(source, destination, _): &(u64, u64, Record)| match topology.is_undirected() {
        true => (*source.min(destination), *source.max(destination)),
        false => (*source, *destination),
    };
    let is_last = |(position, edge): &(usize, &(u64, u64, Record))| {
        edges[position + 1..].iter().all(|later| ends(later) != ends(edge))
    };
    edges.iter().enumerate().filter(is_last).map(|(_, edge)| edge.clone()).collect()
}

#[test]
fn what_came_in_bulk_comes_back_from_the_log_with_its_position() {
    let folder = tempfile::tempdir().unwrap();
    for (number, topology) in TOPOLOGIES.into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let options = options(topology, EngineKind::Tel).durability(Durability::Buffered);
        let graph = options.create(&path).unwrap();
        let edges = |first: u64| -> Vec<(u64, u64, Record)> {
            (first..first + 6000).map(|edge| (edge % 70, edge % 91, record(edge as f64, "a note"))).collect()
        };
        graph.ingest_from(PAYS, &edges(0), b"half").unwrap();
        graph.ingest_from(PAYS, &edges(3000), b"all").unwrap();
        let expected = seen(&graph.snapshot().unwrap(), 91);
        graph.close().unwrap();
        drop(graph);
        let graph = Graph::open(&path).unwrap();
        assert_eq!(seen(&graph.snapshot().unwrap(), 91), expected);
        assert_eq!(graph.input_position().as_deref(), Some(&b"all"[..]));
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let parallel = ParallelSchema { key: "number".to_owned(), record: schema() };
    let other = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    let options = options(Topology::Directed, EngineKind::Rapid)
        .label_schema(other("orders", EdgeSchema::Parallel(parallel)))
        .label_schema(other("knows", EdgeSchema::Topology));
    let graph = Graph::in_memory(options).unwrap();
    let refused = |label, wrong: Record| -> Error {
        let edges = [(1_u64, 2_u64, record(1.0, "")), (2, 3, wrong)];
        graph.ingest(LabelId(label), &edges).unwrap_err()
    };
    for wrong in
        [vec![], vec![Value::F64(1.0)], vec![Value::Null, Value::Null], vec![Value::F64(1.0), Value::I64(1)]]
    {
        let error = refused(0, Record::new(wrong));
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with("number 1 of the edges to ingest"), "{error}");
    }
    for (label, part) in [(1, "each with a number"), (2, "have no records"), (3, "label")] {
        let error = refused(label, record(1.0, ""));
        assert!(error.to_string().contains(part), "{error}");
    }
    let by_text = graph.ingest(PAYS, &[("one", "two", record(1.0, ""))]).unwrap_err();
    assert_eq!(by_text.kind(), ErrorKind::InvalidInput);
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 0);
}

/// Putting NaN again is no change; nor is a record that a transaction changes and changes back.
#[test]
fn a_record_that_ends_as_it_was_is_no_change() {
    for engine in ENGINES {
        let graph = Graph::in_memory(options(Topology::Undirected, engine)).unwrap();
        let put = |amount: f64| EdgeUpdate::put().set("amount", amount);
        assert!(graph.update_edge(PAYS, 1, 2, &put(f64::NAN)).unwrap().changed);
        assert!(!graph.update_edge(PAYS, 1, 2, &put(f64::NAN)).unwrap().changed);
        // Several updates of each of several edges in one transaction.
        for destination in [2, 3, 4] {
            graph.update_edge(PAYS, 1, destination, &put(0.5)).unwrap();
        }
        let amounts = || {
            [2, 3, 4].map(|destination| {
                let record = graph.get_edge::<Record>(PAYS, 1, destination).unwrap();
                record.and_then(|record| record.values()[0].as_f64())
            })
        };
        let commit = |amounts: [&[Option<f64>]; 3]| {
            let transaction = graph.begin().unwrap();
            for (destination, amounts) in [2, 3, 4].into_iter().zip(amounts) {
                for amount in amounts {
                    let update = amount.map_or_else(EdgeUpdate::delete, put);
                    transaction.update_edge(PAYS, destination, 1, &update).unwrap();
                }
            }
            transaction.commit().unwrap().changed == Some(true)
        };
        assert!(!commit([&[Some(1.5), Some(0.5)], &[None, Some(0.5)], &[Some(0.5)]]));
        assert!(commit([&[Some(1.5), Some(0.5)], &[Some(2.5), Some(3.5)], &[Some(4.5), None]]));
        assert_eq!(amounts(), [Some(0.5), Some(3.5), None]);
        assert!(commit([&[None], &[None, Some(3.5)], &[None, Some(5.5)]]));
        assert_eq!(amounts(), [None, Some(3.5), Some(5.5)]);
    }
}
