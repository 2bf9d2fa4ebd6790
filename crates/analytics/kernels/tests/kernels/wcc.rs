//! Tests components against a flood fill from every vertex.

use crate::support::{Graph, TOPOLOGIES, Unhelpful, execution, graphs, large_graph, pool};
use hedgerow_kernels::{
    CancelToken, Execution, Kernel, KernelError, MemoryBudget, MemoryError, Wcc, WccMethod, WccResult,
};
use hedgerow_model::{GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;

const METHODS: [WccMethod; 2] = [WccMethod::Sampling, WccMethod::Plain];

/// The verifier: fills in every direction from each vertex, ascending, that has no component yet.
fn components_by_flood(graph: &Graph) -> Vec<u32> {
    let sets = graph.undirected_sets();
    let mut components = vec![Wcc::NO_VERTEX; graph.bound as usize];
    for start in &graph.vertices {
        let mut flooded = vec![*start];
        while let Some(vertex) = flooded.pop() {
            if components[vertex as usize] == Wcc::NO_VERTEX {
                components[vertex as usize] = *start;
                flooded.extend(&sets[&vertex]);
            }
        }
    }
    components
}

fn components(view: &impl GraphView, method: WccMethod, execution: Execution<'_>) -> WccResult {
    Wcc { method, execution, ..Wcc::default() }.run(view).expect("nothing cancels")
}

fn check(result: &WccResult, expected: &[u32]) {
    assert_eq!(result.components, expected);
    let distinct: std::collections::BTreeSet<_> =
        expected.iter().filter(|component| **component != Wcc::NO_VERTEX).collect();
    assert_eq!(result.count, distinct.len() as u64);
}

proptest! {
    #[test]
    fn components_are_those_of_a_flood(graph in graphs(), threads in 0..4_usize) {
        let expected = components_by_flood(&graph);
        let pool = pool(threads);
        let csr = graph.csr();
        for method in METHODS {
            check(&components(&csr, method, execution(pool.as_ref())), &expected);
        }
        let unhelpful = Unhelpful::new(csr);
        for method in METHODS {
            check(&components(&unhelpful, method, execution(pool.as_ref())), &expected);
        }
    }
}

#[test]
fn threads_change_nothing() {
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let (csr, expected) = (graph.csr(), components_by_flood(&graph));
        for method in METHODS {
            for threads in 0..4 {
                let pool = pool(threads);
                check(&components(&csr, method, execution(pool.as_ref())), &expected);
            }
        }
    }
}

/// An edge that only a vertex of the largest component has: a kernel that skips the component must
/// see it from the other end.
#[test]
fn an_edge_out_of_the_largest_component_connects() {
    for topology in TOPOLOGIES {
        let mut edges: Vec<_> = (1..5000).map(|vertex| (vertex, vertex - 1)).collect();
        edges.extend([(2500, 0), (2500, 1), (2500, 5001), (5001, 5002), (2500, 5003)]);
        let graph = Graph { topology, bound: 5004, vertices: (0..5004).collect(), edges };
        let expected = components_by_flood(&graph);
        assert_eq!((expected[5002], expected[5003], expected[5000]), (0, 0, 5000));
        for method in METHODS {
            check(&components(&graph.csr(), method, Execution::default()), &expected);
        }
    }
}

#[test]
fn passes_are_counted() {
    let passes =
        |topology, method| components(&large_graph(topology).csr(), method, Execution::default()).iterations;
    let by_sampling = TOPOLOGIES.map(|topology| passes(topology, WccMethod::Sampling));
    assert_eq!(by_sampling, [3, 4, 3], "two samples, and the rest in each direction that is kept");
    assert!(passes(Topology::Undirected, WccMethod::Plain) >= 2, "the last pass changes nothing");
}

#[test]
fn no_vertex_has_no_component() {
    let empty = Graph { topology: Topology::Directed, bound: 0, vertices: [].into(), edges: vec![] };
    for method in METHODS {
        check(&components(&empty.csr(), method, Execution::default()), &[]);
    }
}

#[test]
fn bad_calls_are_refused_and_cancelled_ones_stop() {
    let csr = large_graph(Topology::Undirected).csr();
    let error = Wcc { label: LabelId(3), ..Wcc::default() }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Wcc { execution: little, ..Wcc::default() }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
    for method in METHODS {
        for threads in [0, 2] {
            let (pool, token) = (pool(threads), CancelToken::new());
            let stop = |progress: hedgerow_kernels::Progress| {
                assert_eq!(progress.iteration, 1, "no pass after the one that cancelled");
                token.cancel();
            };
            let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop);
            assert_eq!(Wcc { method, execution, ..Wcc::default() }.run(&csr), Err(KernelError::Cancelled));
        }
    }
}
