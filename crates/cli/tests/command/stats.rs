//! `hedgerow stats`

use crate::common::Folder;
use serde_json::json;

const GRAPH: &str = "1 2\n1 3\n1 2\n2 1\n3 3\n3 3\n4 1\n";

#[test]
fn rows_edges_duplicates_and_loops_are_counted() {
    let stats = Folder::with("graph", GRAPH).json("stats graph");
    for (name, expected) in [
        ("vertices", 4),
        ("rows", 7),
        ("edges", 5),
        ("duplicates", 2),
        ("self_loops", 1),
        ("skipped_lines", 0),
    ] {
        assert_eq!(stats[name], expected, "{name}");
    }
}

#[test]
fn degrees_are_those_of_both_directions() {
    let stats = Folder::with("graph", GRAPH).json("stats graph");
    let expected = json!([
        {"name": "out-degree", "min": 1, "mean": 1.25, "max": 2, "histogram": [
            {"from": 0, "to": 0, "vertices": 0},
            {"from": 1, "to": 1, "vertices": 3},
            {"from": 2, "to": 3, "vertices": 1},
        ]},
        {"name": "in-degree", "min": 0, "mean": 1.25, "max": 2, "histogram": [
            {"from": 0, "to": 0, "vertices": 1},
            {"from": 1, "to": 1, "vertices": 1},
            {"from": 2, "to": 3, "vertices": 2},
        ]},
    ]);
    assert_eq!(stats["degrees"], expected);
}

#[test]
fn undirected_edges_count_once() {
    let stats = Folder::with("graph", GRAPH).json("stats graph --undirected");
    assert_eq!((&stats["edges"], &stats["duplicates"]), (&4.into(), &3.into()));
    let degrees = stats["degrees"].as_array().unwrap();
    assert_eq!(degrees.len(), 1);
    assert_eq!((&degrees[0]["min"], &degrees[0]["max"]), (&1.into(), &3.into()));
}

#[test]
fn the_table_has_a_histogram() {
    let output = Folder::with("graph", GRAPH).hedgerow("stats graph").success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["self loops", "out-degree: min 1, mean 1.25, max 2", "2-3", "####"] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}
