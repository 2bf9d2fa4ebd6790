//! `hedgerow changes` to a topic.

use crate::broker::{Topic, records};
use crate::common::{Folder, PROGRAM, listens, send};
use hedgerow::{Graph, GraphOptions, WriteGraph};
use kafka_protocol::records::Record;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `hedgerow changes store --to TOPIC`, which must succeed.
fn write(folder: &Folder, topic: &Topic, options: &str) -> Value {
    folder.json(&format!("changes store --to {} {options}", topic.address()))
}

/// The committed lines of the topic.
fn lines(topic: &Topic) -> Vec<String> {
    let line = |record: Record| String::from_utf8(record.value.unwrap().to_vec()).unwrap();
    topic.records().into_iter().map(line).collect()
}

/// The token of a record.
fn token(record: &Record) -> String {
    let mut headers = record.headers.iter().filter(|(name, _)| &***name == "hedgerow-token");
    String::from_utf8(headers.next().unwrap().1.as_ref().unwrap().to_vec()).unwrap()
}

/// The lines of `hedgerow changes --json`, without those that have tokens.
fn printed(folder: &Folder, options: &str) -> Vec<String> {
    let text = folder.text(&format!("changes store --json {options}"));
    text.lines().filter(|line| !line.starts_with("{\"token\"")).map(str::to_owned).collect()
}

#[test]
fn the_lines_of_json_come_once_and_tokens_with_them() {
    let Some(topic) = Topic::new("changes", 1) else { return };
    let folder = Folder::with("graph", "anna ben\nben carl\n");
    folder.json("import graph --store store --keys text --labels knows,pays:number=key+amount=f64! --checkpoint never");
    folder.json("put edge anna dora store --label pays --key 7 --property amount=1.5");
    let first = write(&folder, &topic, "");
    assert_eq!(
        (&first["changes"], &first["transactions"], &first["resumed_after"]),
        (&json!(7), &json!(1), &Value::Null)
    );
    assert_eq!(lines(&topic), printed(&folder, ""));
    assert_eq!(write(&folder, &topic, "")["changes"], 0, "nothing is new");
    folder.json("delete vertex ben store");
    let second = write(&folder, &topic, "--from start");
    assert_eq!((&second["changes"], &second["resumed_after"]), (&json!(3), &json!(3)));
    assert_eq!(lines(&topic), printed(&folder, ""));
    // Each token goes on after its commit.
    for record in topic.records() {
        let line: Value = serde_json::from_slice(record.value.as_ref().unwrap()).unwrap();
        let rest = printed(&folder, &format!("--from {}", token(&record)));
        assert_eq!(rest, printed(&folder, &format!("--from {}", line["commit"])));
    }
    let text = folder.text(&format!("changes store --to {}", topic.address()));
    assert!(text.contains("after commit 4") && text.contains("0 changes in 0 transactions"), "{text}");
    // Only some changes, in a topic of their own.
    let Some(other) = Topic::new("filtered", 1) else { return };
    write(&folder, &other, "--label pays");
    assert_eq!(lines(&other), printed(&folder, "--label pays"));
}

#[test]
fn the_whole_graph_comes_first_where_the_log_begins_later() {
    let Some(topic) = Topic::new("rows", 1) else { return };
    let text = (0..3000).fold(String::new(), |text, edge| text + &format!("{} {edge}\n", edge % 7));
    let folder = Folder::with("graph", text);
    folder.json("import graph --store store");
    for edge in ["1 5000", "2 5000"] {
        folder.json("checkpoint store");
        folder.json(&format!("put edge {edge} store"));
    }
    let written = write(&folder, &topic, "--from start");
    assert_eq!(written["transactions"], 2, "a state, and commits");
    assert_eq!(lines(&topic), printed(&folder, "--from start"));
    assert_eq!(write(&folder, &topic, "--from start")["changes"], 0);
}

#[test]
fn a_topic_of_another_store_and_a_second_producer_are_refused() {
    let Some(topic) = Topic::new("refused", 1) else { return };
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store --checkpoint never");
    write(&folder, &topic, "");
    folder.json("import graph --store other --checkpoint never");
    let other = format!("changes other --to {}", topic.address());
    folder.fails(&other, 2, &["has changes of another store at offset 2", "name another topic"]);
    folder.fails(&format!("changes store --csv --to {}", topic.address()), 2, &["--csv", "leave it out"]);
    folder.fails("changes store --to kafka://h/t", 2, &["a topic is kafka://HOST:PORT/TOPIC"]);
    folder.fails("changes store --to kafka://127.0.0.1:1/t", 3, &["cannot reach the broker at 127.0.0.1:1"]);
    // The second process takes over.
    let mut first = follow(&folder, &topic);
    let begin = Instant::now();
    while !listens(&first) {
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
    thread::sleep(Duration::from_millis(500));
    assert_eq!(write(&folder, &topic, "")["changes"], 0);
    folder.json("put edge 2 3 store");
    assert_eq!(first.wait().unwrap().code(), Some(5));
    write(&folder, &topic, "");
    assert_eq!(lines(&topic), printed(&folder, ""));
}

fn follow(folder: &Folder, topic: &Topic) -> Child {
    let address = topic.address();
    let mut command = Command::new(PROGRAM);
    command.args(["changes", "store", "--follow", "--to", &address]).current_dir(folder.root());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The command is killed at any time, while this process writes to the store: a reader of committed
/// records sees every change once, in order.
#[test]
fn killed_at_any_time_no_change_is_lost_or_comes_twice() {
    let Some(topic) = Topic::new("killed-sink", 1) else { return };
    let folder = Folder::new();
    let graph = GraphOptions::new().label::<()>("knows").create(folder.path("store")).unwrap();
    let knows = graph.label::<()>("knows").unwrap();
    let mut next = 0_u64;
    let mut commit = |graph: &Graph, time: Duration| {
        let begin = Instant::now();
        while begin.elapsed() < time {
            for _ in 0..20 {
                graph.put_edge(knows, next % 50, next).unwrap();
                next += 1;
            }
            thread::sleep(Duration::from_millis(1));
        }
    };
    for round in 0..7_u64 {
        let mut child = follow(&folder, &topic);
        commit(&graph, Duration::from_millis(90 + round * 53 % 170));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Records of others between them do not matter.
    let mut other = topic.producer(0, "other");
    other.send(records(["not a change"])).unwrap();
    other.end(true).unwrap();
    let child = follow(&folder, &topic);
    commit(&graph, Duration::from_millis(100));
    graph.close().unwrap();
    drop(graph);
    let (begin, expected) = (Instant::now(), printed(&folder, ""));
    let found = || lines(&topic).into_iter().filter(|line| line.starts_with('{')).collect::<Vec<_>>();
    while found().len() < expected.len() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{} of {}", found().len(), expected.len());
        thread::sleep(Duration::from_millis(50));
    }
    assert!(found() == expected, "the topic has other changes than the store");
    assert!(listens(&child));
    send(&child, "-INT");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}
