//! Tests clustering coefficients against a check of every pair of neighbors.

use crate::support::{
    Doubled, Graph, TOPOLOGIES, Unhelpful, dense_graphs, execution, graphs, large_graph, pool,
};
use hedgerow_kernels::{
    CancelToken, Execution, Kernel, KernelError, LocalClustering, LocalClusteringResult, MemoryBudget,
    MemoryError,
};
use hedgerow_model::{GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;

/// The verifier: the ordered pairs of different neighbors with an edge from the first to the
/// second.
fn coefficients_by_definition(graph: &Graph) -> Vec<f64> {
    let (out, neighbors) = (graph.sets(), graph.undirected_sets());
    let mut coefficients = vec![0.0; graph.bound as usize];
    for (vertex, around) in &neighbors {
        let around: Vec<_> = around.iter().filter(|neighbor| *neighbor != vertex).collect();
        let pairs = around.iter().flat_map(|first| around.iter().map(move |second| (first, second)));
        let joined = pairs.filter(|(first, second)| first != second && out[first].contains(second)).count();
        if around.len() > 1 {
            coefficients[*vertex as usize] = joined as f64 / (around.len() * (around.len() - 1)) as f64;
        }
    }
    coefficients
}

fn clustering(view: &impl GraphView, execution: Execution<'_>) -> LocalClusteringResult {
    LocalClustering { execution, ..LocalClustering::default() }.run(view).expect("nothing cancels")
}

fn check(result: &LocalClusteringResult, graph: &Graph, expected: &[f64]) {
    assert_eq!(result.coefficients, expected);
    let mean = expected.iter().sum::<f64>() / graph.vertices.len().max(1) as f64;
    assert!((result.mean - mean).abs() <= 1e-12, "{} is not {mean}", result.mean);
    assert!(result.ordered <= result.elapsed);
}

proptest! {
    #[test]
    fn coefficients_are_those_of_the_definition(
        graph in prop_oneof![graphs(), dense_graphs()],
        threads in 0..4_usize,
    ) {
        let expected = coefficients_by_definition(&graph);
        let pool = pool(threads);
        let csr = graph.csr();
        let result = clustering(&csr, execution(pool.as_ref()));
        check(&result, &graph, &expected);
        prop_assert_eq!(result.transposed.is_some(), graph.topology == Topology::Directed);
        check(&clustering(&Doubled::new(csr.clone()), execution(pool.as_ref())), &graph, &expected);
        check(&clustering(&Unhelpful::new(csr), execution(pool.as_ref())), &graph, &expected);
    }
}

#[test]
fn hubs_and_threads_change_nothing() {
    for topology in TOPOLOGIES {
        let mut graph = large_graph(topology);
        // Neighbors of hubs only: searched, not merged. And some edges in both directions.
        graph.edges.extend((0..100).flat_map(|vertex| [(20_000 + vertex, 0), (20_000 + vertex, 1)]));
        graph.edges.extend((0..400).flat_map(|vertex| [(0, vertex), (vertex, 1)]));
        graph.vertices.extend(0..400);
        let (csr, expected) = (graph.csr(), coefficients_by_definition(&graph));
        assert!(expected.iter().filter(|coefficient| **coefficient > 0.0).count() > 1000);
        for threads in 0..4 {
            let pool = pool(threads);
            check(&clustering(&csr, execution(pool.as_ref())), &graph, &expected);
        }
    }
}

#[test]
fn an_empty_graph_has_no_coefficients() {
    for (bound, vertices) in [(0, vec![]), (3, vec![]), (3, vec![1])] {
        let vertices = vertices.into_iter().collect();
        let graph = Graph { topology: Topology::Directed, bound, vertices, edges: vec![] };
        let result = clustering(&graph.csr(), Execution::default());
        assert_eq!((result.coefficients, result.mean), (vec![0.0; bound as usize], 0.0));
    }
}

#[test]
fn bad_calls_are_refused_and_cancelled_ones_stop() {
    let csr = large_graph(Topology::Undirected).csr();
    let error = LocalClustering { label: LabelId(3), ..LocalClustering::default() }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = LocalClustering { execution: little, ..LocalClustering::default() }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
    let token = CancelToken::new();
    token.cancel();
    let execution = Execution::default().cancelled_by(&token);
    let cancelled = LocalClustering { execution, ..LocalClustering::default() }.run(&csr);
    assert_eq!(cancelled, Err(KernelError::Cancelled));
}
