//! Graphs on an engine that keeps edges in files of its own: the worked example of how to write one, which flushes and merges all the time here.

use crate::failures::fail_everywhere;
use crate::oracle::{Oracle, options};
use crate::power::lose_power_on;
use hedgerow::model::Count;
use hedgerow::{
    AsOf, CheckpointOptions, CustomEngine, EngineKind, EngineOptions, ErasedEngine, ErrorKind, Graph,
    GraphOptions, KeyKind, LabelId, Make, Timestamp, Topology,
};
use hedgerow_log::files::simulated::{FaultKind, SimulatedFiles};
use hedgerow_testing::disk::{DiskEngine, DiskOptions};
use rayon::prelude::*;
use std::sync::Arc;

static DISK: CustomEngine = CustomEngine {
    name: "disk",
    make: Make::InFiles(|files, EngineOptions { topology, catalogue }| {
        let options = DiskOptions { topology, catalogue, recent_bytes: 1500, block_bytes: 200, files: 3 };
        Ok(ErasedEngine::new(DiskEngine::open(files, options)?))
    }),
};

/// No other engine opens its stores.
pub const ENGINES: &[EngineKind] = &[EngineKind::Custom(&DISK)];

fn disk() -> GraphOptions {
    options(Topology::Undirected, KeyKind::Number).engine(ENGINES[0]).threads(1).simulated()
}

#[test]
fn a_graph_comes_back_from_the_engines_files_the_checkpoint_and_the_log() {
    let files = SimulatedFiles::new(7);
    let graph = Graph::create_on(Arc::new(files.clone()), disk()).unwrap();
    let edges: Vec<(u64, u64)> = (0..300).map(|edge| (edge % 20, 100 + edge)).collect();
    graph.ingest(&edges).unwrap();
    let report = graph.checkpoint(&CheckpointOptions::new()).unwrap();
    assert_eq!((report.vertices, report.edges, report.timestamp), (320, 0, Timestamp(1)));
    // These keys are in no checkpoint, and some of them in the engine's files.
    for edge in 0..100 {
        graph.put_edge(500 + edge, edge % 20).unwrap();
    }
    assert!(graph.delete_vertex(3).unwrap());
    let shown = Oracle::of_snapshot(&graph.snapshot().unwrap());
    graph.close().unwrap();
    drop(graph);
    let graph = Graph::open_on(Arc::new(files.clone()), disk()).unwrap();
    assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), shown);
    assert_eq!(graph.recovery().unwrap().last, Timestamp(102));
    assert!(graph.contains_edge(500, 0).unwrap() && !graph.contains_edge(3, 103).unwrap());
}

#[test]
fn what_is_counted_later_has_bounds_and_a_deletion_says_what_it_did() {
    let graph = Graph::create_on(Arc::new(SimulatedFiles::new(1)), disk()).unwrap();
    graph.put_edge(1, 2).unwrap();
    let again = graph.put_edge(1, 2).unwrap();
    assert_eq!((again.edges_added, again.edges_removed), (Count::between(0, 1), Count::exactly(0)));
    let counted = graph.snapshot().unwrap().edge_count_of(LabelId::DEFAULT);
    assert!(counted.may_be(1) && counted.exact().is_none());
    assert!(graph.delete_edge(1, 2).unwrap());
    assert!(!graph.delete_edge(1, 2).unwrap());
}

#[test]
fn a_store_and_an_engine_with_files_belong_together() {
    let files = SimulatedFiles::new(1);
    let on = || Arc::new(files.clone());
    drop(Graph::create_on(on(), disk()).unwrap());
    let refused = Graph::open_on(on(), disk().engine(EngineKind::Rapid)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("is disk, not rapid"), "{refused}");
    let refused = GraphOptions::of_store_on(&(on() as Arc<_>)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let others = SimulatedFiles::new(1);
    drop(Graph::create_on(Arc::new(others.clone()), disk().engine(EngineKind::Tel)).unwrap());
    let refused = Graph::open_on(Arc::new(others), disk()).unwrap_err();
    assert!(refused.to_string().contains("is tel, not disk"), "{refused}");
    assert_eq!(Graph::in_memory(disk()).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn past_states_are_there_from_the_last_flush_on() {
    let files = SimulatedFiles::new(1);
    let graph = Graph::create_on(Arc::new(files.clone()), disk()).unwrap();
    graph.put_edge(1, 2).unwrap();
    graph.put_edge(1, 3).unwrap();
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.put_edge(1, 4).unwrap();
    graph.put_edge(1, 5).unwrap();
    graph.close().unwrap();
    drop(graph);
    let open_at = |at| Graph::open_at_on(Arc::new(files.clone()), AsOf::Commit(Timestamp(at)), disk());
    assert_eq!(open_at(3).unwrap().neighbours(1).unwrap().len(), 3);
    assert_eq!(open_at(1).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn what_is_acknowledged_survives_a_loss_of_power() {
    let lose = |seed| lose_power_on(ENGINES, seed, 200, 3).unwrap();
    let states: u64 = (0..6).into_par_iter().map(lose).sum();
    eprintln!("{states} states after a loss of power");
    assert!(states > 3000, "{states} states only");
}

#[test]
fn failures_are_told_and_lose_nothing() {
    let cases: Vec<_> = FaultKind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]).collect();
    let fail = |(kind, sticky)| fail_everywhere(ENGINES, 5, 30, kind, sticky).unwrap();
    let failures: u64 = cases.into_par_iter().map(fail).sum();
    eprintln!("{failures} failures");
    assert!(failures > 300, "{failures} failures only");
}
