//! Who archives the edge log of a graph in engine `hybrid`, and when: counts of edges are exact of what is archived.

use hedgerow::prelude::*;
use hedgerow::{Compaction, LabelId};
use std::time::{Duration, Instant};

fn graph(compaction: Compaction) -> Graph {
    let options = GraphOptions::new().engine(EngineKind::Hybrid).compaction(compaction);
    Graph::in_memory(options.archiving_threshold(10)).unwrap()
}

/// A hundred edges.
fn edges() -> Vec<(u64, u64)> {
    (0..100).map(|number| (number % 7, number)).collect()
}

fn archived(graph: &Graph) -> u64 {
    graph.snapshot().unwrap().edge_count().at_least()
}

#[test]
fn commits_archive_from_the_threshold_on() {
    let graph = graph(Compaction::ByWriters);
    for (number, (source, destination)) in (1..).zip(edges()) {
        graph.put_edge(LabelId::DEFAULT, source, destination).unwrap();
        // What is archived is counted, and fewer than a threshold are left.
        assert!(archived(&graph) + 10 >= number, "{} of {number} edges", archived(&graph));
    }
}

#[test]
fn a_large_commit_is_archived_though_none_comes_after_it() {
    let graph = graph(Compaction::ByWriters);
    graph.ingest(LabelId::DEFAULT, &edges()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count(), 100);
}

#[test]
fn a_thread_archives_without_commits() {
    let graph = graph(Compaction::InBackground);
    graph.ingest(LabelId::DEFAULT, &edges()).unwrap();
    let began = Instant::now();
    while archived(&graph) < 100 {
        assert!(began.elapsed() < Duration::from_secs(60), "the thread does not archive");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn without_compaction_the_log_is_kept_until_it_is_reclaimed() {
    let graph = graph(Compaction::Off);
    graph.put_each(LabelId::DEFAULT, &edges()).unwrap();
    assert_eq!(archived(&graph), 0);
    graph.reclaim().unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count(), 100);
}

#[test]
fn an_engine_without_an_edge_log_refuses_the_threshold() {
    for engine in [EngineKind::Rapid, EngineKind::Tel] {
        let options = GraphOptions::new().engine(engine).archiving_threshold(10);
        let refused = Graph::in_memory(options).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("`archiving_threshold`"), "{refused}");
    }
}
