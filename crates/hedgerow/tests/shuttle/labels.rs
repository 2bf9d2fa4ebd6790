//! Labels added concurrently with writers and readers.

use crate::{check, graph, options};
use hedgerow::{CheckpointOptions, Graph, Key, KeyKind, LabelId, ReadGraph, Topology, WriteGraph};
use hedgerow_sync::Arc;
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use shuttle::thread;

/// Puts an edge of the added label, once the label exists.
fn put_when_there(graph: &Graph, source: u64, destination: u64) -> bool {
    for _ in 0..3 {
        if let Ok(added) = graph.label::<u32>("added") {
            return graph.put_edge_with(added, source, destination, 7).unwrap().changed != Some(false);
        }
        thread::yield_now();
    }
    false
}

/// A thread that finds the label can write its edges and read them; a snapshot counts its visible
/// edges; two threads that add the same label add one.
#[test]
fn a_label_that_is_found_can_be_written_and_read() {
    check(|| {
        let graph = graph(Topology::Undirected, KeyKind::Dense);
        graph.put_edge(LabelId::DEFAULT, 0u64, 1u64).unwrap();
        let before = graph.snapshot().unwrap();
        let adding: Vec<_> = (0..2)
            .map(|_| {
                let graph = graph.clone();
                thread::spawn(move || graph.add_label::<u32>("added").unwrap().id())
            })
            .collect();
        let writer = {
            let graph = graph.clone();
            thread::spawn(move || put_when_there(&graph, 0, 1))
        };
        let deleting = {
            let graph = graph.clone();
            thread::spawn(move || assert!(graph.delete_vertex(0u64).unwrap().changed == Some(true)))
        };
        for _ in 0..2 {
            if let Ok(added) = graph.label::<u32>("added") {
                let snapshot = graph.snapshot().unwrap();
                let neighbors = snapshot.neighbors(added, 1u64).unwrap();
                assert_eq!(snapshot.edge_count_of(added), neighbors.len() as u64);
                assert!(neighbors.iter().all(|neighbor| snapshot.contains_vertex(neighbor).unwrap()));
                assert_eq!(before.neighbors(added, 1u64).unwrap(), Vec::<Key>::new());
            }
        }
        adding.into_iter().for_each(|adding| assert_eq!(adding.join().unwrap(), LabelId(1)));
        let was_put = writer.join().unwrap();
        deleting.join().unwrap();
        let snapshot = graph.snapshot().unwrap();
        let ends = [0u64, 1].map(|key| snapshot.neighbors(LabelId(1), key).unwrap().len() as u64);
        assert!(ends[0] == ends[1] && snapshot.edge_count_of(LabelId(1)) == ends[0]);
        assert!(ends[0] <= u64::from(was_put), "an edge that was not put");
    });
}

/// Whenever the power is lost, a store with an edge of the label has the label.
#[test]
fn a_label_is_durable_before_its_edges_are() {
    check(|| {
        let (files, options) = (SimulatedFiles::new(1), options(Topology::Directed, KeyKind::Dense));
        let options = options.segment_bytes(1000).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        let adding = {
            let graph = graph.clone();
            thread::spawn(move || assert_eq!(graph.add_label::<u32>("added").unwrap().id(), LabelId(1)))
        };
        let writer = {
            let (graph, files) = (graph.clone(), files.clone());
            thread::spawn(move || {
                put_when_there(&graph, 0, 1).then(|| files.after_crash(Survival::Nothing, 1))
            })
        };
        let found = writer.join().unwrap();
        adding.join().unwrap();
        if let Some(found) = found {
            let found = options.open_on(Arc::new(found)).unwrap();
            assert!(found.contains_edge(found.label::<u32>("added").unwrap(), 0u64, 1u64).unwrap());
        }
    });
}

/// A checkpoint with an edge of the label has the label.
#[test]
fn a_checkpoint_has_the_edges_of_all_labels_that_it_shows() {
    check(|| {
        let (files, options) = (SimulatedFiles::new(1), options(Topology::Directed, KeyKind::Dense));
        let options = options.segment_bytes(1000).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        graph.put_edge(LabelId::DEFAULT, 0u64, 1u64).unwrap();
        let writer = {
            let graph = graph.clone();
            thread::spawn(move || {
                let added = graph.add_label::<u32>("added").unwrap();
                assert!(graph.put_edge_with(added, 0u64, 1u64, 7).unwrap().changed != Some(false));
            })
        };
        assert!(graph.checkpoint(&CheckpointOptions::new()).unwrap().written);
        writer.join().unwrap();
        let found = files.after_crash(Survival::Nothing, 1);
        let found = options.open_on(Arc::new(found)).unwrap();
        assert!(found.contains_edge(LabelId(1), 0u64, 1u64).unwrap());
    });
}
