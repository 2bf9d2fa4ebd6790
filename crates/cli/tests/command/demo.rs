//! `hedgerow demo`

use crate::common::Folder;
use serde_json::Value;

/// Checks that hold for every demo.
fn check(summary: &Value) {
    assert_eq!(summary["comparison"]["equal"], true);
    assert!(summary["comparison"]["largest_rank_difference"].as_f64().unwrap() <= 1e-9);
    assert!(summary["comparison"]["pagerank"]["ratio"].as_f64().unwrap() > 0.0);
    assert!(summary["reading"]["snapshots"].as_u64().unwrap() > 0);
    assert!(summary["writing"]["edges_per_second"].as_f64().unwrap() > 0.0);
    assert!(summary["memory"]["graph_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn writers_and_readers_work_at_the_same_time_and_the_results_agree() {
    let folder = Folder::new();
    let enormous = format!("--writers 3 --batch {}", u64::MAX);
    for options in
        ["", "--undirected", "--writers 1 --readers 1", "--writers 4 --readers 3 --batch 7", &enormous]
    {
        let summary = folder.json(&format!("demo --scale 9 --edge-factor 8 {options}"));
        check(&summary);
        assert_eq!(summary["rows"], 4096, "{options}");
        assert!(summary["comparison"]["bfs"]["ratio"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn all_writers_take_part() {
    let summary = Folder::new().json("demo --scale 12 --writers 3 --readers 1 --batch 10");
    let commits = |kind: &str| summary["writing"][kind]["count"].as_u64().unwrap();
    let (batches, singles) = (commits("batch_commits"), commits("single_commits"));
    assert!(batches > 0 && singles > 0, "{batches} batches, {singles} single edges");
    assert_eq!(summary["writing"]["commits"], batches + singles);
}

#[test]
fn the_edges_of_a_file_can_be_the_stream() {
    let folder = Folder::with("graph", "a b\nb c\nc a\na b\n");
    folder.write("vertices", "z\n");
    let summary = folder.json("demo --graph graph --keys text --vertices vertices");
    check(&summary);
    let counts = (&summary["vertices"], &summary["edges"], &summary["rows"]);
    assert_eq!(counts, (&4.into(), &3.into(), &4.into()));
    assert_eq!(summary["stream"], "graph");
}

#[test]
fn the_table_compares_with_a_static_graph() {
    let output = Folder::new().hedgerow("demo --scale 6").success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "written",
        "edges/s",
        "snapshots",
        "memory",
        "PageRank, 10 iterations",
        "BFS",
        "ratio",
        "results equal",
    ] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{text}");
}

#[test]
fn a_stream_of_nothing_is_no_error() {
    let folder = Folder::with("graph", "");
    let summary = folder.json("demo --graph graph");
    assert_eq!((&summary["vertices"], &summary["comparison"]["bfs"]), (&0.into(), &Value::Null));
}

#[test]
fn the_course_can_be_drawn() {
    let folder = Folder::new();
    folder.hedgerow("demo --scale 9 --plot demo.svg").success();
    let picture = folder.read("demo.svg");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    for part in ["edges per second", "PageRank", "BFS", "seconds"] {
        assert!(picture.contains(part), "{part:?} is not in the picture");
    }
    folder.fails("demo --scale 20 --plot no/demo.svg", 1, &["no/demo.svg"]);
    folder.write("graph", "1 2\n");
    folder.fails("demo graph --plot graph", 2, &["graph"]);
    assert_eq!(folder.names(), ["demo.svg", "graph"]);
}
