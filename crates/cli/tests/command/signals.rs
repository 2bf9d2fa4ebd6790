//! Ctrl-C, other signals that end the command, and closed pipes.

use crate::common::{Folder, PROGRAM};
use std::io::Read;
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

    /// Whether this process, and so the command that it starts, ignores SIGHUP.
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
        let workloads = "--dataset kron-8 --workloads scan-ordered,mixed-writer --mix-seconds 3600";
        let mut child = folder.start(&format!("bench --repetitions 1 {workloads} --json figures.json"));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("this takes roughly") && line.contains("hour")));
        assert!(lines.any(|line| line.starts_with("[2/2] mixed-writer")));
        send(&child, "-INT");
        assert!(lines.any(|line| line.contains("error: interrupted by Ctrl-C; the figures so far")));
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let figures: serde_json::Value = serde_json::from_str(&folder.read("figures.json")).unwrap();
        assert_eq!(figures["complete"], false);
        assert!(figures["results"].as_array().unwrap().iter().all(|row| row["workload"] == "scan-ordered"));
        assert_eq!(folder.names(), ["figures.json"]);
    }

    #[test]
    fn the_demo_stops_its_threads() {
        // One is interrupted while it generates edges, the other while it writes them.
        interrupted(&Folder::new(), "demo --scale 21 --json");
        interrupted(&Folder::new(), "demo --scale 16 --batch 1 --json");
    }
}
