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

#[test]
fn components_are_counted_with_the_largest_and_single_vertices() {
    let folder = Folder::with("graph.e", "1 2\n3 2\n4 5\n");
    folder.write("graph.v", "1\n2\n3\n4\n5\n6\n7\n");
    for options in ["", "--undirected"] {
        let stats = folder.json(&format!("stats graph.e {options}"));
        assert_eq!(stats["components"], json!({"count": 4, "largest": 3, "single": 2}));
    }
    let output = folder.hedgerow("stats graph.e").success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("4, the largest of 3 vertices (42.9 %), 2 of one"), "{text}");
    let empty = Folder::with("graph", "").json("stats graph");
    assert_eq!(empty["components"], json!({"count": 0, "largest": 0, "single": 0}));
}

#[test]
fn the_histogram_can_be_drawn() {
    let folder = Folder::with("graph", GRAPH);
    folder.hedgerow("stats graph --plot degrees.svg").success();
    let picture = folder.read("degrees.svg");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    for part in ["graph: out-degree", "graph: in-degree", "vertices", "2-3"] {
        assert!(picture.contains(part), "{part:?} is not in the picture");
    }
    // Bars of 3 and 1 vertices, and of 1, 1 and 2; each histogram has a background.
    assert_eq!(picture.matches("opacity=\"0.6\"").count(), 5);
    folder.write("empty", "");
    folder.hedgerow("stats empty --undirected --plot degrees.svg").success();
    folder.fails("stats graph --plot no/degrees.svg", 1, &["no/degrees.svg"]);
    folder.fails("stats nowhere --plot new.svg", 3, &["nowhere"]);
    assert_eq!(folder.names(), ["degrees.svg", "empty", "graph"]);
}
