//! `hedgerow shell`: many commands on one open store.

use crate::common::Folder;
use hedgerow::Graph;
use serde_json::{Value, json};

/// A path of four vertices in a store.
fn store() -> Folder {
    let folder = Folder::with("graph", "1 2\n2 3\n3 4\n");
    folder.json("import graph --store store");
    folder
}

/// Runs the lines in a shell with these arguments; returns what went to standard output.
fn lines(folder: &Folder, arguments: &str, lines: &str) -> String {
    let output = folder.pipe(arguments, lines).success().stderr("").get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the lines in a shell with `--json`; returns a value for each line of output.
fn json_lines(folder: &Folder, arguments: &str, input: &str) -> Vec<Value> {
    let output = lines(folder, &format!("{arguments} --json"), input);
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn commands_run_one_after_the_other_on_one_store() {
    let folder = store();
    let input = "\
        # a comment, and an empty line\n\n\
        put edge 4 1\n\
        put vertex 9\n\
        neighbors 4\n\
        get edge 1 2\n\
        delete edge 1 2\n\
        get vertex 1\n\
        quit\n\
        put vertex 99\n";
    let expected = "\
        edge from 4 to 1 added\n\
        vertex 9 added\n\
        1\n\
        1 2\n\
        edge from 1 to 2 deleted\n\
        vertex      1\nout-degree  0\n";
    assert_eq!(lines(&folder, "shell store", input), expected);
    assert_eq!(folder.json("info store")["edges"], 3);
    folder.fails("get vertex 99 --store store", 3, &["no vertex 99"]);
}

#[test]
fn results_are_json_lines() {
    let folder = store();
    let input = "put edge 4 1\nneighbors 4\nget edge 4 1\ninfo\nrun bfs --source 1\nrun triangles\n";
    let results = json_lines(&folder, "shell store", input);
    assert_eq!(results.len(), 6);
    assert_eq!(results[0]["added"], true);
    assert_eq!(results[1]["neighbors"], json!([{ "key": 1 }]));
    assert_eq!((&results[2]["from"], &results[2]["to"]), (&json!(4), &json!(1)));
    assert_eq!((&results[3]["vertices"], &results[3]["edges"]), (&json!(4), &json!(4)));
    assert_eq!((&results[4]["kernel"], &results[4]["reached"]), (&json!("bfs"), &json!(4)));
    assert_eq!(results[4]["timestamp"], results[0]["timestamp"]);
    assert_eq!(results[5]["triangles"], 0);
}

#[test]
fn kernels_see_what_was_put_before_and_write_results() {
    let folder = store();
    let input = "run bfs --source 1 --output before\nput edge 1 4\n\
        run bfs --source 1 --engine csr --threads 2 --output after\nrun wcc --output -\n";
    let output = folder.pipe("shell store --quiet", input).success().stderr("").get_output().clone();
    assert_eq!(folder.read("before"), "1 0\n2 1\n3 2\n4 3\n");
    assert_eq!(folder.read("after"), "1 0\n2 1\n3 2\n4 1\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1 1\n2 1\n3 1\n4 1\n");
    let refused = [
        ("run bfs --output store/new\n", "reads or writes this file already"),
        ("run sssp --unit-weights\n", "the option is for graph files"),
        ("run sssp\n", "need values of type f64"),
        ("run bfs --engine tel\n", "in the engine rapid"),
        ("run bfs graph\n", "'graph'"),
    ];
    for (line, part) in refused {
        folder.pipe_fails("shell store", line, &["line 1: ", part]);
    }
}

#[test]
fn a_line_that_fails_ends_the_shell_with_its_number_and_its_exit_code() {
    let folder = store();
    for (line, code, part) in [
        ("get vertex 99", 3, "no vertex 99"),
        ("put edge 1 x", 2, "TO \"x\": the keys of this graph are numbers"),
        ("put edge 1", 2, "<TO>"),
        ("fly", 2, "'fly'"),
        ("put vertex 'a", 2, "missing closing quote"),
        (
            "put edge 1 2 --only-if weight=1",
            2,
            "--only-if \"weight=1\": edges of the label \"edge\" have no properties",
        ),
        ("neighbors 1 --direction in", 2, "--reverse"),
        ("neighbors 1 --store other", 2, "'--store'"),
    ] {
        let input = format!("\nput vertex 7\n{line}\nput vertex 8\n");
        let output = folder.pipe("shell store", input).code(code).get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: line 3: ") && error.contains(part), "{line}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("the lines after it were not run; --keep-going goes on"), "{error}");
        folder.fails("get vertex 8 --store store", 3, &["no vertex 8"]);
    }
    folder.json("get vertex 7 --store store");
}

#[test]
fn the_shell_keeps_going_if_it_is_told_to() {
    let folder = store();
    let input = "get vertex 99\nput vertex 8\n\u{0}put\nfly\nput vertex 9\n";
    let output = folder.pipe("shell store --keep-going", input).code(3).get_output().clone();
    let error = String::from_utf8(output.stderr).unwrap();
    let starts = [
        "error: line 1: ",
        "error: line 3: ",
        "error: line 4: ",
        "error: 3 lines failed, the first was line 1",
    ];
    assert_eq!(error.lines().count(), starts.len(), "{error}");
    for (line, start) in error.lines().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "vertex 8 added\nvertex 9 added\n");
}

#[test]
fn labels_are_added_to_the_store_that_is_open() {
    let folder = store();
    let added = "label add likes,pays:amount=f64!\n";
    let input = format!(
        "label list\n{added}put edge 1 3 --label likes\nput edge 1 4 --label pays --property amount=2\n\
        neighbors 1 --label likes\nget edge 1 4 --label pays\nlabel list\n"
    );
    let expected = "\
        0 edge\n\
        added 1 likes\nadded 2 pays:amount=f64!\n\
        edge from 1 to 3 added\nedge from 1 to 4 added\n\
        3\n\
        1 4 amount=2.0\n\
        0 edge\n1 likes\n2 pays:amount=f64!\n";
    assert_eq!(lines(&folder, "shell store", &input), expected);
    assert_eq!(folder.text("label list store"), "0 edge\n1 likes\n2 pays:amount=f64!\n");
    assert_eq!(folder.text("neighbors 1 --store store --label likes"), "3\n");

    folder.pipe_fails("shell store", "label add more,likes\n", &["line 1: ", "\"likes\" is declared twice"]);
    folder.pipe_fails("shell store --read-only", "label add more\n", &["the shell is read-only"]);
    let results = json_lines(&folder, "shell store", "label add more\nlabel list\n");
    assert_eq!(results[0]["labels"][3], json!({ "id": 3, "name": "more", "declaration": "more" }));
    assert_eq!(results[1]["labels"].as_array().map(Vec::len), Some(4));
    assert_eq!(lines(&folder, "shell store --read-only", "label list\n").lines().count(), 4);
}

/// Lines read the changes that earlier lines staged; other readers, and kernels, see them after the
/// commit.
#[test]
fn a_transaction_goes_over_several_lines() {
    let folder = store();
    let input = "begin\nput edge 4 1\nput vertex 9\ndelete edge 1 2\ndelete vertex 3\n\
        neighbors 4\nget edge 4 1\nneighbors 1\nget vertex 9\ncommit\nneighbors 4\n";
    let expected = "\
        transaction begun\n\
        edge from 4 to 1 staged\n\
        vertex 9 staged\n\
        deletion of the edge from 1 to 2 staged\n\
        deletion of vertex 3 staged\n\
        1\n\
        4 1\n\
        vertex      9\nout-degree  0\n\
        transaction committed: 1 vertex added, 1 vertex deleted, 1 edge added, 3 edges deleted\n\
        1\n";
    assert_eq!(lines(&folder, "shell store", input), expected);

    let rolled_back = "begin\nput edge 2 77\nget vertex 77\nrollback\nbegin\ncommit\n";
    let expected = "transaction begun\nedge from 2 to 77 staged\nvertex      77\nout-degree  0\n\
        transaction rolled back\ntransaction begun\ntransaction committed: nothing changed\n";
    assert_eq!(lines(&folder, "shell store", rolled_back), expected);
    folder.fails("get vertex 77 --store store", 3, &["no vertex 77"]);
}

#[test]
fn a_transaction_gives_json_lines() {
    let folder = store();
    let input = "begin\nput edge 4 1\ndelete vertex 3\nneighbors 4\ncommit\nbegin\nrollback\ncheckpoint\n";
    let results = json_lines(&folder, "shell store", input);
    let began = results[0]["began_at"].as_u64().unwrap();
    assert_eq!(results[1]["staged"], true);
    assert!(results[1].get("added").is_none() && results[1].get("timestamp").is_none(), "{}", results[1]);
    assert_eq!((&results[2]["key"], &results[2]["staged"]), (&json!(3), &json!(true)));
    assert_eq!(results[3]["neighbors"], json!([{ "key": 1 }]));
    let commit = &results[4];
    assert_eq!((&commit["edges_added"], &commit["edges_deleted"]), (&json!(1), &json!(2)));
    assert_eq!((&commit["vertices_deleted"], &commit["changed"]), (&json!(1), &json!(true)));
    assert_eq!((&commit["timestamp"], &commit["durability"]), (&json!(began + 1), &json!("sync")));
    assert_eq!(results[6]["rolled_back"], true);
    assert_eq!((&results[7]["written"], &results[7]["edges"]), (&json!(true), &json!(2)));
    assert!(results[7].get("open_seconds").is_none());
}

#[test]
fn conditions_are_decided_in_a_transaction() {
    let folder = Folder::with("pays.csv", "source,destination,amount\n1,2,5\n");
    folder.json("import pays.csv --store store --labels pays:amount=i64!");
    let raise = "put edge 1 2 --property amount=6 --only-if amount=5\n";
    let input = format!("begin\n{raise}get edge 1 2\ncommit\n");
    let expected = "transaction begun\nedge from 1 to 2 staged\n1 2 amount=6\ntransaction committed\n";
    assert_eq!(lines(&folder, "shell store", &input), expected);
    let again = format!("begin\nput edge 7 8 --property amount=1\n{raise}commit\n");
    let output = folder.pipe("shell store", again).code(6).get_output().clone();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("line 3: ") && error.contains("the open transaction was rolled back"), "{error}");
    folder.fails("get vertex 7 --store store", 3, &["no vertex 7"]);
}

#[test]
fn a_transaction_that_does_not_end_is_rolled_back() {
    let folder = store();
    for end in ["", "quit\n"] {
        let output =
            folder.pipe("shell store", format!("begin\nput vertex 9\n{end}")).code(2).get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: the input ended inside a transaction"), "{error}");
        folder.fails("get vertex 9 --store store", 3, &["no vertex 9"]);
    }
    // A shell that goes on does not commit half of a transaction.
    let input = "begin\nput vertex 9\nget vertex 99\ncommit\nput vertex 8\n";
    let output = folder.pipe("shell store --keep-going", input).code(3).get_output().clone();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("line 4: the transaction was rolled back: a line of it failed"), "{error}");
    folder.fails("get vertex 9 --store store", 3, &["no vertex 9"]);
    folder.json("get vertex 8 --store store");
}

#[test]
fn what_does_not_go_together_with_a_transaction_is_refused() {
    let folder = store();
    for line in ["begin", "run wcc", "info", "checkpoint", "compact", "label add likes"] {
        let (input, name) =
            (format!("begin\n{line}\n"), line.trim_end_matches(" wcc").trim_end_matches(" likes"));
        let output = folder.pipe("shell store", input).code(2).get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        let part = format!("line 2: {name}: a transaction is open; commit or rollback");
        assert!(error.contains(&part) && error.contains("the open transaction was rolled back"), "{error}");
    }
    for line in ["commit", "rollback"] {
        folder.pipe_fails(
            "shell store",
            format!("{line}\n"),
            &["line 1: ", "no transaction is open", "begin"],
        );
    }
    for line in ["begin", "checkpoint", "compact"] {
        folder.pipe_fails("shell store --read-only", format!("{line}\n"), &["the shell is read-only"]);
    }
}

#[test]
fn a_transaction_that_the_graph_refuses_is_rolled_back() {
    let folder = Folder::new();
    let options = hedgerow::GraphOptions::new().strict(true);
    options.create(folder.path("store")).unwrap().close().unwrap();
    let output =
        folder.pipe("shell store", "begin\nput vertex 1\nput edge 1 2\ncommit\n").get_output().clone();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("line 4: the transaction was rolled back: there is no vertex 2"), "{error}");
    folder.fails("get vertex 1 --store store", 3, &["no vertex 1"]);
}

#[test]
fn a_line_that_is_not_text_is_refused() {
    let folder = store();
    folder.pipe_fails("shell store", [0x70, 0xff, 0x0a], &["line 1: ", "not UTF-8"]);
}

#[test]
fn a_read_only_shell_changes_nothing_and_lets_others_write() {
    let folder = store();
    folder.json("checkpoint store");
    folder.json("put edge 1 3 --store store");
    let read_only = "shell store --read-only";
    folder.pipe_fails(read_only, "put vertex 7\n", &["line 1: store: the shell is read-only", "--read-only"]);
    folder.pipe_fails(read_only, "delete vertex 1\n", &["the shell is read-only"]);
    assert_eq!(lines(&folder, read_only, "neighbors 1\n"), "2\n3\n");
    assert_eq!(lines(&folder, "shell store --read-only --from-checkpoint", "neighbors 1\n"), "2\n");
    for arguments in
        ["--from-checkpoint", "--as-of 1", "--read-only --durability none", "--read-only --wait 1"]
    {
        folder.hedgerow(&format!("shell store {arguments}")).code(2).stdout("");
    }
}

#[test]
fn newest_edges_come_in_the_order_of_commits_of_the_shell() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store --engine tel --checkpoint never");
    let input = "put edge 1 5\nput edge 1 4\nneighbors 1 --newest 2\nneighbors 1 --newest 2 --by commit\n";
    let output = lines(&folder, "shell store --quiet", input);
    assert_eq!(output, "4\n5\n4\n5\n");
    assert_eq!(lines(&folder, "shell store --read-only", "neighbors 1 --newest 1\n"), "4\n");
}

#[test]
fn buffered_commits_are_durable_when_the_shell_has_ended() {
    let folder = store();
    let input: String = (10..300).map(|key| format!("put edge 1 {key}\n")).collect();
    let output = lines(&folder, "shell store --durability none --quiet", &input);
    assert_eq!(output, "");
    assert_eq!(folder.json("neighbors 1 --store store")["degree"], 291);
    assert_eq!(folder.json("check store")["whole"], true);
}

#[test]
fn help_lists_the_commands_and_their_options() {
    let folder = store();
    let help = lines(&folder, "shell store", "help\nhelp put edge\n");
    for part in ["neighbors", "quit", "--property", "--only-if"] {
        assert!(help.contains(part), "{part} is not in {help}");
    }
    assert!(!help.contains("--store"), "{help}");
}

#[test]
fn a_store_that_is_missing_or_open_elsewhere_is_refused() {
    let folder = store();
    folder.fails("shell nowhere", 3, &["nowhere"]);
    let held = Graph::open(folder.path("store")).unwrap();
    folder.pipe_fails("shell store", "neighbors 1\n", &["the store is in use", "--wait SECONDS"]);
    folder.hedgerow("shell store").code(5);
    drop(held);
    assert_eq!(lines(&folder, "shell store", "neighbors 1\n"), "2\n");
}

#[cfg(target_os = "linux")]
mod in_a_terminal {
    use super::*;

    /// The output of the terminal before a prompt, and only then: a request to mark pasted text.
    const PROMPT: &str = "\u{1b}[?2004h";

    /// Types into a shell in a terminal: each of the keys after the terminal has shown the text
    /// before them. Returns all output.
    fn typed(folder: &Folder, keys: &[(&str, &str)]) -> String {
        let keys: Vec<(&str, &[u8])> = keys.iter().map(|(text, keys)| (*text, keys.as_bytes())).collect();
        typed_into("xterm", folder, &keys)
    }

    /// Types into a terminal of this kind.
    fn typed_into(kind: &str, folder: &Folder, keys: &[(&str, &[u8])]) -> String {
        folder.types(kind, "shell store", keys)
    }

    #[test]
    fn lines_are_edited_completed_and_remembered() {
        let folder = store();
        let lines = ["put ver\t7\r", "fly\r", "neigh\t1\r", "forgotten\u{3}", "\u{4}"];
        let shown = typed(&folder, &lines.map(|line| (PROMPT, line)));
        for part in ["store: 4 vertices, 3 edges", "vertex 7 added", "'fly'", "\n2\r\n"] {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
        let history = folder.read("hedgerow/history");
        for line in ["put vertex 7", "fly", "neighbors 1"] {
            assert!(history.lines().any(|kept| kept.trim_end() == line), "{line:?} is not in {history}");
        }
        // The line before, from the history of the last shell.
        let shown = typed(&folder, &[(PROMPT, "\u{10}\r"), (PROMPT, "quit\r")]);
        assert!(shown.contains("\n2\r\n"), "{shown}");
        folder.json("get vertex 7 --store store");
    }

    #[test]
    fn the_prompt_shows_that_a_transaction_is_open() {
        let folder = store();
        let lines = [
            "beg\t\r",
            "put vertex 7\r",
            "get vertex 99\r",
            "comm\t\r",
            "begin\r",
            "put vertex 8\r",
            "\u{4}",
        ];
        let shown = typed(&folder, &lines.map(|line| (PROMPT, line)));
        for part in ["store (transaction)> ", "no vertex 99", "transaction committed: 1 vertex added"] {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
        assert!(shown.contains("note: the open transaction was rolled back"), "{shown}");
        folder.json("get vertex 7 --store store");
        folder.fails("get vertex 8 --store store", 3, &["no vertex 8"]);
    }

    #[test]
    fn ctrl_c_cancels_a_kernel_and_not_the_shell() {
        let folder = store();
        let endless = "run pagerank --iterations 4294967295 --threads 1\r";
        let keys = [(PROMPT, endless), ("iterating", "\u{3}"), (PROMPT, "neighbors 1\r"), (PROMPT, "quit\r")];
        let shown = typed(&folder, &keys);
        assert!(shown.contains("interrupted by Ctrl-C"), "{shown}");
        assert!(shown.contains("\n2\r\n"), "{shown}");
    }

    #[test]
    fn neither_ctrl_c_at_the_prompt_nor_bytes_that_are_no_text_end_the_shell() {
        for (kind, prompt, within) in [
            ("dumb", "store> ", "store (transaction)> "),
            ("xterm", PROMPT, PROMPT),
            ("EMACS", "store> ", "store (transaction)> "),
        ] {
            let folder = store();
            let keys: [(&str, &[u8]); 8] = [
                (prompt, b"\x03"),
                (prompt, b"forgotten\x03"),
                (prompt, b"begin\r"),
                (within, b"put vertex 7\r"),
                (within, b"put vertex caf\xe9\r"),
                (within, b"\x03"),
                (within, b"commit\r"),
                (prompt, b"quit\r"),
            ];
            let shown = typed_into(kind, &folder, &keys);
            assert!(shown.contains("the line is not UTF-8, and was discarded"), "{kind}: {shown}");
            assert!(shown.contains("transaction committed: 1 vertex added"), "{kind}: {shown}");
            folder.json("get vertex 7 --store store");
        }
    }
}
