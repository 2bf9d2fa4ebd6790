//! `hedgerow neighbors`, `get`, `put` and `delete`

use crate::common::Folder;
use hedgerow::{
    ColumnType, EdgeSchema, EngineKind, Field, GraphOptions, KeyKind, LabelSchema, RecordSchema, ValueType,
};
use serde_json::{Value, json};

/// A store with edges of two labels.
fn store() -> Folder {
    let folder = Folder::with("knows", "10 20\n10 30\n20 10\n30 30\n");
    folder.write("rates.wel", "10 20 0.5\n10 40 -2\n");
    folder.json("import knows --store store --labels knows,rates:f64 --reverse");
    folder.json("import rates.wel --store store --label rates");
    folder
}

fn without(mut object: Value, fields: &[&str]) -> Value {
    for field in fields {
        assert!(object.as_object_mut().unwrap().remove(*field).is_some(), "{field} is not in: {object}");
    }
    object
}

#[test]
fn neighbors_are_printed_one_per_line_with_their_values() {
    let folder = store();
    assert_eq!(folder.text("neighbors 10 --store store"), "20\n30\n");
    assert_eq!(folder.text("neighbors 10 --store store --label rates"), "20 0.5\n40 -2\n");
    assert_eq!(folder.text("neighbors 30 --store store --direction in"), "10\n30\n");
    assert_eq!(folder.text("neighbors 10 --store store --limit 1"), "20\n");
    assert_eq!(folder.text("neighbors 40 --store store"), "");
    let of_all = "knows 20\nknows 30\nrates 20 0.5\nrates 40 -2\n";
    assert_eq!(folder.text("neighbors 10 --store store --all-labels"), of_all);
    let of_all = folder.json("neighbors 10 --store store --all-labels --limit 3");
    assert_eq!((&of_all["label"], &of_all["degree"]), (&json!(null), &json!(4)));
    assert_eq!(of_all["neighbors"][2], json!({ "label": "rates", "key": 20, "value": 0.5 }));
    assert_eq!(
        folder.json("neighbors 10 --store store --label rates --limit 1"),
        json!({
            "store": "store", "key": 10, "label": "rates", "direction": "out", "degree": 2,
            "neighbors": [{ "key": 20, "value": 0.5 }],
        })
    );
    assert_eq!(folder.json("neighbors 10 --store store")["neighbors"], json!([{ "key": 20 }, { "key": 30 }]));
}

#[test]
fn the_store_is_the_last_argument_or_an_option() {
    let folder = store();
    assert_eq!(folder.text("neighbors 10 store --label rates"), "20 0.5\n40 -2\n");
    assert_eq!(folder.json("get vertex 40 store")["degrees"][1]["out"], 0);
    assert_eq!(folder.text("get edge 10 20 store"), "10 20\n");
    folder.json("put vertex 50 store");
    folder.json("put edge 50 10 store");
    folder.json("delete edge 50 10 store");
    folder.json("delete vertex 50 store");
    folder.json("label add likes,hates store");
    assert_eq!(folder.json("info store")["vertices"], 4);
    folder.fails("neighbors 10", 2, &["<DIR|--store <DIR>>"]);
    folder.fails("neighbors 10 store --store store", 2, &["cannot be used with"]);
}

#[test]
fn neighbors_are_printed_newest_first_by_the_time_of_the_edges() {
    let folder = store();
    let labels = "knows,pays:note=string+at=timestamp+rank=i64,calls:u64";
    folder.json(&format!("import knows --store times --labels {labels}"));
    for (to, properties) in [
        (1, "--property at=100 --property rank=3"),
        (2, "--property at=300 --property rank=-1"),
        (3, "--property at=200"),
        (4, "--property rank=2"),
    ] {
        folder.json(&format!("put edge 10 {to} --store times --label pays {properties}"));
        folder.json(&format!("put edge 10 {to} --store times --label calls --value {to}0"));
    }
    let keys = |options: &str| -> Vec<u64> {
        let found = folder.json(&format!("neighbors 10 --store times {options}"));
        assert_eq!(found["degree"], 4);
        found["neighbors"].as_array().unwrap().iter().map(|found| found["key"].as_u64().unwrap()).collect()
    };
    assert_eq!(keys("--label pays --newest 9"), [2, 3, 1]);
    assert_eq!(keys("--label pays --newest 2"), [2, 3]);
    assert_eq!(keys("--label pays --since 150 --until 200"), [3]);
    assert_eq!(keys("--label pays --newest 2 --by rank"), [1, 4]);
    assert_eq!(keys("--label pays --since -1 --limit 1"), [2]);
    assert_eq!(keys("--label calls --newest 1"), [4]);
    assert_eq!(keys("--label pays --until 1970-01-01T00:00:00.0002Z"), [3, 1]);
    assert_eq!(keys("--label pays --since 1970-01-01T02:00:00.0002+02:00"), [2, 3]);
    folder.fails(
        "neighbors 10 --store times --label pays --since tomorrow",
        2,
        &["--since", "2026-01-31T12:00:00Z"],
    );
    assert_eq!(folder.text("neighbors 10 --store times --label calls --until 20"), "2 20\n1 10\n");
}

#[test]
fn past_states_are_read_back_to_the_newest_checkpoint() {
    let folder = store();
    let before = folder.json("info store")["timestamp"].as_u64().unwrap();
    let after = folder.json("put edge 10 50 --store store")["timestamp"].as_u64().unwrap();
    folder.json("delete edge 10 20 --store store");
    assert_eq!(folder.text(&format!("neighbors 10 --store store --as-of {before}")), "20\n30\n");
    assert_eq!(folder.text(&format!("neighbors 10 --store store --as-of {after}")), "20\n30\n50\n");
    assert_eq!(folder.text("neighbors 10 --store store"), "30\n50\n");
    assert_eq!(folder.text("neighbors 10 --store store --as-of-time 99999999999999999"), "30\n50\n");
    assert_eq!(folder.text("neighbors 10 --store store --as-of-time 2999-01-01"), "30\n50\n");
    assert_eq!(folder.text("neighbors 10 --store store --as-of-time now"), "30\n50\n");
    folder.fails("neighbors 10 --store store --as-of-time soon", 2, &["an age such as 90s", "yesterday"]);
    assert_eq!(folder.text("neighbors 10 --store store --as-of-time 9999-12-31T23:59:59Z"), "30\n50\n");
    let reached = |options: &str| {
        folder.json(&format!("run bfs --store store --source 10 {options}"))["reached"].clone()
    };
    assert_eq!([reached(""), reached(&format!("--as-of {before}"))], [json!(3), json!(3)]);
    assert_eq!(folder.text(&format!("get edge 10 20 --store store --as-of {after}")), "10 20\n");
    folder.fails(
        &format!("neighbors 10 --store store --as-of {}", after + 9),
        3,
        &["is not there yet", "the newest is"],
    );
    folder.json("checkpoint store");
    folder.fails(
        &format!("neighbors 10 --store store --as-of {before}"),
        3,
        &["not kept any more", "the oldest is"],
    );
    for time in ["1", "1970-01-01T00:00:00.000001Z"] {
        folder.fails(
            &format!("neighbors 10 --store store --as-of-time {time}"),
            3,
            &["not kept any more", "made at time "],
        );
        folder.fails(
            &format!("run bfs --store store --source 10 --as-of-time {time}"),
            3,
            &["not kept any more"],
        );
    }
    folder.fails("neighbors 10 --store store --as-of-time 1969-12-31T23:59:59Z", 2, &["from 1970 on"]);
    folder.fails("neighbors 10 --store store --as-of 1 --from-checkpoint", 2, &["cannot be used with"]);
}

#[test]
fn missing_objects_are_an_error() {
    let folder = store();
    for (command, code, parts) in [
        ("neighbors 11 --store store", 3, ["there is no vertex 11 in store", ""]),
        ("get vertex 11 --store store", 3, ["there is no vertex 11 in store", ""]),
        ("get edge 10 40 --store store", 3, ["no edge from 10 to 40", "label \"knows\" in store"]),
        ("get edge 10 99 --store store", 3, ["no edge from 10 to 99", "label \"knows\" in store"]),
        ("delete vertex 11 --store store", 3, ["there is no vertex 11 in store", ""]),
        ("delete edge 20 30 --store store", 3, ["no edge from 20 to 30", "label \"knows\""]),
        ("delete edge 20 10 --store store --label rates", 3, ["no edge from 20 to 10", "label \"rates\""]),
        ("neighbors 10 --store store --label likes", 2, ["no label \"likes\"", "only \"knows\", \"rates\""]),
        (
            "neighbors 10 --store store --newest 1",
            2,
            ["--newest: the edges of \"knows\" have no time", "--by names a property"],
        ),
        ("neighbors x --store store", 2, ["KEY \"x\"", "numbers below 2^64"]),
        ("get edge -1 2 --store store", 2, ["FROM \"-1\"", "numbers below 2^64"]),
        ("put edge 1 y --store store", 2, ["TO \"y\"", "numbers below 2^64"]),
        ("put edge 1 2 --store store --label rates", 2, ["--value is missing", "a value of type f64"]),
        ("put edge 1 2 --store store --value 3", 2, ["--value \"3\"", "carry no value"]),
        ("put edge 1 2 --store store --label rates --value much", 2, ["--value \"much\"", "f64"]),
        ("put vertex 1 --store store --property age=3", 2, ["--property \"age=3\"", "have no properties"]),
        (
            "put vertex 1 --store nowhere",
            3,
            ["there is no store in nowhere", "hedgerow import FILE --store DIR"],
        ),
        ("neighbors 10", 2, ["--store <DIR>", ""]),
        ("get 10 --store store", 2, ["unrecognized subcommand", ""]),
    ] {
        folder.fails(command, code, &parts);
    }
    let info = folder.json("info store");
    assert_eq!((&info["vertices"], &info["edges"]), (&4.into(), &6.into()));
    assert!(!folder.path("nowhere").exists());
}

#[test]
fn edges_are_put_read_and_deleted() {
    let folder = store();
    let put = "put edge 10 50 --store store --label rates --value 0.25";
    let expected = json!({
        "store": "store", "from": 10, "to": 50, "label": "rates", "value": 0.25, "added": true, "changed": true,
        "durability": "sync",
    });
    assert_eq!(without(folder.json(put), &["timestamp"]), expected);
    assert_eq!(folder.text("get edge 10 50 --store store --label rates"), "10 50 0.25\n");
    assert_eq!(folder.text(put), "edge from 10 to 50 was there already, nothing changed\n");
    let replaced = folder.text("put edge 10 50 --store store --label rates --value -1e300");
    assert_eq!(replaced, "edge from 10 to 50 has the value now\n");
    assert_eq!(folder.json("get edge 10 50 --store store --label rates")["value"], -1e300);
    let plain = folder.json("put edge 50 10 --store store --durability none");
    assert_eq!((&plain["value"], &plain["durability"]), (&Value::Null, &"none".into()));
    let got = folder.json("get edge 50 10 --store store");
    assert_eq!(got, json!({ "store": "store", "from": 50, "to": 10, "label": "knows", "value": null }));
    let deleted = without(folder.json("delete edge 50 10 --store store"), &["timestamp"]);
    let expected = json!({
        "store": "store", "from": 50, "to": 10, "label": "knows", "edges_deleted": 1, "durability": "sync"
    });
    assert_eq!(deleted, expected);
    folder.fails("get edge 50 10 --store store", 3, &["no edge from 50 to 10"]);
    assert_eq!(folder.text("delete edge 10 50 --store store --label rates"), "edge from 10 to 50 deleted\n");
}

#[test]
fn a_missing_parallel_edge_is_told_from_a_pair_without_edges() {
    let folder = Folder::with("pays.csv", "source,destination,id\n1,2,7\n1,3,1\n1,3,5\n1,3,4\n");
    folder.json("import pays.csv --store store --labels pays:id=key");
    for action in ["get", "delete"] {
        for (ends, expected) in [
            (
                "1 2",
                "no edge with the key 8 from 1 to 2 of the label \"pays\" in store, only one with the key 7",
            ),
            (
                "1 3",
                "no edge with the key 8 from 1 to 3 of the label \"pays\" in store, only 3 with keys from 1 to 5",
            ),
            ("2 1", "no edge from 2 to 1 of the label"),
            ("1 9", "no edge from 1 to 9 of the label"),
        ] {
            folder.fails(&format!("{action} edge {ends} store --key 8"), 3, &[expected]);
        }
    }
}

#[test]
fn edges_with_records_are_put_changed_and_read() {
    let folder = Folder::with("knows", "10 20\n");
    folder.json("import knows --store store --labels knows,pays:amount=f64!+note=string --vertex-properties name=string");
    let put = "put edge 10 20 --store store --label pays";
    let first = folder.json(&format!("{put} --property amount=9.5"));
    assert_eq!((&first["added"], &first["changed"]), (&true.into(), &true.into()));
    let changed = folder.text(&format!("{put} --property note=rent"));
    assert_eq!(changed, "edge from 10 to 20 has the value now\n");
    let got = folder.json("get edge 10 20 --store store --label pays");
    assert_eq!(
        (&got["value"], &got["properties"]),
        (&Value::Null, &json!({ "amount": 9.5, "note": "rent" }))
    );
    let line = "10 20 amount=9.5 note=\"rent\"\n";
    assert_eq!(folder.text("get edge 10 20 --store store --label pays"), line);
    assert_eq!(folder.text("neighbors 10 --store store --label pays"), "20 amount=9.5 note=\"rent\"\n");
    let neighbors = folder.json("neighbors 10 --store store --label pays")["neighbors"].clone();
    assert_eq!(neighbors, json!([{ "key": 20, "properties": { "amount": 9.5, "note": "rent" } }]));
    assert_eq!(folder.text("neighbors 10 --store store"), "20\n");
    folder.json("put vertex 10 --store store --property name=anna");
    folder.json("checkpoint store");
    assert_eq!(folder.text("get edge 10 20 --store store --label pays"), line);
    for (command, code, parts) in [
        (
            "put edge 10 30 --store store --label pays --property note=x",
            2,
            ["property \"amount\" must not be null", "give it a value of type f64"],
        ),
        (
            "put edge 10 20 --store store --label pays --property weight=1",
            2,
            ["weight=1", "\"amount\", \"note\""],
        ),
        (
            "put edge 10 20 --store store --label pays --property amount=much",
            2,
            ["amount=much", "a number that 64-bit floats can hold (f64)"],
        ),
        ("put edge 10 20 --store store --label pays --value 3", 2, ["--value \"3\"", "records"]),
        ("put edge 10 20 --store store --property amount=3", 2, ["amount=3", "\"knows\" have no properties"]),
        ("export store --label pays --output pays.el", 2, ["a weight at most", "records"]),
        ("import knows --store store --label pays", 2, ["a weight at most", "records"]),
        (
            "import knows --store other --labels pays:amount=money",
            2,
            ["\"money\"", "expected bool, i64, u64, f64"],
        ),
    ] {
        folder.fails(command, code, &parts);
    }
    assert_eq!(folder.text("delete edge 10 20 --store store --label pays"), "edge from 10 to 20 deleted\n");
}

#[test]
fn vertices_are_put_read_and_deleted() {
    let folder = store();
    assert_eq!(folder.text("put vertex 60 --store store"), "vertex 60 added\n");
    let again = without(folder.json("put vertex 60 --store store"), &["timestamp"]);
    let expected =
        json!({ "store": "store", "key": 60, "added": false, "changed": false, "durability": "sync" });
    assert_eq!(again, expected);
    let degrees = json!([
        { "label": "knows", "out": 2, "in": 1 },
        { "label": "rates", "out": 2, "in": 0 },
    ]);
    let got = folder.json("get vertex 10 --store store");
    assert_eq!(got, json!({ "store": "store", "key": 10, "degrees": degrees, "properties": {} }));
    assert!(folder.text("get vertex 10 --store store").contains("in-degree, knows   1"));
    let deleted = folder.json("delete vertex 10 --store store");
    assert_eq!(deleted["edges_deleted"], 5);
    folder.fails("get vertex 10 --store store", 3, &["no vertex 10"]);
    assert_eq!(folder.text("delete vertex 60 --store store"), "vertex 60 deleted, with 0 edges\n");
    assert_eq!(folder.json("info store")["edges"], 1);
}

#[test]
fn many_vertices_are_deleted_in_one_commit_on_every_engine() {
    for engine in EngineKind::ALL {
        for (topology, edges, scanned) in
            [("", 6, json!(7)), ("--reverse", 6, json!(null)), ("--undirected", 6, json!(null))]
        {
            let folder = Folder::with("graph", "a b\nb c\nc a\na a\nd a\nd e\ne b\n");
            folder.json(&format!("import graph --store store --keys text --engine {engine} {topology}"));
            folder.json("checkpoint store");
            let before = folder.json("info store")["timestamp"].as_u64().unwrap();
            folder.write("gone", "c\nb\n");
            folder.fails("delete vertex a b x store", 3, &["there is no vertex x in store"]);
            assert_eq!(folder.json("info store")["timestamp"], before);
            let deleted = folder.json("delete vertex a b --file gone store");
            let expected = json!({
                "store": "store", "keys": ["a", "b", "c"], "scanned_edges": scanned, "edges_deleted": edges,
                "timestamp": before + 1, "durability": "sync",
            });
            assert_eq!(deleted, expected, "{engine} {topology}");
            assert_eq!(folder.text("neighbors d store"), "e\n");
            let piped = folder
                .pipe("delete vertex --store store --file -", "d\n\ne\n")
                .success()
                .get_output()
                .clone();
            let printed = String::from_utf8(piped.stdout).unwrap();
            assert!(printed.starts_with("2 vertices deleted, with 1 edge"), "{printed}");
            assert_eq!(printed.contains("store keeps no in-neighbors: a scan of "), topology.is_empty());
            assert_eq!(folder.json("info store")["vertices"], 0);
        }
    }
    let folder = store();
    folder.fails("delete vertex", 2, &["not provided: <DIR>"]);
    folder.fails("delete vertex store", 2, &["not provided: <KEY>", "--file"]);
    folder.fails("delete vertex --file missing store", 3, &["missing"]);
    folder.fails("delete vertex ten store", 2, &["numbers below 2^64"]);
    folder.pipe_fails(
        "shell store",
        "delete vertex --file -\n",
        &["standard input has the lines of the shell"],
    );
    folder.pipe_fails("shell store", "delete vertex\n", &["not provided: <KEY>"]);
    let shell = folder.pipe("shell store", "delete vertex 10 20\n").success().get_output().clone();
    assert_eq!(String::from_utf8(shell.stdout).unwrap(), "2 vertices deleted, with 5 edges\n");
}

#[test]
fn an_undirected_edge_is_the_same_from_both_ends() {
    let folder = Folder::with("graph", "a b\nb c\n");
    folder.json("import graph --store store --undirected --keys text");
    assert_eq!(folder.text("neighbors b --store store"), "a\nc\n");
    assert_eq!(folder.text("neighbors b --store store --direction in"), "a\nc\n");
    assert_eq!(folder.text("get edge b a --store store"), "b a\n");
    assert_eq!(
        folder.json("get vertex b --store store")["degrees"],
        json!([{ "label": "edge", "out": 2, "in": 2 }])
    );
    assert_eq!(folder.text("get vertex b --store store"), "vertex  b\ndegree  2\n");
    folder.json("delete edge b a --store store");
    assert_eq!(folder.json("neighbors a --store store")["degree"], 0);
    assert_eq!(folder.json("neighbors b --store store")["neighbors"], json!([{ "key": "c" }]));
}

#[test]
fn in_neighbors_are_read_only_where_they_are_kept() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store --keys dense");
    folder.fails(
        "neighbors 1 --store store --direction in",
        2,
        &["--direction in: store keeps no in-neighbors", "--reverse"],
    );
    assert_eq!(
        folder.json("get vertex 1 --store store")["degrees"],
        json!([{ "label": "edge", "out": 1, "in": null }])
    );
    folder.fails("neighbors 4294967295 --store store", 3, &["no vertex 4294967295"]);
    folder.fails("get edge 1 4294967295 --store store", 3, &["no edge from 1 to 4294967295"]);
    folder.fails("put vertex 4294967295 --store store", 2, &["4294967295", "4294967294"]);
}

#[test]
fn properties_and_values_of_all_types_are_read_and_written() {
    let folder = Folder::new();
    let types = [
        ("is", ValueType::Bool),
        ("age", ValueType::I64),
        ("score", ValueType::F64),
        ("name", ValueType::String),
        ("raw", ValueType::Bytes),
        ("seen", ValueType::Timestamp),
    ];
    let field =
        |(name, value_type): (&str, ValueType)| Field { name: name.into(), value_type, nullable: true };
    let columns = [ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64];
    let options = columns.into_iter().fold(GraphOptions::new().keys(KeyKind::String), |options, column| {
        options.label_schema(LabelSchema { name: column.to_string(), edges: EdgeSchema::Value(column) })
    });
    let schema = RecordSchema { fields: types.map(field).to_vec() };
    drop(options.vertex_properties(schema).create(folder.path("store")).unwrap());

    let put = "put vertex ann --store store --property is=true --property age=-3 --property score=0.5 --property name=A=B";
    assert_eq!(folder.text(&format!("{put} --property raw=00ff --property seen=17")), "vertex ann added\n");
    let properties = json!({ "is": true, "age": -3, "score": 0.5, "name": "A=B", "raw": "00ff",
        "seen": "1970-01-01T00:00:00.000017Z" });
    assert_eq!(folder.json("get vertex ann --store store")["properties"], properties);
    let text = folder.text("get vertex ann --store store");
    assert!(text.lines().any(|line| line.starts_with("name ") && line.ends_with(" \"A=B\"")), "{text}");
    folder.json("put vertex ann --store store --property seen=1970-01-01T00:00:01Z");
    assert_eq!(folder.json("get vertex ann --store store")["properties"]["seen"], "1970-01-01T00:00:01Z");
    assert_eq!(folder.json("get vertex ann --store store --raw-times")["properties"]["seen"], 1_000_000);
    let changed = folder.json("put vertex ann --store store --property age=4");
    assert_eq!((&changed["added"], &changed["changed"]), (&false.into(), &true.into()));
    assert_eq!(folder.json("get vertex ann --store store")["properties"]["age"], 4);
    for (given, problem) in [
        ("age=old", "expected a whole number from -9223372036854775808"),
        ("score=1e999", "expected a number that 64-bit floats can hold"),
        ("seen=today", "a time such as 2026-01-31T12:00:00Z"),
        ("raw=0", "expected bytes as pairs of hexadecimal digits"),
        ("is=1", "expected true or false"),
        ("weight=1", "the properties \"is\", \"age\", \"score\", \"name\", \"raw\", \"seen\""),
        ("age", "expected NAME=VALUE"),
    ] {
        folder.fails(&format!("put vertex ann --store store --property {given}"), 2, &[given, problem]);
    }

    for (label, value, other) in [
        ("u32", "4294967295", "4294967296"),
        ("u64", "18446744073709551615", "-1"),
        ("i64", "-9223372036854775808", "0.5"),
        ("f32", "0.1", "x"),
        ("f64", "0.1", "-"),
    ] {
        folder.json(&format!("put edge ann ben --store store --label {label} --value {value}"));
        assert_eq!(
            folder.text(&format!("get edge ann ben --store store --label {label}")),
            format!("ann ben {value}\n")
        );
        let got = folder.text(&format!("get edge ann ben --store store --label {label} --json"));
        assert!(got.contains(&format!("\"value\": {value}\n")), "{got}");
        folder.fails(
            &format!("put edge ann ben --store store --label {label} --value={other}"),
            2,
            &[&format!("--value {other:?}"), &format!("a value of type {label}")],
        );
        let neighbors = folder.text(&format!("neighbors ann --store store --label {label}"));
        assert_eq!(neighbors, format!("ben {value}\n"));
    }
    let inexact = ["the edge from ann to ben has the value 18446744073709551615", "no 64-bit float"];
    folder.fails("export store --label u64 --output edges.txt", 1, &inexact);
    folder.json("export store --label i64 --output edges.txt");
    assert_eq!(folder.read("edges.txt"), "ann ben -9.223372036854776e18\n");
}
