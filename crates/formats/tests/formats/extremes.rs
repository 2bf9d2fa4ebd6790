//! Every writer is followed by its own reader, over extreme values: a graph comes back exactly, or
//! its writer refuses it.

use crate::common::drain;
use hedgerow_formats::{
    Batch, Columns, Edge, EdgeListWriter, ErrorKind, FormatError, GraphReader, GraphWriter, LineSchema,
    PropertyFormat, PropertyOptions, PropertyReader, PropertyWriter, ReadOptions, VertexKey,
    VertexListWriter, WriteOptions, Written,
};
use hedgerow_model::{Column, ColumnType, EdgeSchema, Field, Record, RecordSchema, Value, ValueType};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A name for each format, and for each rule that a name implies.
const NAMES: [&str; 10] =
    ["x.txt", "x.el", "x.wel", "x.tsv", "x.csv", "x.e", "x.adj", "x.mtx", "x.sg", "x.wsg"];

const COLUMNS: [Columns; 3] = [Columns::Auto, Columns::Timestamp, Columns::Topology];

fn weight() -> impl Strategy<Value = Option<f64>> {
    let whole = [0.0, 1.0, -1.0, i32::MAX.into(), i32::MIN.into(), (1_u64 << 53) as f64 - 1.0];
    let special = [-0.0, 0.5, f64::MIN_POSITIVE, f64::from_bits(1), (1_u64 << 53) as f64, u64::MAX as f64];
    let limits = [f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    prop_oneof![
        4 => prop::sample::select(whole.to_vec()).prop_map(Some),
        2 => prop::sample::select(special.to_vec()).prop_map(Some),
        1 => prop::sample::select(limits.to_vec()).prop_map(Some),
        1 => any::<u64>().prop_map(|bits| Some(f64::from_bits(bits))),
        1 => Just(None),
    ]
}

fn timestamp() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![Just(None), prop::sample::select(vec![0, -1, i64::MIN, i64::MAX]).prop_map(Some)]
}

fn number() -> impl Strategy<Value = u64> + Clone {
    prop::sample::select(vec![0, 1, 2, 7, 1 << 32, 1 << 63, u64::MAX])
}

/// Ids of dense graphs: the last is beyond the rows that a small matrix may have.
fn id() -> impl Strategy<Value = u64> + Clone {
    prop_oneof![60 => 0..5_u64, 1 => Just(1_200_000)]
}

fn text() -> impl Strategy<Value = Box<str>> + Clone {
    let fine = ["a", "b", "1", "-1", "1.5", "\"", "'a'", "é", "\u{a0}", "\u{85}", "\u{2028}", "🦔", "a#"];
    let refused =
        ["", " ", "a b", "a,b", "a\t", "#a", "%%MatrixMarket", "\u{feff}a", "a\nb", "\r", "\0", "\u{7f}"];
    prop_oneof![9 => prop::sample::select(fine.to_vec()), 1 => prop::sample::select(refused.to_vec())]
        .prop_map(Box::<str>::from)
}

fn batch<K: VertexKey>(key: impl Strategy<Value = K> + Clone) -> impl Strategy<Value = Batch<K>> {
    let edge = (key.clone(), key.clone(), weight(), timestamp());
    let edge = edge.prop_map(|(source, destination, weight, timestamp)| Edge {
        source,
        destination,
        weight,
        timestamp,
    });
    // Formats of whole graphs refuse edges of which some have weights and some have none.
    let alike = |(mut edges, have_weights): (Vec<Edge<K>>, Option<bool>)| {
        for edge in &mut edges {
            edge.weight = match have_weights {
                Some(true) => edge.weight.or(Some(1.0)),
                Some(false) => None,
                None => edge.weight,
            };
        }
        edges
    };
    let have_weights = prop::sample::select(vec![None, Some(false), Some(true), Some(true)]);
    let edges = (prop::collection::vec(edge, 0..6), have_weights).prop_map(alike);
    (prop::collection::vec(key, 0..3), edges).prop_map(|(vertices, edges)| {
        let mut batch = Batch::new();
        (batch.vertices, batch.edges) = (vertices, edges);
        batch
    })
}

fn write<K: VertexKey>(
    path: &Path,
    graph: &Batch<K>,
    options: &WriteOptions,
) -> Result<(Written<K>, bool), FormatError> {
    let mut writer = GraphWriter::create(path, options)?;
    let is_list = writer.format().is_edge_list();
    writer.write(graph)?;
    Ok((writer.finish()?, is_list))
}

/// Weights by their bits: a negative zero is not zero.
fn exact<K>(edges: Vec<Edge<K>>) -> Vec<(K, K, Option<u64>, Option<i64>)> {
    let exact = |Edge { source, destination, weight, timestamp }| {
        (source, destination, weight.map(f64::to_bits), timestamp)
    };
    edges.into_iter().map(exact).collect()
}

/// Writes a graph and reads it back.
fn check<K: VertexKey>(name: &str, columns: Columns, keep_ids: bool, graph: &Batch<K>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let options = WriteOptions { columns, keep_ids, ..WriteOptions::default() };
    let (written, is_list) = match write(&path, graph, &options) {
        Ok(written) => written,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::BadInput, "{error}");
            assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{error}");
            return;
        }
    };
    // Formats other than edge lists have a fixed order of columns.
    let columns = if is_list { columns } else { Columns::Auto };
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let mut expected = graph.edges.clone();
    for edge in &mut expected {
        edge.weight = edge.weight.filter(|_| written.lost.weights == 0);
        edge.timestamp = edge.timestamp.filter(|_| written.lost.timestamps == 0);
    }
    if is_list {
        let read = drain(GraphReader::<K>::open_with(&path, options).unwrap());
        read.end.unwrap();
        assert_eq!(exact(read.read.edges), exact(expected));
        return;
    }
    // Of several edges between the same vertices the last one counts.
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|edge| ((edge.source, edge.destination), edge.weight)).collect();
    let expected: Vec<_> =
        expected.into_iter().map(|((from, to), weight)| (from, to, weight.map(f64::to_bits), None)).collect();
    let ends = graph.edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
    let mut vertices: BTreeSet<K> = graph.vertices.iter().chain(ends).cloned().collect();
    let (read_vertices, mut read_edges) = match written.keys {
        None => {
            let read = drain(GraphReader::<K>::open_with(&path, options).unwrap());
            read.end.unwrap();
            (read.read.vertices, read.read.edges)
        }
        Some(keys) => {
            let read = drain(GraphReader::<u64>::open_with(&path, options).unwrap());
            read.end.unwrap();
            let first = if name.ends_with(".mtx") { 1 } else { 0 };
            let key = |number: u64| keys[(number - first) as usize].clone();
            let edge = |edge: Edge<u64>| Edge {
                weight: edge.weight,
                timestamp: edge.timestamp,
                ..Edge::new(key(edge.source), key(edge.destination))
            };
            (
                read.read.vertices.into_iter().map(key).collect(),
                read.read.edges.into_iter().map(edge).collect(),
            )
        }
    };
    read_edges
        .sort_by(|one, other| (&one.source, &one.destination).cmp(&(&other.source, &other.destination)));
    let ends = read_edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
    let read_vertices: BTreeSet<K> = read_vertices.iter().chain(ends).cloned().collect();
    if keep_ids {
        // Numbers without a key are vertices, too.
        vertices.extend(read_vertices.iter().cloned());
    }
    assert_eq!(exact(read_edges), expected);
    assert_eq!(read_vertices, vertices);
}

proptest! {
    #[test]
    fn graphs_of_numbers_come_back_or_are_refused(
        graph in batch(number()),
        name in prop::sample::select(NAMES.to_vec()),
        columns in prop::sample::select(COLUMNS.to_vec()),
    ) {
        check(name, columns, false, &graph);
    }

    #[test]
    fn graphs_of_ids_come_back_or_are_refused(graph in batch(id()), name in prop::sample::select(NAMES.to_vec())) {
        check(name, Columns::Auto, true, &graph);
    }

    #[test]
    fn graphs_of_texts_come_back_or_are_refused(
        graph in batch(text()),
        name in prop::sample::select(NAMES.to_vec()),
        columns in prop::sample::select(COLUMNS.to_vec()),
    ) {
        check(name, columns, false, &graph);
    }

    #[test]
    fn vertices_come_back_or_are_refused(keys in prop::collection::vec(text(), 0..5)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut writer = VertexListWriter::create(&path).unwrap();
        let kept: Vec<Box<str>> = keys.into_iter().filter(|key| writer.write(&**key).is_ok()).collect();
        writer.complete().unwrap().finish().unwrap();
        let read = drain(GraphReader::<Box<str>>::open_vertices(&path, ReadOptions::default()).unwrap());
        read.end.unwrap();
        prop_assert_eq!(read.read.vertices, kept);
    }

    #[test]
    fn properties_of_any_name_come_back_or_are_refused(
        names in prop::collection::btree_set(name_of_property(), 1..5),
        key in text(),
        values in prop::collection::vec(prop::option::of(text()), 5),
    ) {
        let fields: Vec<Field> = names
            .into_iter()
            .map(|name| Field { name: name.to_owned(), value_type: ValueType::String, nullable: true })
            .collect();
        let value = |value: Option<Box<str>>| value.map_or(Value::Null, |text| Value::from(&*text));
        let record = Record::new(values.into_iter().take(fields.len()).map(value).collect());
        let schema = RecordSchema { fields };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for format in [PropertyFormat::Csv, PropertyFormat::JsonLines] {
            for lines in [LineSchema::Vertices(schema.clone()), LineSchema::Edges(EdgeSchema::Record(schema.clone()))] {
                let Ok(mut writer) = PropertyWriter::create(&path, format, &lines) else { continue };
                match &lines {
                    LineSchema::Vertices(_) => writer.write_vertex(&*key, &record).unwrap(),
                    LineSchema::Edges(_) => writer.write_edge_record(&*key, "b", &record).unwrap(),
                }
                writer.complete().unwrap().finish().unwrap();
                let mut reader = PropertyReader::<Box<str>>::open(&path, &PropertyOptions::new(format, lines)).unwrap();
                let mut read = hedgerow_formats::PropertyBatch::new();
                prop_assert!(reader.read_batch(&mut read).unwrap());
                let found = read.vertices.iter().map(|(found, record)| (found, record));
                let found = found.chain(read.edges.iter().map(|edge| (&edge.source, &edge.record)));
                prop_assert_eq!(found.collect::<Vec<_>>(), [(&key, &record)], "{}", format);
            }
        }
    }
}

/// Names with special characters of the formats, and names of key columns.
fn name_of_property() -> impl Strategy<Value = &'static str> {
    let hostile = ["", " ", "a,b", "a\"b", "\"", "a\nb", "\r", "\0", "\u{feff}", "#", "1", "null"];
    let keys = ["key", "id", "Id", "source", "Source", "src", "from", "to", "value"];
    prop::sample::select([&hostile[..], &keys[..]].concat())
}

#[test]
fn numbers_that_are_not_one_come_back_in_lines_with_properties() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for format in [PropertyFormat::Csv, PropertyFormat::JsonLines] {
        for column in [ColumnType::F32, ColumnType::F64] {
            let nan = match column {
                ColumnType::F32 => Column::to_bits(f32::NAN),
                _ => Column::to_bits(f64::NAN),
            };
            let lines = LineSchema::Edges(EdgeSchema::Value(column));
            let mut writer = PropertyWriter::create(&path, format, &lines).unwrap();
            writer.write_edge(1, 2, nan).unwrap();
            writer.complete().unwrap().finish().unwrap();
            let mut reader =
                PropertyReader::<u64>::open(&path, &PropertyOptions::new(format, lines)).unwrap();
            let mut read = hedgerow_formats::PropertyBatch::new();
            assert!(reader.read_batch(&mut read).unwrap());
            assert_eq!(read.edges[0].value, Some(nan), "{column} {format}");
        }
    }
}

#[test]
fn a_matrix_with_more_rows_than_its_reader_takes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    let options = WriteOptions { keep_ids: true, ..WriteOptions::default() };
    let mut graph = Batch::<u64>::new();
    graph.edges.push(Edge::new(1, (1 << 20) + 65));
    let error = write(&path, &graph, &options).unwrap_err();
    assert!(error.to_string().contains("1048641 rows"), "{error}");
    graph.edges[0].destination -= 1;
    check("x.mtx", Columns::Auto, true, &graph);
}

#[test]
fn keys_below_zero_and_lines_that_are_too_long_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |written: Result<(), FormatError>, part: &str| {
        let error = written.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.to_string().contains(part), "{error}");
    };
    let below = "numbers as keys are 0 or greater";
    let mut edges = EdgeListWriter::create(folder.path().join("edges")).unwrap();
    refused(edges.write(-1, 2, None), below);
    refused(edges.write(1, -2, None), below);
    refused(VertexListWriter::create(folder.path().join("keys")).unwrap().write(i64::MIN), below);
    let field = Field { name: "note".to_owned(), value_type: ValueType::String, nullable: true };
    let lines = LineSchema::Edges(EdgeSchema::Record(RecordSchema { fields: vec![field] }));
    let long = Record::new(vec![Value::from("x".repeat(16 << 20))]);
    for format in [PropertyFormat::Csv, PropertyFormat::JsonLines] {
        let path = folder.path().join("lines");
        let mut writer = PropertyWriter::create(&path, format, &lines).unwrap();
        refused(writer.write_edge_record(1, -2, &long), below);
        refused(writer.write_edge_record(1, 2, &long), "readers take lines of at most 16,777,216 bytes");
        writer.write_edge_record(1, 2, &Record::new(vec![Value::Null])).unwrap();
        writer.complete().unwrap().finish().unwrap();
        let mut reader =
            PropertyReader::<u64>::open(&path, &PropertyOptions::new(format, lines.clone())).unwrap();
        let mut read = hedgerow_formats::PropertyBatch::new();
        assert!(reader.read_batch(&mut read).unwrap());
        assert_eq!((read.edges.len(), read.edges[0].value), (1, None));
    }
}
