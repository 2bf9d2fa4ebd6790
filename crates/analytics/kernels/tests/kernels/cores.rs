//! Tests core numbers against the definition.

use crate::support::{
    Doubled, Graph, Sets, TOPOLOGIES, Unhelpful, dense_graphs, execution, graphs, large_graph, pool,
};
use hedgerow_kernels::{
    CancelToken, Cores, CoresResult, Execution, Kernel, KernelError, MemoryBudget, MemoryError, Progress,
};
use hedgerow_model::{GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The verifier: for every k, removes vertices with fewer than k neighbors until there are none.
fn cores_by_definition(graph: &Graph) -> Vec<u32> {
    let mut left: Sets = graph.undirected_sets();
    for (vertex, neighbors) in &mut left {
        neighbors.remove(vertex);
    }
    let mut cores = vec![Cores::NO_VERTEX; graph.bound as usize];
    for k in 0.. {
        left.keys().for_each(|vertex| cores[*vertex as usize] = k);
        loop {
            let few = |neighbors: &BTreeSet<u32>| neighbors.len() <= k as usize;
            let gone = left.iter().filter(|(_, neighbors)| few(neighbors));
            let gone: Vec<u32> = gone.map(|(vertex, _)| *vertex).collect();
            if gone.is_empty() {
                break;
            }
            for vertex in gone {
                for neighbor in left.remove(&vertex).into_iter().flatten() {
                    left.get_mut(&neighbor).map(|others| others.remove(&vertex));
                }
            }
        }
        if left.is_empty() {
            break;
        }
    }
    cores
}

fn cores(view: &impl GraphView, execution: Execution<'_>) -> CoresResult {
    Cores { execution, ..Cores::default() }.run(view).expect("nothing cancels")
}

fn check(result: &CoresResult, expected: &[u32]) {
    assert_eq!(result.cores, expected);
    let mut numbers: Vec<_> = expected.iter().filter(|core| **core != Cores::NO_VERTEX).collect();
    numbers.sort();
    numbers.dedup();
    assert_eq!(result.largest, numbers.last().map_or(0, |largest| **largest));
    assert_eq!(result.iterations, numbers.len() as u32);
}

proptest! {
    #[test]
    fn cores_are_those_of_the_definition(
        graph in prop_oneof![graphs(), dense_graphs()],
        threads in 0..6_usize,
    ) {
        let expected = cores_by_definition(&graph);
        let pool = pool(threads);
        let csr = graph.csr();
        let result = cores(&csr, execution(pool.as_ref()));
        check(&result, &expected);
        prop_assert_eq!(result.transposed.is_some(), graph.topology == Topology::Directed);
        check(&cores(&Doubled::new(csr.clone()), execution(pool.as_ref())), &expected);
        check(&cores(&Unhelpful::new(csr), execution(pool.as_ref())), &expected);
    }
}

#[test]
fn threads_change_nothing() {
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let (csr, expected) = (graph.csr(), cores_by_definition(&graph));
        assert!(cores(&csr, Execution::default()).iterations > 5);
        for threads in 0..6 {
            let pool = pool(threads);
            check(&cores(&csr, execution(pool.as_ref())), &expected);
        }
    }
}

#[test]
fn an_empty_graph_has_no_cores() {
    for (bound, vertices) in [(0, vec![]), (3, vec![]), (3, vec![1])] {
        let vertices = vertices.into_iter().collect();
        let graph = Graph { topology: Topology::Directed, bound, vertices, edges: vec![] };
        check(&cores(&graph.csr(), Execution::default()), &cores_by_definition(&graph));
    }
}

#[test]
fn bad_calls_are_refused_and_cancelled_ones_stop() {
    let csr = large_graph(Topology::Undirected).csr();
    let error = Cores { label: LabelId(3), ..Cores::default() }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Cores { execution: little, ..Cores::default() }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
    for threads in [0, 2, 4] {
        let (pool, token) = (pool(threads), CancelToken::new());
        let stop = |progress: Progress| {
            assert!(progress.iteration <= 2, "no level after the one that cancelled");
            if progress.iteration == 2 {
                token.cancel();
            }
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop);
        assert_eq!(Cores { execution, ..Cores::default() }.run(&csr), Err(KernelError::Cancelled));
    }
}
