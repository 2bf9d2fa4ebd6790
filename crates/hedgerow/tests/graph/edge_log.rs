//! Archiving of the edge log of engine `hybrid`: its threads and times, and exact counts of
//! archived edges.

use hedgerow::prelude::*;
use hedgerow::{
    Compaction, Edge, Field, LabelId, RecordSchema, SnapshotOptions, UnarchivedEdge, Value, ValueType,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

fn graph(compaction: Compaction) -> Graph {
    let options = GraphOptions::new().engine(EngineKind::Hybrid).compaction(compaction);
    Graph::in_memory(options.archiving_threshold(10)).unwrap()
}

/// Returns a hundred edges.
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
        // Archived edges are counted exactly, and fewer than a threshold are not archived.
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
fn a_stale_view_shows_what_is_archived_and_a_fresh_one_has_the_rest_as_a_list() {
    let graph = graph(Compaction::Off);
    let before = graph.snapshot_with(SnapshotOptions::stale()).unwrap();
    graph.put_each(LabelId::DEFAULT, &edges()[..60]).unwrap();
    let unarchived = graph.snapshot_with(SnapshotOptions::stale()).unwrap();
    assert_eq!((before.edge_count().exact(), unarchived.behind()), (Some(0), 0), "nothing is archived yet");
    graph.reclaim().unwrap();
    let archived = graph.snapshot().unwrap().timestamp();
    graph.put_each(LabelId::DEFAULT, &edges()[40..]).unwrap();
    graph.delete_edge(LabelId::DEFAULT, 0, 0).unwrap();

    let stale = graph.snapshot_with(SnapshotOptions::stale()).unwrap();
    assert_eq!((stale.timestamp(), stale.archived_through(), stale.behind()), (archived, archived, 61));
    assert_eq!(
        (stale.edge_count().exact(), stale.unarchived_edges::<()>(LabelId::DEFAULT).unwrap()),
        (Some(60), vec![])
    );
    for options in [SnapshotOptions::fresh(), SnapshotOptions::private()] {
        let view = graph.snapshot_with(options).unwrap();
        assert_eq!((view.behind(), view.archived_through()), (0, archived));
        let changes = view.unarchived_edges::<()>(LabelId::DEFAULT).unwrap();
        assert!(changes.iter().zip(1..).all(|(change, number)| change.commit.0 == archived.0 + number));
        let mut changed: BTreeSet<(Key, Key)> =
            stale.all_edges::<()>(LabelId::DEFAULT).unwrap().map(|edge| edge.map(ends).unwrap()).collect();
        for UnarchivedEdge { source, destination, put, .. } in changes {
            let [source, destination] = [source, destination].map(|id| view.key(id).unwrap().unwrap());
            match put {
                Some(()) => drop(changed.insert((source, destination))),
                None => drop(changed.remove(&(source, destination))),
            }
        }
        let shown: BTreeSet<_> =
            view.all_edges::<()>(LabelId::DEFAULT).unwrap().map(|edge| edge.map(ends).unwrap()).collect();
        assert_eq!((shown.len(), changed), (99, shown));
    }
    assert!(stale.age() > graph.snapshot().unwrap().age());
    drop((before, unarchived, stale));
    assert!(graph.snapshots().is_empty(), "the archived state has no reader");
}

#[test]
fn a_state_without_edges_in_the_log_is_archived_as_a_whole() {
    let graph = graph(Compaction::Off);
    graph.add_vertex(1).unwrap();
    graph.reclaim().unwrap();
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let stale = graph.snapshot_with(SnapshotOptions::stale()).unwrap();
    let fresh = graph.snapshot().unwrap();
    assert_eq!([stale.archived_through(), fresh.archived_through()].map(|at| at.0), [1, 0]);
    assert_eq!([stale.timestamp(), fresh.timestamp()].map(|at| at.0), [1, 2]);
    graph.add_vertex(3).unwrap();
    graph.reclaim().unwrap();
    graph.add_vertex(4).unwrap();
    assert_eq!(graph.snapshot().unwrap().archived_through().0, 4);
}

fn ends(edge: Edge) -> (Key, Key) {
    (edge.source, edge.destination)
}

#[test]
fn what_is_not_archived_is_read_with_its_values() {
    let options = GraphOptions::new().engine(EngineKind::Hybrid).compaction(Compaction::Off);
    let graph = Graph::in_memory(options.topology(Topology::Undirected).label::<f64>("rates")).unwrap();
    let rates = graph.label::<f64>("rates").unwrap();
    graph.put_edge_with(rates, 7, 3, 0.5).unwrap();
    graph.put_edge_with(rates, 3, 7, 1.5).unwrap();
    let view = graph.snapshot().unwrap();
    let [seven, three] = [7, 3].map(|key| view.vertex_id(key).unwrap().unwrap());
    let changes = view.unarchived_edges::<f64>(rates).unwrap();
    let read: Vec<_> = changes.iter().map(|edge| (edge.source, edge.destination, edge.put)).collect();
    assert_eq!(read, [(seven, three, Some(0.5)), (seven, three, Some(1.5))], "the lower id comes first");
    assert_eq!(view.unarchived_edges::<u32>(rates).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(view.unarchived_edges::<()>(LabelId(9)).unwrap_err().kind(), ErrorKind::InvalidInput);
}

/// The archived state keeps one former version of each vertex, and is replaced when these take much
/// memory.
#[test]
fn changes_of_vertices_alone_replace_the_archived_state() {
    let options = GraphOptions::new().engine(EngineKind::Hybrid).compaction(Compaction::ByWriters);
    let field = Field { name: "n".to_owned(), value_type: ValueType::I64, nullable: true };
    let options = options.archiving_threshold(50).vertex_properties(RecordSchema { fields: vec![field] });
    let graph = Graph::in_memory(options).unwrap();
    graph.ingest(LabelId::DEFAULT, &edges()).unwrap();
    let mut most = 0;
    for n in 0..1000 {
        graph.set_properties(n % 100, &[("n", Value::from(n as i64))]).unwrap();
        most = most.max(graph.snapshot_with(SnapshotOptions::stale()).unwrap().behind());
    }
    assert!((40..60).contains(&most), "a stale view is {most} commits behind");
}

#[test]
fn an_engine_without_an_edge_log_refuses_the_threshold() {
    for &engine in EngineKind::ALL.iter().filter(|engine| !engine.has_edge_log()) {
        let options = GraphOptions::new().engine(engine).archiving_threshold(10);
        let refused = Graph::in_memory(options).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("`archiving_threshold`"), "{refused}");
    }
}
