//! `import` reads exports back unchanged, whatever the keys and the schema.

use crate::common::Folder;
use hedgerow::{
    Direction, EdgeSchema, EdgeUpdate, Field, Graph, GraphOptions, Key, KeyKind, LabelId, LabelSchema,
    ReadGraph, Record, RecordSchema, ValueType, WriteGraph,
};
use std::collections::BTreeSet;

/// The vertices and edges of the graph in a store.
fn content(folder: &Folder, store: &str) -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let graph = Graph::open(folder.path(store)).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let (mut vertices, mut edges) = (BTreeSet::new(), BTreeSet::new());
    snapshot
        .for_each_vertex(|_, key| {
            let catalog = snapshot.catalog();
            let label = &catalog.labels()[0];
            let to: Vec<Key> = match label.edges.record() {
                None => snapshot.neighbors(LabelId::DEFAULT, &key).unwrap(),
                Some(_) => {
                    let records = snapshot.edges::<Record>((LabelId::DEFAULT, Direction::Out), &key).unwrap();
                    records.into_iter().map(|(to, _)| to).collect()
                }
            };
            edges.extend(to.iter().map(|to| (key.to_string(), to.to_string())));
            vertices.insert(key.to_string());
        })
        .unwrap();
    (vertices, edges)
}

/// Keys that look like names of columns, and keys that lists of keys cannot contain.
const WORDS: [&str; 10] = ["key", "id", "source", "target", "from", "to", "value", "1", "a\"b", "zoë"];
const ANY_TEXT: [&str; 8] = ["", "a b", "a,b", "#x", "%y", "line\nend", "\u{feff}mark", "tab\t"];

fn make(folder: &Folder, kind: KeyKind, keys: &[Key], edges: EdgeSchema) {
    let has_records = edges.record().is_some();
    let label = LabelSchema { name: "edge".into(), edges };
    let graph = GraphOptions::new().keys(kind).label_schema(label).create(folder.path("store")).unwrap();
    let transaction = graph.begin().unwrap();
    for pair in keys.windows(2) {
        transaction.add_vertex(&pair[0]).unwrap();
        if has_records {
            transaction.update_edge(LabelId::DEFAULT, &pair[1], &pair[0], &EdgeUpdate::put()).unwrap();
        } else {
            transaction.put_edge(LabelId::DEFAULT, &pair[1], &pair[0]).unwrap();
        }
    }
    transaction.commit().unwrap();
    graph.close().unwrap();
}

fn text(words: &[&str]) -> Vec<Key> {
    words.iter().map(|word| Key::Text((*word).into())).collect()
}

/// Exports and imports with these names of files and these options; the resulting store must equal
/// the first.
fn goes_round(folder: &Folder, keys: &str, [edges, vertices]: [&str; 2], options: [&str; 2]) {
    let [export, import] = options;
    folder.json(&format!("export store --output {edges} --vertices-output {vertices} {export}"));
    let copy = format!("copy-{edges}-{vertices}");
    // A key that is the name of a column may get a note.
    let import = format!("import {edges} --vertices {vertices} --store {copy} --keys {keys} {import}");
    folder.hedgerow(&import).success();
    assert_eq!(content(folder, &copy), content(folder, "store"), "{edges} {vertices} {options:?}");
}

#[test]
fn vertices_without_properties_come_back_alone() {
    let numbers: Vec<Key> = [3, 1, 2, u64::MAX].map(Key::Number).to_vec();
    for (kind, name, keys) in [(KeyKind::Number, "number", numbers), (KeyKind::String, "text", text(&WORDS))]
    {
        let folder = Folder::new();
        make(&folder, kind, &keys, EdgeSchema::Topology);
        for files in [
            ["e.csv", "v.csv"],
            ["e.csv.gz", "v.csv.zst"],
            ["e.el", "v.txt"],
            ["e.tsv", "v.v"],
            ["e.jsonl", "v.jsonl"],
            ["e.csv", "v.ndjson"],
        ] {
            goes_round(&folder, name, files, ["", ""]);
        }
        let with_header = ["--to properties-csv", "--format properties-csv"];
        goes_round(&folder, name, ["h.csv", "hv.csv"], with_header);
        assert!(folder.read("hv.csv").starts_with("key\n"));
        goes_round(&folder, name, ["j.csv", "jv.csv"], ["--to jsonl", "--format jsonl --anew"]);
        folder.json("export store --output pair.e");
        folder.json(&format!("import pair.e --store pair --keys {name}"));
        assert_eq!(content(&folder, "pair"), content(&folder, "store"));
    }
}

#[test]
fn text_keys_come_back_where_a_format_supports_them_and_errors_name_one() {
    let folder = Folder::new();
    let keys = text(&[&WORDS[..], &ANY_TEXT].concat());
    make(&folder, KeyKind::String, &keys, EdgeSchema::Topology);
    goes_round(&folder, "text", ["e.jsonl", "v.jsonl"], ["", ""]);
    goes_round(&folder, "text", ["e.csv", "v.csv"], ["--to properties-csv", "--format properties-csv"]);
    let formats = &["let the name end in .jsonl", "--to properties-csv"];
    for output in ["x.el", "x.csv", "x.e", "x.adj", "x.jsonl --vertices-output v.csv"] {
        folder.fails(&format!("export store --output {output}"), 1, formats);
    }
    for key in ANY_TEXT {
        let folder = Folder::new();
        make(&folder, KeyKind::String, &text(&[key, "x"]), EdgeSchema::Topology);
        folder.fails("export store --output x.jsonl --vertices-output v.csv", 1, formats);
    }
}

#[test]
fn edges_with_records_of_nulls_come_back() {
    let fields = vec![Field { name: "note".into(), value_type: ValueType::String, nullable: true }];
    for (kind, name, keys) in [
        (KeyKind::Number, "number", [3, 1, 2].map(Key::Number).to_vec()),
        (KeyKind::String, "text", text(&[&WORDS[..], &ANY_TEXT].concat())),
    ] {
        let folder = Folder::new();
        make(&folder, kind, &keys, EdgeSchema::Record(RecordSchema { fields: fields.clone() }));
        let labels = ["", "--labels edge:note=string"];
        goes_round(&folder, name, ["e.csv", "v.jsonl"], labels);
        goes_round(&folder, name, ["e.jsonl", "v.ndjson"], labels);
    }
}

#[test]
fn vertices_with_properties_need_a_format_that_supports_them() {
    let folder = Folder::with("edges", "1 2\n");
    folder.json("import edges --store store --vertex-properties age=i64");
    let export = "export store --output out.el --vertices-output";
    folder.fails(&format!("{export} v.txt"), 2, &["--vertices-output v.txt", ".csv or .jsonl"]);
    folder.json(&format!("{export} v.csv"));
    assert_eq!(folder.read("v.csv"), "key,age\n1,\n2,\n");
}

#[test]
fn a_list_of_text_keys_is_not_taken_for_a_file_with_a_header() {
    let folder = Folder::with("keys.csv", "anna\nben\n");
    folder.write("edges.csv", "anna,ben\nben,anna\n");
    let told = &["a first line of column names, not of values", "key or id"];
    let import = "import edges.csv --store store --keys text";
    folder.fails(&format!("{import} --vertices keys.csv --vertex-properties age=i64"), 3, told);
    let told = &["edges.csv:1: found \"anna,ben\"", "source or src or from, and destination"];
    folder.fails(&format!("{import} --labels pays:note=string"), 3, told);
    folder.write("values.csv", "anna,ben,5\n");
    folder.fails("import values.csv --store store --keys text --labels counts:u32", 3, &["not of values"]);
    folder.write("values.csv", "who,whom,times\nanna,ben,5\n");
    folder.json("import values.csv --store store --keys text --labels counts:u32");
    assert_eq!(folder.json("info store")["edges"], 1);
}

#[test]
fn an_exported_graph_is_the_converted_one_on_any_number_of_threads() {
    let folder = Folder::new();
    folder.hedgerow("generate uniform --vertices 9999 --edges 150000 --weights --output g.wel").success();
    folder.json("import g.wel --store store --weights");
    folder.json("convert g.wel converted.wsg");
    for threads in [1, 3] {
        folder.json(&format!("export store --output {threads}.wsg --threads {threads}"));
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(bytes(&format!("{threads}.wsg")) == bytes("converted.wsg"), "{threads} threads");
    }
}
