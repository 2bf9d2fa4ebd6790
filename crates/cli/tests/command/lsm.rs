//! Stores of the engine `lsm`, which keeps edges on disk.

use crate::common::{Folder, PROGRAM};
use hedgerow::{CheckpointOptions, EngineKind, GraphOptions, LabelId, WriteGraph};
use serde_json::Value;
use std::fs;

/// Memory so small that an import is flushed and compacted several times.
const MEMORY: &str = "--memory 200KiB";

#[test]
fn results_are_equal_on_disk_and_in_memory() {
    let folder = Folder::new();
    folder.json("generate kronecker --scale 12 --weights --output kron");
    folder.json("import kron --store memory --weights --undirected");
    let imported =
        folder.json(&format!("import kron --store disk --weights --undirected --engine lsm {MEMORY}"));
    assert_eq!((&imported["engine"], &imported["edges_added"]), (&"lsm".into(), &serde_json::Value::Null));
    for kernel in ["bfs", "sssp", "wcc", "kcore", "lcc"] {
        let run = |store: &str, memory: &str| {
            let run = format!("run {kernel} {store} --threads 2 --output {store}.txt {memory}");
            let summary = folder.json(&run);
            (summary["engine"].clone(), folder.read(&format!("{store}.txt")))
        };
        let ((in_memory, expected), (on_disk, found)) = (run("memory", ""), run("disk", MEMORY));
        assert_eq!((in_memory, on_disk), ("rapid".into(), "lsm".into()));
        assert!(found == expected, "{kernel}");
    }
    let counted = |store: &str| {
        let stats = folder.json(&format!("stats {store}"));
        ["vertices", "edges", "self_loops", "degrees"].map(|field| stats[field].clone())
    };
    assert_eq!(counted("disk"), counted("memory"));
    folder.fails("run bfs disk --engine rapid", 2, &["is lsm, not rapid"]);
    folder.fails(&format!("run bfs memory {MEMORY}"), 3, &["\"rapid\"", "leave the memory budget out"]);
}

#[test]
fn edges_are_put_found_and_deleted() {
    let folder = Folder::with("graph", "1 2\n1 3\n2 3\n1 2\n");
    folder.json("import graph --store store --engine lsm");
    folder.text("put edge 3 4 --store store");
    folder.text("delete edge 1 2 --store store");
    assert_eq!(folder.text("neighbors 1 --store store"), "3\n");
    assert_eq!(folder.text("neighbors 3 --store store"), "4\n");
    folder.text("checkpoint store");
    let info = folder.json("info store");
    let exact = folder.json("info store --exact");
    assert_eq!((&exact["edges"], exact.get("edges_at_least")), (&3.into(), None));
    assert_eq!((&info["engine"], &info["vertices"]), (&"lsm".into(), &4.into()));
    assert!(info["edges_at_least"].as_u64() < info["edges"].as_u64());
    assert!(folder.text("info store").contains("at most "));
    assert_eq!(folder.text("neighbors 2 --store store"), "3\n");
}

/// The engine does not look up an edge that is put. A command that puts one does, and a transaction
/// reports the counts that it does not know.
#[test]
fn a_commit_says_what_it_did_or_that_it_does_not_know() {
    let folder = Folder::with("graph", "1 2\n1 3\n");
    folder.json("import graph --store store --engine lsm");
    let put = |what: &str| {
        let put = folder.json(&format!("put {what} --store store"));
        ["added", "changed", "timestamp"].map(|field| put[field].clone())
    };
    for what in ["edge 3 4", "edge 1 4", "vertex 9"] {
        let [added, changed, at] = put(what);
        assert_eq!((added, changed), (true.into(), true.into()), "{what}");
        assert_eq!(put(what), [false.into(), false.into(), at], "{what} takes no commit again");
    }
    assert_eq!(folder.text("put edge 2 4 --store store"), "edge from 2 to 4 added\n");
    assert!(folder.text("put edge 2 4 --store store").contains("was there already, nothing changed"));

    let in_shell = |lines: &str, options: &str| {
        let input = format!("begin\n{lines}commit\n");
        let output = folder.pipe(&format!("shell store {options}"), input).success().get_output().clone();
        String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned()
    };
    let puts = "put edge 2 3\nput edge 4 2\n";
    let commit: Value = serde_json::from_str(&in_shell(puts, "--json")).unwrap();
    assert_eq!((&commit["changed"], &commit["edges_added"]), (&Value::Null, &2.into()));
    assert_eq!((&commit["edges_added_at_least"], &commit["edges_deleted"]), (&0.into(), &0.into()));
    assert!(commit.get("edges_deleted_at_least").is_none(), "{commit}");
    let deletions = "delete edge 2 3\ndelete edge 4 2\n";
    assert_eq!(in_shell(deletions, ""), "transaction committed: at most 2 edges deleted");
    let new = "put edge 77 2\nput vertex 78\n";
    let commit: Value = serde_json::from_str(&in_shell(new, "--json")).unwrap();
    assert_eq!((&commit["changed"], &commit["vertices_added"]), (&true.into(), &2.into()));

    let checkpoint = folder.json("checkpoint store");
    let edges = folder.json("stats store")["edges"].as_u64().unwrap();
    let bounds =
        checkpoint["edges_at_least"].as_u64().unwrap_or(edges)..=checkpoint["edges"].as_u64().unwrap();
    assert!(bounds.contains(&edges), "{checkpoint}");
    assert!(folder.text("checkpoint store").contains("edges "));
}

/// The message about the lock recommends reading the flushed state.
#[test]
fn what_was_flushed_is_read_beside_a_process_that_writes() {
    let folder = Folder::new();
    let options = GraphOptions::new().engine(EngineKind::Lsm).memory_budget(1 << 20);
    let graph = options.create(folder.path("store")).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    folder.fails("neighbors 1 --store store --from-checkpoint", 3, &["there is no checkpoint in store yet"]);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
    folder.fails("neighbors 1 --store store", 5, &["--from-checkpoint"]);
    assert_eq!(folder.text("neighbors 1 --store store --from-checkpoint"), "2\n");
    folder.fails("get edge 2 3 --store store --from-checkpoint", 3, &["there is no edge from 2 to 3"]);
    let found = folder.json("run bfs --store store --source 1 --from-checkpoint");
    assert_eq!((&found["reached"], &found["timestamp"]), (&2.into(), &1.into()));
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    assert_eq!(folder.text("neighbors 2 --store store --from-checkpoint"), "3\n");
}

/// A store of a graph whose edges are on several levels, some of them deleted.
fn on_levels() -> Folder {
    on_levels_of("")
}

/// A smaller store on several levels, whose log is still whole: it fits in one segment.
fn on_levels_with_whole_log() -> Folder {
    on_levels_of("--edge-factor 4")
}

fn on_levels_of(edges: &str) -> Folder {
    let folder = Folder::new();
    folder.json(&format!("generate kronecker --scale 12 --output kron {edges}"));
    folder.json(&format!(
        "import kron --store store --engine lsm {MEMORY} --reverse --checkpoint never --chunk 3000"
    ));
    for vertex in ["0", "1", "2"] {
        folder.text(&format!("delete vertex {vertex} --store store"));
    }
    folder
}

/// The names of the files of the engine.
fn engine_files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("store")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("engine-")).collect();
    names.sort();
    names
}

fn bytes_of(folder: &Folder, names: &[String]) -> u64 {
    names.iter().map(|name| fs::metadata(folder.path("store").join(name)).unwrap().len()).sum()
}

#[test]
fn info_shows_levels_and_memory_and_compact_leaves_one_level() {
    let folder = on_levels();
    let neighbors = folder.text("neighbors 5 --store store");
    let before = folder.json(&format!("info store {MEMORY}"))["engine_files"].clone();
    let parts = before["parts"].as_array().unwrap();
    let named = parts.iter().map(|part| (&part["of"], part["label"].as_str(), part["direction"].as_str()));
    let edges = Value::from("edges");
    assert!(
        named.eq([
            (&"vertices".into(), None, None),
            (&edges, Some("edge"), Some("out")),
            (&edges, Some("edge"), Some("in")),
        ]),
        "{before}"
    );
    assert!(parts.iter().any(|part| part["levels"].as_array().unwrap().len() > 1), "{before}");
    for field in ["files", "bytes", "versions"] {
        let of_level = |part: &Value| {
            let levels = part["levels"].as_array().unwrap();
            levels.iter().map(|level| level[field].as_u64().unwrap()).sum::<u64>()
        };
        assert_eq!(before[field], parts.iter().map(of_level).sum::<u64>(), "{field}");
    }
    assert_eq!(before["memory"]["budget"], 200 << 10);
    assert!(
        before["memory"]["indexes"].as_u64() > Some(0) && before["memory"]["vertices"].as_u64() > Some(0)
    );
    assert!(before["cache"]["misses"].as_u64() > Some(0), "opening reads the vertices: {before}");
    let shown = folder.text("info store");
    for part in ["edge files", "\"edge\", out: ", "  level 1: ", "bytes each", "recent commits", "from disk"]
    {
        assert!(shown.contains(part), "{part:?} is not in:\n{shown}");
    }

    let compacted = folder.json(&format!("compact store {MEMORY}"));
    assert!(compacted["bytes"].as_u64() < compacted["bytes_before"].as_u64(), "{compacted}");
    assert!(compacted["versions"].as_u64() < compacted["versions_before"].as_u64(), "{compacted}");
    let info = folder.json("info store");
    let after = &info["engine_files"];
    for part in after["parts"].as_array().unwrap() {
        let levels = part["levels"].as_array().unwrap();
        assert!(levels.len() == 1 && levels[0]["level"].as_u64() > Some(0), "{after}");
    }
    assert_eq!((&after["bytes"], &after["versions"]), (&compacted["bytes"], &compacted["versions"]));
    assert_eq!(after["unlisted"]["files"], 0);
    let checked = folder.json("check store");
    assert_eq!((&checked["whole"], &checked["engine_files"]["deletions"]), (&true.into(), &0.into()));
    assert_eq!(checked["engine_files"]["versions"], compacted["versions"]);
    assert_eq!(checked["engine_files"]["bytes"], bytes_of(&folder, &engine_files(&folder)));
    // A compaction of compacted files writes nothing.
    let files = engine_files(&folder);
    let again = folder.json("compact store");
    assert_eq!((&again["bytes_before"], &again["bytes"]), (&compacted["bytes"], &compacted["bytes"]));
    assert!(
        engine_files(&folder).iter().filter(|name| name.ends_with(".edges")).all(|name| files.contains(name))
    );
    assert!(folder.text("compact store").contains("before"));
    assert_eq!(folder.text("neighbors 5 --store store"), neighbors);
    folder.fails("neighbors 1 --store store", 3, &["there is no vertex 1"]);
}

#[test]
fn a_shell_compacts_the_store_that_it_has_open() {
    let folder = on_levels();
    let input = "put edge 5 77777\ncompact\nneighbors 5 --limit 1\n";
    let output = folder.pipe("shell store --json", input).success().get_output().clone();
    let lines = String::from_utf8(output.stdout).unwrap();
    let compacted: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert!(compacted["bytes"].as_u64() < compacted["bytes_before"].as_u64(), "{compacted}");
    assert!(compacted["store"] == "store" && compacted.get("open_seconds").is_none(), "{compacted}");
    let checked = folder.json("check store");
    assert_eq!(checked["engine_files"]["versions"], compacted["versions"]);
    assert_eq!(checked["engine_files"]["deletions"], 0);
}

/// Adds labels to an open store whose edges are on several levels, with more edges than its memory
/// holds.
fn with_added_labels() -> Folder {
    let folder = on_levels();
    let shell = |input: &str| folder.pipe(&format!("shell store {MEMORY}"), input).success();
    shell("label add likes,pays:amount=f64!\n");
    for begin in [0, 500, 1000] {
        let puts = (begin..begin + 500).map(|to| {
            format!("put edge 5 {to} --label likes\nput edge {to} 6 --label pays --property amount={to}\n")
        });
        shell(&format!("begin\n{}commit\n", puts.collect::<String>()));
    }
    folder.text("label add calls:number=key --store store");
    shell("label add empty\nput edge 5 6 --label calls --key 7\n");
    folder
}

/// Checks that a store of `with_added_labels` has all labels and edges, and is whole.
fn check_added_labels(folder: &Folder) {
    let labels = "0 edge\n1 likes\n2 pays:amount=f64!\n3 calls:number=key\n4 empty\n";
    assert_eq!(folder.text("label list store"), labels);
    for (label, degree) in [("likes", 1500), ("pays", 1), ("calls", 1), ("empty", 0)] {
        let neighbors = folder.json(&format!("neighbors 5 --store store --label {label}"));
        assert_eq!(neighbors["degree"], degree, "{label}");
    }
    let payment = folder.json("get edge 1499 6 --store store --label pays");
    assert_eq!(payment["properties"]["amount"], 1499.0);
    assert_eq!(folder.json("check store")["whole"], true);
}

/// The numbers of levels that the labels have files on, by label and direction.
fn levels_of(folder: &Folder, label: &str) -> Vec<usize> {
    let info = folder.json("info store");
    let parts = info["engine_files"]["parts"].as_array().unwrap();
    let of_label = parts.iter().filter(|part| part["label"] == label);
    of_label.map(|part| part["levels"].as_array().unwrap().len()).collect()
}

#[test]
fn labels_are_added_between_flushes_and_compactions() {
    let folder = with_added_labels();
    check_added_labels(&folder);
    assert_eq!(levels_of(&folder, "likes").len(), 2, "the edges must have been flushed");
    folder.json(&format!("compact store {MEMORY}"));
    for label in ["likes", "pays", "calls"] {
        assert_eq!(levels_of(&folder, label), [1, 1], "{label}");
    }
    assert!(levels_of(&folder, "empty").is_empty());
    check_added_labels(&folder);
}

#[test]
fn edges_of_an_added_label_come_back_from_the_log_when_all_files_are_damaged() {
    let folder = on_levels_with_whole_log();
    let input = "label add pays:amount=f64!\nput edge 5 900 --label pays --property amount=2\n";
    // With so much memory that nothing is flushed, which would prune the log.
    folder.pipe("shell store", input).success();
    let unlisted = left_over(&folder.json("check store"));
    let is_listed_edges = |name: &String| name.ends_with(".edges") && !unlisted.contains(name);
    let edges = engine_files(&folder).into_iter().filter(is_listed_edges);
    edges.for_each(|name| damage(&folder, &name, 100));
    assert!(!problems(&folder).is_empty());
    assert_eq!(folder.json("recover store --to-last-valid")["commits_given_up"], 0);
    assert_eq!(folder.json("get edge 5 900 --store store --label pays")["properties"]["amount"], 2.0);
    assert_eq!(folder.json("check store")["whole"], true);
}

#[test]
fn engines_that_keep_edges_in_memory_have_nothing_to_compact() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store");
    folder.fails("compact store", 3, &["no files of its own", "hedgerow checkpoint DIR"]);
    folder.pipe_fails("shell store", "compact\n", &["line 1: ", "no files of its own"]);
    assert!(folder.json("info store").get("engine_files").is_none());
    assert!(folder.json("check store").get("engine_files").is_none());
}

/// Changes a byte of a file of the store.
fn damage(folder: &Folder, name: &str, at: usize) {
    let path = folder.path("store").join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 0x55;
    fs::write(path, bytes).unwrap();
}

/// The report of a check that finds damage.
fn report_of_damage(folder: &Folder) -> Value {
    let checked = folder.hedgerow("check store --json").code(1).get_output().clone();
    serde_json::from_slice(&checked.stdout).unwrap()
}

fn problems(folder: &Folder) -> Vec<Value> {
    report_of_damage(folder)["problems"].as_array().unwrap().clone()
}

/// The files in a report that belong to no level: a process that ends may leave a file that it was
/// writing.
fn left_over(report: &Value) -> Vec<String> {
    let files = report["engine_files"]["unlisted"].as_array().unwrap();
    files.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn damage_of_edge_files_is_found_with_its_place_and_the_log_replaces_them() {
    let folder = on_levels_with_whole_log();
    let neighbors = folder.text("neighbors 5 --store store");
    let whole = folder.json("check store");
    assert_eq!(whole["problems"], serde_json::json!([]));
    let (files, mut unlisted) = (engine_files(&folder), left_over(&whole));
    let is_listed_edges = |name: &&String| name.ends_with(".edges") && !unlisted.contains(name);
    let edges: Vec<_> = files.iter().filter(is_listed_edges).collect();
    damage(&folder, edges[0], 100);
    damage(&folder, edges[1], 100);
    let found = problems(&folder);
    let named: Vec<_> = found.iter().map(|problem| problem["file"].as_str().unwrap()).collect();
    assert_eq!(named, [format!("store/{}", edges[0]), format!("store/{}", edges[1])]);
    assert!(found.iter().all(|problem| problem["offset"].as_u64() <= Some(100)), "{found:?}");
    fs::write(folder.path("store").join("engine-99999999.edges"), "left over").unwrap();
    unlisted.push("engine-99999999.edges".to_owned());
    assert_eq!(left_over(&report_of_damage(&folder)), unlisted);
    let shown = folder.hedgerow("check store").code(1).get_output().clone();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let count =
        if unlisted.len() == 1 { "1 file, 9 B".to_owned() } else { format!("{} files, ", unlisted.len()) };
    assert!(shown.contains("left over") && shown.contains(&count) && shown.contains(&unlisted[0]), "{shown}");

    let recovered = folder.json("recover store --to-last-valid");
    assert_eq!((&recovered["commits_given_up"], &recovered["problems"]), (&0.into(), &serde_json::json!([])));
    let set_aside = recovered["set_aside"].as_array().unwrap();
    assert!(set_aside.contains(&format!("cut-{}", edges[0]).into()), "{recovered}");
    assert_eq!(folder.json("check store")["whole"], true);
    assert_eq!(folder.text("neighbors 5 --store store"), neighbors);
    folder.fails("neighbors 1 --store store", 3, &["there is no vertex 1"]);
}

#[test]
fn what_the_log_has_no_more_is_not_recovered() {
    let folder = on_levels();
    folder.json("checkpoint store");
    let files = engine_files(&folder);
    let edges = files.iter().find(|name| name.ends_with(".edges")).unwrap();
    damage(&folder, edges, 100);
    assert_eq!(problems(&folder)[0]["file"], format!("store/{edges}"));
    let before = engine_files(&folder);
    folder.fails("recover store --to-last-valid", 3, &[edges, "bring back a copy of the store"]);
    assert_eq!(engine_files(&folder), before);
    damage(&folder, edges, 100);
    let nothing = folder.text("recover store --to-last-valid");
    assert!(nothing.contains("nothing: the log is whole"), "{nothing}");
    // A missing file, and the manifest of the engine.
    fs::rename(folder.path("store").join(edges), folder.path("elsewhere")).unwrap();
    assert!(problems(&folder)[0]["message"].as_str().unwrap().contains("is missing"));
    fs::rename(folder.path("elsewhere"), folder.path("store").join(edges)).unwrap();
    let manifest = files.iter().find(|name| name.contains("manifest")).unwrap();
    damage(&folder, manifest, 20);
    assert!(!problems(&folder).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_compaction_leaves_a_whole_store_and_goes_on() {
    use crate::common::{listens, send};
    use std::io::Read;
    use std::thread;
    use std::time::Duration;

    let folder = on_levels();
    let neighbors = folder.text("neighbors 5 --store store");
    let mut interrupted = 0;
    for delay in [0, 20, 60, 150] {
        let mut child = folder.start(&format!("compact store {MEMORY}"));
        while !listens(&child) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(delay));
        // The command may have ended by itself.
        if child.try_wait().unwrap().is_none() {
            send(&child, "-INT");
        }
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        match child.wait().unwrap().code() {
            Some(130) => {
                // Until the command begins, a signal ends the process without a word.
                let is_early = delay == 0 && error.is_empty();
                assert!(is_early || error.contains("interrupted by Ctrl-C"), "{error}");
                interrupted += 1;
            }
            code => assert_eq!(code, Some(0), "{error}"),
        }
        assert_eq!(folder.json("check store")["whole"], true);
        assert_eq!(folder.text("neighbors 5 --store store"), neighbors);
    }
    assert!(interrupted > 0);
    folder.json("compact store");
    assert_eq!(folder.json("check store")["engine_files"]["deletions"], 0);
}

/// The final options of the command's allocator, as the allocator itself prints them.
#[cfg(unix)]
fn allocator_options(folder: &Folder, arguments: &str, environment: &[(&str, &str)]) -> Vec<String> {
    let mut command = assert_cmd::Command::new(PROGRAM);
    command.current_dir(folder.root()).args(arguments.split_whitespace());
    command.env("MIMALLOC_VERBOSE", "1").envs(environment.iter().copied());
    let printed = String::from_utf8(command.assert().success().get_output().stderr.clone()).unwrap();
    let last = |option: &str| {
        let line = printed.lines().rfind(|line| line.contains(&format!("option '{option}'")));
        line.unwrap_or_else(|| panic!("no {option} in: {printed}")).rsplit(' ').find(|word| !word.is_empty())
    };
    ["purge_delay", "allow_thp"].map(|option| last(option).unwrap().to_owned()).to_vec()
}

#[cfg(unix)]
#[test]
fn the_allocator_keeps_nothing_where_memory_is_given() {
    let folder = Folder::with("graph", "1 2\n");
    let import = format!("import graph --store store --engine lsm {MEMORY}");
    assert_eq!(allocator_options(&folder, &import, &[]), ["0", "0"]);
    let compact = format!("compact store {MEMORY}");
    assert_eq!(allocator_options(&folder, &compact, &[]), ["0", "0"]);
    // By default the allocator keeps memory, and the user's choice takes precedence.
    let usual = allocator_options(&folder, "compact store", &[]);
    assert_ne!(usual, ["0", "0"]);
    let asked = allocator_options(&folder, &compact, &[("MIMALLOC_PURGE_DELAY", "7")]);
    assert_eq!(asked, ["7", &*usual[1]]);
}
