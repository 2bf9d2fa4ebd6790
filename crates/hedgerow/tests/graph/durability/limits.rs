//! A full disk and a limit on open files, by the operating system instead of a simulation.
//!
//! Each test runs one of the ignored tests below in a process of its own, with a file system or a
//! limit of its own.

use hedgerow::{
    CheckpointOptions, Durability, ErrorKind, Graph, GraphOptions, LabelId, ReadGraph, WriteGraph,
};
use hedgerow_testing::skipped::skip;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// The environment variable with the folder in which the child processes work.
pub const FOLDER: &str = "HEDGEROW_TEST_FOLDER";

/// Runs an ignored test of this folder by a shell script, which ends in `exec "$@"`.
pub fn in_own_process(program: &[&str], script: &str, test: &str, folder: &Path) -> Output {
    let (name, others) = program.split_first().unwrap();
    let mut command = Command::new(name);
    command.args(others).args(["-c", script, "sh"]).arg(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", &format!("durability::{test}")]).env(FOLDER, folder);
    command.output().unwrap()
}

pub fn succeeded(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{complained}");
}

pub fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("run by the tests of this file").into()
}

fn options(durability: Durability) -> GraphOptions {
    GraphOptions::new().segment_bytes(32 << 10).durability(durability).threads(1)
}

/// Opens a store with small segments: a default segment does not fit on a small disk.
fn open(store: &Path) -> Result<Graph, hedgerow::Error> {
    options(Durability::Sync).open(store)
}

/// Puts edges until one is refused. Returns the number of edges put, and the error of the next.
fn put_until_refused(graph: &Graph) -> (u64, hedgerow::Error) {
    for number in 0.. {
        if let Err(error) = graph.put_edge(LabelId::DEFAULT, number, number + 1) {
            return (number, error);
        }
    }
    unreachable!("there are no more numbers");
}

fn holds(graph: &Graph, edges: u64) -> bool {
    (0..edges).all(|number| graph.contains_edge(LabelId::DEFAULT, number, number + 1).unwrap())
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let mounting = ["unshare", "--user", "--map-root-user", "--mount"];
    let folder = tempfile::tempdir().unwrap();
    let can_mount = Command::new(mounting[0])
        .args(&mounting[1..])
        .args(["mount", "-t", "tmpfs", "none"])
        .arg(folder.path())
        .output()
        .is_ok_and(|output| output.status.success());
    if !can_mount {
        skip("this process may not mount a file system of its own");
        return;
    }
    let script = format!("mount -t tmpfs -o size=8m none '{}' && exec \"$@\"", folder.path().display());
    let program = [&mounting[..], &["sh"]].concat();
    succeeded(&in_own_process(&program, &script, "limits::on_a_small_disk", folder.path()));
}

#[test]
#[ignore = "run by the test above, on a small disk"]
fn on_a_small_disk() {
    let (ballast, store) = (folder().join("ballast"), folder().join("store"));
    let fill = |keep: u64| {
        fs::remove_file(&ballast).ok();
        let file = File::create(&ballast).unwrap();
        let most = 8 << 20;
        let zeros = vec![0; 4096];
        // A file of a tmpfs takes memory only for pages that were written.
        let pages = (0..(most - keep) / 4096)
            .take_while(|page| std::os::unix::fs::FileExt::write_all_at(&file, &zeros, page * 4096).is_ok());
        assert!(pages.count() > 0);
    };
    for durability in [Durability::Sync, Durability::Buffered, Durability::None] {
        fill(1 << 20);
        let graph = options(durability).buffer_bytes(4096).create(&store).unwrap();
        graph.put_edge(LabelId::DEFAULT, 0, 1).unwrap();
        graph.flush().unwrap();
        let (put, error) = put_until_refused(&graph);
        assert_eq!(error.kind(), ErrorKind::LogFailed, "{error}");
        assert!(put > 1000 && error.to_string().contains("No space left on device"), "{put}: {error}");
        assert_eq!(graph.put_edge(LabelId::DEFAULT, 7, 8).unwrap_err().kind(), ErrorKind::LogFailed);
        assert!(graph.checkpoint(&CheckpointOptions::new()).is_err());
        let kept = if durability == Durability::Sync { put } else { 1 };
        assert!(holds(&graph, kept), "readers go on");
        drop(graph);
        // Opening needs room for a segment.
        let error = open(&store).unwrap_err();
        assert!(error.to_string().contains("No space left on device"), "{error}");
        fs::remove_file(&ballast).unwrap();
        let graph = open(&store).unwrap();
        assert!(holds(&graph, kept), "{durability:?}: {put} edges were acknowledged");
        graph.put_edge(LabelId::DEFAULT, 1_000_000, 1).unwrap();
        // A checkpoint that lacks room changes nothing.
        fill(0);
        assert!(graph.checkpoint(&CheckpointOptions::new()).is_err());
        fs::remove_file(&ballast).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        graph.close().unwrap();
        let graph = open(&store).unwrap();
        assert!(holds(&graph, kept) && graph.contains_edge(LabelId::DEFAULT, 1_000_000, 1).unwrap());
        drop(graph);
        fs::remove_dir_all(&store).unwrap();
    }
    // After a store could not be created, it can be created later.
    fill(0);
    let error = options(Durability::Sync).create(&store).unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
    fs::remove_file(&ballast).unwrap();
    options(Durability::Sync).create(&store).unwrap().put_edge(LabelId::DEFAULT, 1, 2).unwrap();
}

#[test]
fn sixty_four_files_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let script = "ulimit -n 64 && exec \"$@\"";
    succeeded(&in_own_process(&["sh"], script, "limits::with_few_open_files", folder.path()));
}

#[test]
#[ignore = "run by the test above, with few open files"]
fn with_few_open_files() {
    let store = folder().join("store");
    drop(options(Durability::Sync).create(&store).unwrap());
    for round in 0..5 {
        let graph = options(Durability::Sync).open(&store).unwrap();
        thread::scope(|scope| {
            for writer in 0..8 {
                let (graph, begin) = (&graph, (round * 8 + writer) * 300);
                scope.spawn(move || {
                    (begin..begin + 300).for_each(|n| {
                        assert!(graph.put_edge(LabelId::DEFAULT, n, n + 1).unwrap().changed != Some(false));
                    });
                });
            }
        });
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        let beside = GraphOptions::new().from_checkpoint().open(&store).unwrap();
        assert!(holds(&beside, (round + 1) * 2400));
    }
    // From here on, no descriptor is left.
    let graph = options(Durability::Sync).open(&store).unwrap();
    let others: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let words = "Too many open files";
    let error = graph.checkpoint(&CheckpointOptions::new()).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    let error = GraphOptions::new().from_checkpoint().open(&store).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    let (put, error) = {
        let begin = 1_000_000;
        let refused =
            (begin..).find_map(|n| graph.put_edge(LabelId::DEFAULT, n, n + 1).err().map(|error| (n, error)));
        refused.unwrap()
    };
    assert_eq!(error.kind(), ErrorKind::LogFailed, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(holds(&graph, 12_000), "readers go on");
    drop(graph);
    assert!(open(&store).unwrap_err().to_string().contains(words));
    drop(others);
    let graph = open(&store).unwrap();
    assert!(holds(&graph, 12_000));
    assert!(
        (1_000_000..put).all(|n| graph.contains_edge(LabelId::DEFAULT, n, n + 1).unwrap()),
        "what was acknowledged is there"
    );
    graph.put_edge(LabelId::DEFAULT, 3_000_000, 1).unwrap();
}
