//! Tests PageRank against the textbook.

use crate::support::{Graph, Sets, TOPOLOGIES, Unhelpful, execution, graphs, id, large_graph, pool};
use hedgerow_kernels::csr::{BuildOptions, Csr};
use hedgerow_kernels::{
    CancelToken, Execution, Kernel, KernelError, KernelErrorKind, MemoryBudget, MemoryError, PageRank,
    PageRankResult, Precision, Progress,
};
use hedgerow_model::{GraphView, LabelId, Topology};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The verifier: the definition, with every vertex pushing its rank.
fn ranks_by_definition(graph: &Sets, damping: f64, iterations: u32) -> BTreeMap<u32, f64> {
    let count = graph.len() as f64;
    let mut ranks: BTreeMap<u32, f64> = graph.keys().map(|vertex| (*vertex, 1.0 / count)).collect();
    for _ in 0..iterations {
        let dangling: f64 =
            graph.iter().filter(|(_, to)| to.is_empty()).map(|(vertex, _)| ranks[vertex]).sum();
        let base = (1.0 - damping) / count + damping * dangling / count;
        let mut next: BTreeMap<u32, f64> = graph.keys().map(|vertex| (*vertex, base)).collect();
        for (vertex, neighbors) in graph {
            for neighbor in neighbors {
                *next.get_mut(neighbor).expect("edges join vertices") +=
                    damping * ranks[vertex] / neighbors.len() as f64;
            }
        }
        ranks = next;
    }
    ranks
}

fn check(result: &PageRankResult, expected: &BTreeMap<u32, f64>, bound: u32) {
    assert_eq!(result.ranks.len(), bound as usize);
    for (vertex, rank) in (0..).zip(&result.ranks) {
        match expected.get(&vertex) {
            Some(exact) => {
                assert!((rank - exact).abs() <= 1e-9 * exact, "vertex {vertex}: {rank}, not {exact}");
            }
            None => assert_eq!(*rank, 0.0, "there is no vertex {vertex}"),
        }
    }
}

fn rank(view: &impl GraphView, damping: f64, iterations: u32, execution: Execution<'_>) -> PageRankResult {
    let kernel = PageRank { damping, iterations, execution, ..PageRank::default() };
    kernel.run(view).expect("the parameters make sense and nothing cancels")
}

proptest! {
    #[test]
    fn ranks_are_those_of_the_definition(
        graph in graphs(),
        damping in prop_oneof![Just(0.85), 0.0..=1.0],
        iterations in 0..12_u32,
        threads in 0..4_usize,
    ) {
        let expected = ranks_by_definition(&graph.sets(), damping, iterations);
        let pool = pool(threads);
        let csr = graph.csr();
        let result = rank(&csr, damping, iterations, execution(pool.as_ref()));
        check(&result, &expected, graph.bound);
        prop_assert_eq!(result.iterations, iterations);
        prop_assert_eq!(result.transposed.is_some(), graph.topology == Topology::Directed);
        check(&rank(&Unhelpful::new(csr), damping, iterations, execution(pool.as_ref())), &expected, graph.bound);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let csr = graph.csr();
        let alone = rank(&csr, 0.85, 5, Execution::default());
        check(&alone, &ranks_by_definition(&graph.sets(), 0.85, 5), graph.bound);
        for threads in 1..4 {
            let pool = pool(threads);
            let together = rank(&csr, 0.85, 5, execution(pool.as_ref()));
            assert_eq!((together.ranks, together.change), (alone.ranks.clone(), alone.change));
        }
    }
}

#[test]
fn single_precision_is_close_and_the_same_on_all_threads() {
    for topology in TOPOLOGIES {
        let csr = large_graph(topology).csr();
        let exact = rank(&csr, 0.85, 10, Execution::default());
        let kernel = PageRank { iterations: 10, precision: Precision::Single, ..PageRank::default() };
        let alone = kernel.run(&csr).unwrap();
        assert_ne!(alone.ranks, exact.ranks, "it is another precision");
        for (single, double) in alone.ranks.iter().zip(&exact.ranks) {
            assert!((single - double).abs() <= 1e-7 * double, "{single}, not {double}");
        }
        let pool = pool(2);
        let together = PageRank { execution: execution(pool.as_ref()), ..kernel }.run(&csr).unwrap();
        assert_eq!(together.ranks, alone.ranks);
    }
}

#[test]
fn the_tolerance_ends_it_early() {
    let graph = large_graph(Topology::Directed);
    let csr = graph.csr();
    let kernel = PageRank { iterations: 500, tolerance: Some(1e-6), ..PageRank::default() };
    let result = kernel.run(&csr).unwrap();
    assert!(result.iterations < 500 && result.change < 1e-6);
    let before = rank(&csr, 0.85, result.iterations - 1, Execution::default());
    assert!(before.change >= 1e-6, "the iteration before it changed more");
    let differences = result.ranks.iter().zip(&before.ranks).map(|(new, old)| (new - old).abs());
    assert!(
        (differences.sum::<f64>() - result.change).abs() < 1e-15,
        "the change is that of the last iteration"
    );
}

#[test]
fn the_centre_of_a_star_takes_what_its_leaves_have() {
    let edges = [(id(0), id(1)), (id(0), id(2)), (id(1), id(0)), (id(2), id(0))];
    let csr = Csr::from_edges(3, Topology::Undirected, &edges, BuildOptions::default()).unwrap();
    let ranks = rank(&csr, 1.0, 1, Execution::default()).ranks;
    let expected = [2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0];
    assert!(ranks.iter().zip(expected).all(|(rank, exact)| (rank - exact).abs() < 1e-15), "{ranks:?}");
}

#[test]
fn the_empty_graph_has_no_ranks() {
    for topology in TOPOLOGIES {
        let empty = Graph { topology, bound: 0, vertices: [].into(), edges: vec![] };
        let result = PageRank::default().run(&empty.csr()).unwrap();
        assert_eq!((result.ranks, result.change), (vec![], 0.0));
        let holes = Graph { topology, bound: 3, vertices: [].into(), edges: vec![] };
        assert_eq!(PageRank::default().run(&holes.csr()).unwrap().ranks, [0.0; 3]);
    }
}

#[test]
fn parameters_have_to_make_sense() {
    let csr = large_graph(Topology::Undirected).csr();
    for damping in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = PageRank { damping, ..PageRank::default() }.run(&csr).unwrap_err();
        assert!(matches!(error, KernelError::InvalidParameter { parameter: "damping", .. }));
        assert_eq!(error.kind(), KernelErrorKind::InvalidInput);
    }
    for tolerance in [Some(-1.0), Some(f64::NAN)] {
        let error = PageRank { tolerance, ..PageRank::default() }.run(&csr).unwrap_err();
        assert!(matches!(error, KernelError::InvalidParameter { parameter: "tolerance", .. }));
    }
    let error = PageRank { label: LabelId(9), ..PageRank::default() }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::View(_)));
}

#[test]
fn memory_is_checked_for_the_bound_and_for_the_transpose() {
    let graph = large_graph(Topology::Directed);
    let arrays = u64::from(graph.bound) * 32;
    for bytes in [arrays - 1, arrays] {
        let execution = Execution::default().within(MemoryBudget::bytes(bytes));
        let error = PageRank { execution, ..PageRank::default() }.run(&graph.csr()).unwrap_err();
        let KernelError::Memory(MemoryError::Insufficient { needed, .. }) = error else { panic!("{error}") };
        assert_eq!(needed == arrays, bytes < arrays, "the arrays alone fit; the transpose does not");
    }
    let plenty = Execution::default().within(MemoryBudget::bytes(u64::MAX));
    let sparse = Unhelpful { bound: u32::MAX, ..Unhelpful::new(graph.csr()) };
    let error = PageRank { execution: plenty, ..PageRank::default() }.run(&sparse).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::SparseIds { .. })));
}

#[test]
fn it_can_be_watched_and_cancelled() {
    let csr = large_graph(Topology::Undirected).csr();
    for threads in [0, 2] {
        let (pool, token) = (pool(threads), CancelToken::new());
        let reports = hedgerow_sync::Mutex::new(Vec::new());
        let stop_at_three = |progress: Progress| {
            reports.lock().push((progress.iteration, progress.at_most));
            assert_eq!(progress.neighbors, csr.neighbors().len() as u64);
            if progress.iteration == 3 {
                token.cancel();
            }
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop_at_three);
        let kernel = PageRank { iterations: 10, execution, ..PageRank::default() };
        assert_eq!(kernel.run(&csr), Err(KernelError::Cancelled));
        assert_eq!(*reports.lock(), [(1, Some(10)), (2, Some(10)), (3, Some(10))]);
    }
    let token = CancelToken::new();
    token.cancel();
    let execution = Execution::default().cancelled_by(&token);
    let directed = large_graph(Topology::Directed).csr();
    let error = PageRank { execution, ..PageRank::default() }.run(&directed).unwrap_err();
    assert_eq!(error, KernelError::Cancelled, "while the transpose is built");
}
