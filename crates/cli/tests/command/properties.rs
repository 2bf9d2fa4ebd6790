//! Properties in files: `hedgerow import` and `export` of CSV with a header and of JSON lines, and
//! `hedgerow schema`.

use crate::common::Folder;
use flate2::write::GzEncoder;
use hedgerow::{
    ColumnType, EdgeSchema, EdgeUpdate, Field, Graph, GraphOptions, KeyKind, LabelSchema, ReadGraph, Record,
    RecordSchema, Topology, Value, ValueType, WriteGraph,
};
use serde_json::json;
use std::io::Write;

const LABELS: &str = "--labels knows,pays:amount=f64!+note=string --label pays";

#[test]
fn edges_of_a_csv_file_with_a_header_are_imported_with_their_properties() {
    let csv = "note,to,from,amount\r\n\"rent, \"\"March\"\"\nand April\",20,10,9.5\r\n,30,10,1e3\r\n\"\",30,20,-0.25\r\n";
    let folder = Folder::with("pays.csv", csv);
    let imported = folder.json(&format!("import pays.csv --store store {LABELS}"));
    assert_eq!(
        (&imported["edges"], &imported["rows"], &imported["label"], &imported["commits"]),
        (&3.into(), &3.into(), &"pays".into(), &1.into())
    );
    let of =
        |from: u64| folder.json(&format!("neighbors {from} --store store --label pays"))["neighbors"].clone();
    assert_eq!(
        of(10),
        json!([
            { "key": 20, "properties": { "amount": 9.5, "note": "rent, \"March\"\nand April" } },
            { "key": 30, "properties": { "amount": 1000.0, "note": null } },
        ])
    );
    assert_eq!(of(20), json!([{ "key": 30, "properties": { "amount": -0.25, "note": "" } }]));
    // A line is the whole record.
    folder.write("again.csv", "source,destination,amount\n10,20,8\n");
    folder.json("import again.csv --store store --label pays");
    assert_eq!(of(10)[0]["properties"], json!({ "amount": 8.0, "note": null }));
    assert_eq!(folder.json("info store")["edges"], 3);
}

/// Numbers that only unsigned integers hold come back unchanged from files, commands and stores.
#[test]
fn unsigned_properties_are_whole_numbers_up_to_their_largest() {
    let csv = "source,destination,amount\n1,2,18446744073709551615\n2,3,9223372036854775808\n3,4,0\n";
    let folder = Folder::with("pays.csv", csv);
    folder.json("import pays.csv --store store --labels pays:amount=u64! --vertex-properties age=u64");
    let amounts = || {
        [1, 2, 3].map(|from| folder.json(&format!("neighbors {from} --store store"))["neighbors"][0]["properties"]["amount"].clone())
    };
    assert_eq!(amounts(), [json!(u64::MAX), json!(1_u64 << 63), json!(0)]);
    folder.json("export store --output out.csv");
    let exported = folder.read("out.csv");
    assert_eq!(exported.lines().skip(1).collect::<Vec<_>>(), csv.lines().skip(1).collect::<Vec<_>>());
    folder.json("export store --output out.jsonl");
    let lines = folder.read("out.jsonl");
    assert!(lines.contains("\"amount\":18446744073709551615"), "{lines}");
    folder.json("import out.jsonl --store again --labels pays:amount=u64!");
    folder.json("export again --output again.csv");
    assert_eq!(folder.read("again.csv"), exported);

    folder.json("put edge 3 4 --store store --property amount=18446744073709551614 --only-if amount=0");
    folder.json("put vertex 1 --store store --property age=18446744073709551615");
    assert_eq!(folder.text("get edge 3 4 --store store"), "3 4 amount=18446744073709551614\n");
    assert_eq!(folder.json("get vertex 1 --store store")["properties"]["age"], json!(u64::MAX));
    folder.json("checkpoint store");
    assert_eq!(folder.text("get edge 1 2 --store store"), "1 2 amount=18446744073709551615\n");
    let schema = folder.text("schema store");
    assert!(schema.contains("amount") && schema.contains("u64"), "{schema}");
    let expected = "a whole number from 0 to 18446744073709551615 (u64)";
    for wrong in ["-1", "18446744073709551616", "1.5"] {
        folder.fails(&format!("put edge 1 2 --store store --property amount={wrong}"), 2, &[expected]);
        folder.write("wrong.csv", format!("source,destination,amount\n5,6,{wrong}\n"));
        folder.fails("import wrong.csv --store store", 3, &["wrong.csv:2", expected]);
    }
    let newest = folder.text("neighbors 1 --store store --newest 1 --by amount");
    assert_eq!(newest, "2 amount=18446744073709551615\n");
}

#[test]
fn json_lines_and_vertices_with_properties_are_imported_from_compressed_files_and_pipes() {
    let lines = "{\"from\":\"anna b\",\"to\":\"ben\",\"at\":\"2026-01-31T12:00:00.5Z\",\"raw\":\"00ff\"}\n\
                 {\"from\":\"ben\",\"to\":\"ben\",\"ok\":true}\n";
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(lines.as_bytes()).unwrap();
    let folder = Folder::with("sees.jsonl.gz", encoder.finish().unwrap());
    folder.write("people.csv", "id,name,age\n\"anna b\",Anna,31\nzoe,,\n");
    let import = "import sees.jsonl.gz --vertices people.csv --store store --keys text --undirected \
                  --labels sees:at=timestamp+raw=bytes+ok=bool --vertex-properties name=string,age=i64";
    let imported = folder.json(import);
    assert_eq!((&imported["vertices"], &imported["edges"]), (&3.into(), &2.into()));
    assert_eq!(
        folder.json("neighbors ben --store store")["neighbors"],
        json!([
            { "key": "anna b", "properties": { "at": "2026-01-31T12:00:00.500000Z", "raw": "00ff", "ok": null } },
            { "key": "ben", "properties": { "at": null, "raw": null, "ok": true } },
        ])
    );
    assert_eq!(
        folder.json("get vertex zoe --store store")["properties"],
        json!({ "name": null, "age": null })
    );
    // The exported vertices include the key that the test's command lines cannot contain.
    folder.json("export store --output sees.ndjson --vertices-output people.jsonl");
    assert!(folder.read("people.jsonl").starts_with("{\"key\":\"anna b\",\"name\":\"Anna\",\"age\":31}\n"));
    let mut piped = assert_cmd::Command::new(crate::common::PROGRAM);
    let options =
        "import - --format jsonl --store piped --keys text --labels sees:at=timestamp+raw=bytes+ok=bool";
    piped.current_dir(folder.root()).args(options.split_whitespace()).write_stdin(lines).assert().success();
    assert_eq!(folder.json("info piped")["edges"], 2);
}

/// Every type, of edges and of vertices.
fn every_type() -> RecordSchema {
    let field = |value_type: ValueType| Field { name: value_type.to_string(), value_type, nullable: true };
    RecordSchema { fields: ValueType::ALL.map(field).to_vec() }
}

/// Records with values that are hard to write.
fn records() -> Vec<Vec<Value>> {
    let record = |truth, whole, float, text: &str, bytes: &[u8], time| {
        vec![
            Value::Bool(truth),
            Value::I64(whole),
            Value::U64(whole.cast_unsigned()),
            Value::F64(float),
            Value::from(text),
            Value::from(bytes),
            Value::Timestamp(time),
        ]
    };
    vec![
        record(true, i64::MIN, f64::MAX, "", &[], i64::MIN),
        record(false, i64::MAX, f64::MIN_POSITIVE, " \"a\", 'b'\r\n\tü🦔\\ ", &[0, 255], i64::MAX),
        record(true, 0, -0.0, "null", b"\n", -1),
        record(true, -1, 0.1 + 0.2, "\0", &[34], 0),
        record(true, 1, f64::INFINITY, ",", &[44], 1),
        record(true, 1, 5e-324, "#", &[44], 1),
        vec![Value::Null; 7],
    ]
}

/// All vertices and edges with their properties.
fn contents(folder: &Folder, store: &str) -> Vec<String> {
    let graph = Graph::open(folder.path(store)).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let mut contents = Vec::new();
    snapshot
        .for_each_vertex(|_, key| {
            contents.push(format!("{key:?} {:?}", snapshot.properties(&key).unwrap()));
            let records = graph.catalog().label_id("sees").unwrap();
            for (neighbor, record) in
                snapshot.edges::<Record>((records, hedgerow::Direction::Out), &key).unwrap()
            {
                contents.push(format!("{key:?} sees {neighbor:?} {record:?}"));
            }
            let values = graph.catalog().label_id("weighs").unwrap();
            for (neighbor, value) in snapshot.edges::<u64>((values, hedgerow::Direction::Out), &key).unwrap()
            {
                contents.push(format!("{key:?} weighs {neighbor:?} {value:?}"));
            }
        })
        .unwrap();
    contents.sort();
    contents
}

fn options(keys: KeyKind, topology: Topology) -> GraphOptions {
    GraphOptions::new()
        .keys(keys)
        .topology(topology)
        .label_schema(LabelSchema { name: "sees".into(), edges: EdgeSchema::Record(every_type()) })
        .label_schema(LabelSchema { name: "weighs".into(), edges: EdgeSchema::Value(ColumnType::U64) })
        .vertex_properties(every_type())
}

#[test]
fn exports_are_imported_unchanged() {
    let names = ["", "anna", "ben, \"b\"\r\nc", "🦔 ü", "#x", "7", "a\0b"];
    for (keys, topology) in [
        (KeyKind::Number, Topology::Directed),
        (KeyKind::String, Topology::DirectedWithReverse),
        (KeyKind::String, Topology::Undirected),
    ] {
        let key = |number: usize| match keys {
            KeyKind::String => hedgerow::Key::Text(names[number].into()),
            _ => hedgerow::Key::Number([0, 1, u64::MAX, 7, 1 << 53, 9, 10][number]),
        };
        let folder = Folder::new();
        let graph = options(keys, topology).create(folder.path("store")).unwrap();
        let (sees, weighs) =
            (graph.catalog().label_id("sees").unwrap(), graph.catalog().label_id("weighs").unwrap());
        let schema = every_type();
        for (number, record) in records().into_iter().enumerate() {
            let properties: Vec<_> =
                schema.fields.iter().map(|field| field.name.as_str()).zip(record).collect();
            graph.set_properties(key(number), &properties).unwrap();
            let update = properties
                .iter()
                .fold(EdgeUpdate::put(), |update, (name, value)| update.set(name, value.clone()));
            graph.update_edge(sees, key(number), key((number + 3) % 7), &update).unwrap();
            graph.update_edge(sees, key(number), key(number), &update).unwrap();
            graph.put_edge_with(weighs, key(number), key(6 - number), u64::MAX - number as u64).unwrap();
        }
        drop(graph);
        let before = contents(&folder, "store");
        for end in ["csv", "jsonl", "csv.zst", "ndjson.gz"] {
            let (sees, weighs) = (format!("sees.{end}"), format!("weighs.{end}"));
            let exported = folder
                .json(&format!("export store --label sees --output {sees} --vertices-output vertices.{end}"));
            assert_eq!((&exported["lost_vertices"], &exported["vertices"]), (&0.into(), &7.into()));
            folder.json(&format!("export store --label weighs --output {weighs}"));
            drop(options(keys, topology).create(folder.path(end)).unwrap());
            folder.json(&format!(
                "import {sees} --vertices vertices.{end} --store {end} --label sees --chunk 3"
            ));
            folder.json(&format!("import {weighs} --store {end} --label weighs --atomic"));
            assert_eq!(contents(&folder, end), before, "{end} {keys:?} {topology:?}");
        }
    }
}

#[test]
fn values_of_every_type_are_imported_by_a_column_of_any_name() {
    let folder = Folder::with("road.csv", "from,to,metres\n1,2,4294967295\n");
    folder.json("import road.csv --store store --labels road:u32");
    assert_eq!(folder.text("get edge 1 2 --store store"), "1 2 4294967295\n");
    folder.json("export store --output out.csv");
    assert_eq!(folder.read("out.csv"), "source,destination,value\n1,2,4294967295\n");
    // Values that fit into an edge list are written as an edge list, unless an option says
    // otherwise.
    folder.json("import road.csv --store floats --labels road:f64 --format properties-csv");
    folder.json("export floats --output out.csv");
    assert_eq!(folder.read("out.csv"), "1,2,4294967295\n");
    folder.json("export floats --output out.csv --to properties-csv");
    assert_eq!(folder.read("out.csv"), "source,destination,value\n1,2,4294967295.0\n");
    folder.json("export floats --output out --to jsonl");
    assert_eq!(folder.read("out"), "{\"source\":1,\"destination\":2,\"value\":4294967295.0}\n");
    folder.write("names.csv", "b,a,m\n2,1,7\n");
    folder.json("import names.csv --store store --source-column a --destination-column b");
    assert_eq!(folder.text("get edge 1 2 --store store"), "1 2 7\n");
    folder.write("road.csv", "from,to,metres\n1,2,4294967296\n");
    folder.fails(
        "import road.csv --store store",
        3,
        &["road.csv:2: column \"metres\": found \"4294967296\", expected a whole number from 0 to 4294967295 (u32)"],
    );
    folder.fails(
        "import road.csv --store store --format csv",
        2,
        &["of type f64", "--format properties-csv", "u32"],
    );
}

#[test]
fn bad_lines_are_reported_and_nothing_is_imported() {
    let header = "from,to,amount,note\n8,9,3,x\n";
    for (name, text, parts) in [
        (
            "pays.csv",
            "1,2,much,\n",
            ["pays.csv:3: column \"amount\": found \"much\"", "64-bit floats can hold (f64)"],
        ),
        ("pays.csv", "1,2,,\n", ["pays.csv:3: column \"amount\": found nothing", "which must be there"]),
        (
            "pays.csv",
            "x,2,3,\n",
            ["pays.csv:3: column \"from\": found \"x\"", "a vertex key of decimal digits"],
        ),
        ("pays.csv", "1,2,3\n", ["pays.csv:3: found \"3 fields\"", "expected 4, as in the header"]),
        (
            "pays.csv",
            "1,2,3,\"x\n4,5,6,\n",
            ["pays.csv:3: found \"x\\n4,5,6,\\n\"", "a closing quotation mark"],
        ),
    ] {
        let folder = Folder::with(name, format!("{header}{text}"));
        folder.fails(&format!("import {name} --store store {LABELS}"), 3, &parts);
        assert!(!folder.path("store").exists());
    }
    for (name, text, parts) in [
        (
            "pays.csv",
            "from,to,note\n",
            ["pays.csv:1: column \"amount\": found nothing", "which must be there"],
        ),
        ("pays.csv", "from,to,amount,amount\n", ["pays.csv:1: column \"amount\"", "each name once"]),
        (
            "pays.csv",
            "from,to,amount,color\n",
            ["found \"color\"", "\"amount\" (f64, never null), \"note\" (string)"],
        ),
        ("pays.csv", "", ["pays.csv:1: found nothing", "a first line of column names"]),
        ("pays.jsonl", "{\"from\":1,\"to\":2}\n", ["pays.jsonl:1: column \"amount\"", "which must be there"]),
        ("pays.jsonl", "{\"from\":1}\n", ["pays.jsonl:1", "a column destination or dst or target or to"]),
        (
            "pays.jsonl",
            "{\"from\":1,\"to\":2,\"amount\":\"3\"}\n",
            ["column \"amount\": found \"\\\"3\\\"\"", "(f64)"],
        ),
        ("pays.jsonl", "{\"from\":1,\n", ["pays.jsonl:1: found", "one JSON object per line"]),
    ] {
        let folder = Folder::with(name, text);
        folder.fails(&format!("import {name} --store store {LABELS}"), 3, &parts);
        assert!(!folder.path("store").exists());
    }
}

#[test]
fn an_import_of_lines_with_properties_goes_on_where_it_stopped() {
    for (name, lines) in [
        ("pays.csv", ["from,to,amount", "1,2,1", "2,3,2", "3,4,3", "4,5,4", "5,6,5", "6,7,6"]),
        (
            "pays.jsonl",
            [
                "",
                "{\"from\":1,\"to\":2,\"amount\":1}",
                "{\"from\":2,\"to\":3,\"amount\":2}",
                "{\"from\":3,\"to\":4,\"amount\":3}",
                "{\"from\":4,\"to\":5,\"amount\":4}",
                "{\"from\":5,\"to\":6,\"amount\":5}",
                "{\"from\":6,\"to\":7,\"amount\":6}",
            ],
        ),
    ] {
        let folder = Folder::new();
        let mut bad = lines;
        bad[6] = "oops";
        folder.write(name, bad.join("\n"));
        let import = format!("import {name} --store store {LABELS}");
        folder.fails(&format!("{import} --atomic --chunk 2"), 3, &[&format!("{name}:7: ")]);
        assert!(!folder.path("store").exists());
        // Rows that could replace others are compared before anything is stored.
        folder.fails(&format!("{import} --chunk 2"), 3, &[&format!("{name}:7: ")]);
        assert!(!folder.path("store").exists());
        let stopped = [&format!("{name}:7: "), "4 edges of", "the same command goes on from there"];
        folder.fails(&format!("{import} --chunk 2 --on-repeat last"), 3, &stopped);
        let mut changed = lines;
        changed[1] = lines[2];
        folder.write(name, changed.join("\n"));
        folder.fails(&import, 2, &["was changed where it is imported already"]);
        folder.write(name, lines.join("\n"));
        folder.fails(&format!("{import} --source-column from"), 2, &["an import of other files"]);
        let resumed = folder.json(&import);
        assert_eq!(
            (&resumed["resumed"], &resumed["rows"], &resumed["commits"], &resumed["edges"]),
            (&true.into(), &2.into(), &2.into(), &6.into())
        );
        assert_eq!(folder.json("get edge 6 7 --store store --label pays")["properties"]["amount"], 6.0);
        assert_eq!(folder.json(&import)["resumed"], false);
    }
}

#[test]
fn errors_say_how_a_new_store_declares_the_columns_of_a_file() {
    let pays = "payer,payee,amount,note\n1,2,3,lunch\n";
    let folder = Folder::with("pays.csv", pays);
    // Standard input can be read only once: nothing is inferred from it.
    let fails = |options: &str, input: &str, told: &[&str]| {
        let failed = folder.pipe(&format!("import - --store store {options}"), input).code(3);
        let error = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
        assert!(told.iter().all(|part| error.contains(part)), "{error}");
    };
    let told = [":1: found \"amount\"", "--labels edge:amount=string+note=string declares all these columns"];
    fails("--format properties-csv", pays, &told);
    let told = [":1", "--labels 'pays:it'\\''s=string'"];
    fails("--format jsonl --label pays", "{\"source\":1,\"to\":2,\"it's\":3}\n", &told);
    assert!(!folder.path("store").exists());
    folder.json("import pays.csv --store store --labels edge:amount=string+note=string");
    // An existing schema cannot be changed, but can be named.
    folder.write("more.csv", "payer,payee,color\n1,2,red\n");
    let told = ["more.csv:1: found \"color\"", "`hedgerow schema DIR`"];
    folder.fails("import more.csv --store store", 3, &told);
    // In an edge list, a property is not a weight.
    folder.write("text.csv", "1,2,lunch\n");
    folder.fails(
        "import text.csv --store other",
        3,
        &["text.csv:1:5", "--columns of `hedgerow import` names them"],
    );
}

#[test]
fn contradictory_options_are_refused() {
    let folder = Folder::with("pays.csv", "from,to,amount\n1,2,3\n");
    folder.write("list.el", "1 2\n");
    folder.json(&format!("import pays.csv --store store {LABELS}"));
    for (command, parts) in [
        ("import pays.csv --store store --label pays --skip-bad-lines", ["--skip-bad-lines", "pays.csv"]),
        ("import list.el --store store --source-column from", ["--source-column", "--format properties-csv"]),
        (
            "import list.el --store store --label pays",
            ["list.el: an edge in this file has a weight at most", "records"],
        ),
        ("import pays.csv --store store --label pays --weights", ["--weights", "records"]),
        (
            "export store --label pays --output pays.el",
            ["pays.el: an edge in this file", ".csv and .jsonl hold records"],
        ),
        (
            "export store --label pays --output p.csv --mapping m",
            ["--mapping m", "CSV with a header keeps the keys"],
        ),
        (
            "export store --output p.csv --vertices-output p.csv",
            ["--vertices-output p.csv", "name another one"],
        ),
        ("run bfs --graph pays.csv --format jsonl", ["jsonl", "--format"]),
        ("convert pays.csv out --to properties-csv", ["properties-csv", "--to"]),
    ] {
        folder.fails(command, 2, &parts);
    }
    assert_eq!(folder.names(), ["list.el", "pays.csv", "store"]);
}

#[test]
fn an_export_replaces_the_old_file_only_when_it_is_complete() {
    let folder = Folder::with("pays.csv", "from,to,amount\n1,2,3\n");
    folder.json(&format!("import pays.csv --store store {LABELS}"));
    folder.write("out.csv", "old");
    folder.fails("export store --label pays --output out.csv --vertices-output no/v.csv", 1, &["no/v.csv"]);
    assert_eq!(folder.read("out.csv"), "old");
    let text = folder.text("export store --label pays --output out.csv --vertices-output v.csv");
    assert!(text.contains("out.csv, CSV with a header") && text.contains("vertices in"), "{text}");
    assert_eq!(folder.read("out.csv"), "source,destination,amount,note\n1,2,3.0,\n");
    assert_eq!(folder.read("v.csv"), "1\n2\n");
    assert_eq!(folder.names(), ["out.csv", "pays.csv", "store", "v.csv"]);
}

#[test]
fn the_schema_of_a_store_makes_such_a_store_again() {
    let folder = Folder::with("graph", "a b\n");
    let labels = "knows,weighs:f32,pays:amount=f64!+at=timestamp";
    folder.json(&format!(
        "import graph --store store --keys text --reverse --labels {labels} --vertex-properties name=string"
    ));
    let schema = folder.json("schema store");
    assert_eq!(
        schema,
        json!({
            "store": "store", "engine": "rapid", "topology": "directed with in-neighbors", "keys": "text", "strict": false,
            "labels": [
                { "id": 0, "name": "knows", "edges": "nothing", "values": null, "properties": [] },
                { "id": 1, "name": "weighs", "edges": "value", "values": "f32", "properties": [] },
                { "id": 2, "name": "pays", "edges": "record", "values": null, "properties": [
                    { "name": "amount", "type": "f64", "nullable": false },
                    { "name": "at", "type": "timestamp", "nullable": true },
                ] },
            ],
            "vertex_properties": [{ "name": "name", "type": "string", "nullable": true }],
            "labels_option": labels, "vertex_properties_option": "name=string",
            "options": ["--keys", "text", "--reverse", "--labels", labels, "--vertex-properties", "name=string"],
        })
    );
    let options: Vec<_> =
        schema["options"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
    folder.json(&format!("import graph --store again {}", options.join(" ")));
    let mut again = folder.json("schema --store again");
    again["store"] = "store".into();
    assert_eq!(again, schema);
    let text = folder.text("schema store");
    for part in [
        "label         2 \"pays\": a record on each edge\n                \"amount\": f64, never null\n",
        "such a store  hedgerow import FILE --store DIR --keys text --reverse --labels 'knows,weighs:f32,pays:amount=f64!+at=timestamp' --vertex-properties name=string\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    // The graph is not opened.
    let graph = Graph::open(folder.path("store")).unwrap();
    assert_eq!(folder.json("schema store"), schema);
    drop(graph);
    folder.fails("schema nowhere", 3, &["there is no store in nowhere"]);
}
