//! `hedgerow backup` and `watch`, and the counts of `info` while another process writes.

use crate::common::{Folder, PROGRAM};
use hedgerow::{CheckpointOptions, EngineKind, Graph, GraphOptions, LabelId, WriteGraph};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

fn of(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("{field} of {value}"))
}

/// Starts the command with pipes for its outputs.
fn piped(folder: &Folder, arguments: &str) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(arguments.split_whitespace()).current_dir(folder.root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_backup_beside_a_writer_is_a_store_and_is_brought_up_to_date() {
    for &engine in EngineKind::ALL {
        let folder = Folder::new();
        let graph = GraphOptions::new().engine(engine).create(folder.path("store")).unwrap();
        graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
        let full = folder.json("backup store copies/copy");
        assert_eq!((&full["incremental"], of(&full, "last")), (&false.into(), 2));
        assert_eq!((full["store"].as_str(), full["backup"].as_str()), (Some("store"), Some("copies/copy")));
        assert!(of(&full, "bytes") > 0 && of(&full, "files") > 1, "{full}");
        assert_eq!(full["time"], folder.json("log store --limit 1")["commits"][0]["time"]);
        assert_eq!((of(&full, "kept_bytes"), of(&full, "removed_files")), (0, 0));
        assert_eq!(folder.text("neighbors 2 --store copies/copy"), "3\n");

        graph.put_edge(LabelId::DEFAULT, 2, 4).unwrap();
        let more = folder.json("backup store copies/copy");
        assert_eq!((&more["incremental"], of(&more, "last")), (&true.into(), 3));
        assert!(of(&more, "bytes") < of(&full, "bytes") && of(&more, "kept_bytes") > 0, "{more}");
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        let text = folder.text("backup store copies/copy");
        for part in ["copies/copy, incremental\n", "last commit  3, ", " ago\n", "copied", "kept", "removed"]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        assert_eq!(folder.json("check copies/copy")["problems"], Value::Array(Vec::new()));
        assert_eq!(folder.text("neighbors 2 --store copies/copy"), "3\n4\n");
        assert_eq!(folder.text("backup store other --quiet"), "");
    }
}

#[test]
fn unfit_directories_and_damage_are_refused() {
    let folder = Folder::with("graph", "1 2\n2 3\n");
    folder.json("import graph --store store --chunk 1");
    folder.json("import graph --store other");
    folder.fails("backup store", 2, &["BACKUP"]);
    folder.fails("backup nothing copy", 3, &["there is no store in nothing"]);
    folder.fails("backup store store/copy", 2, &["inside the store", "empty directory"]);
    folder.fails("backup store other", 2, &["no backup can be written to other", "another store"]);
    fs::create_dir(folder.path("notes")).unwrap();
    folder.write("notes/note", "mine");
    folder.fails("backup store notes", 2, &["the directory has files, and is no copy of a store"]);
    folder.fails("backup store graph", 3, &["cannot list graph: Not a directory"]);
    folder.json("backup store copy");
    folder.json("put edge 7 8 --store copy");
    folder.fails("backup store copy", 2, &["has commits that the store does not have"]);

    let log = folder.names();
    assert!(!log.contains(&"nothing".to_owned()));
    fs::remove_file(folder.path("copy/MANIFEST")).unwrap();
    folder.write("copy/BACKUP", "");
    folder.fails("info copy", 3, &["has a backup that was interrupted", "repeat the backup"]);
    folder.fails("import graph --store copy", 3, &["has a backup that was interrupted"]);
    assert_eq!(folder.json("backup store copy")["incremental"], false);
    let segment = fs::read_dir(folder.path("copy")).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment.into_iter().find(|path| path.display().to_string().contains("log-")).unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[70] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let name = segment.file_name().unwrap().to_str().unwrap();
    folder.fails("backup store copy", 3, &["the older backup is damaged", name, "byte"]);
    fs::copy(&segment, folder.path("store").join(name)).unwrap();
    let damaged = format!("store/{name} is damaged at byte");
    folder.fails("backup store fresh", 3, &[&damaged, "hedgerow check DIR"]);
    folder.fails("info fresh", 3, &["has a backup that was interrupted"]);
}

#[test]
fn watch_sees_the_commits_of_another_process() {
    let folder = Folder::new();
    let graph = GraphOptions::new().create(folder.path("store")).unwrap();
    graph.put_each(LabelId::DEFAULT, &(0..50_u64).map(|key| (key, key + 1)).collect::<Vec<_>>()).unwrap();
    let mut watch = piped(&folder, "watch store --interval 0.02 --json");
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let first = next();
    assert_eq!((of(&first, "last"), of(&first, "commits"), of(&first, "durable")), (50, 0, 50));
    assert_eq!(first["open_in"]["process"], std::process::id());
    assert!(of(&first, "log_bytes_since_checkpoint") > 1000 && first["checkpoint"].is_null(), "{first}");
    graph.ingest(LabelId::DEFAULT, &(0..70_u64).map(|key| (key, key + 9)).collect::<Vec<_>>()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 5000, 1).unwrap();
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    let (mut commits, mut edges, mut last) = (0, 0, first);
    while of(&last, "last") < 52 || last["checkpoint"].is_null() {
        last = next();
        (commits, edges) = (commits + of(&last, "commits"), edges + of(&last, "edges"));
    }
    assert_eq!((commits, edges, of(&last, "checkpoint")), (2, 71, 52));
    assert_eq!((of(&last, "log_bytes_since_checkpoint"), of(&last, "not_durable")), (0, 0));
    assert!(last["age_seconds"].as_f64().unwrap() >= 0.0 && of(&last, "checkpoint_bytes") > 0);
    graph.close().unwrap();
    while !next()["open_in"].is_null() {}
    // It has printed a line, so it handles signals.
    let sent = Command::new("kill").args(["-INT", &watch.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(watch.wait().unwrap().code(), Some(0));

    let text = folder.text("watch store --count 2 --interval 0.01");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.starts_with("commit 52, ")), "{text}");
    assert!(lines[1].contains("0 commits/s, 0 edges/s; log ") && lines[1].ends_with("not open"), "{text}");
    for (options, part) in [("--interval 0", "more than 0"), ("--interval x", "number"), ("--count 0", "0")] {
        folder.fails(&format!("watch store {options}"), 2, &[part]);
    }
    folder.fails("watch nothing", 3, &["there is no store in nothing"]);
    let mut closed = piped(&folder, "watch store --interval 0.01");
    drop(closed.stdout.take());
    let mut error = String::new();
    closed.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((closed.wait().unwrap().code(), &*error), (Some(0), ""));
}

#[test]
fn info_without_opening_says_as_of_when_it_counts() {
    for &engine in EngineKind::ALL {
        let folder = Folder::new();
        let graph = GraphOptions::new().engine(engine).create(folder.path("store")).unwrap();
        let none = folder.json("info store --quick");
        assert_eq!((&none["counted"], of(&none, "commits_since")), (&"nothing".into(), 0));
        for key in 0..10_u64 {
            graph.put_edge(LabelId::DEFAULT, key, key + 1).unwrap();
        }
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        let check = |options: &str, since: u64| {
            let info = folder.json(&format!("info store {options}"));
            assert_eq!((&info["counted"], of(&info, "timestamp")), (&"checkpoint".into(), 10), "{info}");
            assert_eq!((of(&info, "vertices"), of(&info, "edges")), (11, 10));
            assert_eq!((of(&info, "newest"), of(&info, "commits_since")), (10 + since, since));
            assert!(info["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{info}");
            let text = folder.text(&format!("info store {options}"));
            let from = if engine.owns_files() { "the engine's files" } else { "the checkpoint" };
            let noun = if since == 1 { "commit" } else { "commits" };
            assert!(text.contains(&format!("{from}, as of commit 10, ")), "{text}");
            assert!(text.contains(&format!("; {since} {noun} since\n")), "{text}");
        };
        for options in ["", "--quick"] {
            check(options, 0);
        }
        graph.put_edge(LabelId::DEFAULT, 1, 5).unwrap();
        for options in ["", "--quick"] {
            check(options, 1);
        }
        graph.close().unwrap();
        drop(graph);
        check("--quick", 1);
        let opened = folder.json("info store");
        assert_eq!((of(&opened, "edges"), of(&opened, "commits_since")), (11, 0));
        assert!(opened.get("time").is_none());
        Graph::open(folder.path("store")).unwrap().checkpoint(&CheckpointOptions::new()).unwrap();
        let quick = folder.json("info store --quick");
        assert_eq!((&quick["vertices"], &quick["edges"]), (&opened["vertices"], &opened["edges"]));
    }
}
