//! Records of edges, whose memory goes to other records once no snapshot reads them.

use crate::{EDGE, HYBRID, catch_up, check, check_on, far, lsm, make, options};
use hedgerow::{
    Direction, EdgeSchema, EdgeUpdate, Field, Graph, KeyKind, LabelSchema, ReadGraph, Record, RecordSchema,
    Topology, ValueType, WriteGraph,
};
use shuttle::thread;

/// A snapshot reads the record that an edge had, from both its ends, while writers replace it and
/// reclamation frees former records. The allocator hands out their addresses again at once.
#[test]
fn records_stay_as_long_as_a_snapshot_reads_them() {
    check(records_beside_a_reader);
    check_on(&[HYBRID, lsm::LSM], records_beside_a_reader);
}

fn records_beside_a_reader() {
    let amount = Field { name: "amount".to_owned(), value_type: ValueType::I64, nullable: true };
    let edges = EdgeSchema::Record(RecordSchema { fields: vec![amount] });
    let label = LabelSchema { name: "pays".to_owned(), edges };
    let options = options(Topology::Undirected, KeyKind::Dense).label_schema(label);
    let (graph, pays) = (make(options), EDGE);
    let put = move |graph: &Graph, amount: i64| {
        graph.update_edge(pays, 0u64, far(), &EdgeUpdate::put().set("amount", amount)).unwrap();
    };
    put(&graph, 0);
    let writer = {
        let graph = graph.clone();
        thread::spawn(move || {
            put(&graph, 1);
            assert!(graph.delete_edge(pays, far(), 0u64).unwrap().changed == Some(true));
            put(&graph, 2);
        })
    };
    let reader = {
        let graph = graph.clone();
        thread::spawn(move || {
            for _ in 0..2 {
                let snapshot = graph.snapshot().unwrap();
                let amount = |record: Record| record.values()[0].as_i64().unwrap();
                let read = || {
                    let one = snapshot.get_edge::<Record>(pays, 0u64, far()).unwrap().map(amount);
                    let other = snapshot.edges::<Record>((pays, Direction::Out), far()).unwrap();
                    assert_eq!(one, other.into_iter().next().map(|(_, record)| amount(record)));
                    one
                };
                let first = read();
                catch_up(&graph);
                assert_eq!(read(), first, "the snapshot changed");
            }
        })
    };
    writer.join().unwrap();
    reader.join().unwrap();
    catch_up(&graph);
    assert!(!graph.reclaim().unwrap().more);
    assert_eq!(graph.memory().retained_bytes, 0);
}
