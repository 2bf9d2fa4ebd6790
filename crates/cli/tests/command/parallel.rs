//! Parallel edges on the command line: declared, imported, selected by key, exported.

use crate::common::Folder;
use serde_json::{Value, json};

const PAYMENTS: &str = "number,source,destination,amount,at\n\
    1001,1,2,9.5,2026-01-31T12:00:00Z\n\
    1003,1,2,4,2026-01-31T12:00:02Z\n\
    1002,1,3,20,2026-01-31T12:00:01Z\n\
    1001,2,1,7,\n";

const LABELS: &str = "--labels pays:number=key+amount=f64!+at=timestamp,knows";

fn bank() -> Folder {
    let folder = Folder::with("pays.csv", PAYMENTS);
    let imported = folder.json(&format!("import pays.csv --store bank {LABELS} --reverse"));
    assert_eq!(
        (&imported["rows"], &imported["edges"], &imported["edges_added"]),
        (&4.into(), &4.into(), &4.into())
    );
    folder
}

/// The keys of edges that a command prints.
fn numbers(edges: &serde_json::Value) -> Vec<u64> {
    let properties = |edge: &serde_json::Value| edge.get("properties").unwrap_or(edge)["number"].as_u64();
    edges.as_array().unwrap().iter().map(|edge| properties(edge).unwrap()).collect()
}

#[test]
fn parallel_edges_are_read_by_key_and_by_time() {
    let folder = bank();
    let of = |options: &str| folder.json(&format!("neighbors 1 --store bank {options}"));
    assert_eq!(of("")["degree"], 2);
    assert_eq!(numbers(&of("")["neighbors"]), [1001, 1003, 1002]);
    assert_eq!(
        of("--min-key 1003")["neighbors"],
        json!([{ "key": 2, "properties": { "number": 1003, "amount": 4.0, "at": "2026-01-31T12:00:02Z" } }])
    );
    assert_eq!(numbers(&of("--min-key 1001 --max-key 1002")["neighbors"]), [1001, 1002]);
    assert_eq!(numbers(&of("--newest 2")["neighbors"]), [1003, 1002]);
    assert_eq!(numbers(&of("--newest 2 --by number --until 1002")["neighbors"]), [1002, 1001]);
    assert_eq!(numbers(&of("--direction in")["neighbors"]), [1001]);
    let edge = |options: &str| folder.json(&format!("get edge 1 2 --store bank {options}"));
    assert_eq!(numbers(&edge("")["edges"]), [1001, 1003]);
    assert_eq!(numbers(&edge("--key 1003")["edges"]), [1003]);
    let degrees = folder.json("get vertex 1 --store bank")["degrees"][0].clone();
    assert_eq!((&degrees["out"], &degrees["out_edges"]), (&2.into(), &3.into()));
    assert_eq!((&degrees["in"], &degrees["in_edges"]), (&1.into(), &1.into()));
}

#[test]
fn parallel_edges_are_put_changed_and_deleted_one_by_one() {
    let folder = bank();
    let put = |options: &str| folder.json(&format!("put edge 1 2 --store bank {options}"));
    let counts = || {
        let label = folder.json("info bank")["labels"][0].clone();
        (label["pairs"].as_u64().unwrap(), label["edges"].as_u64().unwrap())
    };
    assert_eq!(counts(), (3, 4));
    let new = put("--key 5 --property amount=1");
    assert_eq!((&new["added"], &new["edge_key"]), (&true.into(), &5.into()));
    let changed = put("--key 1001 --property amount=10");
    assert_eq!((&changed["added"], &changed["changed"]), (&false.into(), &true.into()));
    let deleted = folder.json("delete edge 1 2 --key 1003 --store bank");
    assert_eq!(deleted["edges_deleted"], 1);
    let edges = folder.json("get edge 1 2 --store bank")["edges"].clone();
    assert_eq!(numbers(&edges), [5, 1001]);
    assert_eq!(edges[1]["amount"], 10.0);
    assert_eq!(counts(), (3, 4));
    folder.json("checkpoint bank");
    assert_eq!(counts(), (3, 4));
    assert!(folder.text("info bank").contains(", 4 edges between 3 pairs of vertices"));
    assert_eq!(folder.json("delete edge 1 2 --store bank")["edges_deleted"], 2);
    assert_eq!(counts(), (2, 2));
    folder.fails("get edge 1 2 --store bank", 3, &["there is no edge from 1 to 2"]);
    folder.fails("delete edge 1 3 --key 1 --store bank", 3, &["no edge with the key 1 from 1 to 3"]);
}

/// `info` counts edges where it opens the graph; a checkpoint knows only the pairs of vertices.
#[test]
fn pairs_of_vertices_are_never_printed_as_edges() {
    let folder = bank();
    folder.json("put edge 5 6 --store bank --label knows");
    assert_eq!(folder.json("info bank")["edges"], 5);
    assert_eq!(folder.json("checkpoint bank")["edges"], 5);
    assert_eq!(folder.json("run pagerank --store bank --label pays --output ranks")["edges"], 4);
    let stats = folder.json("stats bank --label pays");
    assert_eq!(
        (&stats["edges"], &stats["pairs"], &stats["degrees"][0]["max"]),
        (&4.into(), &3.into(), &3.into())
    );
    assert!(folder.text("stats bank --label pays").contains("pairs of vertices  3\n"));
    assert_eq!(folder.json("stats bank --label knows").get("pairs"), None);
    let of_checkpoint = |command: &str| {
        let info = folder.json(command);
        assert_eq!(
            (&info["edges"], &info["edges_at_least"], &info["counted"]),
            (&Value::Null, &4.into(), &"checkpoint".into())
        );
        let [pays, knows] = [0, 1].map(|label| &info["labels"][label]);
        assert_eq!(
            (&pays["edges"], &pays["edges_at_least"], &pays["pairs"]),
            (&Value::Null, &3.into(), &3.into())
        );
        assert_eq!(
            (&knows["edges"], knows.get("edges_at_least"), knows.get("pairs")),
            (&1.into(), None, None)
        );
        let text = folder.text(command);
        for part in
            ["at least 4\n", ", edges between 3 pairs of vertices\n", "\"knows\", without values, 1 edge\n"]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    };
    of_checkpoint("info bank --quick");
    let writer = hedgerow::Graph::open(folder.path("bank")).unwrap();
    of_checkpoint("info bank");
    of_checkpoint("info bank --quick");
    writer.close().unwrap();
    let info = folder.json("info bank");
    assert_eq!((&info["edges"], info.get("edges_at_least")), (&5.into(), None));
}

#[test]
fn exports_are_imported_unchanged() {
    let folder = bank();
    let schema = folder.json("schema bank");
    assert_eq!(schema["labels_option"], "pays:number=key+amount=f64!+at=timestamp,knows");
    assert_eq!(
        (&schema["labels"][0]["edges"], &schema["labels"][0]["key"]),
        (&"parallel".into(), &"number".into())
    );
    for file in ["copy.csv", "copy.jsonl"] {
        folder.json("checkpoint bank");
        folder.json(&format!("export bank --output {file}"));
        folder.json(&format!("import {file} --store {file}.store {LABELS} --reverse"));
        for vertex in [1, 2, 3] {
            let neighbors = |store: &str| {
                folder.json(&format!("neighbors {vertex} --store {store}"))["neighbors"].clone()
            };
            assert_eq!(neighbors(&format!("{file}.store")), neighbors("bank"), "{file}");
        }
    }
    assert!(
        folder
            .read("copy.jsonl")
            .starts_with("{\"source\":1,\"destination\":2,\"number\":1001,\"amount\":9.5,")
    );
}

#[test]
fn invalid_options_are_refused_with_advice() {
    let folder = bank();
    let told_apart = "distinguished by \"number\": say which it is";
    folder.fails("put edge 1 2 --store bank --property amount=1", 2, &[told_apart]);
    folder.fails(
        "put edge 1 2 --store bank --label knows --key 1",
        2,
        &["one edge of the label \"knows\" at most"],
    );
    folder.fails(
        "neighbors 1 --store bank --label knows --min-key 1",
        2,
        &["--min-key and --max-key: these are for labels whose edges may be parallel"],
    );
    folder.fails("neighbors 1 --store bank --min-key 1 --newest 1", 2, &["by time, not by key"]);
    folder.fails("import pays.csv --store other --labels pays:a=i64+n=key", 2, &["key for the first"]);
    folder.write("without.csv", "source,destination,amount\n1,2,3\n");
    folder.fails("import without.csv --store bank --on-repeat last", 3, &["\"number\""]);
    folder.write("negative.csv", "source,destination,number,amount\n1,2,-3,3\n");
    folder.fails("import negative.csv --store bank", 3, &["-3"]);
    folder.fails("export bank --output edges.txt", 2, &[".csv and .jsonl hold records"]);
    folder.fails("export bank", 2, &["--to properties-csv or --to jsonl"]);
    assert!(
        folder.pipe("export bank --to jsonl --quiet", "").success().get_output().stdout.starts_with(b"{")
    );
}
