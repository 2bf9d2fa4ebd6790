//! Promises of the types of the API besides their methods: threads, printing, serialization.

use crate::engines::{EXAMPLE, counts_later};
use hedgerow::kernels::{Bfs, BfsResult, Csr, Kernel, PageRank, Sssp, SsspResult};
use hedgerow::prelude::*;
use hedgerow::{
    Catalog, CheckpointOptions, Commit, CommitTimestamp, Durability, Edge, Edges, Isolation, LabelId,
    ParallelEdge, SnapshotInfo, StoreInfo, Updated, VertexId, Vertices,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Compiles for types that several threads may share.
const fn is_shared<T: Send + Sync + Debug>() {}

/// Compiles for types that may be sent to another thread.
const fn is_sent<T: Send + Debug>() {}

const _: () = {
    is_shared::<Graph>();
    is_shared::<Snapshot>();
    is_shared::<GraphOptions>();
    is_shared::<Label<f64>>();
    is_shared::<Label<std::cell::Cell<u8>>>();
    is_shared::<Csr>();
    is_shared::<Record>();
    is_shared::<Key>();
    is_shared::<Value>();
    is_shared::<Catalog>();
    is_shared::<EdgeUpdate<'static>>();
    is_shared::<Newest>();
    is_shared::<StoreInfo>();
    is_shared::<CheckpointOptions>();
    is_shared::<Vertices>();
    is_shared::<Edges<f64>>();
    is_shared::<Error>();
    is_sent::<WriteTxn>();
};

#[test]
fn what_is_printed_is_parsed() {
    fn round_trip<T: Display + FromStr<Err: Debug> + PartialEq + Debug>(values: &[(T, &str)]) {
        for (value, name) in values {
            assert_eq!(value.to_string(), *name);
            assert_eq!(&name.parse::<T>().unwrap(), value);
        }
    }
    // Stores name their engines.
    let names = ["rapid", "tel", "lsm", "hybrid"];
    round_trip(&EngineKind::ALL.iter().copied().zip(names).collect::<Vec<_>>());
    assert_eq!(EngineKind::ALL.len(), names.len());
    assert!(EngineKind::ALL.iter().all(|engine| format!("{engine:?}").to_lowercase() == engine.name()));
    round_trip(&[(Durability::None, "none"), (Durability::Buffered, "buffered"), (Durability::Sync, "sync")]);
    round_trip(&[(Isolation::Snapshot, "snapshot"), (Isolation::Serializable, "serializable")]);
    round_trip(&[(KeyKind::Number, "number"), (KeyKind::String, "text"), (KeyKind::Dense, "dense")]);
    round_trip(&[(CommitTimestamp(7), "7")]);
    let error = "fast".parse::<EngineKind>().unwrap_err();
    assert_eq!(error.to_string(), "there is no engine \"fast\": expected rapid, tel, lsm or hybrid");
}

/// Checks that a value serializes as `expected`, and deserializes to itself.
#[track_caller]
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, expected: serde_json::Value) {
    assert_eq!(serde_json::to_value(value).unwrap(), expected);
    assert_eq!(&serde_json::from_value::<T>(expected).unwrap(), value);
}

#[derive(Properties, Debug, PartialEq)]
struct Payment {
    amount: f64,
    note: Option<String>,
}

#[test]
fn what_is_read_is_serialized() {
    let options = GraphOptions::new().keys(KeyKind::String).label::<Payment>("pays");
    let graph = Graph::in_memory(options).unwrap();
    let pays = graph.label::<Record>("pays").unwrap();
    let updated = graph.update_edge(pays, "ann", "bob", &EdgeUpdate::put().set("amount", 9.5)).unwrap();
    comes_back::<Updated<Commit>>(&updated, serde_json::to_value(updated).unwrap());
    let snapshot = graph.snapshot().unwrap();
    let edges: Vec<Edge<Record>> = snapshot.all_edges(pays).unwrap().collect::<Result<_, _>>().unwrap();
    let expected =
        json!([{ "source": "ann", "destination": "bob", "data": { "amount": 9.5, "note": null } }]);
    assert_eq!(serde_json::to_value(&edges).unwrap(), expected);
    let unnamed = Record::new(vec![Value::from(true), Value::from(vec![1u8, 2]), Value::Timestamp(-5)]);
    assert_eq!(serde_json::to_value(&unnamed).unwrap(), json!([true, [1, 2], -5]));
    let edge = ParallelEdge { neighbor: Key::from(3), number: 1001, data: 4.5 };
    comes_back(&edge, json!({ "neighbor": 3, "number": 1001, "data": 4.5 }));
    comes_back(&snapshot.timestamp(), json!(1));
    let open: Vec<SnapshotInfo> = graph.snapshots();
    comes_back(&open, serde_json::to_value(&open).unwrap());
}

#[test]
fn results_of_kernels_are_serialized() {
    let graph = Graph::in_memory(GraphOptions::new().keys(KeyKind::Dense).label::<u32>("road")).unwrap();
    graph.ingest(LabelId::DEFAULT, &[(0u64, 1u64, 5u32), (1, 2, 7)]).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let start = VertexId::new(0);
    let search: BfsResult = snapshot.run(Bfs::new(start)).unwrap();
    let serialized = serde_json::to_value(&search).unwrap();
    assert_eq!(serialized["depths"], json!([0, 1, 2]));
    comes_back(&search, serialized);
    let paths: SsspResult<u32> = snapshot.run(Sssp::<u32>::new(start)).unwrap();
    comes_back(&paths, serde_json::to_value(&paths).unwrap());
    let ranks = snapshot.run(PageRank::default()).unwrap();
    assert!(serde_json::to_string(&ranks).unwrap().contains("\"ranks\":["));
    let copy = snapshot.to_csr::<u32>(LabelId::DEFAULT, Default::default()).unwrap();
    assert_eq!(Bfs::new(start).run(&copy).unwrap().depths, search.depths);
}

#[test]
fn schemas_and_stores_are_serialized() {
    let folder = tempfile::tempdir().unwrap();
    let options = GraphOptions::new().label::<Payment>("pays").label::<f64>("rates").label::<()>("knows");
    let graph = options.create(folder.path()).unwrap();
    let labels = json!([
        { "name": "pays", "edges": { "record": { "fields": [
            { "name": "amount", "value_type": "f64", "nullable": false },
            { "name": "note", "value_type": "string", "nullable": true },
        ] } } },
        { "name": "rates", "edges": { "value": "f64" } },
        { "name": "knows", "edges": "topology" },
    ]);
    comes_back(&graph.catalog(), json!({ "labels": labels, "vertices": { "fields": [] } }));
    let twice = json!({ "labels": [labels[1], labels[1]], "vertices": { "fields": [] } });
    let refused = serde_json::from_value::<Catalog>(twice).unwrap_err();
    assert!(refused.to_string().contains("declared twice"), "{refused}");
    let report = graph.checkpoint(&CheckpointOptions::new()).unwrap();
    comes_back(&report, serde_json::to_value(&report).unwrap());
    let info: StoreInfo = graph.store_info().unwrap();
    let serialized = serde_json::to_value(&info).unwrap();
    assert_eq!((&serialized["engine"], &serialized["durable"]), (&json!("rapid"), &json!(0)));
    comes_back(&info, serialized);
    let ids = serde_json::from_value::<VertexId>(json!(u32::MAX));
    assert!(ids.unwrap_err().to_string().contains("limit"));
}

#[test]
fn engines_count_later_as_they_say() {
    for &engine in EngineKind::ALL {
        assert_eq!(counts_later(engine), engine.counts_later(), "{engine}");
    }
    assert!(!counts_later(EXAMPLE));
}
