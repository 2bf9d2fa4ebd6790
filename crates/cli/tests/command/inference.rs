//! `hedgerow import` of files whose columns it infers, and of rows that repeat an edge.

use crate::common::Folder;
use serde_json::json;
use std::fs;

/// Three payments, two of them between the same accounts.
const PAYS: &str = "\
payer,payee,amount,units,at,ok,note
Anna B,\"Ben, the 2nd\",9.5,3,2024-01-01,True,rent
Ben,Anna B,1e3,-4,2024-01-02 12:30:00,false,
Anna B,\"Ben, the 2nd\",2,5,2024-01-03T00:00:00+01:00,FALSE,\"lunch, at last\"
";

fn schema(folder: &Folder, store: &str) -> String {
    folder.json(&format!("schema {store}"))["labels"][0]["edges"].to_string()
}

#[test]
fn a_header_decides_about_keys_and_types() {
    let folder = Folder::with("pays.csv", PAYS);
    let imported = folder.json("import pays.csv --store bank --on-repeat last");
    assert_eq!(imported["values"], "record amount=f64+units=i64+at=timestamp+ok=bool+note=string");
    let counts =
        ["rows", "pairs", "edges", "rows_replaced", "rows_left_out"].map(|name| imported[name].clone());
    assert_eq!(counts, [json!(3), json!(2), json!(2), json!(1), json!(0)]);
    assert_eq!((&imported["keys"], &imported["time_zone"]), (&json!("text"), &json!("UTC")));
    let exported = folder.pipe("export bank --to jsonl --quiet", "").success();
    let lines = String::from_utf8(exported.get_output().stdout.clone()).unwrap();
    for (name, value) in
        [("amount", "2.0"), ("units", "5"), ("at", "\"2024-01-02T23:00:00Z\""), ("ok", "false")]
    {
        assert!(lines.contains(&format!("\"{name}\":{value}")), "{lines}");
    }
    assert!(lines.contains("\"lunch, at last\"") && lines.contains("\"note\":null"), "{lines}");
}

#[test]
fn no_row_is_lost_in_silence() {
    let folder = Folder::with("pays.csv", PAYS);
    let told = [
        "1 of 3 rows repeat an edge with other values, so nothing was imported",
        "pays.csv:2: Anna B,Ben, the 2nd,9.5",
        "pays.csv:4: Anna B,Ben, the 2nd,2",
        "--on-repeat parallel",
    ];
    folder.fails("import pays.csv --store bank", 3, &told);
    folder.fails("import pays.csv --store bank --on-repeat error --yes", 3, &told);
    assert!(!folder.path("bank").exists());

    let first = folder.json("import pays.csv --store first --on-repeat first");
    assert_eq!((&first["edges"], &first["rows_left_out"]), (&json!(2), &json!(1)));
    let again = folder.json("import pays.csv --store first --on-repeat first");
    assert_eq!((&again["edges"], &again["rows_left_out"]), (&json!(2), &json!(3)));

    folder.write("ben.csv", "payer,payee,amount\nBen,Anna B,7\nBen,zoe,8\n");
    let replaced = folder.text("import ben.csv --store first");
    assert!(replaced.contains("2 rows in 2 commits; 1 replaced an edge of the store"), "{replaced}");

    let parallel = folder.json("import pays.csv --store bank --on-repeat parallel --chunk 1");
    let counts = ["edges", "pairs", "rows_kept_apart", "rows_replaced"].map(|name| parallel[name].clone());
    assert_eq!(counts, [json!(3), json!(2), json!(1), json!(0)]);
    let more = folder.json("import pays.csv --store bank");
    assert_eq!((&more["edges"], &more["edges_added"]), (&json!(6), &json!(3)));
    folder.fails("import pays.csv --store bank --number-column no", 3, &["a column \"no\""]);

    folder.fails(
        "import pays.csv --store first --on-repeat parallel",
        2,
        &["one edge per pair", "label add"],
    );
    let declared = "import pays.csv --store other --labels edge:note=string --on-repeat parallel";
    folder.fails(declared, 2, &["declare it with --labels edge:number=key+note=string"]);
}

#[test]
fn rows_with_equal_values_and_files_without_values_are_not_refused() {
    let folder = Folder::with("pays.csv", "source,target,amount\n1,2,3\n2,1,3\n1,2,3\n");
    assert_eq!(folder.json("import pays.csv --store bank")["edges"], 2);
    folder.json("import pays.csv --store undirected --undirected --labels edge:amount=string");
    folder.write("more.csv", "source,target,amount\n2,1,4\n");
    folder.fails("import pays.csv more.csv --store both", 3, &["pays.csv:3: 2,1,3", "more.csv:2: 2,1,4"]);
    folder.fails(
        "import pays.csv more.csv --store both --undirected",
        3,
        &["pays.csv:2: 1,2,3", "more.csv:2"],
    );
    folder.write("plain.csv", "source,target\n1,2\n1,2\n");
    assert_eq!(folder.json("import plain.csv --store plain")["edges"], 1);
}

#[test]
fn rows_of_one_edge_are_found_however_its_keys_are_spelled() {
    let folder = Folder::with("pays.csv", "source,target,note\n007,0,rent\n7,00,food\n");
    let refused = |options: &str| {
        let told = ["1 of 2 rows", "pays.csv:2: 007,0,rent", "pays.csv:3: 7,00,food"];
        folder.fails(&format!("import pays.csv --store {options}"), 3, &told);
    };
    refused("new --keys number");
    refused("new --labels edge:note=string");
    folder.json("import pays.csv --store bank --labels edge:note=string --on-repeat last");
    refused("bank");
    // As text, these are four vertices.
    assert_eq!(folder.json("import pays.csv --store text")["vertices"], 4);
}

#[test]
fn a_column_tells_parallel_edges_apart() {
    let folder = Folder::with("pays.csv", "from,to,at,amount\n1,2,2024-01-01,5\n1,2,2024-01-02,6\n");
    let import = "import pays.csv --on-repeat parallel --number-column at";
    assert_eq!(folder.json(&format!("{import} --store bank"))["edges"], 2);
    assert_eq!(folder.json(&format!("{import} --store bank"))["edges"], 2);
    let numbers = folder.text("neighbors 1 bank");
    assert!(numbers.contains("at=1704067200000000 amount=5"), "{numbers}");
    folder.write("pays.csv", "from,to,at,amount\n1,2,2024-01-01,5\n1,2,2024-01-01,6\n");
    folder.fails(&format!("{import} --store new"), 3, &["1 of 2 rows", "pays.csv:3: 1,2,2024-01-01,6"]);
}

#[test]
fn exported_parallel_edges_are_imported_as_they_were() {
    let folder = Folder::with("pays.csv", PAYS);
    folder.json("import pays.csv --store bank --on-repeat parallel");
    folder.json("export bank --output out.csv");
    folder.json("import out.csv --store again --on-repeat parallel");
    let difference = folder.json("diff bank --with again --count");
    assert_eq!((&difference["edges_added"], &difference["edges_deleted"]), (&json!(0), &json!(0)));
    assert_eq!(difference["edges_changed"], 0);
}

#[test]
fn rows_of_pipes_are_compared_as_they_come() {
    let folder = Folder::new();
    let import = "import - --format jsonl --store bank --labels pays:amount=f64";
    let lines = "{\"from\":1,\"to\":2,\"amount\":5}\n{\"from\":1,\"to\":2,\"amount\":6}\n";
    let failed = folder.pipe(import, lines).code(3);
    let error = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
    assert!(error.contains("an edge from 1 to 2 comes again with other values"), "{error}");
    folder.pipe(&format!("{import} --on-repeat last"), lines).success();
    assert_eq!(folder.json("get edge 1 2 bank")["properties"]["amount"], 6.0);
}

#[test]
fn rows_of_pipes_are_compared_with_those_of_files() {
    let folder = Folder::with("a.jsonl", "{\"from\":1,\"to\":2,\"weight\":5}\n");
    folder.write("a.csv", "source,target,weight\n1,2,5\n");
    folder.write("a.el", "1 2 5\n");
    let json = "{\"from\":1,\"to\":2,\"weight\":6}\n";
    for (files, options, piped, at) in [
        ("a.jsonl -", "--format jsonl", json, "-: "),
        ("- a.jsonl", "--format jsonl", json, "a.jsonl: "),
        ("a.csv -", "", "1 2 6\n", "-: "),
        ("a.jsonl -", "", "1 2 6\n", "-: "),
        ("- a.el", "--on-repeat error", "1 2 6\n", "a.el: "),
    ] {
        let import = format!("import {files} --store store --weights {options}");
        folder.pipe_fails(&import, piped, &[&format!("{at}an edge from 1 to 2 comes again")]);
        fs::remove_dir_all(folder.path("store")).unwrap();
        folder.pipe(&import, piped.replace('6', "5")).success();
        assert_eq!(folder.json("info store")["edges"], 1, "{import}");
        fs::remove_dir_all(folder.path("store")).unwrap();
    }
    // So are the rows that an import stored before it stopped.
    let import = "import - --store store --weights --on-repeat error --chunk 1";
    folder.pipe_fails(import, "1 2 5\n2 3 1\nx\n", &["the same command goes on"]);
    folder.pipe_fails(import, "1 2 5\n2 3 1\n1 2 6\n", &["an edge from 1 to 2 comes again"]);
}

#[test]
fn delimiters_headers_and_names_are_found() {
    let folder = Folder::new();
    for (name, text, options) in [
        ("a.tsv", "source\ttarget\tamount\nanna b\tben\t5\n", ""),
        ("a.csv", "Source;Target;amount\nanna b;ben;5\n", ""),
        ("a.psv", "from|to|amount\nanna b|ben|5\n", ""),
        ("a.txt", "anna b|ben|5\n", "--columns from,to,amount --delimiter |"),
        ("b.txt", "anna b,ben,5\n", "--columns from,to,amount"),
        ("c.txt", "From,To,Amount\nanna b,ben,5\n", "--columns from,to,amount"),
        ("b.csv", "payer name,payee name,amount\nanna b,ben,5\n", ""),
        ("c.csv", "amount,:START_ID(Person),:END_ID(Person)\n5,anna b,ben\n", ""),
        ("d.csv", "id,payee,amount,payer\n17,ben,5,anna b\n", "--ignore id"),
        ("e.csv", "source,target,amount\ranna b,ben,5\r", ""),
        ("f.csv", "at,who,whom,amount\nx,anna b,ben,5\n", "--source-column who --destination-column whom"),
        ("a.jsonl", "{\"from\":\"anna b\",\"to\":\"ben\",\"amount\":5}\n", ""),
    ] {
        folder.write(name, text);
        let store = name.replace('.', "-");
        let imported = folder.json(&format!("import {name} --store {store} {options}"));
        let values = imported["values"].as_str().unwrap();
        assert!(values.contains("amount=i64"), "{name} {values}");
        assert_eq!((&imported["edges"], &imported["vertices"]), (&json!(1), &json!(2)), "{name}");
        let edge = folder.text(&format!("neighbors ben {store} --direction out"));
        assert_eq!(edge, "", "{name}");
    }
}

#[test]
fn keys_stay_what_they_are() {
    let folder = Folder::with("zip.csv", "source,target\n007,12\n7,12\n");
    let imported = folder.json("import zip.csv --store zip");
    assert_eq!((&imported["keys"], &imported["vertices"]), (&json!("text"), &json!(3)));
    folder.write("numbers.csv", "source,target,weight\n1,2,0.5\n2,3,1\n");
    let imported = folder.json("import numbers.csv --store numbers");
    assert_eq!((&imported["keys"], &imported["values"]), (&json!("number"), &json!("f64")));
    folder.write("ragged.csv", "from,to,amount\n1,2\n");
    folder.fails("import ragged.csv --store ragged", 3, &["ragged.csv:2", "expected 3, as in the header"]);
    // The ends are named by words, or the first two columns if these look like keys.
    folder.write("words.csv", "date,from_account,to_account,amount\n2024-01-01,a,b,5\n");
    let imported = folder.json("import words.csv --store words");
    assert_eq!(imported["values"], "record date=timestamp+amount=i64");
    folder.write("doubt.csv", "date,a,b\n2024-01-01,x,y\n");
    let told = ["which of the columns date, a, b are the ends", "--source-column and --destination-column"];
    folder.fails("import doubt.csv --store doubt", 2, &told);
    folder.write("header.csv", "from,to,amount\n");
    folder.fails("import header.csv --store doubt", 2, &["no rows from which the types", "--labels"]);
    folder.write("twice.csv", "from,to,amount,amount\na,b,5,6\n");
    folder.fails("import twice.csv --store doubt", 3, &["columns 3 and 4 have this one"]);
    assert!(!folder.path("doubt").exists());
    folder.write("unclear.csv", "anna,ben\nben,carl\n");
    let told = [
        "may name the columns or be an edge",
        "--source-column anna --destination-column ben",
        "--keys text",
    ];
    folder.fails("import unclear.csv --store unclear", 2, &told);
    assert_eq!(folder.json("import unclear.csv --store list --keys text")["vertices"], 3);
    let named = "import unclear.csv --store named --source-column anna --destination-column ben";
    assert_eq!(folder.json(named)["vertices"], 2);
}

#[test]
fn a_value_of_another_type_is_named_by_its_line() {
    let folder = Folder::new();
    let edges =
        |values: [&str; 3]| values.map(|value| format!("{{\"from\":1,\"to\":2,\"x\":{value}}}\n")).concat();
    for (values, expected) in [
        (
            ["5", "null", "\"n/a\""],
            "pays.jsonl:3: column \"x\": found \"\\\"n/a\\\"\", expected a whole number",
        ),
        (
            ["null", "\"a\"", "5"],
            "pays.jsonl:3: column \"x\": found \"5\", expected text (string), as in line 2",
        ),
        (
            ["true", "1", "\"a\""],
            "pays.jsonl:2: column \"x\": found \"1\", expected true or false (bool), as in line 1",
        ),
        (
            ["-1", "18446744073709551615", "null"],
            "pays.jsonl:2: column \"x\": found \"18446744073709551615\"",
        ),
        // Not even the first value has a type.
        (["0.10000000000000000555", "5", "null"], "pays.jsonl:1: column \"x\""),
        (["[1]", "[2]", "null"], "pays.jsonl:1: column \"x\""),
    ] {
        folder.write("pays.jsonl", edges(values));
        folder.fails("import pays.jsonl --store store --on-repeat last", 3, &[expected]);
    }
    folder.write("pays.jsonl", edges(["\"2024-01-01\"", "\"soon\"", "null"]));
    folder.json("import pays.jsonl --store store --on-repeat last");
    folder.write("keys.jsonl", "{\"from\":1,\"to\":2}\n{\"from\":\"anna\",\"to\":2}\n");
    folder.fails(
        "import keys.jsonl --store keys",
        3,
        &["keys.jsonl:2: column \"from\": found", "as in line 1"],
    );
    folder.fails("import keys.jsonl --store keys --keys text", 3, &["keys.jsonl:1: "]);
    folder.write("people.jsonl", "{\"key\":1,\"age\":31}\n{\"key\":2,\"age\":\"old\"}\n");
    let people = "import pays.jsonl --vertices people.jsonl --store people --labels edge:x=string";
    folder.fails(people, 3, &["people.jsonl:2: column \"age\": found"]);
}

#[test]
fn files_of_two_kinds_are_not_mixed_up() {
    let folder = Folder::with("names.csv", "source,target\nanna b,ben\n");
    folder.write("edges.el", "anna ben\n");
    folder.write("lines.jsonl", "{\"from\":\"carl\",\"to\":\"dora\"}\n");
    let told = "edges.el has another format than the other files";
    folder.fails("import names.csv edges.el --store store --keys text", 2, &[told]);
    folder.json("import edges.el lines.jsonl --store store --keys text --labels edge");
    assert_eq!(folder.json("info store")["edges"], 2);
    folder.write("blanks.csv", "id, payer , payee ,amount\n1,anna,ben,5\n");
    let imported = folder.json("import blanks.csv --store blanks --ignore id");
    assert_eq!((&imported["values"], &imported["edges"]), (&json!("record amount=i64"), &json!(1)));
}

#[test]
fn vertices_and_edges_come_in_one_call() {
    let folder = Folder::with("people.csv", "id,name,born\na 1,Anna,1990-05-01\nb,Ben,\n");
    folder.write("knows.csv", "from,to,since\na 1,b,2020\n");
    let imported = folder.json("import knows.csv --vertices people.csv --store store --label knows");
    assert_eq!((&imported["label"], &imported["vertices"]), (&json!("knows"), &json!(2)));
    let ben = folder.json("get vertex b store");
    assert_eq!(ben["properties"], json!({ "name": "Ben", "born": null }));
}

#[test]
fn a_dry_run_shows_the_command_that_says_the_same() {
    let folder = Folder::with("pays.csv", PAYS);
    let plan = folder.json("import pays.csv --store bank --dry-run --on-repeat parallel");
    assert!(!folder.path("bank").exists());
    assert_eq!(plan["tables"][0]["columns"][1], json!({ "name": "payee", "holds": "destination" }));
    assert_eq!(plan["tables"][0]["first_rows"][1][2], "1e3");
    let command = "hedgerow import pays.csv --store bank --keys text --labels \
                   edge:number=key+amount=f64+units=i64+at=timestamp+ok=bool+note=string --on-repeat parallel";
    assert_eq!(plan["command"], command);
    folder.json(command.strip_prefix("hedgerow ").unwrap());
    folder.json("import pays.csv --store other --on-repeat parallel");
    assert_eq!(schema(&folder, "bank"), schema(&folder, "other"));
    // At no terminal nothing is asked.
    let imported = folder.pipe("import pays.csv --store third --on-repeat first", "").success();
    let summary = String::from_utf8(imported.get_output().stdout.clone()).unwrap();
    assert!(summary.contains("command     hedgerow import pays.csv --store third --keys text"), "{summary}");
}

/// A person is asked about rows that would be lost, and whether what was inferred is right.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_asks() {
    let folder = Folder::with("pays.csv", PAYS);
    let keep = ("Keep each row as an edge of its own? [y/N] ", &b"y\r"[..]);
    let shown = folder.types("xterm", "import pays.csv --store bank", &[keep, ("Import? [Y/n] ", b"n\r")]);
    assert!(shown.contains("payee (destination)"), "{shown}");
    assert!(!folder.path("bank").exists());
    folder.types("xterm", "import pays.csv --store bank", &[keep, ("Import? [Y/n] ", b"\r")]);
    assert_eq!(folder.json("info bank")["edges"], 3);
    folder.types("xterm", "import pays.csv --store more --on-repeat last --yes", &[]);
    assert_eq!(folder.json("info more")["edges"], 2);
}

#[test]
fn times_are_of_the_zone_that_is_named() {
    let folder = Folder::with("pays.csv", "from,to,at\n1,2,2024-07-01 02:00\n");
    let at = |store: &str| folder.json(&format!("get edge 1 2 {store}"))["properties"]["at"].clone();
    folder.json("import pays.csv --store utc");
    let zoned = folder.hedgerow("import pays.csv --store zone --time-zone Europe/Zurich");
    let zoned = zoned.get_output().clone();
    if !zoned.status.success() {
        // The operating system has no time zones.
        assert!(String::from_utf8_lossy(&zoned.stderr).contains("--time-zone"));
        return;
    }
    assert_eq!((at("utc"), at("zone")), (json!("2024-07-01T02:00:00Z"), json!("2024-07-01T00:00:00Z")));
    folder.fails("import pays.csv --store bad --time-zone Mars/Base", 2, &["--time-zone", "Mars/Base"]);
}

#[test]
fn an_import_with_inference_goes_on_where_it_stopped() {
    let rows = ["from,to,amount", "a,b,1", "b,c,2", "c,d,3", "d,e,4", "e,f,x"];
    let folder = Folder::with("pays.csv", rows[..5].join("\n"));
    folder.json("import pays.csv --store store --chunk 1");
    // The type of the column is declared now, and the last row has another.
    folder.write("more.csv", [rows[0], "f,g,5", "g,h,6", rows[5]].join("\n"));
    let stopped = ["more.csv:4", "2 edges of", "the same command goes on"];
    folder.fails("import more.csv --store store --chunk 1", 3, &stopped);
    folder.write("more.csv", [rows[0], "f,g,5", "g,h,6", "h,i,7"].join("\n"));
    let resumed = folder.json("import more.csv --store store");
    assert_eq!(
        (&resumed["resumed"], &resumed["rows"], &resumed["edges"]),
        (&json!(true), &json!(1), &json!(7))
    );
}
