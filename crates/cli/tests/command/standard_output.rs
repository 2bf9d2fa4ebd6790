//! Graphs by their plain paths, and results on standard output.

use crate::common::{Folder, PROGRAM, key_values};
use std::process::{Command, Stdio};

const GRAPH: &str = "1 2\n2 3\n3 4\n";

/// Standard output and standard error of a command that succeeds.
fn outputs(folder: &Folder, arguments: &str) -> (String, String) {
    let output = folder.hedgerow(arguments).success().get_output().clone();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_plain_path_is_a_file_or_a_store() {
    let folder = Folder::with("graph", GRAPH);
    folder.json("import graph --store store");
    for graph in ["graph", "--graph graph", "store", "--store store"] {
        let run = folder.json(&format!("run bfs {graph} --source 1"));
        assert_eq!((&run["reached"], &run["levels"]), (&4.into(), &4.into()), "{graph}");
        assert_eq!(run.get("graph").is_some(), !graph.contains("store"), "{graph}");
        let stats = folder.json(&format!("stats {graph}"));
        assert_eq!((&stats["vertices"], &stats["edges"]), (&4.into(), &3.into()), "{graph}");
    }
    let demo = folder.json("demo graph --writers 1 --readers 1");
    assert_eq!(demo["edges"], 3);
}

#[test]
fn options_that_do_not_apply_to_the_graph_are_refused() {
    let folder = Folder::with("graph", GRAPH);
    folder.json("import graph --store store");
    for (command, option) in [
        ("run bfs store --undirected", "--undirected: store is a store"),
        ("run bfs store --keys text", "--keys: store is a store"),
        ("run bfs store --format csv", "--format: store is a store"),
        ("run sssp store --unit-weights", "--unit-weights: store is a store"),
        ("stats store --columns topology", "--columns: store is a store"),
        ("run bfs graph --label knows", "--label: graph is a graph file"),
        ("run bfs graph --from-checkpoint", "--from-checkpoint: graph is a graph file"),
        ("stats graph --as-of 1", "--as-of: graph is a graph file"),
        ("run bfs graph --store store", "cannot be used with"),
        ("run bfs", "GRAPH"),
        ("stats store --label likes", "no label \"likes\""),
    ] {
        folder.fails(command, 2, &[option]);
    }
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.fails("run bfs empty", 3, &["empty", "directory"]);
}

#[test]
fn the_store_is_counted_by_label_and_state() {
    let folder = Folder::with("graph", "1 2\n2 3\n3 1\n3 3\n");
    folder.json("import graph --store store --labels knows,likes --checkpoint always");
    folder.json("put edge 1 3 --store store --label likes");
    let knows = folder.json("stats store");
    assert_eq!(
        (&knows["label"], &knows["edges"], &knows["self_loops"]),
        (&"knows".into(), &4.into(), &1.into())
    );
    assert_eq!(knows.get("rows"), None);
    assert_eq!(knows["degrees"].as_array().unwrap().len(), 1);
    let likes = folder.json("stats store --label likes");
    assert_eq!((&likes["edges"], &likes["components"]["count"]), (&1.into(), &2.into()));
    let before = folder.json("stats store --label likes --from-checkpoint");
    assert_eq!((&before["edges"], &before["from_checkpoint"]), (&0.into(), &true.into()));
    assert!(folder.text("stats store").contains("store, directed, label \"knows\", commit"));
}

#[test]
fn values_of_vertices_go_to_standard_output_and_the_summary_to_standard_error() {
    let folder = Folder::with("graph", GRAPH);
    folder.hedgerow("run bfs graph --source 1 --output file").success();
    let values = folder.read("file");
    for arguments in ["", " --output -", " --output /dev/stdout"] {
        let (result, summary) = outputs(&folder, &format!("run bfs graph --source 1{arguments}"));
        assert_eq!(result, values);
        assert!(summary.contains("4 of 4"), "{summary}");
    }
    assert_eq!(key_values(&values).len(), 4);
    let (result, summary) = outputs(&folder, "run bfs graph --source 1 --output - --json");
    assert_eq!(result, values);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&summary).unwrap()["reached"], 4);
    let (result, summary) = outputs(&folder, "run triangles graph");
    assert!(result.contains("triangles  0") && summary.is_empty(), "{result}{summary}");
}

#[test]
fn graphs_are_written_to_standard_output() {
    let folder = Folder::with("graph", GRAPH);
    folder.json("import graph --store store");
    for command in ["convert graph", "convert graph -", "export store", "export store --output -"] {
        let (result, summary) = outputs(&folder, command);
        assert_eq!(result, GRAPH, "{command}");
        assert!(summary.contains("edges"), "{command}: {summary}");
    }
    let (matrix, _) = outputs(&folder, "convert graph --to mtx");
    assert!(matrix.starts_with("%%MatrixMarket"), "{matrix}");
    folder.json("generate uniform --vertices 20 --edges 50 --output file");
    let (generated, summary) = outputs(&folder, "generate uniform --vertices 20 --edges 50");
    assert_eq!(generated, folder.read("file"));
    assert!(summary.contains("up to 20"), "{summary}");
    let (stream, _) = outputs(&folder, "generate stream --vertices 5 --changes 20");
    assert_eq!(stream.lines().count(), 20);
    let stats = folder.pipe("stats - --json", generated).success().get_output().clone();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&stats.stdout).unwrap()["rows"], 50);
    folder.fails("generate uniform --vertices 9 --edges 9 --output x.bz2", 2, &["gzip or Zstandard"]);
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let folder = Folder::with("graph", GRAPH);
    for arguments in
        [&["generate", "kronecker", "--scale", "14", "--quiet"][..], &["run", "bfs", "graph", "--quiet"]]
    {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(folder.root()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap()),
            (Some(0), String::new())
        );
    }
}
