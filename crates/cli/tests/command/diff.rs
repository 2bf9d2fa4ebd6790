//! `hedgerow diff`: the differences between two states.

use crate::common::Folder;
use hedgerow::{
    CommitTimestamp, EngineKind, Graph, GraphOptions, Key, KeyKind, LabelId, Properties, ReadGraph, Topology,
    WriteGraph,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Properties)]
struct Person {
    age: Option<i64>,
}

#[derive(Clone, Properties)]
struct Payment {
    amount: f64,
}

const KNOWS: LabelId = LabelId(0);
const PAYS: LabelId = LabelId(1);

/// Vertices and edges as JSON, by what identifies them.
type State = BTreeMap<String, Value>;

fn create(path: &Path, engine: EngineKind, topology: Topology) -> Graph {
    let options = GraphOptions::new().engine(engine).topology(topology).keys(KeyKind::String);
    let options = options.vertices::<Person>().label::<f64>("knows");
    options.parallel_label::<Payment>("pays", "number").create(path).unwrap()
}

/// The state of a graph, read without the command.
fn state(graph: &Graph) -> State {
    let snapshot = graph.snapshot().unwrap();
    let is_undirected = snapshot.topology().is_undirected();
    let mut state = State::new();
    for vertex in snapshot.vertices() {
        let (_, key) = vertex.unwrap();
        let person: Person = snapshot.vertex(&key).unwrap().unwrap();
        state.insert(format!("vertex {key}"), json!({ "age": person.age }));
        let is_listed = |other: &Key| !is_undirected || *other >= key;
        for (other, value) in snapshot.edges::<f64>(KNOWS, &key).unwrap() {
            if is_listed(&other) {
                state.insert(format!("knows {key} {other}"), json!(value));
            }
        }
        for edge in snapshot.parallel_neighbors::<Payment>(PAYS, &key, ..).unwrap() {
            if is_listed(&edge.neighbor) {
                let content = json!({ "number": edge.number, "amount": edge.data.amount });
                state.insert(format!("pays {key} {} {}", edge.neighbor, edge.number), content);
            }
        }
    }
    state
}

/// Applies the differences to a state, each of which must fit it.
fn apply(mut state: State, changes: &[Value]) -> State {
    for change in changes {
        let text = |field: &str| change[field].as_str().unwrap_or_default().to_owned();
        let name = match text("object").as_str() {
            "vertex" => format!("vertex {}", text("key")),
            _ => {
                let number = change["edge_key"].as_u64().map_or(String::new(), |number| format!(" {number}"));
                format!("{} {} {}{number}", text("label"), text("from"), text("to"))
            }
        };
        let before = state.remove(&name).unwrap_or_default();
        assert_eq!(before, change["before"], "{change}");
        assert_ne!(change["before"], change["after"]);
        if !change["after"].is_null() {
            state.insert(name, change["after"].clone());
        }
    }
    state
}

/// Makes a commit that depends on `step`: keys are deleted, and come back with other ids.
fn commit(graph: &Graph, step: u64) -> CommitTimestamp {
    let key = |number: u64| ["anna", "ben", "carl", "dora", "emil", "finn"][(number % 6) as usize];
    let (one, other) = (key(step * 5 + step / 7), key(step / 2 + step * step));
    let committed = match step % 7 {
        0 | 3 => graph.put_edge_with::<f64>(KNOWS, one, other, (step % 4) as f64),
        1 => graph.put_parallel_edge(PAYS, one, other, step % 5, Payment { amount: step as f64 }),
        2 => graph.put_vertex(one, &Person { age: Some(step as i64) }),
        4 => graph.delete_edge(PAYS, one, other),
        5 => graph.delete_vertex(one),
        _ => graph.put_vertex(one, &Person { age: None }),
    };
    committed.unwrap().at
}

#[test]
fn the_differences_make_one_state_of_the_other_on_every_engine() {
    for &engine in EngineKind::ALL {
        for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
            let folder = Folder::new();
            let graph = create(&folder.path("bank"), engine, topology);
            let mut states = vec![(CommitTimestamp(0), State::new())];
            for step in 0..60 {
                states.push((commit(&graph, step), state(&graph)));
            }
            graph.close().unwrap();
            for (from, to) in [(0, 60), (60, 0), (10, 45), (31, 30), (44, 44), (20, 60)] {
                let [(before, old), (after, new)] = [&states[from], &states[to]];
                let found = folder.json(&format!("diff bank {before} {after}"));
                let changes = found["changes"].as_array().unwrap();
                assert_eq!(apply(old.clone(), changes), *new, "{engine} {topology:?} {before} {after}");
                assert_eq!((&found["from"], &found["to"]), (&json!(before.0), &json!(after.0)));
                let count = |change: &str, object: &str| {
                    let is_one = |one: &&Value| one["change"] == change && one["object"] == object;
                    json!(changes.iter().filter(is_one).count())
                };
                let counts = folder.json(&format!("diff bank {before} {after} --count"));
                for (change, object, field) in [
                    ("added", "vertex", "vertices_added"),
                    ("deleted", "vertex", "vertices_deleted"),
                    ("changed", "vertex", "vertices_changed"),
                    ("added", "edge", "edges_added"),
                    ("deleted", "edge", "edges_deleted"),
                    ("changed", "edge", "edges_changed"),
                ] {
                    assert_eq!(counts[field], count(change, object), "{field}");
                    assert_eq!(found[field], counts[field]);
                }
            }
        }
    }
}

#[test]
fn two_stores_are_compared_by_key() {
    for &engine in EngineKind::ALL {
        let folder = Folder::new();
        let bank = create(&folder.path("bank"), engine, Topology::Directed);
        // The keys of this store have other ids.
        let copy = create(&folder.path("copy"), EngineKind::Rapid, Topology::Directed);
        for step in 0..50 {
            commit(&bank, step);
        }
        for step in (0..40).rev() {
            commit(&copy, step);
        }
        let (new, old) = (state(&bank), state(&copy));
        bank.close().unwrap();
        copy.close().unwrap();
        let found = folder.json("diff copy --with bank");
        assert_eq!(apply(old, found["changes"].as_array().unwrap()), new, "{engine}");
        assert_eq!((&found["store"], &found["with"]), (&json!("copy"), &json!("bank")));
        folder.json("checkpoint bank");
        assert_eq!(folder.json("diff bank checkpoint --with bank")["changes"], json!([]));
    }
}

/// A store with known differences since commit 1, and the number of its commits.
fn example() -> Folder {
    let folder = Folder::with("graph", "anna ben 0.5\nben carl 1\nanna \"x 2\n");
    folder.json(
        "import graph --store bank --keys text --labels knows:f64,pays:number=key+amount=f64 --vertex-properties age=i64,note=string --checkpoint \
         never --atomic",
    );
    folder.json("put vertex dora bank --property age=31");
    folder.json("put edge anna ben bank --value 0.75");
    folder.json("put edge anna dora bank --label pays --key 7 --property amount=9.5");
    folder.json("delete vertex carl bank");
    folder
}

#[test]
fn differences_are_printed_and_written() {
    let folder = example();
    let printed = folder.hedgerow("diff bank 1").success().get_output().clone();
    let lines = "~ edge anna ben knows 0.5 -> 0.75\n+ edge anna dora pays number=7 amount=9.5\n- edge ben carl knows 1\n\
                 - vertex carl age=null note=null\n+ vertex dora age=31 note=null\n";
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), lines);
    let summary = String::from_utf8(printed.stderr).unwrap();
    assert!(
        summary.contains("1 added, 1 deleted, 0 changed") && summary.contains("from commit 1 to"),
        "{summary}"
    );
    let of_label = "~ edge anna ben 0.5 -> 0.75\n- edge ben carl 1\n";
    folder.hedgerow("diff bank 1 --label knows --quiet").success().stdout(of_label).stderr("");
    folder
        .hedgerow("diff bank 1 now --limit 1 --quiet")
        .success()
        .stdout(lines.split_inclusive('\n').next().unwrap());
    assert_eq!(folder.json("diff bank 1 --limit 1")["limited"], true);
    assert!(folder.text("diff bank 1 --count").contains("edges     1 added, 1 deleted, 1 changed"));

    let summary = folder.json("diff bank 1 --output found.csv");
    assert_eq!((&summary["output"], &summary["edges_added"]), (&json!("found.csv"), &json!(1)));
    let expected = "change,object,label,from,to,edge_key,before,after\nchanged,edge,knows,anna,ben,,0.5,0.75\n\
                    added,edge,pays,anna,dora,7,,number=7 amount=9.5\ndeleted,edge,knows,ben,carl,,1,\n\
                    deleted,vertex,,carl,,,age=null note=null,\nadded,vertex,,dora,,,,age=31 note=null\n";
    assert_eq!(folder.read("found.csv"), expected);
    folder.text("diff bank 1 --output found.json --quiet");
    folder.text("diff bank 1 --output found.jsonl --quiet");
    let array: Vec<Value> = serde_json::from_str(&folder.read("found.json")).unwrap();
    let lines: Vec<Value> =
        folder.read("found.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(array, lines);
    assert_eq!(json!(array), folder.json("diff bank 1")["changes"]);
    let added = json!({
        "change": "added", "object": "edge", "label": "pays", "from": "anna", "to": "dora", "edge_key": 7, "before": null,
        "after": { "number": 7, "amount": 9.5 },
    });
    assert!(array.contains(&added));
    folder.fails("diff bank 1 --output bank/found.csv", 2, &["reads or writes this file already"]);
}

#[test]
fn states_are_commits_times_and_the_checkpoint() {
    let folder = example();
    let newest = folder.json("log bank")["commits"][0]["timestamp"].as_u64().unwrap();
    let states = |states: &str| {
        let found = folder.json(&format!("diff bank {states} --count"));
        (found["from"].as_u64().unwrap(), found["to"].as_u64().unwrap())
    };
    assert_eq!(states("yesterday"), (0, newest));
    assert_eq!(states("1970-01-02 now"), (0, newest));
    assert_eq!(states("now 2"), (newest, 2));
    assert_eq!(states("newest 0s"), (newest, newest));
    folder.fails("diff bank checkpoint", 3, &["checkpoint"]);
    folder.fails("diff bank", 2, &["<A>"]);
    folder.fails("diff bank soon", 2, &["a commit, `newest`, `checkpoint`"]);
    folder.fails(&format!("diff bank {}", newest + 1), 3, &["is not there yet", "the newest is"]);
    folder.json("checkpoint bank");
    folder.json("put vertex gina bank");
    assert_eq!(states("checkpoint"), (newest, newest + 1));
    let oldest = format!("the oldest state of bank is `checkpoint`, commit {newest} of 20");
    folder.fails("diff bank 1", 3, &["not kept any more", &oldest]);
    folder.fails("diff bank yesterday", 3, &["not kept any more", "the oldest is"]);
    folder.fails("diff nothing 1", 3, &["no store"]);

    folder.write("numbers", "1 2\n");
    folder.json("import numbers --store other");
    folder.fails("diff other --with bank", 2, &["the keys of other are numbers, those of bank text"]);
    folder.fails("diff bank checkpoint --label loves", 2, &["there is no label \"loves\""]);
}
