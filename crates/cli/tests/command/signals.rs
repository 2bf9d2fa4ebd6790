//! Ctrl-C, other signals that end the command, and closed pipes.

use crate::common::{Folder, PROGRAM};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

#[test]
fn a_closed_output_causes_no_panic() {
    let folder = Folder::with("graph", "1 2\n");
    let mut child = Command::new(PROGRAM)
        .args(["stats", "graph"])
        .current_dir(folder.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((child.wait().unwrap().code(), error.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_has_an_exit_code_of_its_own() {
    let folder = Folder::with("graph", "1 2\n");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["stats", "graph"]).current_dir(folder.root()).stdout(full).stderr(Stdio::null());
    assert_eq!(command.status().unwrap().code(), Some(4));
}

/// The exit code and the message of a change whose result goes to `stdout`.
#[cfg(target_os = "linux")]
fn changed(folder: &Folder, arguments: &str, input: &str, stdout: Stdio) -> (i32, String) {
    let mut command = Command::new(PROGRAM);
    command.args(arguments.split_whitespace()).current_dir(folder.root());
    let mut child = command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
    // A reader that has closed its end.
    drop(child.stdout.take());
    // The command may end before it has read everything.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    (child.wait().unwrap().code().unwrap(), error)
}

#[cfg(target_os = "linux")]
#[test]
fn a_change_whose_result_cannot_be_printed_says_that_it_is_committed() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store");
    let committed = "; the change is committed";
    let commands = [
        ("put edge 1 3 --store store", "", committed),
        ("put vertex 9 --store store", "", committed),
        ("delete edge 1 3 --store store", "", committed),
        ("delete vertex 9 --store store", "", committed),
        ("label add likes --store store", "", "; the labels are added"),
        ("checkpoint store", "", "; the state is written"),
        ("recover store --to-last-valid", "", "; the repair is done"),
        ("import graph --store other", "", "; the import is complete"),
        ("convert graph copy", "", "; copy is complete"),
        ("shell store", "put edge 1 4\n", committed),
        ("shell store --quiet --json", "put edge 1 5\n", committed),
    ];
    for (arguments, input, part) in commands {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, error) = changed(&folder, arguments, input, full.into());
        assert_eq!(code, 4, "{arguments}: {error}");
        assert!(error.contains("cannot write to standard output: No space left"), "{arguments}: {error}");
        assert!(error.contains(part), "{arguments}: {error}");
    }
    assert_eq!(folder.text("neighbors 1 --store store"), "2\n4\n5\n");
    let (code, error) = changed(&folder, "put edge 1 6 --store store", "", Stdio::piped());
    assert_eq!(code, 0, "{error}");
    assert!(error.starts_with("note: ") && error.contains(committed), "{error}");
    let (code, error) = changed(&folder, "shell store", "put edge 1 7\nput edge 1 8\n", Stdio::piped());
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("line 1: ") && error.contains("; the lines after it were not run"), "{error}");
    assert_eq!(folder.text("neighbors 1 --store store"), "2\n4\n5\n6\n7\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_transaction_whose_begin_cannot_be_printed_is_open_all_the_same() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store");
    let input = "begin\nput edge 1 3\ncommit\n";
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, error) = changed(&folder, "shell store --keep-going", input, full().into());
    assert_eq!(code, 4, "{error}");
    assert!(error.contains("line 1: ") && error.contains("; the transaction is open"), "{error}");
    assert!(error.contains("; the change is staged in the open transaction"), "{error}");
    assert!(error.contains("line 3: the transaction was rolled back: a line of it failed"), "{error}");
    let (code, error) = changed(&folder, "shell store", input, Stdio::piped());
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("; the transaction is open; the lines after it were not run"), "{error}");
    assert!(error.contains("error: the input ended inside a transaction"), "{error}");
    assert_eq!(folder.text("neighbors 1 --store store"), "2\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    folder.hedgerow("generate kronecker --scale 12 --output graph").success();
    for arguments in [
        "generate kronecker --scale 14 --output new",
        "generate kronecker --scale 14 --output new.sg",
        "convert graph new.csv",
        "import graph --store store",
    ] {
        let limited = format!("ulimit -f 16; exec {PROGRAM} {arguments}");
        let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.root()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{arguments}: {error}");
        assert!(error.starts_with("error: ") && error.contains("File too large"), "{arguments}: {error}");
    }
    let left = folder.names().into_iter().filter(|name| name != "store");
    assert_eq!(left.collect::<Vec<_>>(), ["graph"]);
}

#[cfg(target_os = "linux")]
mod interrupt {
    use super::*;
    use crate::common::{listens, send};
    use std::io::{BufRead, BufReader};
    use std::thread;
    use std::time::Duration;

    /// Sends a signal to the command and returns its output on standard error; it must end with
    /// this exit code.
    fn ended_by(signal: &str, code: i32, folder: &Folder, arguments: &str) -> String {
        let mut child = folder.start(arguments);
        while !listens(&child) {
            thread::sleep(Duration::from_millis(1));
        }
        // Somewhere in the middle: the outcome must not depend on the moment.
        thread::sleep(Duration::from_millis(100));
        send(&child, signal);
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{error}");
        error
    }

    fn interrupted(folder: &Folder, arguments: &str) -> String {
        ended_by("-INT", 130, folder, arguments)
    }

    /// Returns true if this process, and so the command that it starts, ignores SIGHUP.
    fn ignores_hangups() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 != 0
    }

    #[test]
    fn sigterm_and_sighup_end_the_command_as_ctrl_c_does() {
        let folder = Folder::with("graph", "1 2\n2 1\n");
        let kernel = "run pagerank --graph graph --iterations 4294967295 --output ranks";
        let generate = "generate kronecker --scale 26 --output new";
        let hangup = ("-HUP", 129, "SIGHUP");
        let signals = [("-TERM", 143, "SIGTERM")].into_iter().chain((!ignores_hangups()).then_some(hangup));
        for (signal, code, name) in signals {
            for command in [kernel, generate] {
                let error = ended_by(signal, code, &folder, command);
                assert!(
                    error.contains(&format!("error: interrupted by {name}; nothing was written")),
                    "{error}"
                );
            }
        }
        assert_eq!(folder.names(), ["graph"]);
    }

    #[test]
    fn hangups_that_are_ignored_stay_so() {
        let folder = Folder::with("graph", "1 2\n2 1\n");
        let mut command = Command::new("nohup");
        command.args([PROGRAM, "run", "pagerank", "--graph", "graph", "--iterations", "4294967295"]);
        let mut child =
            command.current_dir(folder.root()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !listens(&child) {
            thread::sleep(Duration::from_millis(1));
        }
        send(&child, "-HUP");
        thread::sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none());
        send(&child, "-TERM");
        assert_eq!(child.wait().unwrap().code(), Some(143));
    }

    #[test]
    fn a_kernel_is_cancelled_and_leaves_no_file() {
        let folder = Folder::with("graph", "1 2\n2 1\n");
        let endless = "run pagerank --graph graph --iterations 4294967295 --output ranks";
        for engine in ["rapid", "csr"] {
            let error = interrupted(&folder, &format!("{endless} --engine {engine}"));
            assert!(error.contains("error: interrupted"), "{error}");
        }
        assert_eq!(folder.names(), ["graph"]);
    }

    #[test]
    fn writing_a_graph_is_given_up() {
        let folder = Folder::new();
        interrupted(&folder, "generate kronecker --scale 26 --output graph");
        assert_eq!(folder.names(), Vec::<String>::new());
    }

    #[test]
    fn an_interrupted_benchmark_keeps_its_figures() {
        let folder = Folder::new();
        let workloads = "--dataset kron-8 --workloads scan-ordered,synced-commits --full";
        let mut child = folder.start(&format!("bench --repetitions 1 {workloads} --json figures.json"));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("this takes roughly") && line.contains("minutes")));
        assert!(lines.any(|line| line.starts_with("[2/2] synced-commits")));
        send(&child, "-INT");
        assert!(lines.any(|line| line.contains("error: interrupted by Ctrl-C; the figures so far")));
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let figures: serde_json::Value = serde_json::from_str(&folder.read("figures.json")).unwrap();
        assert_eq!(figures["complete"], false);
        assert!(figures["results"].as_array().unwrap().iter().all(|row| row["workload"] == "scan-ordered"));
        assert_eq!(folder.names(), ["figures.json"]);
    }

    #[test]
    fn labels_are_added_up_to_a_signal() {
        let folder = Folder::with("graph", "1 2\n");
        folder.json("import graph --store store");
        let mut command = Command::new(PROGRAM);
        command.args(["shell", "store"]).current_dir(folder.root());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let names: Vec<String> = (0..60_000).map(|number| format!("label-{number}")).collect();
        writeln!(input, "label add {}", names.join(",")).unwrap();
        let labels =
            || hedgerow::store::manifest(folder.path("store")).unwrap().options.catalog.labels().len();
        while labels() == 1 {
            thread::sleep(Duration::from_millis(1));
        }
        send(&child, "-TERM");
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(143), "{error}");
        let added = text_of_count(labels() - 1);
        let expected = format!(
            "error: line 1: interrupted by SIGTERM; the first {added} of the 60,000 labels are added, the others are not\n"
        );
        assert_eq!(error, expected);
    }

    /// A number below a million, as the command shows it.
    fn text_of_count(count: usize) -> String {
        format!("{},{:03}", count / 1000, count % 1000)
    }

    #[test]
    fn the_demo_stops_its_threads() {
        // One demo is interrupted while it generates edges, the other while it writes them.
        interrupted(&Folder::new(), "demo --scale 21 --json");
        interrupted(&Folder::new(), "demo --scale 16 --batch 1 --json");
    }
}
