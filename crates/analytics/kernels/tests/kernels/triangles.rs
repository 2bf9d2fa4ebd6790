//! Tests triangles against all sets of three joined vertices.

use crate::support::{
    Doubled, Graph, TOPOLOGIES, Unhelpful, dense_graphs, execution, graphs, large_graph, pool,
};
use hedgerow_kernels::{
    CancelToken, Execution, Kernel, KernelError, MemoryBudget, MemoryError, TriangleCount, TriangleOrder,
};
use hedgerow_model::{GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;

const ORDERS: [TriangleOrder; 3] = [TriangleOrder::Auto, TriangleOrder::ById, TriangleOrder::ByDegree];

/// The verifier: every edge with every third vertex.
fn triangles_by_definition(graph: &Graph) -> u64 {
    let sets = graph.undirected_sets();
    let mut count = 0;
    for (first, neighbors) in &sets {
        for second in neighbors.range(first + 1..) {
            count +=
                neighbors.range(second + 1..).filter(|third| sets[second].contains(third)).count() as u64;
        }
    }
    count
}

fn triangles(view: &impl GraphView, order: TriangleOrder, execution: Execution<'_>) -> u64 {
    let kernel = TriangleCount { order, execution, ..TriangleCount::default() };
    kernel.run(view).expect("nothing cancels").triangles
}

proptest! {
    #[test]
    fn all_triangles_are_counted_once(graph in prop_oneof![graphs(), dense_graphs()], threads in 0..4_usize) {
        let expected = triangles_by_definition(&graph);
        let pool = pool(threads);
        let csr = graph.csr();
        for order in ORDERS {
            prop_assert_eq!(triangles(&csr, order, execution(pool.as_ref())), expected);
            prop_assert_eq!(triangles(&Doubled::new(csr.clone()), order, execution(pool.as_ref())), expected);
        }
        prop_assert_eq!(triangles(&Unhelpful::new(csr), TriangleOrder::ById, execution(pool.as_ref())), expected);
    }
}

#[test]
fn hubs_and_threads_change_nothing() {
    for topology in TOPOLOGIES {
        let mut graph = large_graph(topology);
        // Neighbors of hubs only: searched, not merged.
        graph.edges.extend((0..100).flat_map(|vertex| [(20_000 + vertex, 0), (20_000 + vertex, 1)]));
        let (csr, expected) = (graph.csr(), triangles_by_definition(&graph));
        assert!(expected > 100);
        for order in ORDERS {
            for threads in 0..4 {
                let pool = pool(threads);
                assert_eq!(
                    triangles(&csr, order, execution(pool.as_ref())),
                    expected,
                    "{topology:?} {order:?}"
                );
            }
        }
    }
}

#[test]
fn the_order_is_as_asked() {
    let csr = large_graph(Topology::Undirected).csr();
    let ordered = |order| {
        let result = TriangleCount { order, ..TriangleCount::default() }.run(&csr).unwrap();
        result.ordered.is_some()
    };
    assert_eq!(ORDERS.map(ordered), [true, false, true], "this graph has hubs");

    let edges = (0..1000).map(|vertex| (vertex, (vertex + 1) % 1000)).collect();
    let ring = Graph { topology: Topology::Undirected, bound: 1000, vertices: (0..1000).collect(), edges };
    assert_eq!(TriangleCount::default().run(&ring.csr()).unwrap().ordered, None, "a ring has none");
}

#[test]
fn bad_calls_are_refused_and_cancelled_ones_stop() {
    let csr = large_graph(Topology::Undirected).csr();
    let error = TriangleCount { label: LabelId(3), ..TriangleCount::default() }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let token = CancelToken::new();
    token.cancel();
    for order in ORDERS {
        let little = Execution::default().within(MemoryBudget::bytes(1000));
        let error =
            TriangleCount { order, execution: little, ..TriangleCount::default() }.run(&csr).unwrap_err();
        assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
        let execution = Execution::default().cancelled_by(&token);
        let cancelled = TriangleCount { order, execution, ..TriangleCount::default() }.run(&csr);
        assert_eq!(cancelled, Err(KernelError::Cancelled));
    }
}
