//! Graphs with their edges in a memory-mapped file.

use crate::oracle;
use crate::oracle::{ENGINES, Oracle, domain, operation, options};
use hedgerow::{
    CheckpointOptions, Durability, EngineKind, ErrorKind, Graph, GraphOptions, KeyKind, LabelId, ReadGraph,
    Topology, WriteGraph,
};
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;
use std::path::Path;

fn in_file(directory: &Path) -> GraphOptions {
    GraphOptions::new().engine(EngineKind::Tel).scratch(directory)
}

fn is_empty(directory: &Path) -> bool {
    directory.read_dir().unwrap().next().is_none()
}

#[test]
fn engines_that_cannot_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for engine in ENGINES.into_iter().filter(|engine| *engine != EngineKind::Tel) {
        let error = Graph::in_memory(in_file(folder.path()).engine(engine)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        let text = error.to_string();
        assert!(text.contains(engine.name()) && text.contains("the engine `tel`"), "{text}");
    }
}

#[test]
fn a_directory_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = Graph::in_memory(in_file(&missing)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert!(error.to_string().contains(&missing.display().to_string()), "{error}");
    let error = in_file(&missing).create(folder.path().join("store")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert!(is_empty(folder.path()), "no half store is left");
}

/// A store is restored from checkpoint and log, whichever engine wrote it, and nothing is ever left
/// in the directory.
#[test]
fn a_store_is_rebuilt_in_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let put = |graph: &Graph, first: u64| {
        let edges: Vec<(u64, u64)> = (first..first + 5000).map(|number| (number % 7, number)).collect();
        graph.ingest(LabelId::DEFAULT, &edges).unwrap();
    };
    let neighbors = |graph: &Graph| -> Vec<usize> {
        let snapshot = graph.snapshot().unwrap();
        (0..7u64).map(|key| snapshot.neighbors(LabelId::DEFAULT, key).unwrap().len()).collect()
    };
    let graph = GraphOptions::new().durability(Durability::None).create(&path).unwrap();
    put(&graph, 0);
    drop(graph);
    let options = || GraphOptions::new().engine(EngineKind::Tel).scratch(scratch.path());
    let graph = options().open(&path).unwrap();
    assert!(is_empty(scratch.path()));
    put(&graph, 5000);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    put(&graph, 10_000);
    (0..100u64).for_each(|number| {
        assert!(graph.delete_edge(LabelId::DEFAULT, number % 7, number).unwrap().changed == Some(true));
    });
    let before = neighbors(&graph);
    assert_eq!(before.iter().sum::<usize>(), 14_900);
    graph.close().unwrap();
    drop(graph);
    let graph = options().open(&path).unwrap();
    assert_eq!(neighbors(&graph), before);
    drop(graph);
    assert!(is_empty(scratch.path()));
    assert_eq!(neighbors(&Graph::open(&path).unwrap()), before);
}

/// At the end of the file a commit is refused as a whole, by every method of the graph, and the
/// graph stays usable.
#[test]
fn a_full_file_refuses_commits_and_the_graph_stays_usable() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Graph::in_memory(in_file(folder.path()).keys(KeyKind::Dense).scratch_limit(4 << 20)).unwrap();
    let edges =
        |source: u64| -> Vec<(u64, u64)> { (0..2000).map(|number| (source, 100_000 + number)).collect() };
    let mut sources = 0;
    let error = loop {
        match graph.ingest(LabelId::DEFAULT, &edges(sources)) {
            Ok(_) => sources += 1,
            Err(error) => break error,
        }
        assert!(sources < 1_000, "the limit was never reached");
    };
    assert_eq!(error.kind(), ErrorKind::Capacity, "{error}");
    assert!(error.memory_limit().is_none() && error.to_string().contains("the scratch file"), "{error}");
    assert!(sources > 20, "{sources} rows fitted");
    let count = || graph.snapshot().unwrap().edge_count().at_most();
    assert_eq!(count(), sources * 2000);
    // Single edges use the rest of the blocks, until they are refused, too.
    let mut singles = 0;
    let error = loop {
        match graph.put_edge(LabelId::DEFAULT, 50_000 + singles, 1u64) {
            Ok(_) => singles += 1,
            Err(error) => break error,
        }
        assert!(singles < 1_000_000, "the limit was never reached");
    };
    assert_eq!(error.kind(), ErrorKind::Capacity, "{error}");
    assert_eq!(count(), sources * 2000 + singles);
    let stream: Vec<(u64, u64)> = (0..1000).map(|number| (200_000 + number, 1)).collect();
    assert!(graph.put_each(LabelId::DEFAULT, &stream).is_err());
    assert!(
        graph
            .transact(|txn| edges(90_000).iter().try_for_each(|(from, to)| txn.put_edge(
                LabelId::DEFAULT,
                from,
                to
            )))
            .is_err()
    );
    // Deletions go on, and make room.
    for source in 0..sources / 2 {
        let error = graph.transact(|txn| {
            edges(source).iter().try_for_each(|(from, to)| txn.delete_edge(LabelId::DEFAULT, from, to))
        });
        error.unwrap();
    }
    while graph.reclaim().unwrap().more {}
    let before = count();
    graph.ingest(LabelId::DEFAULT, &edges(90_000)).unwrap();
    assert_eq!(count(), before + 2000);
}

/// A graph that fitted into its file fits again after reopening, and existing edges can be deleted
/// even if the file is full.
#[test]
fn a_store_can_be_opened_with_the_room_that_it_had_before() {
    let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("store");
    let options = in_file(scratch.path()).topology(Topology::Undirected).durability(Durability::None);
    let options = options.scratch_limit(8 << 20);
    let graph = options.create(&path).unwrap();
    // Rows that grow in turns, and are copied again and again.
    let put = |number: u64| graph.put_edge(LabelId::DEFAULT, number % 512, 1000 + number / 3);
    let made = (0..10_000_000).take_while(|number| put(*number).is_ok()).count() as u64;
    assert!(made > 10_000, "{made} edges fitted");
    (0..64u64).for_each(|hub| assert!(graph.delete_vertex(hub).unwrap().changed == Some(true)));
    assert!(graph.delete_edge(LabelId::DEFAULT, 100u64, 1000 + 100 / 3).unwrap().changed == Some(true));
    while graph.reclaim().unwrap().more {}
    assert!((0..made).take_while(|number| put(*number).is_ok()).count() > 64);
    let before = graph.snapshot().unwrap().edge_count();
    drop(graph);
    for from in ["the log", "a checkpoint"] {
        let graph = options.open(&path);
        let graph = graph.unwrap_or_else(|error| panic!("from {from}: {error}"));
        assert_eq!(graph.snapshot().unwrap().edge_count(), before);
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
    }
}

proptest! {
    #![proptest_config(one_case_in(8))]

    /// A graph in a file shows the same states as one in memory, now and in a snapshot.
    #[test]
    fn a_graph_in_a_file_agrees_with_the_oracle(
        draws in prop::collection::vec(any::<(u8, u16, u16, u32)>(), 1..80),
        topology in 0..3usize,
    ) {
        let topology = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected][topology];
        let folder = tempfile::tempdir().unwrap();
        let options = options(topology, KeyKind::Number).engine(EngineKind::Tel).scratch(folder.path());
        let (graph, keys) = (Graph::in_memory(options).unwrap(), domain(KeyKind::Number, 11));
        let (mut oracle, mut open) = (Oracle::new(topology), Vec::new());
        for (number, draw) in draws.into_iter().enumerate() {
            let operation = operation(&keys, draw);
            oracle::commit(&graph, &operation);
            oracle.apply(&operation);
            if number % 16 == 7 {
                open.push((graph.snapshot().unwrap(), oracle.clone()));
            }
        }
        open.push((graph.snapshot().unwrap(), oracle));
        graph.reclaim().unwrap();
        open.iter().for_each(|(snapshot, oracle)| oracle.check(snapshot, &keys));
        prop_assert_eq!(graph.catalog().label_id("knows").unwrap(), LabelId(0));
        prop_assert!(is_empty(folder.path()));
    }
}
