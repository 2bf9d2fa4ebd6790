//! `hedgerow info`, `checkpoint`, `check`, `recover` and `export`: commands on the store itself.

use crate::common::{Folder, lines_of};
use hedgerow::{
    CheckpointOptions, Graph, GraphOptions, KeyKind, LabelId, SubscribeOptions, Topology, WriteGraph,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A store of 20 edges in 11 commits, the last of which records the end of the import, without a
/// checkpoint.
fn in_the_log() -> Folder {
    let edges: String = (0..20).map(|edge| format!("{edge} {}\n", edge + 1)).collect();
    let folder = Folder::with("graph", edges);
    folder.json("import graph --store store --chunk 2 --checkpoint never");
    folder
}

/// Changes a byte of a file of the store.
fn damage(folder: &Folder, name: &str, offset: usize) {
    let path = folder.path("store").join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[offset] ^= 0x55;
    fs::write(path, bytes).unwrap();
}

/// `tests/stores/cart-ci` was written when the command had engines of research: edges 1-2, 2-3, 3-1
/// and 3-4.
#[test]
fn a_store_that_was_made_with_an_engine_of_research_opens_with_rapid() {
    let folder = Folder::with("more", "4 5\n");
    fs::create_dir(folder.path("store")).unwrap();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/cart-ci");
    for file in fs::read_dir(stored).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), folder.path("store").join(file.file_name())).unwrap();
    }
    assert_eq!(folder.json("info store")["engine"], "cart-ci");
    assert_eq!(folder.json("check store")["problems"], json!([]));
    assert_eq!(folder.text("neighbors 3 --store store"), "1\n2\n4\n");
    assert_eq!(folder.json("run triangles --store store")["triangles"], 1);
    let imported = folder.json("import more --store store");
    assert_eq!((&imported["engine"], &imported["edges"]), (&"rapid".into(), &5.into()));
    folder.json("checkpoint store");
    assert!(!folder.text("schema store").contains("--engine"));
}

#[test]
fn info_shows_what_is_in_a_store() {
    let folder = Folder::with("graph", "a b 1\nb c 2\n");
    let made = "--store store --keys text --undirected --labels knows:f64,likes --engine";
    folder.json(&format!("import graph {made} tel"));
    folder.json("put edge c d --store store --label likes");
    let info = folder.json("info store");
    let expected = json!({
        "store": "store", "engine": "tel", "topology": "undirected", "keys": "text", "strict": false,
        "labels": [
            { "name": "knows", "values": "f64", "edges": 2 },
            { "name": "likes", "values": null, "edges": 1 },
        ],
        "properties": [], "open_in": null, "counted": "newest", "timestamp": 2, "vertices": 4, "edges": 3,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&info[field], value, "{field}");
    }
    assert_eq!(info["id"].as_str().unwrap().len(), 32);
    assert_eq!((&info["checkpoint"]["timestamp"], &info["oldest_readable"]), (&1.into(), &1.into()));
    let bytes = |value: &Value| value.as_u64().unwrap();
    assert!(bytes(&info["disk_bytes"]) > bytes(&info["log"]["bytes"]) + bytes(&info["checkpoint"]["bytes"]));
    assert_eq!((&info["recovery"]["commits"], &info["recovery"]["torn"]), (&1.into(), &Value::Null));
    assert!(info["import"]["files"][0].as_str().unwrap().ends_with("/graph"));
    // Reading changes nothing visible.
    assert_eq!(folder.json("info --store store")["log"], info["log"]);

    let quick = folder.json("info store --quick");
    let expected = json!({
        "counted": "checkpoint", "timestamp": 1, "vertices": 3, "edges": 2, "recovery": null,
        "labels": [
            { "name": "knows", "values": "f64", "edges": 2 },
            { "name": "likes", "values": null, "edges": 0 },
        ],
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&quick[field], value, "{field}");
    }
    let text = folder.text("info store");
    for part in [
        "undirected, keys of kind text",
        "\"knows\", values of type f64, 2 edges",
        "commit 1",
        "finished, of",
    ] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn info_shows_the_subscriptions_of_a_store() {
    let folder = Folder::new();
    let graph = GraphOptions::new().create(folder.path("store")).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    drop(graph.subscribe_as("alerts", &SubscribeOptions::new()).unwrap());
    graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
    graph.close().unwrap();
    let subscription = &folder.json("info store")["subscriptions"][0];
    let (at, since) = (&subscription["timestamp"], &subscription["commits_since"]);
    assert_eq!((&subscription["name"], at, since), (&"alerts".into(), &1.into(), &1.into()));
    assert_eq!(subscription["lost"], 0);
    let text = folder.text("info store");
    assert!(text.contains("\"alerts\", up to commit 1,") && text.contains("ago; 1 commit since"), "{text}");
}

#[test]
fn a_store_that_another_process_has_open_can_be_inspected() {
    let folder = Folder::new();
    let process = std::process::id();
    let graph = GraphOptions::new().create(folder.path("store")).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    for options in ["", "--quick"] {
        let info = folder.json(&format!("info store {options}"));
        assert_eq!((&info["open_in"]["process"], &info["counted"]), (&process.into(), &"nothing".into()));
        assert_eq!((&info["vertices"], &info["topology"]), (&Value::Null, &"directed".into()));
    }
    let text = folder.text("info store");
    assert!(
        text.contains(&format!("process {process}")) && text.contains("unknown before the graph is opened"),
        "{text}"
    );
    folder.fails("run bfs --store store --from-checkpoint", 3, &["there is no checkpoint in store yet"]);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();

    let locked = ["the store is in use", &format!("locked by process {process}"), "--from-checkpoint"];
    for command in [
        "run bfs --store store",
        "neighbors 1 --store store",
        "get vertex 1 --store store",
        "put vertex 1 --store store",
        "delete vertex 1 --store store",
        "checkpoint store",
        "recover store --to-last-valid",
        "export store --output edges.el",
    ] {
        folder.fails(command, 5, &locked);
    }
    assert_eq!(folder.names(), ["store"]);
    assert_eq!(folder.json("info store")["edges"], 1);
    assert_eq!(folder.json("check store")["whole"], true);
    assert_eq!(folder.text("neighbors 1 --store store --from-checkpoint"), "2\n");
    folder.fails("get edge 2 3 --store store --from-checkpoint", 3, &["no edge from 2 to 3"]);
    assert_eq!(folder.json("run bfs --store store --source 1 --from-checkpoint")["reached"], 2);
    folder.json("export store --output edges.el --from-checkpoint");
    assert_eq!(folder.read("edges.el"), "1 2\n");
    graph.close().unwrap();
    assert_eq!(folder.text("neighbors 2 --store store"), "3\n");
}

#[test]
fn the_directory_is_named_once() {
    let folder = in_the_log();
    for command in ["info", "check", "checkpoint", "recover --to-last-valid", "export --output out"] {
        let both = ["cannot be used with", "--store"];
        folder.fails(&format!("{command} store --store store"), 2, &both);
        folder.fails(command, 2, &["DIR"]);
        folder.json(&format!("{command} --store store"));
        folder.json(&format!("{command} store"));
        folder.fails(&format!("{command} nowhere"), 3, &["there is no store in nowhere"]);
        folder.fails(&format!("{command} graph"), 3, &["graph"]);
    }
    assert!(!folder.path("nowhere").exists());
}

#[test]
fn a_checkpoint_is_written_once_for_each_state() {
    let folder = in_the_log();
    let first = folder.json("checkpoint store");
    let expected = json!({
        "store": "store", "number": 1, "timestamp": 11, "written": true, "vertices": 21, "edges": 20,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&first[field], value, "{field}");
    }
    assert!(first["bytes"].as_u64() > Some(0) && first["seconds"].as_f64() > Some(0.0));
    assert!(first["pruned_segments"].as_u64() > Some(0) && first["open_seconds"].as_f64() > Some(0.0));
    assert_eq!(folder.json("checkpoint store")["written"], false);
    assert!(folder.text("checkpoint store").contains("nothing was committed since"));
    folder.json("put edge 1 100 --store store");
    assert_eq!(folder.json("info store")["recovery"]["commits"], 1);
    assert_eq!(folder.json("checkpoint --store store --threads 1")["number"], 2);
    assert_eq!(folder.json("info store")["recovery"]["commits"], 0);
}

#[test]
fn damage_is_found_with_its_place_and_repaired_by_giving_up_what_follows() {
    let folder = in_the_log();
    let whole = folder.json("check store");
    let expected = json!({
        "store": "store", "whole": true, "commits": 11, "last": 11, "checkpoint": null, "torn": null, "problems": [],
    });
    assert_eq!(whole, expected);
    assert!(folder.text("check store").contains("whole"));
    let info = folder.json("info store");
    let segment = info["log"]["segments"][0]["file"].as_str().unwrap().to_owned();
    let end =
        fs::read(folder.path("store").join(&segment)).unwrap().iter().rposition(|byte| *byte != 0).unwrap();
    damage(&folder, &segment, end * 2 / 3);

    let checked = folder.hedgerow("check store --json").code(1).get_output().clone();
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let problem = &report["problems"][0];
    let offset = problem["offset"].as_u64().unwrap() as usize;
    assert!(offset <= end * 2 / 3 && offset > 0, "{report}");
    assert_eq!(
        (&report["whole"], problem["file"].as_str()),
        (&false.into(), Some(&*format!("store/{segment}")))
    );
    let left = report["last"].as_u64().unwrap();
    assert!((1..11).contains(&left), "{report}");
    let error = String::from_utf8(checked.stderr).unwrap();
    assert!(error.contains("1 problem in store") && error.contains("recover DIR --to-last-valid"), "{error}");

    let damaged = [&*format!("store/{segment} is damaged at byte {offset}"), "hedgerow check DIR"];
    folder.fails("neighbors 1 --store store", 3, &damaged);
    folder.fails("info store", 3, &damaged);
    assert_eq!(folder.json("info store --quick")["counted"], "nothing");
    let refused = ["gives up every commit after it", "hedgerow check store", "--to-last-valid"];
    folder.fails("recover store", 2, &refused);

    let recovered = folder.json("recover store --to-last-valid");
    assert_eq!((&recovered["last"], &recovered["problems"]), (&left.into(), &json!([])));
    let cut = &recovered["cuts"][0];
    assert_eq!(
        (&cut["segment"], &cut["offset"].as_u64().map(|at| at as usize)),
        (&segment.into(), &Some(offset))
    );
    assert!(folder.path("store").join(cut["kept_in"].as_str().unwrap()).exists());
    assert!(cut["bytes"].as_u64() > Some(0));
    assert_eq!(folder.json("check store")["whole"], true);
    // The position of the import is also back at that state.
    assert_eq!(folder.json("info store")["edges"], left * 2);
    let again = folder.json("import graph --store store --chunk 2");
    assert_eq!(
        (&again["resumed"], &again["edges"], &again["rows"]),
        (&true.into(), &20.into(), &(20 - left * 2).into())
    );
    let nothing = folder.text("recover store --to-last-valid");
    assert!(nothing.contains("nothing: the log is whole"), "{nothing}");
}

#[test]
fn a_damaged_checkpoint_and_a_damaged_manifest_are_found() {
    let folder = in_the_log();
    folder.json("checkpoint store");
    let checkpoint = folder.json("info store")["checkpoint"]["file"].as_str().unwrap().to_owned();
    let bytes = fs::read(folder.path("store").join(&checkpoint)).unwrap();
    damage(&folder, &checkpoint, bytes.len() / 2);
    let find = |file: &str| {
        let output = folder.hedgerow("check store --json").code(1).get_output().clone();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["problems"][0]["file"], format!("store/{file}"), "{report}");
    };
    find(&checkpoint);
    // The log that the checkpoint replaced is gone.
    folder.fails("recover store --to-last-valid", 3, &[&checkpoint, "bring back a copy of the store"]);
    fs::remove_file(folder.path("store").join(&checkpoint)).unwrap();
    find(&checkpoint);
    fs::write(folder.path("store").join(&checkpoint), bytes).unwrap();
    assert_eq!(folder.json("check store")["whole"], true);
    damage(&folder, "MANIFEST", 20);
    find("MANIFEST");
    folder.fails("info store", 3, &["store/MANIFEST is damaged at byte 0", "hedgerow check DIR"]);
}

#[test]
fn a_torn_tail_is_cut_and_reported() {
    let folder = in_the_log();
    // The state that a killed process leaves: the last segment is not sealed.
    let graph = Graph::open(folder.path("store")).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1000, 1001).unwrap();
    let copy = folder.path("copy");
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(folder.path("store")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let info = folder.json("info copy --quick");
    let segments = info["log"]["segments"].as_array().unwrap();
    let last = copy.join(segments.last().unwrap()["file"].as_str().unwrap());
    let mut bytes = fs::read(&last).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[end + 60..end + 70].fill(7);
    fs::write(&last, bytes).unwrap();
    let checked = folder.json("check copy");
    assert_eq!((&checked["whole"], &checked["commits"]), (&true.into(), &12.into()));
    assert!(checked["torn"]["bytes"].as_u64() > Some(0), "{checked}");
    assert!(folder.text("check copy").contains("which the next opening cuts"));
    let torn = folder.json("info copy");
    assert_eq!((&torn["edges"], &torn["recovery"]["torn"]), (&21.into(), &checked["torn"]));
    assert_eq!(folder.json("check copy")["torn"], checked["torn"], "to look changes nothing");
    folder.json("put edge 1 1000 --store copy");
    assert_eq!(folder.json("check copy")["torn"], Value::Null);
}

#[test]
fn a_log_that_is_whole_replaces_a_damaged_checkpoint() {
    let folder = Folder::new();
    let graph = GraphOptions::new().segment_bytes(1 << 16).create(folder.path("store")).unwrap();
    (0..20_u64).for_each(|key| {
        assert!(graph.put_edge(LabelId::DEFAULT, key, key + 1).unwrap().changed != Some(false));
    });
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 20).unwrap();
    graph.close().unwrap();
    damage(&folder, "checkpoint-0000000001", 40);
    folder.fails("info store", 3, &["checkpoint-0000000001", "hedgerow check DIR"]);
    let recovered = folder.json("recover store --to-last-valid");
    let replaced = &recovered["checkpoint_replaced"];
    assert_eq!(
        (&replaced["timestamp"], &replaced["kept_in"]),
        (&20.into(), &"cut-checkpoint-0000000001".into())
    );
    assert_eq!((&recovered["last"], &recovered["cuts"]), (&21.into(), &json!([])));
    assert_eq!(
        (&folder.json("info store")["edges"], &folder.json("check store")["whole"]),
        (&21.into(), &true.into())
    );
}

#[test]
fn commands_that_write_wait_for_a_store() {
    let folder = in_the_log();
    let graph = Graph::open(folder.path("store")).unwrap();
    folder.fails("put edge 1 2 --store store", 5, &["is locked by process", "--wait SECONDS"]);
    folder.fails("put edge 1 2 --store store --wait 0.1", 5, &["is locked by process"]);
    folder.fails("put edge 1 2 --store store --wait soon", 2, &["expected a number of seconds"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            graph.close().unwrap();
        });
        folder.json("put edge 100 200 --store store --wait 60");
    });
    let graph = Graph::open(folder.path("store")).unwrap();
    let folder = &folder;
    std::thread::scope(|scope| {
        let commands = [
            "delete edge 100 200 --store store",
            "checkpoint store",
            "import graph --store store --anew",
            "label add likes --store store",
            "recover store --to-last-valid",
        ];
        for command in commands {
            scope.spawn(move || folder.json(&format!("{command} --wait 60")));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        graph.close().unwrap();
    });
}

/// The contents of a directory, to the byte.
fn content(folder: &Folder, name: &str) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder.path(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn commands_that_read_change_nothing() {
    let folder = in_the_log();
    fs::remove_file(folder.path("store").join("LOCK")).unwrap();
    let before = content(&folder, "store");
    let commands = [
        "info store",
        "info store --quick",
        "schema store",
        "label list store",
        "check store",
        "run bfs --store store --source 1",
        "neighbors 1 --store store",
        "get vertex 1 --store store",
        "get edge 1 2 --store store",
        "neighbors 1 --store store --as-of 3",
        "export store --output again.el",
    ];
    for command in commands {
        folder.hedgerow(command).success();
        assert!(content(&folder, "store") == before, "{command}");
    }
}

#[test]
fn a_graph_is_exported_in_all_formats() {
    let folder = Folder::with("graph.wel", "10 20 3\n20 30 4\n40 40 5\n");
    folder.write("alone", "50\n60\n");
    folder.json("import graph.wel --store store --weights --vertices alone");
    let exported = folder.json("export store --output out.wel");
    let expected = json!({
        "store": "store", "timestamp": 1, "from_checkpoint": false, "output": "out.wel", "format": "edge list",
        "label": "edge", "undirected": false, "vertices": 6, "edges": 3, "renumbered": false, "mapping": null,
        "lost_weights": 0, "lost_vertices": 2, "lost_edges": 0,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&exported[field], value, "{field}");
    }
    assert_eq!(lines_of(&folder.read("out.wel")), lines_of("10 20 3\n20 30 4\n40 40 5\n"));
    let text = folder.text("export store --output out.el.gz --to csv");
    assert!(text.contains("2 vertices named on their own") && text.contains("3 weights left out"), "{text}");
    let numbered = folder.json("export store --output out.wsg --mapping keys");
    assert_eq!((&numbered["renumbered"], &numbered["lost_vertices"]), (&true.into(), &0.into()));
    assert_eq!(folder.read("keys"), "0 10\n1 20\n2 30\n3 40\n4 50\n5 60\n");
    assert_eq!(folder.json("stats out.wsg")["vertices"], 6);
    folder.json("export store --output out.e");
    assert_eq!(folder.read("out.v"), "10\n20\n30\n40\n50\n60\n");
    folder.json("export store --output out.adj");
    assert_eq!(folder.read("out.adj"), "10 20\n20 30\n30\n40 40\n50\n60\n");
    assert!(folder.text("export store --output out.mtx").contains("--mapping FILE writes down their keys"));
    assert!(folder.read("out.mtx").starts_with("%%MatrixMarket matrix coordinate integer general\n6 6 3\n"));

    folder.json("import graph.wel --store undirected --undirected --keys dense --label first --weights");
    folder.json("export undirected --output both.el");
    assert_eq!(folder.read("both.el"), "10 20\n20 30\n40 40\n");
    folder.json("export undirected --output both.mtx");
    assert!(
        folder.read("both.mtx").starts_with("%%MatrixMarket matrix coordinate integer symmetric\n40 40 3\n")
    );
}

#[test]
fn a_failed_export_leaves_the_old_file() {
    let folder = Folder::new();
    let options = GraphOptions::new().keys(KeyKind::String).topology(Topology::DirectedWithReverse);
    let graph = options.create(folder.path("store")).unwrap();
    graph.put_edge(LabelId::DEFAULT, "ann", "ben").unwrap();
    graph.put_edge(LabelId::DEFAULT, "a key", "ben").unwrap();
    graph.add_vertex("carl").unwrap();
    graph.close().unwrap();
    drop(graph);
    folder.write("old.el", "old");
    let refused = ["old.el: cannot write", "a key", "must not have blanks"];
    folder.fails("export store --output old.el", 1, &refused);
    folder.fails("export store --output no/new.el", 1, &["no/new.el", "No such file"]);
    folder.fails("export store --output old.el --label knows", 2, &["no label \"knows\""]);
    folder.fails("export store --output store/MANIFEST", 2, &["reads or writes this file already"]);
    folder.fails("export store --output new.sg --mapping new.sg", 2, &["reads or writes this file already"]);
    folder.fails("export store", 1, &["a key", "must not have blanks"]);
    assert_eq!(folder.read("old.el"), "old");
    folder.json("delete vertex ben --store store");
    assert_eq!(folder.json("export store --output old.el")["lost_vertices"], 3);
    assert_eq!(folder.read("old.el"), "");
    assert_eq!(folder.names(), ["old.el", "store"]);
}
