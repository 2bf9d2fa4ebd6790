//! Streams and bulk writes, which `hybrid` and `lsm` append without reading the edges, concurrent
//! with each other, with transactions, and with archiving, flushes and compactions.

use crate::{EDGE, HYBRID, catch_up, check_on, graph, has, lsm, make, options};
use hedgerow::{EngineKind, KeyKind, ReadGraph, Topology, WriteGraph};
use shuttle::thread;

const APPENDING: [EngineKind; 2] = [HYBRID, lsm::LSM];

const OWNERS: [u64; 2] = [0, 4];

/// The last commit of an edge wins, however it was written, both in the log and in the rows. A
/// snapshot shows a prefix of a stream, and a bulk write as a whole.
#[test]
fn the_last_commit_of_an_edge_wins() {
    let model = || {
        let options = options(Topology::Directed, KeyKind::Dense).label::<u32>("weights");
        let graph = make(options);
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
            thread::spawn(move || catch_up(&graph))
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
            catch_up(&graph);
        }
    };
    check_on(&APPENDING, model);
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
            catch_up(&graph);
        }
        assert!(graph.snapshot().unwrap().edge_count().may_be(1 + u64::from(bulk > vertex.at)));
    };
    check_on(&APPENDING, model);
}

/// Concurrent appending commits create a vertex only once.
#[test]
fn commits_that_append_create_a_vertex_once() {
    check_on(&APPENDING, || create_vertices(KeyKind::Dense));
    check_on(&APPENDING, || create_vertices(KeyKind::Number));
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

/// A snapshot shows a transaction as a whole and a prefix of a stream, and stays the same while
/// both kinds of commits go on and their changes are archived, or flushed and compacted.
#[test]
fn snapshots_stay_beside_appends_and_transactions() {
    let model = || {
        let graph = graph(Topology::Directed, KeyKind::Dense);
        graph.ingest(EDGE, &OWNERS.map(|owner| (owner, 1u64))).unwrap();
        catch_up(&graph);
        let transaction = {
            let graph = graph.clone();
            thread::spawn(move || {
                let transaction = graph.begin().unwrap();
                for owner in OWNERS {
                    transaction.delete_edge(EDGE, owner, 1u64).unwrap();
                    transaction.put_edge(EDGE, owner, 2u64).unwrap();
                }
                transaction.commit().unwrap();
            })
        };
        let stream = {
            let graph = graph.clone();
            thread::spawn(move || {
                graph.put_each(EDGE, &OWNERS.map(|owner| (owner, 3u64))).unwrap();
                graph.ingest(EDGE, &OWNERS.map(|owner| (owner, 5u64))).unwrap();
            })
        };
        let keeper = {
            let graph = graph.clone();
            thread::spawn(move || (0..2).for_each(|_| catch_up(&graph)))
        };
        for _ in 0..2 {
            let snapshot = graph.snapshot().unwrap();
            let read = || [1, 2, 3, 5].map(|to| OWNERS.map(|owner| has(&snapshot, owner, to)));
            let shown = read();
            let [former, moved, streamed, bulk] = shown;
            assert!(former == moved.map(|is_there| !is_there) && moved[0] == moved[1], "{shown:?}");
            assert!(streamed[0] || !streamed[1], "not a beginning: {shown:?}");
            assert!(bulk[0] == bulk[1] && (streamed[1] || !bulk[0]), "{shown:?}");
            let edges = shown.as_flattened().iter().filter(|is_there| **is_there).count();
            assert!(snapshot.edge_count().may_be(edges as u64));
            thread::yield_now();
            assert_eq!(read(), shown, "the snapshot changed");
        }
        [transaction, stream, keeper].into_iter().for_each(|thread| thread.join().unwrap());
        catch_up(&graph);
        let last = graph.snapshot().unwrap();
        assert_eq!(
            [1, 2, 3, 5].map(|to| OWNERS.map(|owner| has(&last, owner, to))),
            [[false; 2], [true; 2], [true; 2], [true; 2]]
        );
    };
    check_on(&APPENDING, model);
}
