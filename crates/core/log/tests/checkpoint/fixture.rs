//! Checkpoints of version 1 of the format can be read forever.

use crate::damage::{file_of, files_of};
use crate::model::{COLUMNS, Graph};
use hedgerow_log::checkpoint::Checkpoint;
use hedgerow_model::{
    Catalog, EdgeSchema, Field, Key, KeyKind, LabelSchema, Record, RecordSchema, Topology, Value, ValueType,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoint/version-1.checkpoint")
}

/// The content of the frozen file: all kinds of values, labels of all columns, holes, loops, a
/// vertex with many neighbors.
fn graph() -> Graph {
    let types = [
        ValueType::Bool,
        ValueType::I64,
        ValueType::F64,
        ValueType::String,
        ValueType::Bytes,
        ValueType::Timestamp,
    ];
    let field = |value_type| Field { name: format!("{value_type:?}"), value_type, nullable: true };
    let label = |column| LabelSchema { name: format!("of {column}"), edges: EdgeSchema::Value(column) };
    let plain = LabelSchema { name: "plain".to_owned(), edges: EdgeSchema::Topology };
    let labels = std::iter::once(plain).chain(COLUMNS[1..].iter().copied().map(label)).collect();
    let fields = RecordSchema { fields: types.into_iter().map(field).collect() };
    let record = |id: u32| match id % 3 {
        0 => Record::EMPTY,
        1 => Record::new(vec![Value::Null; 6]),
        _ => Record::new(vec![
            Value::Bool(id.is_multiple_of(2)),
            Value::I64(-i64::from(id)),
            Value::F64(f64::from(id) / 3.0),
            Value::String(format!("vertex {id}").into()),
            Value::Bytes(id.to_le_bytes().into()),
            Value::Timestamp(1_700_000_000_000_000 + i64::from(id)),
        ]),
    };
    let ids = (0..400).filter(|id| id % 10 != 7).chain([1_000_000]);
    let vertices: BTreeMap<_, _> =
        ids.map(|id| (id, (Key::from(format!("key of {id}")), record(id)))).collect();
    let edges = (0..COLUMNS.len() as u32).map(|label| {
        let ends = vertices.keys().map(|id| (*id.min(&(id * label % 5 * 10)), *id));
        let value = |ends: &(u32, u32)| if label == 0 { 0 } else { u64::from(ends.1 * label + 7) };
        ends.map(|ends| (ends, value(&ends))).collect()
    });
    let edges = edges.collect();
    let catalog = Catalog::new(labels, fields).unwrap();
    Graph::new(Topology::Undirected, KeyKind::String, catalog, vertices, edges)
}

#[test]
fn version_1_is_read() {
    let files = files_of(&std::fs::read(path()).unwrap());
    assert!(Graph::read(&files, "checkpoint", 5).unwrap() == graph());
    assert!(Checkpoint::open(&files, "checkpoint").unwrap().check(None).is_empty());
}

#[test]
#[ignore = "writes into the source tree, once for every version"]
fn write_version_1() {
    std::fs::write(path(), file_of(&graph().written(), "checkpoint")).unwrap();
}
