//! A graph written in any format and read back is the same graph, as far as the format allows.

use crate::common::drain;
use hedgerow_formats::{
    Batch, Columns, Edge, ErrorKind, FormatError, GraphFormat, GraphReader, GraphWriter, Lost, ReadOptions,
    VertexKey, WriteOptions, Written,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names of files of all formats that hold a whole graph.
const WHOLE: [&str; 6] = ["g.e", "g.e.gz", "g.adj", "g.mtx.zst", "g.sg", "g.wsg.gz"];

fn write<K: VertexKey>(
    path: &Path,
    batch: &Batch<K>,
    options: &WriteOptions,
) -> Result<Written<K>, FormatError> {
    let mut writer = GraphWriter::create(path, options)?;
    writer.write(batch)?;
    writer.finish()
}

fn read<K: VertexKey>(path: &Path) -> Batch<K> {
    let whole = drain(GraphReader::open(path).unwrap());
    whole.end.unwrap();
    whole.read
}

/// Each edge once with the weight that came last.
type Weights<K> = BTreeMap<(K, K), Option<f64>>;

/// The vertices and the edges.
fn graph<K: VertexKey>(batch: &Batch<K>) -> (BTreeSet<K>, Weights<K>) {
    let ends = batch.edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
    let vertices = ends.chain(&batch.vertices).cloned().collect();
    let edge = |edge: &Edge<K>| ((edge.source.clone(), edge.destination.clone()), edge.weight);
    (vertices, batch.edges.iter().map(edge).collect())
}

/// Adds every edge in the other direction.
fn both_ways(batch: &Batch<u64>) -> Batch<u64> {
    let turned = |edge: &Edge<u64>| Edge { source: edge.destination, destination: edge.source, ..*edge };
    let edges = batch.edges.iter().flat_map(|edge| [*edge, turned(edge)]).collect();
    Batch { edges, vertices: batch.vertices.clone() }
}

/// Removes the weights.
fn without_weights(batch: &Batch<u64>) -> Batch<u64> {
    let edges = batch.edges.iter().map(|edge| Edge { weight: None, ..*edge }).collect();
    Batch { edges, vertices: batch.vertices.clone() }
}

/// Replaces vertex numbers by their keys.
fn with_keys(batch: Batch<u64>, keys: Option<&Vec<u64>>, first: u64) -> Batch<u64> {
    let key = |number: u64| keys.map_or(number, |keys| keys[(number - first) as usize]);
    let rename =
        |edge: Edge<u64>| Edge { source: key(edge.source), destination: key(edge.destination), ..edge };
    Batch {
        edges: batch.edges.into_iter().map(rename).collect(),
        vertices: batch.vertices.into_iter().map(key).collect(),
    }
}

fn batch(keys: impl Strategy<Value = u64> + Clone) -> impl Strategy<Value = Batch<u64>> {
    let edge = (keys.clone(), keys.clone(), any::<i32>()).prop_map(|(source, destination, weight)| Edge {
        weight: Some(f64::from(weight)),
        ..Edge::new(source, destination)
    });
    let edges = prop::collection::vec(edge, 0..40);
    (edges, prop::collection::vec(keys, 0..5)).prop_map(|(edges, vertices)| Batch { edges, vertices })
}

proptest! {
    #[test]
    fn whole_graphs_come_back_with_their_keys(
        batch in prop_oneof![batch(0u64..10), batch(1u64..20), batch(any::<u64>())],
        undirected: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for name in WHOLE {
            let path = folder.path().join(name);
            let options = WriteOptions { undirected, ..WriteOptions::default() };
            let written = write(&path, &batch, &options).unwrap();
            let format = GraphFormat::of_name(name).unwrap();
            let holds_weights = !matches!(format, GraphFormat::Adjacency | GraphFormat::Serialized);
            prop_assert_eq!(written.lost.weights, if holds_weights { 0 } else { batch.edges.len() as u64 });
            prop_assert!(written.keys.is_none() || format.first_number().is_some());

            let first = u64::from(format == GraphFormat::MatrixMarket);
            let mut back = with_keys(read::<u64>(&path), written.keys.as_ref(), first);
            let mut expected = if holds_weights { batch.clone() } else { without_weights(&batch) };
            if undirected {
                (back, expected) = (both_ways(&back), both_ways(&expected));
            }
            prop_assert_eq!(graph(&back), graph(&expected), "{}", name);
            prop_assert_eq!(written.vertices, Some(graph(&expected).0.len() as u64));
        }
    }

    #[test]
    fn edge_lists_come_back_line_by_line(
        batch in batch(any::<u64>()),
        name in prop::sample::select(vec!["g", "g.txt.gz", "g.tsv", "g.csv.zst", "g.wel"]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let written = write(&path, &batch, &WriteOptions::default()).unwrap();
        prop_assert_eq!(written.lost.vertices, batch.vertices.len() as u64);
        prop_assert_eq!(read::<u64>(&path).edges, batch.edges);
    }
}

fn weighted(edges: &[(u64, u64, f64)]) -> Batch<u64> {
    let edge = |(source, destination, weight): &(u64, u64, f64)| Edge {
        weight: Some(*weight),
        ..Edge::new(*source, *destination)
    };
    Batch { edges: edges.iter().map(edge).collect(), vertices: Vec::new() }
}

fn written_text(name: &str, batch: &Batch<u64>, options: &WriteOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, batch, options).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn texts_look_as_their_formats_want_them() {
    let batch = weighted(&[(3, 1, 2.0), (1, 2, 0.5)]);
    let text = |name| written_text(name, &batch, &WriteOptions::default());
    assert_eq!(text("g.el"), "3 1\n1 2\n");
    assert_eq!(text("g.wel"), "3 1 2\n1 2 0.5\n");
    assert_eq!(text("g.tsv"), "3\t1\t2\n1\t2\t0.5\n");
    assert_eq!(text("g.csv"), "3,1,2\n1,2,0.5\n");
    assert_eq!(text("g.adj"), "1 2\n2\n3 1\n");
    assert_eq!(text("g.mtx"), "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 2\n");
    let undirected = WriteOptions { undirected: true, ..WriteOptions::default() };
    let matrix = written_text("g.mtx", &weighted(&[(3, 1, 2.0), (1, 1, 4.0)]), &undirected);
    assert_eq!(matrix, "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 2\n");
    assert_eq!(written_text("g.adj", &batch, &undirected), "1 2 3\n2 1\n3 1\n");
}

#[test]
fn the_pair_of_files_is_complete_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let batch = Batch { vertices: vec![9], ..weighted(&[(3, 1, 2.0), (1, 3, 2.0)]) };
    let undirected = WriteOptions { undirected: true, ..WriteOptions::default() };
    write(&folder.path().join("g.v"), &batch, &undirected).unwrap();
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!((text("g.v"), text("g.e")), ("1\n3\n9\n".into(), "1 3 2\n".into()));

    let mut dropped = GraphWriter::create(folder.path().join("h.e.zst"), &undirected).unwrap();
    dropped.write(&batch).unwrap();
    drop(dropped);
    let named = WriteOptions { format: Some(GraphFormat::Graphalytics), ..undirected };
    let refused = GraphWriter::<u64>::create(folder.path().join("h.txt"), &named).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::BadInput);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn kept_ids_leave_gaps_for_vertices_without_edges() {
    let folder = tempfile::tempdir().unwrap();
    let keep = WriteOptions { keep_ids: true, ..WriteOptions::default() };
    let path = folder.path().join("g.sg");
    let written = write(&path, &weighted(&[(5, 2, 1.0)]), &keep).unwrap();
    assert_eq!((written.vertices, written.keys), (Some(6), None));
    let back = read::<u64>(&path);
    assert_eq!(back.vertices, [0, 1, 2, 3, 4, 5]);
    assert_eq!(back.edges, [Edge::new(5, 2)]);
    let path = folder.path().join("g.mtx");
    assert_eq!(write(&path, &weighted(&[(5, 2, 1.0)]), &keep).unwrap().vertices, Some(5));
    assert_eq!(read::<u64>(&path).edges, weighted(&[(5, 2, 1.0)]).edges);
    assert!(write(&path, &weighted(&[(0, 2, 1.0)]), &keep).is_err());
    let refused = |path: &Path, vertex| write(path, &weighted(&[(vertex, 2, 1.0)]), &keep).unwrap_err();
    let error = refused(&path, 1 << 32).to_string();
    assert!(error.ends_with("vertex 4294967296: there can be 4294967295 vertices at most"), "{error}");
    let error = refused(&folder.path().join("g.sg"), 4_000_000_000).to_string();
    assert!(error.ends_with("4000000001 vertices: this format can number 2,147,483,646"), "{error}");

    let edge: Edge<Box<str>> = Edge::new("1".into(), "2".into());
    let mut texts = GraphWriter::create(&path, &keep).unwrap();
    texts.write(&Batch::new()).unwrap();
    assert!(texts.write(&Batch { edges: vec![edge], vertices: Vec::new() }).is_err());
    assert_eq!(texts.finish().unwrap().vertices, Some(0));
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, batch: &Batch<u64>, reason: &str| {
        let error = write(&folder.path().join(name), batch, &WriteOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.to_string().contains(reason), "{error}");
    };
    let plain = Batch { edges: vec![Edge::new(1, 2)], vertices: Vec::new() };
    refused(
        "g.wsg",
        &weighted(&[(1, 2, 0.5)]),
        "cannot write 0.5: a weight in this format is a whole number",
    );
    refused("g.wsg", &weighted(&[(1, 2, 3e9)]), "whole number of 32 bits");
    refused("g.wsg", &plain, "cannot write edges without weights: write .sg");
    refused("g.wel", &plain, "every edge of a .wel file has one");
    let mixed =
        Batch { edges: [&plain.edges[..], &weighted(&[(3, 4, 1.0)]).edges].concat(), ..plain.clone() };
    refused("g.mtx", &mixed, "all must have one");
    refused("g.e", &mixed, "all must have one");
    let timestamp = |weight| Batch {
        edges: vec![Edge { weight, timestamp: Some(7), ..Edge::new(1, 2) }],
        vertices: Vec::new(),
    };
    refused("g.txt", &timestamp(None), "write timestamps first");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    let text = |columns, batch: Batch<u64>| {
        written_text("g", &batch, &WriteOptions { columns, ..WriteOptions::default() })
    };
    assert_eq!(text(Columns::Auto, timestamp(Some(0.5))), "1 2 0.5 7\n");
    assert_eq!(text(Columns::Timestamp, timestamp(Some(0.5))), "1 2 7 0.5\n");
    assert_eq!(text(Columns::Timestamp, timestamp(None)), "1 2 7\n");
    assert_eq!(text(Columns::Topology, timestamp(None)), "1 2\n");
    let written =
        write(&folder.path().join("g.el"), &timestamp(Some(1.0)), &WriteOptions::default()).unwrap();
    assert_eq!(written.lost, Lost { weights: 1, timestamps: 1, vertices: 0 });
}

#[test]
fn text_keys_are_numbered_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let edge = |source: &str, destination: &str| Edge::new(Box::from(source), Box::from(destination));
    let batch: Batch<Box<str>> =
        Batch { edges: vec![edge("pear", "apple"), edge("fig", "pear")], vertices: Vec::new() };
    let path: PathBuf = folder.path().join("g.sg");
    let written = write(&path, &batch, &WriteOptions::default()).unwrap();
    assert_eq!(written.keys.unwrap(), ["apple".into(), "fig".into(), "pear".into()]);
    assert_eq!(read::<u64>(&path).edges, [Edge::new(1, 2), Edge::new(2, 0)]);
    let path = folder.path().join("g.e");
    assert_eq!(write(&path, &batch, &WriteOptions::default()).unwrap().keys, None);
    let whole = drain(GraphReader::<Box<str>>::open_with(&path, ReadOptions::default()).unwrap());
    assert_eq!(whole.read.edges, [edge("fig", "pear"), edge("pear", "apple")]);
}
