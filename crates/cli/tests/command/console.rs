//! `--quiet`, `--verbose` and `--color`, errors as JSON, and manual pages.

use crate::common::Folder;
use serde_json::Value;

/// The output of a command on standard error.
fn messages(folder: &Folder, arguments: &str) -> String {
    String::from_utf8(folder.hedgerow(arguments).get_output().stderr.clone()).unwrap()
}

#[test]
fn a_quiet_command_prints_its_result_and_its_errors_only() {
    let folder = Folder::with("graph", "3 2\n1 2\n");
    for command in [
        "generate uniform --vertices 9 --edges 9 --output new",
        "convert graph new.mtx",
        "import graph --store store",
        "put edge 7 8 --store store",
        "checkpoint store",
        "export store --output new.el",
        "run bfs graph --output distances",
    ] {
        assert_eq!(folder.text(&format!("{command} --quiet")), "", "{command}");
    }
    assert_eq!(folder.text("-q neighbors 7 --store store"), "8\n");
    assert_eq!(folder.text("run bfs graph --source 3 -q"), "3 0\n2 1\n1 9223372036854775807\n");
    assert!(folder.text("run triangles graph -q").contains("triangles  0"));
    // A first line of sizes gets a note.
    folder.write("sizes", "4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n");
    assert!(messages(&folder, "stats sizes").starts_with("note: "));
    assert_eq!(messages(&folder, "stats sizes --quiet"), "");
    folder.fails("neighbors 99 --store store --quiet", 3, &["no vertex 99"]);
    folder.fails("info store --quiet --verbose", 2, &["cannot be used with"]);
}

#[test]
fn a_verbose_command_says_what_it_opened_and_read() {
    let folder = Folder::with("graph", "1 2\n2 3\n");
    folder.json("import graph --store store");
    let opened = messages(&folder, "neighbors 1 --store store --verbose");
    assert!(opened.starts_with("opened store in "), "{opened}");
    let read = messages(&folder, "stats graph -v");
    assert!(read.starts_with("read graph in ") && read.contains("2 edges"), "{read}");
}

#[test]
fn colors_are_as_requested() {
    let folder = Folder::new();
    let colored = |arguments: &str| messages(&folder, arguments).contains("\u{1b}[");
    for command in ["info nowhere", "fly"] {
        assert!(colored(&format!("--color always {command}")), "{command}");
        assert!(!colored(&format!("--color never {command}")), "{command}");
        assert!(!colored(command), "{command}: standard error is no terminal");
    }
    let help =
        |color: &str| folder.hedgerow(&format!("--color {color} run --help")).success().get_output().clone();
    assert_ne!(help("always").stdout, help("never").stdout);
    folder.fails("--color purple info nowhere", 2, &["purple", "always"]);
}

#[test]
fn errors_are_json_where_results_are() {
    let folder = Folder::with("bad", "1 2\n3 x\n");
    for (arguments, code, part, has_hint) in [
        ("info nowhere --json", 3, "nowhere", true),
        ("run bfs bad --json", 3, "bad:2:3", true),
        ("neighbors --store nowhere --json", 2, "<KEY>", false),
        ("fly --json", 2, "'fly'", false),
        ("run bfs bad --json --threads 0", 2, "expected a number from 1 to 1024", false),
    ] {
        let output = folder.hedgerow(arguments).code(code).stdout("").get_output().clone();
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["exit_code"], code, "{arguments}");
        assert!(error["error"].as_str().unwrap().contains(part), "{error}");
        assert_eq!(error["hint"].is_string(), has_hint, "{error}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
    }
    // `--json` of the benchmark names a file.
    folder.fails("bench --json figures.json --repetitions 0", 2, &["0 is not in 1..=1000"]);
}

#[test]
fn the_last_of_a_repeated_option_counts() {
    let folder = Folder::with("graph", "1 2\n2 3\n");
    let run = folder.json("run bfs graph --source 3 --threads 2 --source 1 --threads 1");
    assert_eq!((&run["source"], &run["threads"]), (&1.into(), &1.into()));
    folder.json("import graph --store store --vertex-properties name=string,age=i64");
    // An option that takes several values keeps them all.
    folder.json("put vertex 1 --store store --property name=anna --property age=3");
    let properties = &folder.json("get vertex 1 --store store")["properties"];
    assert_eq!((&properties["name"], &properties["age"]), (&"anna".into(), &3.into()));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.hedgerow("man pages/man1").success().stdout("").stderr("");
    let page = |name: &str| folder.read(&format!("pages/man1/{name}.1"));
    assert!(page("hedgerow").contains("shell"));
    for (name, part) in [
        ("hedgerow-run-pagerank", "damping"),
        ("hedgerow-put-edge", "only\\-if"),
        ("hedgerow-shell", "hedgerow shell wiki"),
        ("hedgerow-man", "hedgerow man"),
    ] {
        assert!(page(name).contains(part), "{part:?} is not in {}", page(name));
    }
    folder.write("file", "");
    folder.fails("man file/pages", 1, &["file/pages: cannot write manual pages"]);
}
