//! `hedgerow log`: the commits of a store.

use crate::common::{Folder, bank};
use hedgerow::{Durability, EngineKind, Graph, GraphOptions, KeyKind, LabelId, Topology, WriteGraph};
use serde_json::{Value, json};

/// The commits, without their times, which must not ascend.
fn commits(folder: &Folder, options: &str) -> Vec<Value> {
    let listed = folder.json(&format!("log bank {options}"));
    let mut commits = listed["commits"].as_array().unwrap().clone();
    let times: Vec<String> =
        commits.iter().map(|commit| commit["time"].as_str().unwrap().to_owned()).collect();
    assert!(
        times.iter().all(|time| time.len() == "2026-01-31T12:00:00.000000Z".len() && time.ends_with('Z'))
    );
    assert!(options.contains("oldest") || times.is_sorted_by(|newer, older| newer >= older));
    commits.iter_mut().for_each(|commit| drop(commit.as_object_mut().unwrap().remove("time")));
    commits
}

#[test]
fn commits_are_listed_with_what_they_changed_on_every_engine() {
    for &engine in EngineKind::ALL {
        let folder = bank(engine);
        let commit = |timestamp: u64, edges: Value, vertices: [u64; 3], import: bool| {
            let [added, changed, deleted] = vertices;
            json!({
                "timestamp": timestamp, "edges": edges, "vertices_added": added, "vertices_changed": changed,
                "vertices_deleted": deleted, "import": import,
            })
        };
        let knows = |put: u64, deleted: u64| json!([{ "label": "knows", "put": put, "deleted": deleted }]);
        let expected = [
            commit(5, knows(0, 2), [0, 0, 1], false),
            commit(4, json!([{ "label": "pays", "put": 1, "deleted": 0 }]), [1, 0, 0], false),
            commit(3, json!([]), [0, 1, 0], false),
            commit(2, json!([]), [0, 0, 0], true),
            commit(1, knows(2, 0), [3, 0, 0], true),
        ];
        let listed = folder.json("log bank");
        assert_eq!(
            (&listed["log_begins_after"], &listed["log_begins_after_time"]),
            (&json!(0), &json!(null))
        );
        assert_eq!(commits(&folder, ""), expected, "{engine}");
        let reversed: Vec<Value> = expected.iter().rev().cloned().collect();
        assert_eq!(commits(&folder, "--oldest-first"), reversed, "{engine}");
        assert_eq!(commits(&folder, "--limit 2"), expected[..2], "{engine}");
        assert_eq!(commits(&folder, "--limit 2 --oldest-first"), reversed[..2], "{engine}");
        let text = folder.text("log bank");
        let lines: Vec<&str> = text.lines().map(|line| line.split("Z  ").nth(1).unwrap()).collect();
        let expected = [
            "2 edges of knows deleted, 1 vertex deleted",
            "1 edge of pays put, 1 vertex added",
            "1 vertex changed",
            "position of an import",
            "2 edges of knows put, 3 vertices added, position of an import",
        ];
        assert_eq!(lines, expected, "{engine}");
    }
}

#[test]
fn times_bound_the_listing() {
    let folder = bank(EngineKind::default());
    let all = folder.json("log bank");
    let time = |commit: usize| all["commits"][commit]["time"].as_str().unwrap().to_owned();
    let timestamps = |options: &str| -> Vec<u64> {
        commits(&folder, options).iter().map(|commit| commit["timestamp"].as_u64().unwrap()).collect()
    };
    assert_eq!(timestamps(&format!("--since {}", time(2))), [5, 4, 3]);
    assert_eq!(timestamps(&format!("--until {} --oldest-first", time(2))), [1, 2, 3]);
    assert_eq!(timestamps(&format!("--since {} --until {}", time(3), time(1))), [4, 3, 2]);
    assert_eq!(timestamps("--since 1h --until now"), [5, 4, 3, 2, 1]);
    assert!(timestamps("--until yesterday").is_empty());
    folder.fails("log bank --since soon", 2, &["yesterday", "2026-01-31"]);
    folder.fails("log nothing", 3, &["there is no store in nothing"]);
    folder.fails("log bank --limit 0", 2, &["from 1"]);
}

#[test]
fn the_listing_says_where_the_record_begins() {
    for &engine in EngineKind::ALL {
        let place =
            if engine.owns_files() { "the files of the engine" } else { "the checkpoint of commit 5" };
        let folder = bank(engine);
        folder.json("checkpoint bank");
        folder.json("put vertex emil bank");
        let listed = folder.json("log bank");
        let begin = listed["log_begins_after"].as_u64().unwrap();
        assert!(begin == 5 && listed["log_begins_after_time"].is_string(), "{listed}");
        assert_eq!(commits(&folder, "").len(), 1);
        let output = folder.hedgerow("log bank").success().get_output().clone();
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(note.contains("commits up to 5 are only in") && note.contains(place), "{note}");
        folder.hedgerow("log bank --limit 1 --quiet").success().stderr("");
    }
}

#[test]
fn a_store_is_listed_while_another_process_writes_to_it() {
    let folder = Folder::new();
    let options = GraphOptions::new().topology(Topology::Undirected).keys(KeyKind::Dense).segment_bytes(4096);
    let graph: Graph = options.durability(Durability::Sync).create(folder.path("bank")).unwrap();
    for commit in 1..=500_u64 {
        graph.put_edge(LabelId::DEFAULT, commit, commit + 1).unwrap();
        if commit % 100 == 0 {
            // Segments of all sizes, the last of which is not sealed.
            let listed = commits(&folder, "");
            let timestamps: Vec<u64> =
                listed.iter().map(|commit| commit["timestamp"].as_u64().unwrap()).collect();
            assert!(timestamps.iter().copied().eq((1..=commit).rev()), "{timestamps:?}");
            assert_eq!(
                (&listed[0]["vertices_added"], &listed[0]["vertices_changed"]),
                (&json!(null), &json!(1))
            );
        }
    }
    assert_eq!(commits(&folder, "--oldest-first --limit 450").last().unwrap()["timestamp"], 450);
    assert!(graph.store_info().unwrap().segments > 2);
    graph.close().unwrap();
}
