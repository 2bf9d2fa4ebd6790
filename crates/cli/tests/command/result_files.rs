//! The files of `hedgerow run --output`: each has the format that its name says, and programs read
//! it back, whatever the keys.

use crate::common::Folder;
use serde_json::{Value, json};

/// Keys with blanks, quotation marks and separators; the last vertex cannot be reached.
const GRAPH: &str = "source,destination\nanna b,\"x, y\"\n\"x, y\",\"5\"\" pipe\"\nalone,anna b\n";

/// Writes the distances from `anna b` to a file of this name, and returns it.
fn distances(folder: &Folder, name: &str) -> String {
    let run = format!("run bfs store --output {name} --source");
    folder.command(&run).arg("anna b").assert().success();
    folder.read(name)
}

fn store() -> Folder {
    let folder = Folder::with("graph.csv", GRAPH);
    folder.hedgerow("import graph.csv --store store --keys text --labels knows:weight=f64").success();
    folder
}

#[test]
fn names_choose_the_format() {
    let folder = store();
    let csv = "key,distance\nanna b,0\n\"x, y\",1\n\"5\"\" pipe\",2\nalone,\n";
    assert_eq!(distances(&folder, "x.csv"), csv);
    let expected = [
        json!({ "key": "anna b", "distance": 0 }),
        json!({ "key": "x, y", "distance": 1 }),
        json!({ "key": "5\" pipe", "distance": 2 }),
        json!({ "key": "alone", "distance": null }),
    ];
    for name in ["x.jsonl", "x.ndjson"] {
        let lines = distances(&folder, name);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, expected, "{name}");
    }
    let array = distances(&folder, "x.json");
    assert_eq!(serde_json::from_str::<Value>(&array).unwrap(), json!(expected));
    assert!(array.starts_with("[\n{\"key\":\"anna b\",\"distance\":0},\n"), "as in lines: {array}");
    folder.command("run bfs store --output x.json.gz --source").arg("anna b").assert().success();
    folder.command("run bfs store --output x.csv.zst --source").arg("anna b").assert().success();
    let compressed = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(compressed("x.json.gz")[..2], [0x1f, 0x8b]);
    assert_eq!(compressed("x.csv.zst")[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    let text = "\"anna b\" 0\n\"x, y\" 1\n\"5\\\" pipe\" 2\nalone 9223372036854775807\n";
    assert_eq!(distances(&folder, "x.txt"), text);
}

#[test]
fn an_empty_result_is_a_valid_file() {
    let folder = Folder::with("graph", "");
    folder.hedgerow("run pagerank graph --output x.json").success();
    assert_eq!(serde_json::from_str::<Value>(&folder.read("x.json")).unwrap(), json!([]));
    folder.hedgerow("run pagerank graph --output x.csv").success();
    assert_eq!(folder.read("x.csv"), "key,rank\n");
    folder.hedgerow("run pagerank graph --output x.jsonl").success();
    assert_eq!(folder.read("x.jsonl"), "");
}

/// The columns of all kernels, and results that are keys or not finite.
#[test]
fn every_kernel_names_its_results() {
    let folder = Folder::with("graph", "a b 0.5\nc a 1\n");
    for (kernel, expected) in [
        ("bfs --source a", "key,distance\na,0\nb,1\nc,\n"),
        ("sssp --source a", "key,distance\na,0.0\nb,0.5\nc,\n"),
        ("wcc", "key,component\na,a\nb,a\nc,a\n"),
        ("betweenness --source c --source a", "key,score\na,1.0\nb,0.0\nc,0.0\n"),
        ("lcc", "key,coefficient\na,0.0\nb,0.0\nc,0.0\n"),
        ("cdlp --iterations 0", "key,community\na,a\nb,b\nc,c\n"),
        ("kcore", "key,core\na,1\nb,1\nc,1\n"),
        ("khop --source c --hops 1", "key,hops\na,1\nc,0\n"),
        (
            "pagerank --iterations 0",
            "key,rank\na,0.3333333333333333\nb,0.3333333333333333\nc,0.3333333333333333\n",
        ),
    ] {
        folder.hedgerow(&format!("run {kernel} graph --keys text --output x.csv")).success();
        assert_eq!(folder.read("x.csv"), expected, "{kernel}");
    }
}

/// Results as CSV can be put on the vertices of a store.
#[test]
fn ranks_can_be_imported_as_properties() {
    let folder = Folder::with("graph", "a b\nc b\n");
    folder.hedgerow("run pagerank graph --keys text --output ranks.csv").success();
    folder
        .hedgerow("import graph --vertices ranks.csv --store store --keys text --vertex-properties rank=f64")
        .success();
    let vertex = folder.json("get vertex b store");
    assert!(vertex["properties"]["rank"].as_f64().unwrap() > 0.4, "{vertex}");
}

#[test]
fn json_says_where_the_results_are() {
    let folder = Folder::with("graph", "1 2\n");
    assert_eq!(folder.json("run wcc graph")["output"], Value::Null);
    assert_eq!(folder.json("run wcc graph --output x.jsonl")["output"], "x.jsonl");
}

#[test]
fn a_source_is_one_key_whatever_is_in_it() {
    let folder = store();
    let run = "run khop store --hops 0 --output x.csv --source";
    folder.command(run).arg("x, y").args(["--source", "alone"]).assert().success();
    assert_eq!(folder.read("x.csv"), "key,hops\n\"x, y\",0\nalone,0\n");
    folder.hedgerow("run khop store --source x,y").code(3);
}
