//! `hedgerow changes`: the changes of a store, also while another process writes them.

use crate::common::{Folder, PROGRAM, bank};
#[cfg(target_os = "linux")]
use crate::common::{listens, send};
use hedgerow::{EngineKind, Graph, GraphOptions, WriteGraph};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The lines of JSON, without times; tokens are only counted.
fn changes(folder: &Folder, options: &str) -> (Vec<Value>, Vec<String>) {
    let printed = folder.text(&format!("changes bank --json {options}"));
    let mut tokens = Vec::new();
    let lines = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = lines.filter_map(|mut line| match line.get("token") {
        Some(token) => {
            tokens.push(token.as_str().unwrap().to_owned());
            line.get("state").map(|state| json!({ "state": state }))
        }
        None => {
            assert!(line["time"].as_str().unwrap().ends_with('Z'));
            drop(line.as_object_mut().unwrap().remove("time"));
            Some(line)
        }
    });
    (lines.collect(), tokens)
}

fn vertex(commit: u64, change: &str, key: &str, after: &Value) -> Value {
    json!({ "commit": commit, "change": change, "object": "vertex", "key": key, "before": null, "after": after })
}

fn edge(commit: u64, change: &str, label: &str, from: &str, to: &str, after: &Value) -> Value {
    let mut edge = json!({
        "commit": commit, "change": change, "object": "edge", "label": label, "from": from, "to": to,
        "before": null, "after": after
    });
    if label == "pays" {
        edge["edge_key"] = 7.into();
    }
    edge
}

#[test]
fn changes_are_printed_from_any_commit_on_every_engine() {
    for &engine in EngineKind::ALL {
        let folder = bank(engine);
        let nothing = json!({ "age": null });
        let made = [
            vertex(1, "put", "anna", &nothing),
            vertex(1, "put", "ben", &nothing),
            vertex(1, "put", "carl", &nothing),
            edge(1, "put", "knows", "anna", "ben", &Value::Null),
            edge(1, "put", "knows", "ben", "carl", &Value::Null),
            vertex(3, "put", "anna", &json!({ "age": 30 })),
            vertex(4, "put", "dora", &nothing),
            edge(4, "put", "pays", "anna", "dora", &json!({ "number": 7, "amount": 1.5 })),
            edge(5, "deleted", "knows", "anna", "ben", &Value::Null),
            edge(5, "deleted", "knows", "ben", "carl", &Value::Null),
            vertex(5, "deleted", "ben", &Value::Null),
        ];
        let (all, tokens) = changes(&folder, "");
        assert_eq!(all, made, "{engine}");
        let (last, _) = changes(&folder, "--from 4");
        assert_eq!(last, made[8..], "{engine}");
        assert_eq!(changes(&folder, "--from 2 --to 4").0, made[5..8]);
        assert_eq!(changes(&folder, "--from start --label pays").0, [made[7].clone()]);
        assert_eq!(
            changes(&folder, "--vertex ben").0,
            [1, 3, 4, 8, 9, 10].map(|position: usize| made[position].clone())
        );
        assert_eq!(changes(&folder, "--from yesterday").0, made);
        assert!(
            changes(&folder, "--to yesterday").0.is_empty() && changes(&folder, "--from now").0.is_empty()
        );
        // A token goes on where the output ended.
        let token = tokens.last().unwrap();
        assert!(changes(&folder, &format!("--from {token}")).0.is_empty());
        folder.json("put edge carl anna bank --label knows");
        assert_eq!(
            changes(&folder, &format!("--from {token}")).0,
            [edge(6, "put", "knows", "carl", "anna", &Value::Null)]
        );
        let (.., tokens) = changes(&folder, "--from 1 --to 3");
        assert_eq!(changes(&folder, &format!("--from {} --to 5", tokens.last().unwrap())).0, made[6..]);
    }
}

#[test]
fn changes_are_lines_and_csv() {
    let folder = bank(EngineKind::default());
    let without_times = |text: String| -> Vec<String> {
        let is_time = |word: &&str| !(word.ends_with('Z') && word.contains('T'));
        let line = |line: &str| line.split([' ', ',']).filter(is_time).collect::<Vec<_>>().join(" ");
        text.lines().map(line).collect()
    };
    assert_eq!(
        without_times(folder.text("changes bank --from 2")),
        [
            "3 + vertex anna age=30",
            "4 + vertex dora age=null",
            "4 + edge anna dora pays number=7 amount=1.5",
            "5 - edge anna ben knows",
            "5 - edge ben carl knows",
            "5 - vertex ben",
        ]
    );
    assert_eq!(
        without_times(folder.text("changes bank --from 3 --csv")),
        [
            "commit time change object label from to edge_key before after",
            "4 put vertex  dora    age=null",
            "4 put edge pays anna dora 7  number=7 amount=1.5",
            "5 deleted edge knows anna ben   ",
            "5 deleted edge knows ben carl   ",
            "5 deleted vertex  ben    ",
        ]
    );
}

/// A log that was pruned: the graph comes first, from the checkpoint or the engine's files.
#[test]
fn the_whole_graph_comes_before_the_changes_after_it() {
    for &engine in EngineKind::ALL {
        let folder = bank(engine);
        for _ in 0..2 {
            folder.json("checkpoint bank");
            folder.json("put edge anna carl bank --label knows");
            folder.json("delete edge anna carl bank --label knows");
        }
        let (rows, _) = changes(&folder, "--from start");
        let known = json!({ "age": 30 });
        let state = rows.iter().position(|row| row.get("state").is_some()).unwrap();
        let commit = rows[state]["state"].as_u64().unwrap();
        assert_eq!(
            rows[..state],
            [
                vertex(commit, "put", "anna", &known),
                edge(commit, "put", "pays", "anna", "dora", &json!({ "number": 7, "amount": 1.5 })),
                vertex(commit, "put", "carl", &json!({ "age": null })),
                vertex(commit, "put", "dora", &json!({ "age": null })),
            ],
            "{engine}"
        );
        let after = [
            edge(commit + 1, "put", "knows", "anna", "carl", &Value::Null),
            edge(commit + 2, "deleted", "knows", "anna", "carl", &Value::Null),
        ];
        // The log of an engine with files of its own may begin at its last flush.
        assert!(rows[state + 1..] == after || rows[state + 1..].is_empty(), "{engine}: {rows:?}");
        folder.fails("changes bank --from 1", 3, &["commit"]);
        folder.fails("changes bank --from yesterday", 3, &["--from start"]);
    }
}

#[test]
fn wrong_positions_are_refused() {
    let folder = bank(EngineKind::default());
    folder.fails("changes bank --from 9", 3, &["9"]);
    folder.fails("changes bank --from sometime", 2, &["expected a commit, `start`"]);
    folder.fails("changes bank --label hates", 2, &["hates", "knows"]);
    folder.fails("changes nothing", 3, &["nothing"]);
    let (_, tokens) = changes(&folder, "");
    let other = Folder::with("graph", "1 2\n");
    other.json("import graph --store bank");
    other.fails(&format!("changes bank --from {}", tokens[0]), 2, &["another graph"]);
}

/// Another process, which is this one, writes while the command follows.
#[cfg(target_os = "linux")]
#[test]
fn changes_are_followed_while_another_process_writes() {
    for &engine in EngineKind::ALL {
        let folder = Folder::new();
        let options = GraphOptions::new().engine(engine).label::<()>("knows");
        let graph = options.create(folder.path("bank")).unwrap();
        let knows = graph.label::<()>("knows").unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["changes", "bank", "--from", "start", "--follow"])
            .current_dir(folder.root())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for number in 0..20_u64 {
            let at = graph.put_edge(knows, number, number + 1).unwrap().at;
            let new = if number == 0 { 3 } else { 2 };
            let printed: Vec<String> = (0..new).map(|_| lines.next().unwrap().unwrap()).collect();
            assert!(printed.iter().all(|line| line.starts_with(&format!("{at} "))), "{printed:?}");
            assert!(printed[new - 1].ends_with(&format!("+ edge {number} {}", number + 1)), "{printed:?}");
        }
        // The store is closed, and opened again.
        graph.close().unwrap();
        drop(graph);
        let graph = Graph::open(folder.path("bank")).unwrap();
        graph.delete_edge(knows, 3, 4).unwrap();
        assert!(lines.next().unwrap().unwrap().ends_with("- edge 3 4"));
        assert!(listens(&child));
        send(&child, if engine == EngineKind::default() { "-TERM" } else { "-INT" });
        assert!(lines.next().is_none());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}
