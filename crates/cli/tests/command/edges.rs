//! `hedgerow edges`

use crate::common::{Folder, PROGRAM, engine_options};
use assert_cmd::assert::Assert;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

const LABELS: &str =
    "pays:number=key+amount=f64+parts=i64+note=string+at=timestamp,knows,rates:f32,calls:u64";

/// Runs `hedgerow edges bank` with these arguments.
fn edges(folder: &Folder, arguments: &[&str]) -> Assert {
    let mut command = assert_cmd::Command::new(PROGRAM);
    command.current_dir(folder.root()).args(["edges", "bank"]).args(arguments).assert()
}

fn text(folder: &Folder, arguments: &[&str]) -> String {
    let output = edges(folder, arguments).success().stderr("").get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&text(folder, &[arguments, &["--json"]].concat())).unwrap()
}

fn fails(folder: &Folder, arguments: &[&str], code: i32, parts: &[&str]) {
    let output = edges(folder, arguments).code(code).stdout("").get_output().clone();
    let error = String::from_utf8(output.stderr).unwrap();
    parts.iter().for_each(|part| assert!(error.contains(part), "{part:?} is not in: {error}"));
}

const PAYMENTS: &str = "source,destination,number,amount,parts,note,at\n\
    anna b,ben,1,9.5,3,lunch,2026-01-01T12:00:00Z\n\
    anna b,ben,2,1500,,rent,2026-01-31T00:00:00.5Z\n\
    ben,anna b,3,0.25,-7,,2025-12-31T23:59:59Z\n\
    carl,ben,4,,9223372036854775807,\"a, \"\"b\"\"\",\n\
    carl,carl,5,2000,9223372036854775807,rent,2026-02-01T00:00:00Z\n";

/// A store with payments, and a few edges of other labels.
fn bank(options: &str) -> Folder {
    let folder = Folder::with("pays.csv", PAYMENTS);
    let import = format!("import pays.csv --store bank --keys text --labels {LABELS} {options}");
    folder.hedgerow(&import).success();
    for edge in
        ["ben carl --label knows", "carl ben --label rates --value 0.1", "ben carl --label calls --value 7"]
    {
        folder.hedgerow(&format!("put edge {edge} --store bank")).success();
    }
    folder
}

/// Options of imports that choose each engine, without and with a reverse adjacency.
fn engines() -> Vec<String> {
    ["", " --reverse"]
        .iter()
        .flat_map(|reverse| engine_options().map(move |engine| engine + reverse))
        .collect()
}

#[test]
fn edges_are_printed_with_their_label_and_properties() {
    for engine in engines() {
        let folder = bank(&engine);
        let expected = "\"anna b\" ben pays number=1 amount=9.5 parts=3 note=\"lunch\" at=2026-01-01T12:00:00Z\n\
            \"anna b\" ben pays number=2 amount=1500.0 parts=null note=\"rent\" at=2026-01-31T00:00:00.500000Z\n\
            ben \"anna b\" pays number=3 amount=0.25 parts=-7 note=null at=2025-12-31T23:59:59Z\n\
            carl ben pays number=4 amount=null parts=9223372036854775807 note=\"a, \\\"b\\\"\" at=null\n\
            carl carl pays number=5 amount=2000.0 parts=9223372036854775807 note=\"rent\" at=2026-02-01T00:00:00Z\n\
            ben carl knows\ncarl ben rates 0.1\nben carl calls 7\n";
        assert_eq!(text(&folder, &[]), expected, "{engine}");
        assert_eq!(text(&folder, &["--label", "knows"]), "ben carl\n");
        assert_eq!(
            text(&folder, &["--from", "ben", "--where", "label != 'pays'"]),
            "ben carl knows\nben carl calls 7\n"
        );
        assert_eq!(text(&folder, &["--to", "ben", "--label", "rates"]), "carl ben 0.1\n", "{engine}");
        assert_eq!(
            json(&folder, &["--to", "ben", "--count"])["aggregates"],
            json!({ "count": 4 }),
            "{engine}"
        );
        assert_eq!(json(&folder, &["--from", "carl", "--to", "ben", "--count"])["aggregates"]["count"], 2);
        let mut lines = text(&folder, &["--limit", "2"]).lines().count();
        assert_eq!(lines, 2);
        let found = json(&folder, &["--where", "note = 'lunch' or value = 0.1"]);
        lines = found["edges"].as_array().unwrap().len();
        assert_eq!((lines, &found["store"]), (2, &json!("bank")));
        let first = json!({ "source": "anna b", "destination": "ben", "label": "pays", "properties":
            { "number": 1, "amount": 9.5, "parts": 3, "note": "lunch", "at": "2026-01-01T12:00:00Z" } });
        assert_eq!(found["edges"][0], first);
        let second = json!({ "source": "carl", "destination": "ben", "label": "rates", "value": 0.1 });
        assert_eq!(found["edges"][1].to_string(), second.to_string());
    }
}

#[test]
fn conditions_select_edges() {
    let folder = bank("");
    let count =
        |condition: &str| json(&folder, &["--where", condition, "--count"])["aggregates"]["count"].clone();
    for (condition, expected) in [
        ("amount > 1000", 2),
        ("not amount > 1000", 6),
        ("amount > 1000 and note = 'rent'", 2),
        ("amount = null", 4),
        ("amount != null", 4),
        ("parts = 9223372036854775807", 2),
        ("parts >= 9223372036854775807.0", 0),
        ("at >= '2026-01-01' and at < '2026-02-01'", 2),
        ("at < '2026-01-01'", 1),
        ("number >= 4", 2),
        ("value = 7", 1),
        ("label = 'knows' or value < 1", 2),
        ("source = destination", 1),
        ("source = \"anna b\"", 2),
        ("source > 'ben'", 3),
        ("source = 'dora'", 0),
        ("amount < parts", 1),
    ] {
        assert_eq!(count(condition), expected, "{condition}");
    }
    fails(
        &folder,
        &["--where", "amont > 5"],
        2,
        &[
            "--where, column 1: there is no property \"amont\": expected number, amount, parts, note, at, value, source",
            "\n  amont > 5\n  ^\n",
        ],
    );
    fails(
        &folder,
        &["--where", "note > 5", "--json"],
        2,
        &["\"error\":\"--where, column 8", "\"exit_code\":2"],
    );
    fails(&folder, &["--from", "dora"], 3, &["there is no vertex dora in bank"]);
    fails(&folder, &["--label", "owes"], 2, &["there is no label \"owes\" in bank"]);
}

#[test]
fn edges_are_selected_by_their_time() {
    for engine in engines() {
        let folder = bank(&engine);
        let numbers = |arguments: &[&str]| -> Vec<u64> {
            let found = json(&folder, &[arguments, &["--label", "pays"]].concat());
            let edges = found["edges"].as_array().unwrap().iter();
            edges.map(|edge| edge["properties"]["number"].as_u64().unwrap()).collect()
        };
        assert_eq!(numbers(&["--since", "2026-01-01"]), [1, 2, 5], "{engine}");
        assert_eq!(numbers(&["--since", "2026-01-01", "--until", "2026-01-31"]), [1]);
        assert_eq!(numbers(&["--newest", "3"]), [5, 2, 1]);
        assert_eq!(numbers(&["--newest", "9"]), [5, 2, 1, 3]);
        assert_eq!(
            numbers(&["--newest", "2", "--where", "note = 'rent'", "--until", "2026-01-31T01:00:00Z"]),
            [2]
        );
        assert_eq!(numbers(&["--newest", "2", "--time-property", "number"]), [5, 4]);
        assert_eq!(numbers(&["--since", "4", "--time-property", "number", "--limit", "1"]), [4]);
        assert_eq!(json(&folder, &["--newest", "1", "--label", "calls"])["edges"][0]["value"], 7);
    }
    let folder = bank("");
    fails(&folder, &["--newest", "1"], 2, &["--newest: the edges of \"knows\" have no time"]);
    fails(
        &folder,
        &["--since", "5", "--label", "pays", "--time-property", "note"],
        2,
        &["--time-property \"note\": a time is of type timestamp, i64 or u64"],
    );
    fails(&folder, &["--newest", "1", "--count"], 2, &["cannot be used with"]);
    folder.hedgerow("label add lends:from=timestamp+until=timestamp bank").success();
    fails(&folder, &["--newest", "1", "--label", "lends"], 2, &["several times, \"from\" and \"until\""]);
}

#[test]
fn aggregates_come_in_the_order_of_the_command_line() {
    let folder = bank("");
    let pays = ["--label", "pays"];
    let all =
        ["--max", "at", "--count", "--sum", "amount", "--mean", "parts", "--min", "note", "--sum", "parts"];
    assert_eq!(
        text(&folder, &[&pays[..], &all[..]].concat()),
        "max(at)      2026-02-01T00:00:00Z\ncount        5\nsum(amount)  3509.75\nmean(parts)  4.611686018427388e+18\n\
         min(note)    \"a, \\\"b\\\"\"\nsum(parts)   18446744073709551610\n"
    );
    assert_eq!(text(&folder, &["--count"]), "8\n");
    assert_eq!(text(&folder, &["--count", "--by", "label"]), "calls 1\nknows 1\npays 5\nrates 1\n");
    assert_eq!(text(&folder, &["--max", "value", "--where", "label = 'rates'"]), "0.1\n");
    let groups = ["--count", "--sum", "amount", "--by", "source", "--label", "pays"];
    assert_eq!(text(&folder, &groups), "\"anna b\" 2 1509.5\nben 1 0.25\ncarl 2 2000.0\n");
    let found = json(&folder, &["--sum", "amount", "--by", "source", "--top", "1", "--label", "pays"]);
    assert_eq!((&found["by"], &found["group_count"]), (&json!("source"), &json!(3)));
    assert_eq!(found["groups"], json!([{ "key": "carl", "sum(amount)": 2000.0 }]));
    let top = ["--count", "--by", "source", "--top", "2", "--label", "pays"];
    assert_eq!(text(&folder, &top), "\"anna b\" 2\ncarl 2\n", "ties by key");
    assert_eq!(
        text(&folder, &["--count", "--by", "note", "--label", "pays"]),
        "null 1\n\"a, \\\"b\\\"\" 1\n\"lunch\" 1\n\"rent\" 2\n"
    );
    assert_eq!(
        text(&folder, &["--sum", "amount", "--mean", "amount", "--where", "amount > 1e9"]),
        "sum(amount)   0.0\nmean(amount)  null\n"
    );
    fails(
        &folder,
        &["--sum", "amont"],
        2,
        &["--sum \"amont\": there is no such property: expected number, amount"],
    );
    fails(&folder, &["--sum", "note"], 2, &["only numbers are added", "text"]);
    fails(&folder, &["--by", "source"], 2, &["--count"]);
    fails(&folder, &["--count", "--top", "3"], 2, &["--by"]);
}

/// Edges for the comparison of aggregates with an oracle: `(source, destination, weight, count)`.
fn many() -> Vec<(u64, u64, Option<f64>, i64)> {
    let mut state = 7_u64;
    let mut next = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let edge = |_| {
        let weight = next(10) > 0;
        (next(60), next(60), weight.then(|| next(1000) as f64 / 8.0), next(100) as i64 - 50)
    };
    // The later of two edges replaces the earlier.
    let edges: BTreeMap<_, _> =
        (0..2000).map(edge).map(|(from, to, weight, count)| ((from, to), (weight, count))).collect();
    edges.into_iter().map(|((from, to), (weight, count))| (from, to, weight, count)).collect()
}

#[test]
fn aggregates_agree_with_an_oracle_on_every_engine() {
    let edges_of_graph = many();
    let mut file = String::from("source,destination,weight,count\n");
    for (source, destination, weight, count) in &edges_of_graph {
        let weight = weight.map_or(String::new(), |weight| weight.to_string());
        writeln!(file, "{source},{destination},{weight},{count}").unwrap();
    }
    let undirected = engine_options().map(|engine| format!("--undirected {engine}"));
    for options in engines().into_iter().chain(undirected) {
        let folder = Folder::with("graph.csv", &file);
        folder
            .hedgerow(&format!(
                "import graph.csv --store bank --on-repeat last --labels edge:weight=f64+count=i64 {options}"
            ))
            .success();
        let is_undirected = options.starts_with("--undirected");
        // The order in which vertices were made decides the source of an undirected edge.
        let mut order = BTreeMap::new();
        for (source, destination, ..) in &edges_of_graph {
            for key in [source, destination] {
                let next = order.len();
                order.entry(*key).or_insert(next);
            }
        }
        let mut stored = BTreeMap::new();
        for (source, destination, weight, count) in &edges_of_graph {
            let turned = is_undirected && order[source] > order[destination];
            let ends = if turned { (*destination, *source) } else { (*source, *destination) };
            stored.insert(ends, (*weight, *count));
        }
        let mut expected: BTreeMap<u64, (u64, f64, i64, Option<f64>)> = BTreeMap::new();
        for ((source, destination), (weight, count)) in &stored {
            if *count >= -20 && *destination != 7 {
                let group = expected.entry(*source).or_default();
                let largest = match (group.3, *weight) {
                    (Some(one), Some(other)) => Some(f64::max(one, other)),
                    (one, other) => one.or(other),
                };
                *group = (group.0 + 1, group.1 + weight.unwrap_or(0.0), group.2 + count, largest);
            }
        }
        let found = json(
            &folder,
            &[
                "--where",
                "count >= -20 and destination != 7",
                "--count",
                "--sum",
                "weight",
                "--sum",
                "count",
                "--max",
                "weight",
                "--by",
                "source",
            ],
        );
        let line = |(key, (edges, weight, count, largest)): (&u64, &(u64, f64, i64, Option<f64>))| json!({ "key": key, "count": edges, "sum(weight)": weight, "sum(count)": count, "max(weight)": largest });
        let lines: Vec<Value> = expected.iter().map(line).collect();
        assert_eq!(found["groups"], json!(lines), "{options}");
        let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
        stored.values().for_each(|(_, count)| *counts.entry(*count).or_default() += 1);
        let lines: Vec<Value> =
            counts.iter().map(|(key, edges)| json!({ "key": key, "count": edges })).collect();
        assert_eq!(json(&folder, &["--count", "--by", "count"])["groups"], json!(lines), "{options}");
        // Each edge at its ends.
        for key in ["3", "7"] {
            let at = |end: u64| end.to_string() == key;
            let from = stored
                .keys()
                .filter(|(source, destination)| at(*source) || is_undirected && at(*destination));
            let to = stored
                .keys()
                .filter(|(source, destination)| at(*destination) || is_undirected && at(*source));
            assert_eq!(
                text(&folder, &["--from", key, "--count"]),
                format!("{}\n", from.count()),
                "{options}"
            );
            assert_eq!(text(&folder, &["--to", key, "--count"]), format!("{}\n", to.count()), "{options}");
        }
        assert_eq!(text(&folder, &["--from", "3", "--where", "source != 3"]), "", "{options}");
    }
}

#[test]
fn files_have_the_form_of_their_names_and_are_imported_again() {
    for label in ["pays", "rates", "calls"] {
        let folder = bank("");
        let shown = text(&folder, &["--label", label]);
        for name in ["edges.csv", "edges.jsonl.gz"] {
            for raw in [&[][..], &["--raw-times"]] {
                let summary = text(&folder, &[&["--label", label, "--output", name], raw].concat());
                assert!(summary.contains("output  edges.") && summary.contains("edges   "), "{summary}");
                let format = if name.contains("csv") { "properties-csv" } else { "jsonl" };
                std::fs::remove_dir_all(folder.path("again")).ok();
                let import = format!(
                    "import {name} --store again --keys text --label {label} --labels {LABELS} --format {format}"
                );
                folder.hedgerow(&import).success();
                assert_eq!(folder.text(&format!("edges again --label {label}")), shown, "{name} {raw:?}");
            }
        }
    }
    let folder = bank("");
    assert!(text(&folder, &["--output", "all.csv", "--quiet"]).is_empty());
    assert_eq!(
        folder.read("all.csv").lines().collect::<Vec<_>>()[..2],
        [
            "source,destination,label,number,amount,parts,note,at,value",
            "anna b,ben,pays,1,9.5,3,lunch,2026-01-01T12:00:00Z,"
        ]
    );
    assert!(folder.read("all.csv").ends_with("carl,ben,rates,,,,,,0.1\nben,carl,calls,,,,,,7\n"));
    let written = json(&folder, &["--output", "all.json"]);
    assert_eq!((&written["edges"], &written["output"]), (&json!(8), &json!("all.json")));
    let array: Value = serde_json::from_str(&folder.read("all.json")).unwrap();
    assert_eq!(array.as_array().unwrap().len(), 8);
    text(&folder, &["--output", "all.txt"]);
    assert_eq!(folder.read("all.txt"), text(&folder, &[]));
    let groups = ["--count", "--min", "note", "--by", "note", "--label", "pays", "--output"];
    text(&folder, &[&groups[..], &["groups.csv"]].concat());
    assert_eq!(
        folder.read("groups.csv"),
        "key,count,min(note)\n,1,\n\"a, \"\"b\"\"\",1,\"a, \"\"b\"\"\"\nlunch,1,lunch\nrent,2,rent\n"
    );
    text(&folder, &[&groups[..], &["groups.ndjson"]].concat());
    assert!(
        folder
            .read("groups.ndjson")
            .starts_with("{\"key\":null,\"count\":1,\"min(note)\":null}\n{\"key\":\"a, ")
    );
    text(&folder, &[&groups[..], &["groups.json"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&folder.read("groups.json")).unwrap()[3]["count"], 2);
    fails(&folder, &["--output", "bank/edges.csv"], 2, &["--output bank/edges.csv"]);
}

#[test]
fn a_shell_and_past_states_have_the_command_too() {
    let folder = bank("");
    let lines = "edges --label pays --where 'amount > 1000' --count\nedges --label knows\nput edge carl carl --label knows\n\
                 edges --label knows --limit 1\nbegin\nedges\n";
    let output = folder.pipe("shell bank --json --keep-going", lines).code(2).get_output().clone();
    let output = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results[0]["aggregates"]["count"], 2);
    assert_eq!(results[1]["edges"], json!([{ "source": "ben", "destination": "carl", "label": "knows" }]));
    assert_eq!(results[3]["edges"].as_array().unwrap().len(), 1);
    let before = results[0]["timestamp"].as_u64().unwrap().to_string();
    let count = |options: &[&str]| text(&folder, &[&["--label", "knows", "--count"], options].concat());
    assert_eq!((count(&[]), count(&["--as-of", &before])), ("2\n".to_owned(), "1\n".to_owned()));
}

#[test]
fn times_are_printed_readably_or_as_numbers() {
    let folder = bank("");
    let newest = "neighbors ben --store bank --label pays --newest 1";
    assert!(folder.text(newest).ends_with("at=2025-12-31T23:59:59Z\n"));
    assert!(folder.text(&format!("{newest} --raw-times")).ends_with("at=1767225599000000\n"));
    assert_eq!(folder.json(newest)["neighbors"][0]["properties"]["at"], "2025-12-31T23:59:59Z");
    let edge = "get edge carl carl --store bank --label pays";
    assert!(folder.text(edge).ends_with("at=2026-02-01T00:00:00Z\n"));
    assert_eq!(folder.json(&format!("{edge} --raw-times"))["edges"][0]["at"], 1_769_904_000_000_000_i64);
    assert!(text(&folder, &["--raw-times", "--where", "number = 5"]).ends_with("at=1769904000000000\n"));
    assert_eq!(text(&folder, &["--raw-times", "--max", "at"]), "1769904000000000\n");
    for (options, expected) in [("", "2026-01-01T12:00:00Z"), (" --raw-times", "1767268800000000")] {
        folder.text(&format!("export bank --label pays --output pays-{expected}.csv --quiet{options}"));
        assert!(folder.read(&format!("pays-{expected}.csv")).contains(&format!(",lunch,{expected}\n")));
    }
    assert!(folder.text("neighbors ben --store bank --label pays").starts_with("\"anna b\" number=3 "));
    let output =
        folder.command("get edge").args(["anna b", "ben", "bank", "--label", "pays"]).output().unwrap();
    assert!(output.stdout.starts_with(b"\"anna b\" ben number=1 "));
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let folder = Folder::new();
    folder.hedgerow("generate kronecker --scale 14 --output graph.el --quiet").success();
    folder.hedgerow("import graph.el --store bank --quiet").success();
    let piped = format!("{PROGRAM} edges bank | head -n 1; echo ${{PIPESTATUS[0]}}");
    let output =
        std::process::Command::new("bash").args(["-c", &piped]).current_dir(folder.root()).output().unwrap();
    let (shown, errors) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert!(shown.ends_with("\n0\n") && shown.lines().count() == 2 && errors.is_empty(), "{shown}");
}
