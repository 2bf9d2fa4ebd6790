//! Refused calls, with the kinds and words of their errors.

use crate::oracle::options;
use hedgerow::kernels::CancelToken;
use hedgerow::store::StoreError;
use hedgerow::{
    CheckpointOptions, ColumnType, CommitTimestamp, Durability, EdgeSchema, EngineKind, Error, ErrorKind,
    Graph, GraphOptions, KeyKind, LabelId, LabelSchema, ReadGraph, RecordSchema, Topology, WriteGraph, store,
};
use hedgerow_erased::NamedEngine;
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_testing::example::EXAMPLE;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// An engine by the name of one of the laboratory.
const RESEARCH: EngineKind = EngineKind::Erased(&NamedEngine { name: "adjacency-list", make: EXAMPLE.make });

fn small() -> GraphOptions {
    GraphOptions::new().segment_bytes(4096)
}

fn refused<T: Debug>(result: Result<T, Error>, kind: ErrorKind, words: &[&str]) {
    let error = result.unwrap_err();
    let message = error.to_string();
    assert_eq!(error.kind(), kind, "{message}");
    assert!(words.iter().all(|word| message.contains(word)), "{words:?} are not all in: {message}");
}

#[test]
fn a_store_is_made_once_and_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/store");
    let name = path.to_str().unwrap();
    refused(Graph::open(&path), ErrorKind::NotFound, &["there is no store in", name]);
    refused(
        GraphOptions::new().from_checkpoint().open(&path),
        ErrorKind::NotFound,
        &["there is no store in", name],
    );
    refused(store::check(&path), ErrorKind::NotFound, &["there is no store in", name]);
    refused(store::recover_to_last_valid(&path), ErrorKind::NotFound, &["there is no store in", name]);
    assert!(!path.exists(), "looking for a store makes none");
    let graph = small().create(&path).unwrap();
    assert!(graph.recovery().is_none());
    drop(graph);
    refused(small().create(&path), ErrorKind::Exists, &["there is a store in", name]);
    let graph = Graph::open(&path).unwrap();
    assert_eq!(graph.recovery().unwrap().commits, 0);
}

#[test]
fn a_store_is_looked_at_without_opening_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    refused(store::checkpoint(path), ErrorKind::NotFound, &["there is no store in"]);
    refused(store::holder(path), ErrorKind::NotFound, &["there is no store in"]);
    let graph = small().create(path).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    assert_eq!(store::checkpoint(path).unwrap(), None);
    assert_eq!(store::holder(path).unwrap().unwrap().process, Some(std::process::id()));
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
    let described = store::checkpoint(path).unwrap().unwrap();
    assert_eq!(
        (described.timestamp.0, described.counts.vertices, described.counts.total_edges().at_most()),
        (1, 2, 1)
    );
    let entry = store::manifest(path).unwrap().checkpoint.unwrap();
    assert!(path.join(entry.file_name()).exists());

    let options = small().engine(RESEARCH);
    let read = options.from_checkpoint().open(path).unwrap();
    assert_eq!(read.store_info().unwrap().engine, RESEARCH);
    assert_eq!(read.snapshot().unwrap().edge_count(), 1);
    let undirected = small().topology(Topology::Undirected);
    let parts = ["topology", "MANIFEST", "is directed, not undirected"];
    refused(undirected.from_checkpoint().open(path), ErrorKind::InvalidInput, &parts);
    graph.close().unwrap();
    assert_eq!(store::holder(path).unwrap(), None);
}

#[test]
fn a_store_is_open_once() {
    let folder = tempfile::tempdir().unwrap();
    let graph = small().create(folder.path()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let process = format!("process {}", std::process::id());
    refused(Graph::open(folder.path()), ErrorKind::Locked, &["in use", "LOCK", &process]);
    refused(store::recover_to_last_valid(folder.path()), ErrorKind::Locked, &["in use"]);
    let snapshot = graph.snapshot().unwrap();
    drop(graph);
    refused(Graph::open(folder.path()), ErrorKind::Locked, &["in use"]);
    drop(snapshot);
    let graph = Graph::open(folder.path()).unwrap();
    graph.close().unwrap();
    let again = Graph::open(folder.path()).unwrap();
    assert!(
        again.contains_edge(LabelId::DEFAULT, 1, 2).unwrap()
            && graph.contains_edge(LabelId::DEFAULT, 1, 2).unwrap()
    );
}

#[test]
fn opening_waits_for_a_store_as_long_as_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let graph = small().create(folder.path()).unwrap();
    let briefly = small().wait(Duration::from_millis(50));
    refused(briefly.open(folder.path()), ErrorKind::Locked, &["in use"]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| small().wait(Duration::from_secs(60)).open(folder.path()));
        std::thread::sleep(Duration::from_millis(50));
        drop(graph);
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_graph_that_is_only_read_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    refused(small().read_only().create(&path), ErrorKind::ReadOnly, &["read only"]);
    refused(small().from_checkpoint().open_or_create(&path), ErrorKind::ReadOnly, &["read only"]);
    assert!(!path.exists());
}

#[test]
fn a_graph_has_the_labels_of_its_store_if_the_first_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    GraphOptions::new().create(folder.path()).unwrap().checkpoint(&CheckpointOptions::new()).unwrap();
    let label = |name: &str| LabelSchema { name: name.to_owned(), edges: EdgeSchema::Topology };
    hedgerow::store::add_labels(folder.path(), &[label("likes")]).unwrap();
    type Open = fn(&Path, GraphOptions) -> Result<Graph, Error>;
    let opens: [Open; 4] = [
        |path, options| options.open(path),
        |path, options| options.read_only().open(path),
        |path, options| options.from_checkpoint().open(path),
        |path, options| options.as_of(CommitTimestamp::ZERO).open(path),
    ];
    for open in opens {
        let graph = open(folder.path(), GraphOptions::new()).unwrap();
        assert_eq!(graph.catalog().label_id("likes").unwrap(), LabelId(1));
        graph.close().unwrap();
        // The labels listed in the options are a prefix of the stored ones.
        let graph = open(folder.path(), GraphOptions::new().label_schema(label("edge"))).unwrap();
        assert_eq!(graph.catalog().label_id("likes").unwrap(), LabelId(1));
        graph.close().unwrap();
        let other = open(folder.path(), GraphOptions::new().label_schema(label("likes")));
        refused(other, ErrorKind::InvalidInput, &["list of labels", "\"likes\"], not [\"likes\"]"]);
    }
}

#[test]
fn options_that_differ_are_named_with_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let made = || options(Topology::Undirected, KeyKind::Number).segment_bytes(4096).engine(RESEARCH);
    drop(made().create(folder.path()).unwrap());
    let open = |options: GraphOptions| options.open(folder.path());
    let manifest = folder.path().join("MANIFEST");
    let manifest = manifest.to_str().unwrap();
    let kind = ErrorKind::InvalidInput;
    refused(
        open(made().topology(Topology::DirectedWithReverse)),
        kind,
        &["topology", manifest, "undirected", "directed with reverse adjacency"],
    );
    refused(open(made().keys(KeyKind::String)), kind, &["kind of keys", manifest, "number", "text"]);
    refused(open(made().strict(true)), kind, &["strictness", manifest, "is not strict, not strict"]);
    let another = LabelSchema { name: "likes".to_owned(), edges: EdgeSchema::Value(ColumnType::I64) };
    refused(
        open(made().label_schema(another)),
        kind,
        &["list of labels", manifest, "\"pays\": f64", "\"likes\": i64", "`Graph::add_label`"],
    );
    refused(
        open(made().vertex_properties(RecordSchema::default())),
        kind,
        &["list of vertex properties", manifest, "\"age\": i64?", "not []"],
    );
    // These options may differ.
    let other = made().engine(EngineKind::Rapid).durability(Durability::None).threads(1);
    let graph = open(other.memory_limit(1 << 30)).unwrap();
    assert_eq!(graph.durability(), Some(Durability::None));
    let info = graph.store_info().unwrap();
    assert_eq!((info.engine, &*info.made_with), (EngineKind::Rapid, "adjacency-list"));
    drop(graph);
    let graph = Graph::open(folder.path()).unwrap();
    assert_eq!(
        graph.store_info().unwrap().engine,
        EngineKind::Rapid,
        "one for research is not asked for again"
    );
    assert_eq!(graph.durability(), Some(Durability::Sync));
    assert_eq!(graph.catalog().labels().len(), 5);
}

#[test]
fn a_store_of_an_unknown_engine_opens_with_another_that_is_named() {
    static UNKNOWN: NamedEngine = NamedEngine { name: "of-tests", make: EXAMPLE.make };
    let folder = tempfile::tempdir().unwrap();
    let graph = small().engine(EngineKind::Erased(&UNKNOWN)).create(folder.path()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    assert_eq!(graph.store_info().unwrap().engine, EngineKind::Erased(&UNKNOWN));
    graph.close().unwrap();
    let manifest = folder.path().join("MANIFEST");
    let parts = ["of-tests", manifest.to_str().unwrap()];
    refused(Graph::open(folder.path()), ErrorKind::Unsupported, &parts);
    let graph = small().engine(EngineKind::Rapid).open(folder.path()).unwrap();
    assert!(graph.contains_edge(LabelId::DEFAULT, 1, 2).unwrap());
    assert_eq!(&*graph.store_info().unwrap().made_with, "of-tests");
}

#[test]
fn a_graph_in_memory_has_no_store() {
    let graph = Graph::in_memory(GraphOptions::new()).unwrap();
    let unsupported =
        |result| refused(result, ErrorKind::Unsupported, &["lives in memory", "GraphOptions::create"]);
    unsupported(graph.flush());
    unsupported(graph.close());
    unsupported(graph.checkpoint(&CheckpointOptions::new()).map(drop));
    let transaction = graph.begin().unwrap();
    transaction.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    unsupported(transaction.commit_with(Durability::Sync).map(drop));
    assert_eq!(graph.snapshot().unwrap().edge_count(), 0);
    assert!(graph.store_info().is_none() && graph.durability().is_none() && graph.recovery().is_none());
    graph.ingest_from(LabelId::DEFAULT, &[(1u64, 2u64)], b"here").unwrap();
    assert_eq!(graph.input_position().as_deref(), Some(&b"here"[..]));
}

#[test]
fn a_closed_graph_is_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let graph = small().create(folder.path()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let other = graph.clone();
    let transaction = graph.begin().unwrap();
    transaction.put_edge(LabelId::DEFAULT, 3, 4).unwrap();
    graph.close().unwrap();
    graph.close().unwrap();
    graph.flush().unwrap();
    let closed = |result: Result<_, Error>| refused(result, ErrorKind::Closed, &["closed"]);
    closed(other.put_edge(LabelId::DEFAULT, 5, 6).map(drop));
    closed(other.put_edge(LabelId::DEFAULT, 1, 2).map(drop));
    closed(other.delete_edge(LabelId::DEFAULT, 8, 9).map(drop));
    closed(other.put_each(LabelId::DEFAULT, &[(1u64, 2u64), (7, 8)]).map(drop).map_err(Error::from));
    closed(other.ingest(LabelId::DEFAULT, &[(1u64, 9u64)]).map(drop));
    closed(other.add_vertex(1).map(drop));
    closed(transaction.commit().map(drop));
    closed(other.checkpoint(&CheckpointOptions::new()).map(drop));
    let snapshot = other.snapshot().unwrap();
    assert_eq!((snapshot.edge_count().at_most(), snapshot.vertex_count()), (1, 2));
    assert_eq!(other.begin().unwrap().commit().unwrap().at, snapshot.timestamp());
}

#[test]
fn a_checkpoint_is_read_beside_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let graph = small().create(folder.path()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    refused(
        GraphOptions::new().from_checkpoint().open(folder.path()),
        ErrorKind::NotFound,
        &["no checkpoint", "make one"],
    );
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(LabelId::DEFAULT, 2, 3).unwrap();
    let read = GraphOptions::new().from_checkpoint().open(folder.path()).unwrap();
    let names = || {
        let mut names = store_files(folder.path());
        names.sort();
        names
    };
    let before = names();
    assert_eq!(read.neighbors(LabelId::DEFAULT, 1).unwrap(), [2]);
    assert!(!read.contains_edge(LabelId::DEFAULT, 2, 3).unwrap());
    let read_only = |result: Result<_, Error>| refused(result, ErrorKind::ReadOnly, &["read only"]);
    read_only(read.put_edge(LabelId::DEFAULT, 2, 3).map(drop));
    read_only(read.put_edge(LabelId::DEFAULT, 1, 2).map(drop));
    read_only(read.add_vertex(77).map(drop));
    read_only(read.put_each(LabelId::DEFAULT, &[(1u64, 5u64)]).map(drop).map_err(Error::from));
    read_only(read.flush());
    read_only(read.checkpoint(&CheckpointOptions::new()).map(drop));
    read.close().unwrap();
    assert_eq!(read.snapshot().unwrap().vertex_count(), 2);
    assert_eq!(read.durability(), None);
    assert_eq!(names(), before);
    // The checkpoint may be replaced; an opened graph does not change.
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    assert!(!read.contains_edge(LabelId::DEFAULT, 2, 3).unwrap());
    assert!(
        GraphOptions::new()
            .from_checkpoint()
            .open(folder.path())
            .unwrap()
            .contains_edge(LabelId::DEFAULT, 2, 3)
            .unwrap()
    );
}

fn store_files(path: &std::path::Path) -> Vec<String> {
    hedgerow_log::files::RealFiles::new(path).list().unwrap()
}

#[test]
fn a_failed_sync_ends_writing_and_nothing_else() {
    let files = SimulatedFiles::new(1);
    let options = small().simulated();
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let before = graph.snapshot().unwrap();
    // The write succeeds, but the sync fails.
    files.inject(Fault { at: files.operations() + 2, kind: FaultKind::Device, sticky: false });
    let failed = |result: Result<_, Error>| refused(result, ErrorKind::LogFailed, &["takes no more commits"]);
    failed(graph.put_edge(LabelId::DEFAULT, 2, 3).map(drop));
    failed(graph.put_edge(LabelId::DEFAULT, 4, 5).map(drop));
    failed(graph.put_edge(LabelId::DEFAULT, 1, 2).map(drop));
    failed(graph.put_each(LabelId::DEFAULT, &[(1u64, 3u64)]).map(drop).map_err(Error::from));
    failed(graph.checkpoint(&CheckpointOptions::new()).map(drop));
    failed(graph.close());
    let transaction = graph.begin().unwrap();
    transaction.put_edge(LabelId::DEFAULT, 6, 7).unwrap();
    failed(transaction.commit().map(drop));
    // A commit that is not durable is never visible.
    let after = graph.snapshot().unwrap();
    assert_eq!((after.timestamp(), after.edge_count().at_most()), (before.timestamp(), 1));
    assert!(!graph.contains_edge(LabelId::DEFAULT, 2, 3).unwrap());
    drop((graph, before, after));
    let graph = options.open_on(Arc::new(files)).unwrap();
    assert!(
        graph.contains_edge(LabelId::DEFAULT, 1, 2).unwrap()
            && !graph.contains_edge(LabelId::DEFAULT, 4, 5).unwrap()
    );
    graph.put_edge(LabelId::DEFAULT, 4, 5).unwrap();
}

#[test]
fn a_damaged_store_says_where() {
    let files = SimulatedFiles::new(1);
    let options = small().simulated();
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    for number in 0..50u64 {
        graph.put_edge(LabelId::DEFAULT, number, number + 1).unwrap();
    }
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    for number in 0..50u64 {
        graph.put_edge(LabelId::DEFAULT, number, number + 2).unwrap();
    }
    graph.close().unwrap();
    drop(graph);
    let names = files.list().unwrap();
    for name in names.iter().filter(|name| name.starts_with("log-") || name.starts_with("checkpoint-")) {
        let damaged = files.copy();
        let file = damaged.open(name, OpenMode::Write).unwrap();
        file.write_all_at(&[0xa5; 3], 200).unwrap();
        let error = options.open_on(Arc::new(damaged.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage, "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(matches!(error.store(), Some(StoreError::Damaged { .. })), "{error:?}");
        let report = store::check_on(&(Arc::new(damaged) as _)).unwrap();
        assert!(!report.problems.is_empty(), "{name}");
    }
    assert!(names.iter().any(|name| name.starts_with("checkpoint-")));
}

#[test]
fn what_a_crash_left_of_checkpoints_is_removed() {
    let files = SimulatedFiles::new(1);
    let options = small().simulated();
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    drop(graph);
    for name in
        ["checkpoint-0000000002", "checkpoint-0000000003.unfinished", "checkpoint-notes", "mine.unfinished"]
    {
        files.open(name, OpenMode::Create).unwrap();
    }
    let graph = options.open_on(Arc::new(files.clone())).unwrap();
    let mut names = files.list().unwrap();
    names.retain(|name| name.contains("checkpoint") || name.contains("mine"));
    names.sort();
    assert_eq!(names, ["checkpoint-0000000001", "checkpoint-notes", "mine.unfinished"]);
    assert!(graph.contains_edge(LabelId::DEFAULT, 1, 2).unwrap());
}

#[test]
fn a_cancelled_checkpoint_leaves_everything_as_it_was() {
    let files = SimulatedFiles::new(1);
    let graph = small().simulated().create_on(Arc::new(files.clone())).unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let names = files.list().unwrap();
    let token = CancelToken::new();
    token.cancel();
    let cancelled = graph.checkpoint(&CheckpointOptions::new().cancelled_by(&token));
    refused(cancelled, ErrorKind::Cancelled, &["cancelled"]);
    assert_eq!(files.list().unwrap(), names);
    let first = graph.checkpoint(&CheckpointOptions::new()).unwrap();
    let again = graph.checkpoint(&CheckpointOptions::new().share(0.5)).unwrap();
    assert!(first.written && !again.written && first.bytes > 0);
    assert_eq!((again.number, again.timestamp, again.bytes), (first.number, first.timestamp, first.bytes));
}

#[test]
fn a_limit_of_memory_holds_while_a_graph_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let graph = GraphOptions::new().segment_bytes(1 << 20).create(folder.path()).unwrap();
    let edges: Vec<(u64, u64)> = (0..100_000).map(|number| (number % 1000, number)).collect();
    graph.ingest(LabelId::DEFAULT, &edges).unwrap();
    let limited = || GraphOptions::new().memory_limit(100_000);
    drop(graph);
    refused(limited().open(folder.path()), ErrorKind::Capacity, &["at most 100000"]);
    let graph = Graph::open(folder.path()).unwrap();
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    drop(graph);
    refused(limited().open(folder.path()), ErrorKind::Capacity, &["at most 100000"]);
    assert_eq!(Graph::open(folder.path()).unwrap().snapshot().unwrap().edge_count(), 100_000);
}
