//! Public data sets have the sizes that their publishers state. Skipped where they are absent.

use crate::common::drain;
use hedgerow_formats::{Batch, Columns, GraphFormat, GraphReader, ReadOptions};
use hedgerow_testing::skipped::public_data;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn read(path: &Path, options: ReadOptions) -> Batch<u64> {
    let whole = drain(GraphReader::open_with(path, options).unwrap());
    whole.end.unwrap();
    whole.read
}

fn vertices(batch: &Batch<u64>) -> BTreeSet<u64> {
    let ends = batch.edges.iter().flat_map(|edge| [edge.source, edge.destination]);
    ends.chain(batch.vertices.iter().copied()).collect()
}

#[test]
fn edge_lists_have_their_published_sizes() {
    let known = [("wiki-Vote.txt", 103_689, 7_115), ("email-Eu-core.txt", 25_571, 1_005)];
    for (name, edges, vertex_count) in known {
        let Some(path) = public_data(name) else { continue };
        let batch = read(&path, ReadOptions::default());
        assert_eq!((batch.edges.len(), vertices(&batch).len()), (edges, vertex_count), "{name}");
        assert!(batch.edges.iter().all(|edge| edge.weight.is_none() && edge.timestamp.is_none()));
    }
}

#[test]
fn an_undirected_edge_list_has_both_directions() {
    let Some(path) = public_data("ca-HepPh.txt") else { return };
    let batch = read(&path, ReadOptions::default());
    let pair = |edge: &hedgerow_formats::Edge<u64>| {
        (edge.source.min(edge.destination), edge.source.max(edge.destination))
    };
    let pairs: BTreeSet<(u64, u64)> = batch.edges.iter().map(pair).collect();
    assert_eq!((pairs.len(), vertices(&batch).len()), (118_521, 12_008));
}

#[test]
fn temporal_edge_lists_have_a_timestamp_in_every_row() {
    let known =
        [("CollegeMsg.txt", 59_835, 20_296, 1_899), ("email-Eu-core-temporal.txt", 332_334, 24_929, 986)];
    for (name, rows, distinct, vertex_count) in known {
        let Some(path) = public_data(name) else { continue };
        let batch = read(&path, ReadOptions { columns: Columns::Timestamp, ..ReadOptions::default() });
        assert!(batch.edges.iter().all(|edge| edge.timestamp.is_some()));
        let edges: BTreeSet<(u64, u64)> =
            batch.edges.iter().map(|edge| (edge.source, edge.destination)).collect();
        assert_eq!((batch.edges.len(), edges.len()), (rows, distinct), "{name}");
        assert_eq!(vertices(&batch).len(), vertex_count, "{name}");
    }
}

#[test]
fn a_rated_edge_list_has_weights_and_timestamps_under_its_header() {
    let Some(path) = public_data("soc-sign-bitcoinotc.csv") else { return };
    let batch = read(&path, ReadOptions::default());
    assert_eq!((batch.edges.len(), vertices(&batch).len()), (35_592, 5_881));
    let is_rating = |weight: f64| weight.fract() == 0.0 && (1.0..=10.0).contains(&weight.abs());
    assert!(batch.edges.iter().all(|edge| edge.weight.is_some_and(is_rating)));
    // Bitcoin is younger than 2009 and older than the data set.
    assert!(batch.edges.iter().all(|edge| (1_230_000_000..1_460_000_000).contains(&edge.timestamp.unwrap())));
}

/// The benchmark publishes its example both as a pair of files and as adjacency lines.
#[test]
fn the_pair_of_files_and_the_adjacency_lines_are_one_graph() {
    for kind in ["directed", "undirected"] {
        let folder = Path::new("graphalytics-validation/example");
        let name = |end: &str| folder.join(format!("example-{kind}{end}"));
        let (Some(pair), Some(lines)) =
            (public_data(name(".e").to_str().unwrap()), public_data(name("-input").to_str().unwrap()))
        else {
            continue;
        };
        let pair = read(&pair, ReadOptions::default());
        let lines =
            read(&lines, ReadOptions { format: Some(GraphFormat::Adjacency), ..ReadOptions::default() });
        assert_eq!(vertices(&pair), vertices(&lines));
        assert_eq!(pair.vertices.len(), vertices(&pair).len());
        assert_eq!(neighbors(&pair, kind), neighbors(&lines, kind));
    }
}

fn neighbors(batch: &Batch<u64>, kind: &str) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut neighbors: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for edge in &batch.edges {
        neighbors.entry(edge.source).or_default().insert(edge.destination);
        if kind == "undirected" {
            neighbors.entry(edge.destination).or_default().insert(edge.source);
        }
    }
    neighbors
}

#[test]
fn every_validation_graph_can_be_read() {
    let Some(root) = public_data("graphalytics-validation") else { return };
    let mut graphs = 0;
    for algorithm in ["bfs", "cdlp", "ffm", "lcc", "pr", "wcc", "sssp"] {
        for kind in ["dir", "undir"] {
            let lines = root.join(algorithm).join(format!("{kind}-input"));
            let pair = lines.with_extension("e");
            let batch = if pair.exists() {
                read(&pair, ReadOptions::default())
            } else {
                read(&lines, ReadOptions { format: Some(GraphFormat::Adjacency), ..ReadOptions::default() })
            };
            assert!(!batch.edges.is_empty(), "{algorithm} {kind}");
            graphs += 1;
        }
    }
    assert_eq!(graphs, 14);
}
