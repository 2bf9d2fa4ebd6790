//! `hedgerow import`, and `hedgerow export` of the result.

use crate::common::{Folder, lines_of};
use flate2::Compression;
use flate2::write::GzEncoder;
use hedgerow::{EngineKind, GraphOptions, LabelId};
use serde_json::{Value, json};
use std::io::Write;

/// Three components, a repeated edge, a self loop.
const GRAPH: &str = "# edges\n10 20 3\n20 30 4.5\n10 20 5\n30 10 -1\n40 40 6\n7 18446744073709551615 2\n";

/// The distinct edges of a store or a graph file, sorted, as `convert` and `export` write them.
fn edges_of(folder: &Folder, command: &str) -> Vec<String> {
    folder.json(command);
    lines_of(&folder.read("edges.el")).into_iter().collect()
}

#[test]
fn imports_from_any_format_are_exported_unchanged() {
    let folder = Folder::with("graph.wel", GRAPH);
    folder.write("names.txt", "pear apple\nfig pear\nZürich fig\n");
    folder.write("small.el", "0 1\n1 2\n2 0\n5 5\n");
    for name in ["graph.csv.gz", "graph.tsv.zst", "graph.e", "graph.mtx", "graph.wsg.gz", "graph.adj"] {
        folder.json(&format!(
            "convert {} {name}",
            if name.contains("wsg") { "small.wel" } else { "graph.wel" }
        ));
        if name == "graph.mtx" {
            folder.write("small.wel", "0 1 7\n1 2 8\n2 0 9\n4 4 1\n");
        }
    }
    folder.json("convert small.el small.sg");
    folder.json("convert names.txt names.e --keys text");
    for (file, options) in [
        ("graph.wel", ""),
        ("graph.csv.gz", ""),
        ("graph.tsv.zst", "--engine tel"),
        ("graph.e", "--reverse"),
        ("graph.mtx", "--durability none"),
        ("graph.wsg.gz", "--durability buffered"),
        ("graph.adj", "--chunk 2"),
        ("small.sg", "--keys dense --engine tel"),
        ("small.el", "--keys dense --chunk 1 --threads 1"),
        ("names.txt", "--keys text"),
        ("names.e", "--keys text --chunk 1"),
    ] {
        for direction in ["", "--undirected"] {
            if !direction.is_empty() && options.contains("--reverse") {
                continue;
            }
            let store = format!("{file}{direction}.store");
            let imported = folder.json(&format!("import {file} --store {store} {options} {direction}"));
            let keys =
                options.split("--keys ").nth(1).map_or("number", |rest| rest.split(' ').next().unwrap());
            let stats = folder.json(&format!("stats {file} --keys {keys} {direction}"));
            for field in ["vertices", "edges", "rows"] {
                assert_eq!(imported[field], stats[field], "{file} {options} {direction}: {field}");
            }
            if direction.is_empty() {
                let original = edges_of(&folder, &format!("convert {file} edges.el --keys {keys}"));
                let exported = edges_of(&folder, &format!("export {store} --output edges.el"));
                assert_eq!(exported, original, "{file} {options}");
            }
            // Use the format that names all vertices and marks itself as undirected.
            folder.json(&format!("export --store {store} --output again.e"));
            let again = folder.json(&format!("stats again.e --keys {keys} {direction}"));
            for field in ["vertices", "edges", "self_loops", "components"] {
                assert_eq!(again[field], stats[field], "{file} {options} {direction}: {field}");
            }
        }
    }
}

#[test]
fn weights_are_kept_if_asked_for_and_the_last_of_an_edge_stays() {
    let folder = Folder::with("graph.wel", GRAPH);
    let imported = folder.json("import graph.wel --store store --weights --chunk 2");
    assert_eq!((&imported["values"], &imported["weights_left_out"]), (&"f64".into(), &0.into()));
    folder.json("export store --output again.wel");
    let expected = "10 20 5\n20 30 4.5\n30 10 -1\n40 40 6\n7 18446744073709551615 2\n";
    assert_eq!(folder.read("again.wel"), expected);
    let left = folder.json("import graph.wel --store plain");
    assert_eq!((&left["values"], &left["weights_left_out"]), (&Value::Null, &6.into()));
    assert!(folder.text("import graph.wel --store plain").contains("6 weights left out"));
    folder.write("light.txt", "1 2 0.5\n2 3\n");
    let light = ["light.txt: the edge from 2 to 3 has no weight"];
    folder.fails("import light.txt --store none --weights", 3, &light);
    folder.fails("import light.txt --store store", 3, &light);
    assert!(!folder.path("none").exists());
}

#[test]
fn the_summary_has_the_facts() {
    let folder = Folder::with("graph", GRAPH);
    folder.write("more", "10 50\n10 20\n");
    folder.write("alone", "1000\n10\n");
    let first = folder.json("import graph --store store --undirected --label knows");
    let expected = json!({
        "store": "store", "created": true, "files": ["graph"], "topology": "undirected", "keys": "number",
        "label": "knows", "values": null, "engine": "rapid", "durability": "buffered", "resumed": false, "rows": 6,
        "skipped_lines": 0, "weights_left_out": 6, "vertices": 6, "edges": 5, "vertices_added": 6,
        "edges_added": 5, "commits": 1,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&first[field], value, "{field}");
    }
    assert_eq!((&first["checkpoint"]["timestamp"], &first["checkpoint"]["edges"]), (&1.into(), &5.into()));
    assert!(first["seconds"].as_f64() > Some(0.0) && first["edges_per_second"].as_f64() > Some(0.0));
    let second = folder.json("import more graph --vertices alone --store store --checkpoint never");
    let expected = json!({
        "created": false, "files": ["alone", "more", "graph"], "rows": 8, "vertices": 8, "edges": 6,
        "vertices_added": 2, "edges_added": 1, "commits": 4, "checkpoint": null, "resumed": false,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&second[field], value, "{field}");
    }
    let text = folder.text("import more --store store");
    for part in
        ["opened with engine rapid", "6, 0 of them new", "2 rows in 2 commits; 2 repeat an edge", "time"]
    {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn the_same_files_again_are_a_new_import() {
    let folder = Folder::with("graph", GRAPH);
    folder.json("import graph --store store");
    let again = folder.json("import graph --store store");
    assert_eq!(
        (&again["rows"], &again["resumed"], &again["edges_added"]),
        (&6.into(), &false.into(), &0.into())
    );
    folder.json("delete edge 10 20 --store store");
    assert_eq!(folder.json("import graph --store store")["edges_added"], 1);
}

#[test]
fn compressed_files_and_standard_input_are_imported_in_their_order() {
    let folder = Folder::with("one", "1 2 1\n");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"1 2 2\n3 4 5\n").unwrap();
    folder.write("two.gz", encoder.finish().unwrap());
    let mut command = assert_cmd::Command::new(crate::common::PROGRAM);
    let arguments = "import one two.gz - --store store --weights --json";
    command.current_dir(folder.root()).args(arguments.split(' ')).write_stdin("3 4 6\n").assert().success();
    folder.json("export store --output edges.wel");
    assert_eq!(folder.read("edges.wel"), "1 2 2\n3 4 6\n");
    folder.fails("import - - --store other", 2, &["standard input can be read once only"]);
    folder.fails("import one - --store other --atomic", 2, &["--atomic reads all files twice", "-"]);
    assert!(!folder.path("other").exists());
}

#[test]
fn with_atomic_nothing_is_imported_if_anything_is_wrong() {
    let folder = Folder::with("good", "1 2\n2 3\n3 4\n");
    folder.write("bad", "4 5\n5 6\n6 x\n");
    let refused = ["bad:3:3", "decimal digits", "; that is --keys text"];
    folder.fails("import good bad --store store --chunk 1 --atomic", 3, &refused);
    assert_eq!(folder.names(), ["bad", "good"]);
    folder.json("import good --store store --atomic");
    folder.fails("import good bad --store store --chunk 1 --atomic", 3, &refused);
    assert_eq!(folder.json("info store")["edges"], 3);
    folder.write("light", "1 2 1\n1 3\n");
    folder.fails(
        "import light --store weighted --weights --chunk 1 --atomic",
        3,
        &["from 1 to 3 has no weight"],
    );
    folder.write("large", "1 2\n1 4294967295\n");
    folder.fails("import large --store dense --keys dense --chunk 1 --atomic", 4, &["4294967295"]);
    assert_eq!(folder.names(), ["bad", "good", "large", "light", "store"]);
    // Without the option, the earlier files stay.
    let stopped = ["bad:3:3", "1 edge of", "bad and all that was named before it are in store"];
    folder.fails("import good bad --store store --chunk 1", 3, &stopped);
    assert_eq!(folder.json("info store")["edges"], 4);
}

#[test]
fn nothing_is_made_before_there_is_anything_to_put_into_it() {
    let folder = Folder::with("bad", "1 x\n");
    folder.fails("import bad --store store", 3, &["bad:1:3", "; that is --keys text"]);
    folder.fails("import bad nowhere --store store", 3, &["nowhere: cannot open: No such file"]);
    folder.fails("import . --store store", 3, &["this is a directory"]);
    folder.fails("import bad --vertices nowhere --store store", 3, &["nowhere: cannot open"]);
    folder.fails(
        "import bad --store store --label a --labels b,c:f64",
        2,
        &["no label \"a\"", "\"b\", \"c\""],
    );
    folder.fails("import bad --store store --labels b,b", 2, &["\"b\" is declared twice"]);
    folder.fails("import bad --store store --labels b:text", 2, &["\"text\" is no type of values"]);
    let unknown = "fast".parse::<EngineKind>().unwrap_err().to_string();
    folder.fails("import bad --store store --engine fast", 2, &[&unknown]);
    folder.fails("import bad --store store --undirected --reverse", 2, &["cannot be used with"]);
    folder.fails("import bad --store store --chunk 0", 2, &["a whole number from 1"]);
    folder.fails("import --store store", 2, &["<FILE>..."]);
    folder.fails("import bad", 2, &["--store <DIR>"]);
    assert_eq!(folder.names(), ["bad"]);
    let skipped = folder.json("import bad --store store --skip-bad-lines");
    assert_eq!((&skipped["skipped_lines"], &skipped["vertices"]), (&1.into(), &0.into()));
}

#[test]
fn options_that_contradict_the_store_are_refused_with_both_sides() {
    let folder = Folder::with("graph", "1 2 3\n");
    folder.json("import graph --store store --labels knows,likes:f64,rates:u32");
    for (options, parts) in [
        ("--undirected", ["topology", "is directed, not undirected"]),
        ("--reverse", ["topology", "is directed, not directed with reverse adjacency"]),
        ("--keys text", ["kind of keys", "is number, not text"]),
        ("--keys dense", ["kind of keys", "is number, not dense"]),
        ("--labels knows", ["list of labels", "is knows,likes:f64,rates:u32, not knows; leave --labels out"]),
        ("--label hates", ["there is no label \"hates\" in store", "only \"knows\", \"likes\", \"rates\""]),
        ("--weights", ["--weights: the edges of the label \"knows\"", "carry no value"]),
        ("--label rates", ["the weights in this file are of type f64", "carry a value of type u32"]),
    ] {
        folder.fails(&format!("import graph --store store {options}"), 2, &parts);
    }
    let same = "--keys number --labels knows,likes:f64,rates:u32 --label likes --weights --engine tel";
    let imported = folder.json(&format!("import graph --store store {same}"));
    assert_eq!((&imported["edges"], &imported["engine"]), (&2.into(), &"tel".into()));
    assert_eq!(folder.text("neighbors 1 --store store --label likes"), "2 3\n");
}

#[test]
fn a_limit_of_memory_stops_an_import_and_what_was_committed_stays() {
    let folder = Folder::new();
    folder.json("generate kronecker --scale 12 --output kron");
    let limit = "import kron --store store --chunk 1000 --memory-limit 600kB";
    folder.fails(limit, 4, &["memory", "--memory-limit", "the same command goes on from there"]);
    let resumed = folder.json("import kron --store store --chunk 3000");
    assert_eq!(resumed["resumed"], true);
    assert_eq!(resumed["edges"], folder.json("stats kron")["edges"]);
    assert!(resumed["rows"].as_u64() < Some(16 << 12));
}

#[test]
fn a_store_that_is_open_elsewhere_is_refused_with_its_holder() {
    let folder = Folder::with("graph", "1 2\n");
    let graph = GraphOptions::new().create(folder.path("store")).unwrap();
    let holder = format!("locked by process {}", std::process::id());
    folder.fails("import graph --store store", 5, &["the store is in use", &holder, "--from-checkpoint"]);
    graph.close().unwrap();
    folder.json("import graph --store store");
}

#[test]
fn an_import_of_another_program_is_given_up_only_with_anew() {
    let folder = Folder::with("graph", "1 2\n");
    let graph = GraphOptions::new().create(folder.path("store")).unwrap();
    graph.ingest_from(LabelId::DEFAULT, &[(5u64, 6u64)], b"line 1").unwrap();
    graph.close().unwrap();
    drop(graph);
    folder.fails("import graph --store store", 2, &["another program imports into store", "--anew"]);
    assert_eq!(folder.json("info store")["import"], json!({ "bytes": 6 }));
    folder.json("import graph --store store --anew");
    let noted = &folder.json("info store")["import"];
    assert_eq!((&noted["finished"], &noted["edges_of_file"]), (&true.into(), &1.into()));
}
