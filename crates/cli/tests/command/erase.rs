//! `hedgerow erase`: no file of a store holds a trace of the erased vertices.

use crate::common::Folder;
use hedgerow::store::{self, TraceKind};
use hedgerow::{CancelToken, CompactOptions, EngineKind, ErrorKind, Graph, Key};
use serde_json::{Value, json};
use std::fs;

/// A store of text keys, whose vertices and edges have properties, with a checkpoint, or flushed
/// and merged files, that know anna, and commits after it.
fn made(engine: EngineKind, topology: &str) -> Folder {
    let folder =
        Folder::with("graph", "anna_the_first ben\nben carl\ncarl anna_the_first\nzoe_the_second ben\n");
    folder.json(&format!(
        "import graph --store bank --keys text --engine {engine} {topology} --labels knows,pays:number=key+note=string \
         --vertex-properties name=string"
    ));
    folder.json("put vertex anna_the_first bank --property name=Miss_Anna_Smith");
    folder.json("checkpoint bank");
    if engine.owns_files() {
        folder.json("compact bank");
    }
    for (from, to, note) in
        [("anna_the_first", "ben", "rent_of_anna"), ("ben", "anna_the_first", "gift_to_anna")]
    {
        folder.json(&format!("put edge {from} {to} bank --label pays --key 7 --property note={note}"));
    }
    folder.json("put edge carl dora bank");
    folder
}

/// The files of the store that contain these bytes.
fn files_with(folder: &Folder, text: &str) -> Vec<String> {
    let files = fs::read_dir(folder.path("bank")).unwrap().map(Result::unwrap);
    let contains = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let found = files.filter(|file| contains(&fs::read(file.path()).unwrap()));
    found.map(|file| file.file_name().into_string().unwrap()).collect()
}

#[test]
fn no_file_holds_an_erased_vertex_on_any_engine() {
    for &engine in EngineKind::ALL {
        for topology in ["", "--reverse", "--undirected"] {
            let folder = made(engine, topology);
            assert!(!files_with(&folder, "rent_of_anna").is_empty(), "the log has the record");
            let scratch = if engine.has_scratch_files() { "--scratch ." } else { "" };
            let edges = if topology == "--undirected" { 3 } else { 4 };
            let erased = folder.json(&format!("erase vertex anna_the_first bank --yes {scratch}"));
            assert_eq!(erased["erased"], true, "{engine} {topology} {erased}");
            assert_eq!((&erased["traces"], &erased["held_by"]), (&json!([]), &json!([])));
            assert_eq!(erased["edges_deleted"], edges, "{engine} {topology}");
            let searched = erased["files"].as_array().unwrap();
            assert!(searched.iter().all(|file| file["decoded"] == true), "{erased}");
            assert_eq!(searched.len(), fs::read_dir(folder.path("bank")).unwrap().count());
            for text in ["anna_the_first", "Miss_Anna_Smith", "rent_of_anna", "gift_to_anna"] {
                assert_eq!(files_with(&folder, text), Vec::<String>::new(), "{engine} {topology} {text}");
            }
            // The rest stays.
            assert_eq!(folder.json("check bank")["whole"], true);
            assert_eq!(folder.text("neighbors carl bank").lines().last(), Some("dora"));
            let left = folder.json("info bank");
            assert_eq!((&left["vertices"], &left["edges"]), (&json!(4), &json!(3)), "{engine} {topology}");
            assert!(folder.json("log bank")["commits"].as_array().unwrap().is_empty());
            folder.fails("erase vertex anna_the_first bank --yes", 3, &["no vertex anna_the_first"]);
            // A misspelled key is reported, and the others are erased.
            let misspelled = folder.command("erase vertex carl carlo bank --yes").assert().code(3);
            let error = String::from_utf8(misspelled.get_output().stderr.clone()).unwrap();
            assert!(error.contains("no vertex carlo"), "{error}");
            assert_eq!(folder.json("info bank")["vertices"], 3);
        }
    }
}

#[test]
fn a_vertex_that_was_only_deleted_is_erased_later() {
    for &engine in EngineKind::ALL {
        let folder = made(engine, "");
        folder.json("delete vertex anna_the_first bank");
        assert!(!files_with(&folder, "rent_of_anna").is_empty());
        // The search also decompresses checkpoints and the engine's files.
        let state = if engine.owns_files() { "engine-" } else { "checkpoint-" };
        let found =
            store::traces(folder.path("bank"), &[(Key::from("anna_the_first"), None)]).unwrap().traces;
        let has =
            |file: &str, kind| found.iter().any(|trace| trace.file.starts_with(file) && trace.kind == kind);
        assert!(has(state, TraceKind::Key), "{engine} {found:?}");
        let zoe = Graph::open(folder.path("bank"))
            .unwrap()
            .snapshot()
            .unwrap()
            .vertex_id("zoe_the_second")
            .unwrap();
        let found = store::traces(folder.path("bank"), &[(Key::from("zoe_the_second"), zoe)]).unwrap().traces;
        let has =
            |file: &str, kind| found.iter().any(|trace| trace.file.starts_with(file) && trace.kind == kind);
        assert!(has(state, TraceKind::Key) && has(state, TraceKind::Record), "{engine} {found:?}");
        let erased = folder.json("erase vertex anna_the_first zoe_the_second bank --yes");
        assert_eq!(
            (&erased["erased"], &erased["without_vertex"]),
            (&json!(true), &json!(["anna_the_first"]))
        );
        for text in ["anna_the_first", "Miss_Anna_Smith", "zoe_the_second"] {
            assert_eq!(files_with(&folder, text), Vec::<String>::new(), "{engine} {text}");
        }
        assert_eq!(folder.json("info bank")["vertices"], 3);
    }
}

/// A compaction drops the keys first.
#[test]
fn a_compaction_that_was_stopped_is_finished() {
    let folder = made(EngineKind::Lsm, "");
    folder.json("checkpoint bank");
    folder.json("delete vertex anna_the_first bank");
    folder.json("checkpoint bank");
    let graph = Graph::open(folder.path("bank")).unwrap();
    let token = CancelToken::new();
    let cancel = token.clone();
    let options = CompactOptions::new().cancelled_by(&token).reporting_to(move |progress| {
        if progress.files > 0 {
            cancel.cancel();
        }
    });
    assert_eq!(graph.compact(&options).unwrap_err().kind(), ErrorKind::Cancelled);
    graph.close().unwrap();
    drop(graph);
    let anna = [(Key::from("anna_the_first"), None)];
    let traces = || store::traces(folder.path("bank"), &anna).unwrap().traces;
    assert!(!traces().is_empty() && traces().iter().all(|trace| trace.kind == TraceKind::Deletion));
    assert!(!files_with(&folder, "rent_of_anna").is_empty());
    let again = folder.hedgerow("erase vertex anna_the_first bank --yes --json").code(3).get_output().clone();
    let erased: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&erased["erased"], &erased["traces"]), (&json!(true), &json!([])));
    assert_eq!((traces(), files_with(&folder, "rent_of_anna")), (Vec::new(), Vec::new()));
}

#[test]
fn numbers_are_erased_on_every_engine() {
    for &engine in EngineKind::ALL {
        for keys in ["number", "dense"] {
            let folder = Folder::with("graph", "1 2\n2 3\n3 1\n4 2\n");
            folder.json(&format!("import graph --store bank --keys {keys} --engine {engine}"));
            folder.write("gone", "1\n4\n");
            let erased = folder.json("erase vertex --file gone --store bank --yes");
            assert_eq!(
                (&erased["erased"], &erased["keys"]),
                (&json!(true), &json!([1, 4])),
                "{engine} {erased}"
            );
            assert_eq!(folder.text("neighbors 2 bank"), "3\n");
        }
    }
}

#[test]
fn what_cannot_be_erased_is_told() {
    let folder = made(EngineKind::default(), "");
    folder.fails("erase vertex anna_the_first bank", 2, &["--yes"]);
    assert_eq!(folder.json("get vertex anna_the_first bank")["key"], "anna_the_first");
    folder.fails("erase vertex never_seen bank --yes", 3, &["no vertex never_seen"]);
    folder.fails("erase vertex bank --yes", 2, &["<KEY>"]);
    folder.fails("erase vertex anna nothing --yes", 3, &["no store"]);

    // Other content that contains the key is no trace, a leftover is.
    folder.json("put vertex ben bank --property name=friend_of_anna_the_first");
    let kept = fs::read(folder.path("bank/checkpoint-0000000002")).unwrap();
    fs::write(folder.path("bank/cut-checkpoint-0000000002"), kept).unwrap();
    let failed =
        folder.hedgerow("erase vertex anna_the_first bank --yes --json").code(1).get_output().clone();
    let erased: Value = serde_json::from_slice(&failed.stdout).unwrap();
    let traces = erased["traces"].as_array().unwrap();
    assert!(
        !traces.is_empty() && traces.iter().all(|trace| trace["file"] == "cut-checkpoint-0000000002"),
        "{erased}"
    );
    assert_eq!((&erased["erased"], &erased["mentioned"]), (&json!(false), &json!(["anna_the_first"])));
    let error = String::from_utf8(failed.stderr).unwrap();
    assert!(error.contains("move files aside that are no part of the store"), "{error}");

    fs::rename(folder.path("bank/cut-checkpoint-0000000002"), folder.path("aside")).unwrap();
    fs::write(folder.path("bank/notes"), "ask zoe_the_second").unwrap();
    let failed = folder.hedgerow("erase vertex zoe_the_second bank -y").code(1).get_output().clone();
    let printed = String::from_utf8(failed.stdout).unwrap();
    assert!(printed.contains("trace     notes: the bytes of the key, zoe_the_second"), "{printed}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_keeps_removed_files_is_named() {
    let folder = made(EngineKind::default(), "");
    let kept = fs::File::open(folder.path("bank/checkpoint-0000000002")).unwrap();
    let failed =
        folder.hedgerow("erase vertex anna_the_first bank --yes --json").code(1).get_output().clone();
    let erased: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!((&erased["held_by"], &erased["traces"]), (&json!([std::process::id()]), &json!([])));
    drop(kept);
}
