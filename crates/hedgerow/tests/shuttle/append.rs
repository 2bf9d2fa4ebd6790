//! Streams and bulk writes that an engine appends as they come, beside each other and archiving.

use crate::options;
use hedgerow::{EngineKind, Graph, KeyKind, ReadGraph, Topology};
use hedgerow_testing::models;
use shuttle::thread;

const OWNERS: [u64; 2] = [0, 4];

/// The last commit of an edge wins, whichever way it came, in the log as in the rows. A snapshot shows a beginning of a stream, and a
/// bulk write whole.
#[test]
fn the_last_commit_of_an_edge_wins() {
    let model = || {
        let options = options(Topology::Directed, KeyKind::Dense).label::<u32>("weights");
        let graph = Graph::in_memory(options.engine(EngineKind::Custom(&hedgerow_engines::HYBRID))).unwrap();
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
