//! Streams and bulk writes that an engine appends in their order, concurrent with each other and
//! with archiving.

use crate::{EDGE, has, options};
use hedgerow::{EngineKind, Graph, KeyKind, ReadGraph, Topology, WriteGraph};
use hedgerow_testing::models;
use shuttle::thread;

const HYBRID: EngineKind = EngineKind::Erased(&crate::engines::HYBRID);

const OWNERS: [u64; 2] = [0, 4];

fn graph(topology: Topology, keys: KeyKind) -> Graph {
    Graph::in_memory(options(topology, keys).engine(HYBRID)).unwrap()
}

/// The last commit of an edge wins, however it was written, both in the log and in the rows. A
/// snapshot shows a prefix of a stream, and a bulk write as a whole.
#[test]
fn the_last_commit_of_an_edge_wins() {
    let model = || {
        let options = options(Topology::Directed, KeyKind::Dense).label::<u32>("weights");
        let graph = Graph::in_memory(options.engine(HYBRID)).unwrap();
        let weights = graph.label::<u32>("weights").unwrap();
        let edges = |weight: u32| OWNERS.map(|owner| (owner, 1u64, weight));
        graph.ingest(weights, &edges(1)).unwrap();
        let stream = {
            let (graph, edges) = (graph.clone(), edges(2));
            thread::spawn(move || graph.put_each(weights, &edges).unwrap().at)
        };
        let bulk = {
            let (graph, edges) = (graph.clone(), edges(3));
            thread::spawn(move || graph.ingest(weights, &edges).unwrap().at)
        };
        let archiver = {
            let graph = graph.clone();
            thread::spawn(move || assert!(graph.reclaim().is_ok()))
        };
        let read = || {
            let snapshot = graph.snapshot().unwrap();
            OWNERS.map(|owner| snapshot.get_edge::<u32>(weights, owner, 1u64).unwrap().unwrap())
        };
        let shown = read();
        let is_possible = matches!(shown, [1, 1] | [2, 1] | [2, 2] | [3, 3] | [2, 3] | [3, 2]);
        assert!(is_possible, "{shown:?}");
        let (stream, bulk) = (stream.join().unwrap(), bulk.join().unwrap());
        archiver.join().unwrap();
        for _ in 0..2 {
            let [first, second] = read();
            assert_eq!(second, if bulk > stream { 3 } else { 2 });
            assert!(first == second || first == 3, "only the bulk write can come between");
            graph.reclaim().unwrap();
        }
    };
    models::check(model, 500);
}

/// A commit that reads the edges that it changes sees all earlier appends and no later ones.
#[test]
fn a_commit_that_reads_is_never_beside_one_that_appends() {
    let model = || {
        let graph = graph(Topology::Undirected, KeyKind::Number);
        graph.ingest(EDGE, &[(10u64, 11u64), (10, 12), (13, 14)]).unwrap();
        let stream = {
            let graph = graph.clone();
            thread::spawn(move || graph.delete_each(EDGE, &[(10u64, 11u64), (13, 14)]).unwrap().at)
        };
        let bulk = {
            let graph = graph.clone();
            thread::spawn(move || graph.ingest(EDGE, &[(10u64, 15u64), (13, 12)]).unwrap().at)
        };
        let deleter = {
            let graph = graph.clone();
            thread::spawn(move || graph.delete_vertex(12u64).unwrap())
        };
        let deleted = graph.delete_edge(EDGE, 10u64, 11u64).unwrap();
        let (stream, bulk, vertex) = (stream.join().unwrap(), bulk.join().unwrap(), deleter.join().unwrap());
        // The stream deletes this edge one commit before its last.
        let was_there = deleted.changed == Some(true) && deleted.at < stream;
        assert_eq!(deleted.edges_removed.exact(), Some(u64::from(was_there)));
        assert_eq!(vertex.edges_removed.exact(), Some(1 + u64::from(bulk < vertex.at)));
        for _ in 0..2 {
            let snapshot = graph.snapshot().unwrap();
            assert!(!has(&snapshot, 10, 11) && !has(&snapshot, 13, 14) && has(&snapshot, 10, 15));
            assert!(!has(&snapshot, 10, 12));
            let is_new = bulk > vertex.at;
            assert_eq!(snapshot.contains_vertex(12u64).unwrap(), is_new);
            assert_eq!(has(&snapshot, 13, 12), is_new);
            assert_eq!(snapshot.vertex_count(), 5 + u64::from(is_new));
            graph.reclaim().unwrap();
        }
        assert_eq!(graph.snapshot().unwrap().edge_count(), 1 + u64::from(bulk > vertex.at));
    };
    models::check(model, 500);
}

/// Concurrent appending commits create a vertex only once.
#[test]
fn commits_that_append_create_a_vertex_once() {
    models::check(|| create_vertices(KeyKind::Dense), 500);
    models::check(|| create_vertices(KeyKind::Number), 500);
}

fn create_vertices(keys: KeyKind) {
    let graph = graph(Topology::Directed, keys);
    let writer = |edges: [(u64, u64); 2]| {
        let graph = graph.clone();
        thread::spawn(move || graph.ingest(EDGE, &edges).unwrap().vertices_added)
    };
    let writers = [writer([(1, 2), (2, 3)]), writer([(3, 1), (3, 4)])];
    let streamed = graph.put_each(EDGE, &[(2u64, 1u64), (4, 2)]).unwrap().vertices_added;
    let added = writers.map(|writer| writer.join().unwrap());
    assert_eq!(streamed + added[0] + added[1], 4);
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.vertex_count(), 4);
    let edges = [(1, 2), (2, 3), (3, 1), (3, 4), (2, 1), (4, 2)];
    assert!(edges.iter().all(|(source, destination)| has(&snapshot, *source, *destination)));
}
