//! Ctrl-C and closed pipes.

use crate::common::{Folder, PROGRAM};
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn whoever_stops_reading_the_output_causes_no_panic() {
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
mod interrupt {
    use super::*;
    use crate::common::{listens, send};
    use std::thread;
    use std::time::Duration;

    fn interrupted(folder: &Folder, arguments: &str) -> String {
        let mut child = folder.start(arguments);
        while !listens(&child) {
            thread::sleep(Duration::from_millis(1));
        }
        // Somewhere in the middle: wherever it is, the outcome must be the same.
        thread::sleep(Duration::from_millis(100));
        send(&child, "-INT");
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{error}");
        error
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
    fn the_demo_stops_its_threads() {
        // One is interrupted while it generates edges, the other while it writes them.
        interrupted(&Folder::new(), "demo --scale 21 --json");
        interrupted(&Folder::new(), "demo --scale 16 --batch 1 --json");
    }
}
