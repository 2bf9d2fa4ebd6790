//! Labels added to an open graph in a store: they come back, and are durable before any of their
//! edges.

use super::gate::GatedFiles;
use super::own_files;
use crate::engines::{in_memory, is_count};
use hedgerow::prelude::*;
use hedgerow::{AsOf, CheckpointOptions, Commit, Durability, LabelId, store};
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use rayon::prelude::*;
use std::sync::Arc;
use std::thread;

/// Options of the last engine cause flushes and merges all the time.
fn engines() -> Vec<EngineKind> {
    in_memory().chain([EngineKind::Erased(&own_files::LSM)]).collect()
}

#[derive(Properties, Debug, PartialEq)]
struct Payment {
    amount: f64,
}

/// Options of a graph with the label "knows" alone.
fn options(engine: EngineKind) -> GraphOptions {
    let options = GraphOptions::new().engine(engine).topology(Topology::Undirected).label::<()>("knows");
    options.segment_bytes(1200).threads(1).simulated()
}

/// Returns the labels in the order of their addition; the first is original.
fn labels() -> [LabelSchema; 5] {
    let payment = || RecordSchema::new().field("amount", ValueType::F64);
    [
        LabelSchema::new("knows"),
        LabelSchema::with_value::<u32>("rates"),
        LabelSchema::with_record("pays", payment()),
        LabelSchema::with_parallel_edges("orders", "number", payment()),
        LabelSchema::new("follows"),
    ]
}

/// Puts an edge of a label between a vertex and vertex 0.
fn put(graph: &Graph, label: LabelId, vertex: u64) -> Result<Commit, Error> {
    let record = || EdgeUpdate::put().set("amount", 0.5);
    match label.0 {
        0 | 4 => graph.put_edge(label, vertex, 0),
        1 => graph.put_edge_with(label, vertex, 0, 7_u32),
        2 => Ok(graph.update_edge(label, vertex, 0, &record())?.written),
        _ => Ok(graph.update_parallel_edge(label, vertex, 0, 9, &record())?.written),
    }
}

#[test]
fn labels_and_their_edges_come_back() {
    for engine in in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let made_with = GraphOptions::new().engine(engine).label::<()>("knows");
        let graph = made_with.create(path).unwrap();
        let knows = graph.label::<()>("knows").unwrap();
        graph.put_edge(knows, 1, 2).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        // One label in the log alone, one in a checkpoint, one without edges.
        let rates = graph.add_label::<u32>("rates").unwrap();
        graph.put_edge_with(rates, 1, 2, 5).unwrap();
        let at = graph.checkpoint(&CheckpointOptions::new()).unwrap();
        assert!(at.written && at.edges == 2);
        let orders = graph.add_parallel_label::<Payment>("orders", "number").unwrap();
        graph.update_parallel_edge(orders, 1, 2, 3, &EdgeUpdate::put().set("amount", 0.5)).unwrap();
        graph.add_label::<Payment>("pays").unwrap();
        let catalog = graph.catalog();
        assert_eq!(store::manifest(path).unwrap().options.catalog, catalog);
        assert_eq!(graph.store_info().unwrap().engine, engine);
        let beside = GraphOptions::new().from_checkpoint().open(path).unwrap();
        assert_eq!((beside.catalog(), beside.get_edge(rates, 1, 2).unwrap()), (catalog.clone(), Some(5)));
        graph.close().unwrap();
        drop((graph, beside));

        assert!(store::check(path).unwrap().problems.is_empty());
        let newest = AsOf::Commit(hedgerow::CommitTimestamp(3));
        let opens: [&dyn Fn() -> Result<Graph, Error>; 5] = [
            &|| Graph::open(path),
            &|| made_with.open(path),
            &|| GraphOptions::new().open(path),
            &|| GraphOptions::new().read_only().open(path),
            &|| made_with.clone().as_of(newest).open(path),
        ];
        for open in opens {
            let graph = open().unwrap();
            assert_eq!(graph.catalog(), catalog);
            let snapshot = graph.snapshot().unwrap();
            let orders = snapshot.parallel_edge::<Payment>(orders, 1, 2, 3).unwrap();
            assert_eq!(orders, Some(Payment { amount: 0.5 }));
            assert_eq!(snapshot.get_edge(rates, 1, 2).unwrap(), Some(5));
            assert!(is_count(snapshot.engine(), snapshot.edge_count(), 3));
        }
        let more = made_with.clone().label::<u32>("rates").label::<u32>("orders");
        let refused = more.open(path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(refused.to_string().contains("list of labels"), "{refused}");
    }
}

#[test]
fn a_graph_that_cannot_be_written_gets_no_labels_and_returns_those_that_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let graph = GraphOptions::new().label::<()>("knows").create(folder.path()).unwrap();
    let knows = graph.label::<()>("knows").unwrap();
    graph.close().unwrap();
    let reader = GraphOptions::new().read_only().open(folder.path()).unwrap();
    for (graph, kind) in [(&graph, ErrorKind::Closed), (&reader, ErrorKind::ReadOnly)] {
        assert_eq!(graph.add_label::<()>("knows").unwrap(), knows);
        assert_eq!(graph.add_label::<()>("more").unwrap_err().kind(), kind);
        assert_eq!(graph.catalog().labels().len(), 1);
    }
}

#[test]
fn labels_that_leave_no_room_in_the_manifest_are_refused_and_the_graph_goes_on() {
    let graph = options(EngineKind::default()).create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    let refused = graph.add_label::<()>("x".repeat(63 << 20)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Storage, "{refused}");
    assert_eq!(graph.catalog().labels().len(), 1);
    let follows = graph.add_label::<()>("follows").unwrap();
    graph.put_edge(follows, 1, 2).unwrap();
}

/// Opens the gate even if the test fails, so that the threads behind it end.
struct OpenAtLast<'f>(&'f GatedFiles);

impl Drop for OpenAtLast<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// While the manifest is being replaced, no edge of the label can be put, and all other work
/// continues.
#[test]
fn a_label_is_unknown_until_it_is_durable() {
    // None of these engines waits for a flush.
    for &engine in EngineKind::ALL {
        let files = GatedFiles::new();
        let options = options(engine).segment_bytes(1 << 20).durability(Durability::None);
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        let knows = graph.label::<()>("knows").unwrap();
        files.shut();
        thread::scope(|scope| {
            let gate = OpenAtLast(&files);
            let adds = [0, 1].map(|_| scope.spawn(|| graph.add_label::<()>("follows").unwrap()));
            files.wait_for_arrival();
            let before = graph.snapshot().unwrap();
            for vertex in 0..100 {
                assert!(graph.label::<()>("follows").is_err() && graph.catalog().labels().len() == 1);
                let put = graph.put_edge(LabelId(1), vertex, 0).unwrap_err();
                assert_eq!(put.kind(), ErrorKind::InvalidInput);
                assert!(graph.put_edge(knows, vertex, 0).unwrap().changed != Some(false));
            }
            assert!(before.edge_count() == 0 && graph.snapshot().unwrap().edge_count().may_be(100));
            // An existing label is returned at once by name, as before.
            assert_eq!(graph.label::<()>("knows").unwrap(), knows);
            assert!(adds.iter().all(|add| !add.is_finished()));
            drop(gate);
            let added = adds.map(|add| add.join().unwrap());
            assert_eq!((added[0], added[0].id()), (added[1], LabelId(1)));
        });
        graph.put_edge(LabelId(1), 1, 0).unwrap();
        graph.flush().unwrap();
        let found = files.inner.after_crash(Survival::Nothing, 1);
        let found = options.open_on(Arc::new(found)).unwrap();
        assert!(found.contains_edge(LabelId(1), 1, 0).unwrap());
    }
}

/// The number of file operations before each label and each edge was acknowledged as durable.
#[derive(Default)]
struct Acknowledged {
    labels: Vec<u64>,
    edges: Vec<u64>,
}

/// Returns the labels of the edges to put once there are `count` labels, newest first.
fn of_labels(count: u16) -> impl Iterator<Item = LabelId> {
    (0..count).rev().map(LabelId)
}

/// Adds labels one by one. After each, puts edges of all labels so far; also writes a checkpoint.
fn add_and_put(files: &SimulatedFiles, options: &GraphOptions, done: &mut Acknowledged) -> Result<(), Error> {
    let graph = options.create_on(Arc::new(files.clone()))?;
    let is_synced = graph.durability() == Some(Durability::Sync);
    for (count, label) in (1..).zip(labels()) {
        assert_eq!(graph.add_labels(&[label])?, [LabelId(count - 1)]);
        done.labels.push(files.operations());
        for label in of_labels(count) {
            put(&graph, label, done.edges.len() as u64 + 1)?;
            done.edges.push(if is_synced { files.operations() } else { u64::MAX });
        }
        if count == 3 {
            graph.checkpoint(&CheckpointOptions::new())?;
        }
    }
    graph.close()
}

/// Opens the store after the power was lost at `operation`: it has prefixes of the labels and of
/// the edges, with everything that was acknowledged. Then adds labels and edges.
fn check(files: &SimulatedFiles, options: &GraphOptions, done: &Acknowledged, operation: u64) {
    let graph = match options.open_on(Arc::new(files.clone())) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return assert!(done.labels.first().is_none_or(|at| *at >= operation), "the store is lost");
        }
        opened => opened.unwrap(),
    };
    let (known, all) = (graph.catalog(), labels());
    assert!(all.starts_with(known.labels()), "{known:?}");
    let acknowledged = |all: &[u64]| all.iter().filter(|at| **at < operation).count();
    assert!(known.labels().len() >= acknowledged(&done.labels), "a label is lost: {known:?}");
    let snapshot = graph.snapshot().unwrap();
    let asked = || (1..).zip((1..=5).flat_map(of_labels));
    let is_there = |(vertex, label): &(u64, LabelId)| {
        label.index() < known.labels().len() && snapshot.contains_edge(*label, *vertex, 0).unwrap()
    };
    let there = asked().take_while(is_there).count();
    assert_eq!(asked().filter(is_there).count(), there, "an edge is there without one before it");
    assert!(snapshot.edge_count().may_be(there as u64), "{} of {there} edges", snapshot.edge_count());
    assert!(there >= acknowledged(&done.edges), "an edge is lost");

    assert_eq!(graph.add_labels(&all).unwrap(), [0, 1, 2, 3, 4].map(LabelId));
    assert!((0..5).all(|label| put(&graph, LabelId(label), 1000).unwrap().changed != Some(false)));
    drop((snapshot, graph));
    let graph = options.open_on(Arc::new(files.clone())).unwrap();
    assert_eq!(graph.catalog().labels(), all);
    assert!((0..5).all(|label| graph.contains_edge(LabelId(label), 1000, 0).unwrap()));
}

#[test]
fn a_loss_of_power_leaves_the_old_labels_or_the_new_ones() {
    let durabilities = [Durability::Sync, Durability::None];
    let of = |engine| durabilities.map(|durability| options(engine).durability(durability));
    let cases: Vec<_> = engines().into_iter().flat_map(of).collect();
    cases.into_par_iter().for_each(|options| {
        let (files, mut done) = (SimulatedFiles::new(1), Acknowledged::default());
        files.keep_crash_images();
        add_and_put(&files, &options, &mut done).unwrap();
        let images = files.take_crash_images();
        assert!(images.len() > 60, "{} operations", images.len());
        for image in images {
            for survival in Survival::ALL {
                check(&image.after_crash(survival, image.operation()), &options, &done, image.operation());
            }
        }
    });
}

/// Each operation on the files fails in turn.
#[test]
fn a_label_is_there_or_not_after_a_failure() {
    for (engine, kind) in engines().into_iter().flat_map(|engine| FaultKind::ALL.map(|kind| (engine, kind))) {
        let (options, mut failed) = (options(engine), 0);
        for at in 1.. {
            let (files, mut done) = (SimulatedFiles::new(1), Acknowledged::default());
            files.inject(Fault { at, kind, sticky: false });
            let worked = add_and_put(&files, &options, &mut done);
            if files.faults_met() == 0 {
                break;
            }
            failed += usize::from(worked.is_err());
            files.heal();
            check(&files, &options, &done, u64::MAX);
        }
        assert!(kind == FaultKind::Short || failed > 10, "{failed} failures of {kind:?}");
    }
}
