//! Processes that fork while a graph is open.
//!
//! Each test runs one of the ignored tests below in a process of its own, in which no other thread
//! holds a lock during the fork.

use super::limits::{FOLDER, folder, in_own_process, succeeded};
use crate::engines::EXAMPLE;
use hedgerow::kernels::{BuildOptions, PageRank};
use hedgerow::{
    AsOf, CheckpointOptions, CommitTimestamp, CompactOptions, Durability, EngineKind, Error, ErrorKind,
    Graph, GraphOptions, Label, LabelId, ReadGraph, Snapshot, SnapshotOptions, WriteGraph, WriteTxn,
};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const EDGES: LabelId = LabelId::DEFAULT;

fn engines() -> impl Iterator<Item = EngineKind> {
    EngineKind::ALL.iter().copied().chain([EXAMPLE])
}

/// The store of the test of locks, and the file with the process id of the owner's child.
const STORE: &str = "store";
const CHILD: &str = "child";

/// Seconds until a waiting child is killed.
const PATIENCE: u32 = 60;

/// Forks. Returns the child's process id to the parent, and 0 to the child.
fn forked_here() -> libc::pid_t {
    // SAFETY: no other thread holds a lock that the child waits for, or the timer kills it.
    let id = unsafe { libc::fork() };
    if id == 0 {
        // SAFETY: only sets a timer of the child.
        unsafe { libc::alarm(PATIENCE) };
    }
    id
}

/// Returns the exit code of a child; -1 if a signal ended it.
fn exit_code(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: only writes to the variable.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 }
}

/// Ends the child at once.
fn exit_child(code: u8) -> ! {
    // SAFETY: only ends the process.
    unsafe { libc::_exit(i32::from(code)) }
}

fn is_refused<T>(result: Result<T, Error>) -> bool {
    result.err().is_some_and(|error| error.kind() == ErrorKind::Forked)
}

fn writes_are_refused(graph: &Graph) -> Vec<bool> {
    vec![
        is_refused(graph.label::<()>("edges")),
        is_refused(graph.put_edge(EDGES, 1, 9)),
        is_refused(graph.delete_edge(EDGES, 1, 2)),
        is_refused(graph.add_vertex(9)),
        is_refused(graph.delete_vertex(1)),
        is_refused(graph.ingest(EDGES, &[(1, 9)])),
        is_refused(graph.put_each(EDGES, &[(1, 9)]).map_err(Error::from)),
        is_refused(graph.delete_each(EDGES, &[(1, 2)]).map_err(Error::from)),
        is_refused(graph.begin()),
        is_refused(graph.transact(|_| Ok(()))),
        is_refused(graph.transact_declared(&[1, 2], |_| Ok(()))),
        is_refused(graph.add_label::<()>("more")),
        is_refused(graph.reclaim()),
        is_refused(graph.flush()),
        is_refused(graph.checkpoint(&CheckpointOptions::new())),
        is_refused(graph.compact(&CompactOptions::new())),
        is_refused(graph.engine_report()),
        is_refused(graph.close()),
        graph.snapshots().is_empty() && graph.oldest_kept().is_none() && graph.memory() == Default::default(),
    ]
}

fn reads_are_refused(graph: &Graph, snapshot: &Snapshot) -> Vec<bool> {
    vec![
        is_refused(graph.snapshot()),
        is_refused(graph.snapshot_with(SnapshotOptions::stale())),
        is_refused(graph.snapshot_at(AsOf::Commit(CommitTimestamp(1)))),
        is_refused(graph.neighbors(EDGES, 1)),
        is_refused(graph.contains_edge(EDGES, 1, 2)),
        is_refused(snapshot.neighbors(EDGES, 1)),
        is_refused(snapshot.degree(EDGES, 1)),
        is_refused(snapshot.contains_edge(EDGES, 1, 2)),
        is_refused(snapshot.contains_vertex(1)),
        is_refused(snapshot.properties(1)),
        is_refused(snapshot.vertex_id(1)),
        is_refused(snapshot.key(hedgerow::VertexId::new(0))),
        is_refused(snapshot.for_each_vertex(|_, _| {})),
        is_refused(snapshot.vertices().collect::<Result<Vec<_>, _>>()),
        is_refused(snapshot.all_edges::<()>(EDGES)),
        is_refused(snapshot.visit_neighbors(EDGES, 1, |_| ControlFlow::<()>::Continue(()))),
        is_refused(snapshot.with_edges(Label::<()>::from(EDGES), |edges| edges.get(1, 2))),
        is_refused(snapshot.unarchived_edges::<()>(EDGES)),
        is_refused(snapshot.run(PageRank::default())),
        is_refused(snapshot.to_csr::<()>(EDGES, BuildOptions::default())),
    ]
}

fn transactions_are_refused(transaction: WriteTxn) -> Vec<bool> {
    vec![
        is_refused(transaction.put_edge(EDGES, 1, 9)),
        is_refused(transaction.contains_edge(EDGES, 1, 2)),
        is_refused(transaction.neighbors(EDGES, 1)),
        is_refused(transaction.commit()),
    ]
}

/// Forks with a graph, a snapshot, an iterator and a transaction. Fails if the child can use one of
/// them, if the parent notices that the child drops them, or if the parent cannot continue.
fn child_is_refused(graph: &Graph) {
    graph.ingest(EDGES, &[(1, 2), (2, 3)]).unwrap();
    let (snapshot, transaction) = (graph.snapshot().unwrap(), graph.begin().unwrap());
    transaction.put_edge(EDGES, 3, 1).unwrap();
    let handles = (graph.clone(), snapshot.clone(), snapshot.all_edges::<()>(EDGES).unwrap(), transaction);
    let child = forked_here();
    if child == 0 {
        let (graph, snapshot, mut edges, transaction) = handles;
        let refused = [
            writes_are_refused(&graph),
            reads_are_refused(&graph, &snapshot),
            vec![edges.next().is_some_and(is_refused)],
            transactions_are_refused(transaction),
        ];
        drop((graph, snapshot, edges));
        // The number of the first use that was not refused, from 1.
        exit_child(refused.concat().iter().position(|refused| !refused).map_or(0, |first| first as u8 + 1))
    }
    let code = exit_code(child);
    assert_eq!(code, 0, "this use was not refused on {}", snapshot.engine());
    assert_eq!(snapshot.neighbors(EDGES, 1).unwrap(), [2]);
    graph.put_edge(EDGES, 1, 3).unwrap();
}

/// A closure that forks, and returns successfully in both processes, commits in the parent only.
fn child_in_a_transaction_is_refused(graph: &Graph) {
    let mut child = 0;
    let transacted = graph.transact(|transaction| {
        transaction.put_edge(EDGES, 2, 1)?;
        child = forked_here();
        Ok(())
    });
    parent_committed(child, transacted);
    let transacted = graph.transact_declared(&[1, 2, 3], |transaction| {
        transaction.put_edge(EDGES, 3, 2)?;
        child = forked_here();
        Ok(())
    });
    parent_committed(child, transacted.map(drop));
}

fn parent_committed(child: libc::pid_t, transacted: Result<(), Error>) {
    if child == 0 {
        exit_child(u8::from(!is_refused(transacted)))
    }
    transacted.unwrap();
    assert_eq!(exit_code(child), 0, "the child committed");
}

#[test]
fn a_forked_child_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = in_own_process(&["sh"], "exec \"$@\"", "fork::refused_in_own_process", folder.path());
    succeeded(&output);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn refused_in_own_process() {
    let path = folder();
    let options = |engine| GraphOptions::new().engine(engine).label::<()>("edges").threads(1);
    for engine in engines().filter(|engine| !engine.owns_files()) {
        let graph = Graph::in_memory(options(engine)).unwrap();
        child_is_refused(&graph);
        child_in_a_transaction_is_refused(&graph);
    }
    for engine in engines() {
        for durability in [Durability::None, Durability::Buffered, Durability::Sync] {
            let store = path.join(format!("{}-{durability}", engine.name()));
            let graph = options(engine).durability(durability).create(&store).unwrap();
            child_is_refused(&graph);
            child_in_a_transaction_is_refused(&graph);
            graph.close().unwrap();
            drop(graph);
            assert!(hedgerow::store::check(&store).unwrap().problems.is_empty());
            let snapshot = options(engine).open(&store).unwrap().snapshot().unwrap();
            let neighbors = [1, 2, 3].map(|key| {
                let mut neighbors = snapshot.neighbors(EDGES, key).unwrap();
                neighbors.sort();
                neighbors.iter().map(|key| key.as_u64().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(neighbors, [vec![2, 3], vec![1, 3], vec![2]], "{engine} under {durability}");
        }
    }
}

/// A surviving child does not hold the lock that its killed parent held.
#[test]
fn the_lock_of_a_store_ends_with_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join(STORE);
    GraphOptions::new().label::<()>("edges").create(&store).unwrap().close().unwrap();
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "durability::fork::owner_in_own_process"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (announced, begin) = (folder.path().join(CHILD), Instant::now());
    while !announced.exists() && begin.elapsed() < Duration::from_secs(u64::from(PATIENCE)) {
        std::thread::sleep(Duration::from_millis(2));
    }
    owner.kill().unwrap();
    owner.wait().unwrap();
    let opened = Graph::open(&store).map(drop);
    let child = fs::read_to_string(&announced).unwrap().parse().unwrap();
    // SAFETY: sends a signal to the child, which sleeps.
    let was_alive = unsafe { libc::kill(child, libc::SIGKILL) } == 0;
    assert!(was_alive && opened.is_ok(), "{opened:?}");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn owner_in_own_process() {
    let _graph = Graph::open(folder().join(STORE)).unwrap();
    if forked_here() == 0 {
        // The child writes its own id, because the lock is its parent's until `fork` has returned
        // here.
        announce(&folder().join(CHILD), std::process::id());
    }
    std::thread::sleep(Duration::from_secs(u64::from(PATIENCE)));
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(0) }
}

/// Writes a number to a file that appears when it is complete.
fn announce(path: &Path, number: u32) {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, number.to_string()).unwrap();
    fs::rename(unfinished, path).unwrap();
}
