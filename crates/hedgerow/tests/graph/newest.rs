//! Newest-first reads over the whole range of the numbers that serve as times.

use crate::oracle;
use hedgerow::{
    ColumnType, Direction, EdgeSchema, EdgeUpdate, Field, Graph, GraphOptions, LabelId, LabelSchema, Newest,
    ParallelSchema, ReadGraph, Record, RecordSchema, Value, ValueType, WriteGraph,
};
use std::cmp::Reverse;

const UNSIGNED: LabelId = LabelId(0);
const SIGNED: LabelId = LabelId(1);
const RECORDS: LabelId = LabelId(2);
const PARALLEL: LabelId = LabelId(3);

/// The vertex with all edges.
const HUB: u64 = 1_000;

/// More numbers than are sorted directly, on both sides of the middle of the range, and not in
/// order.
fn numbers() -> Vec<u64> {
    let near = |middle: u64| (0..9).map(move |step| middle.wrapping_sub(4).wrapping_add(step * 4 % 9));
    [1 << 63, 0, 1 << 53].into_iter().flat_map(near).collect()
}

fn signed(number: u64) -> i64 {
    number as i64
}

fn graph(engine: hedgerow::EngineKind) -> Graph {
    let field = |name: &str, value_type| Field { name: name.to_owned(), value_type, nullable: true };
    let record = RecordSchema {
        fields: vec![
            field("at", ValueType::Timestamp),
            field("count", ValueType::U64),
            field("number", ValueType::I64),
        ],
    };
    let parallel = ParallelSchema { key: "key".to_owned(), record: record.clone() };
    let labels = [
        ("unsigned", EdgeSchema::Value(ColumnType::U64)),
        ("signed", EdgeSchema::Value(ColumnType::I64)),
        ("records", EdgeSchema::Record(record)),
        ("parallel", EdgeSchema::Parallel(parallel)),
    ];
    let options = GraphOptions::new().engine(engine);
    let options = labels.into_iter().fold(options, |options, (name, edges)| {
        options.label_schema(LabelSchema { name: name.to_owned(), edges })
    });
    let graph = Graph::in_memory(options).unwrap();
    for (to, number) in (0_u64..).zip(numbers()) {
        let update = EdgeUpdate::put()
            .set("at", Value::Timestamp(signed(number)))
            .set("count", Value::U64(number))
            .set("number", signed(number));
        graph.put_edge_with(UNSIGNED, HUB, to, number).unwrap();
        graph.put_edge_with(SIGNED, HUB, to, signed(number)).unwrap();
        graph.update_edge(RECORDS, HUB, to, &update).unwrap();
        graph.update_parallel_edge(PARALLEL, HUB, to % 3, number, &update).unwrap();
    }
    graph
}

/// Checks reads of numbers by the time that `by` selects.
fn check(by: impl Fn(Newest) -> Newest, time: impl Fn(u64) -> i128, read: impl Fn(&Newest) -> Vec<u64>) {
    let mut expected = numbers();
    expected.sort_by_key(|number| Reverse(time(*number)));
    for most in [1, 3, usize::MAX] {
        let found = read(&by(Newest::most(most)));
        assert_eq!(found, &expected[..most.min(expected.len())], "the newest {most}");
    }
    let bounds = [i128::MIN, i64::MIN.into(), -1, 0, i64::MAX.into(), 1 << 63, u64::MAX.into(), i128::MAX];
    for since in bounds {
        for until in bounds {
            let found = read(&by(Newest::most(usize::MAX).since(since).until(until)));
            let mut within = expected.clone();
            within.retain(|number| (since..=until).contains(&time(*number)));
            assert_eq!(found, within, "from {since} to {until}");
        }
    }
}

fn check_all(graph: &impl ReadGraph) {
    let out = Direction::Out;
    let (unsigned, signed) = (|number: u64| number.into(), |number: u64| signed(number).into());
    let count = |record: &Record| match &record.values()[1] {
        Value::U64(number) => *number,
        other => panic!("{other:?}"),
    };
    check(
        |all| all,
        unsigned,
        |wanted| {
            let found = graph.newest::<u64>((UNSIGNED, out), HUB, wanted).unwrap();
            found.into_iter().map(|(_, number)| number).collect()
        },
    );
    check(
        |all| all,
        signed,
        |wanted| {
            let found = graph.newest::<i64>((SIGNED, out), HUB, wanted).unwrap();
            found.into_iter().map(|(_, number)| number as u64).collect()
        },
    );
    let records = |wanted: &Newest| -> Vec<u64> {
        let found = graph.newest::<Record>((RECORDS, out), HUB, wanted).unwrap();
        found.iter().map(|(_, record)| count(record)).collect()
    };
    let parallel = |wanted: &Newest| -> Vec<u64> {
        let found = graph.newest_parallel::<Record>((PARALLEL, out), HUB, wanted).unwrap();
        found.iter().map(|edge| count(&edge.data)).collect()
    };
    check(|all| all, signed, records);
    check(|all| all.by_property("number"), signed, records);
    check(|all| all.by_property("count"), unsigned, records);
    check(|all| all, signed, parallel);
    check(|all| all.by_property("count"), unsigned, parallel);
    check(|all| all.by_property("key"), unsigned, parallel);
}

#[test]
fn the_newest_of_all_numbers_come_first() {
    for engine in oracle::ENGINES {
        let graph = graph(engine);
        check_all(&graph);
        check_all(&graph.begin().unwrap());
    }
}
