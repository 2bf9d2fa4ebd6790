//! Memory while a reader stays inside its callback: it retains nothing of other graphs, and the
//! memory that it retains of its own graph counts as used. On every engine.

use crate::oracle::ENGINES;
use hedgerow::{EngineKind, Error, ErrorKind, Graph, GraphOptions, LabelId, Topology};
use std::ops::ControlFlow;

const LIMIT: usize = 4 << 20;

/// Edges of the hub.
const SPOKES: u64 = 2_000;

fn graph_with_hub(engine: EngineKind) -> Graph {
    let options = GraphOptions::new().engine(engine).topology(Topology::DirectedWithReverse);
    let graph = Graph::in_memory(options.memory_limit(LIMIT).threads(1)).unwrap();
    graph.ingest(LabelId::DEFAULT, &spokes(0)).unwrap();
    graph.ingest(LabelId::DEFAULT, &[(2_u64, 1_000_u64), (2, 1_001)]).unwrap();
    graph
}

fn spokes(first: u64) -> Vec<(u64, u64)> {
    (0..SPOKES).map(|spoke| (1, 1_000 + (first + spoke) % SPOKES)).collect()
}

/// Deletes half of the hub's edges, and puts them again.
fn rewrite(graph: &Graph, round: u64) -> Result<(), Error> {
    let half = &spokes(round * 791)[..SPOKES as usize / 2];
    graph.delete_each(LabelId::DEFAULT, half)?;
    graph.ingest(LabelId::DEFAULT, half)?;
    Ok(())
}

/// Runs `work` within a callback that reads the small row of a graph.
fn within_callback(graph: &Graph, work: impl FnOnce()) {
    let (snapshot, mut work) = (graph.snapshot().unwrap(), Some(work));
    let visited = snapshot.visit_neighbors(LabelId::DEFAULT, 2_u64, |_| {
        work.take().into_iter().for_each(|work| work());
        ControlFlow::Break(())
    });
    assert!(visited.unwrap().is_break());
}

#[test]
fn a_blocked_reader_holds_back_no_memory_of_other_graphs() {
    for engine in ENGINES {
        let (read, written) = (graph_with_hub(engine), graph_with_hub(engine));
        let rewrite_often = |times: u64| {
            for round in 0..times {
                rewrite(&written, round).unwrap_or_else(|error| panic!("{engine:?}, round {round}: {error}"));
            }
            written.reclaim().unwrap();
            written.memory().total_bytes()
        };
        let before = rewrite_often(8);
        within_callback(&read, || {
            let after = rewrite_often(40);
            assert!(after < before + before / 8 + (64 << 10), "{engine:?}: {before} bytes, then {after}");
        });
    }
}

#[test]
fn what_a_blocked_reader_holds_back_counts_as_used() {
    for engine in ENGINES {
        let graph = graph_with_hub(engine);
        (0..8).for_each(|round| rewrite(&graph, round).unwrap());
        graph.reclaim().unwrap();
        let before = graph.memory().total_bytes();
        let mut refused = 0;
        within_callback(&graph, || {
            for round in 0..150 {
                if let Err(error) = rewrite(&graph, round) {
                    assert_eq!(error.kind(), ErrorKind::Capacity, "{engine:?}: {error}");
                    assert_eq!(error.memory_limit().expect("the limit is one of memory").limit, LIMIT);
                    refused += 1;
                }
                // Deletions may exceed the limit by the blocks that they rewrite.
                let used = graph.memory().total_bytes();
                assert!(used < LIMIT + LIMIT / 8, "{engine:?}, round {round}: {used} bytes");
                if refused > 4 {
                    break;
                }
            }
        });
        assert!(refused > 0 || graph.memory().total_bytes() < 3 * before, "{engine:?}: refused, or flat");
        graph.reclaim().unwrap();
        rewrite(&graph, 0).unwrap();
        graph.ingest(LabelId::DEFAULT, &spokes(0)).unwrap();
        graph.reclaim().unwrap();
        let after = graph.memory().total_bytes();
        assert!(after < before + before / 4, "{engine:?}: {before} bytes, {after} when the reader is gone");
    }
}
