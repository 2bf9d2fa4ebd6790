//! Tests shortest paths against Dijkstra's algorithm.

use crate::support::{
    Graph, Sets, TOPOLOGIES, Unhelpful, execution, graphs, id, large_graph, pool, scrambled,
};
use hedgerow_kernels::{
    CancelToken, Execution, Kernel, KernelError, KernelErrorKind, MemoryBudget, MemoryError, Sssp,
    SsspResult, Weight, WeightError,
};
use hedgerow_model::{ColumnType, GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A weight that is equal from either end.
fn hashed(source: u32, destination: u32) -> u32 {
    scrambled(u64::from(source.min(destination)) << 32 | u64::from(source.max(destination)))
}

/// The verifier: always continues from the nearest vertex.
fn distances_by_dijkstra(
    graph: &Sets,
    bound: u32,
    source: u32,
    weight: impl Fn(u32, u32) -> u32,
) -> Vec<u64> {
    let mut distances = vec![u32::UNREACHED; bound as usize];
    distances[source as usize] = 0;
    let mut waiting = BTreeSet::from([(0, source)]);
    while let Some((distance, vertex)) = waiting.pop_first() {
        for neighbor in &graph[&vertex] {
            let offered = distance + u64::from(weight(vertex, *neighbor));
            let known = &mut distances[*neighbor as usize];
            if offered < *known {
                waiting.remove(&(*known, *neighbor));
                waiting.insert((offered, *neighbor));
                *known = offered;
            }
        }
    }
    distances
}

fn paths<W: Weight>(
    view: &impl GraphView,
    source: u32,
    delta: Option<W>,
    execution: Execution<'_>,
) -> SsspResult<W> {
    let search = Sssp { delta, execution, ..Sssp::new(id(source)) };
    search.run(view).expect("the source exists and nothing cancels")
}

fn check(result: &SsspResult, expected: &[u64]) {
    assert_eq!(result.distances, expected);
    assert_eq!(
        result.reached,
        expected.iter().filter(|distance| **distance != u32::UNREACHED).count() as u64
    );
}

proptest! {
    #[test]
    fn distances_are_those_of_dijkstra(
        graph in graphs(),
        pick in any::<prop::sample::Index>(),
        threads in 0..4_usize,
        heaviest in prop::sample::select(vec![1, 2, 300, u32::MAX]),
        delta in prop_oneof![Just(None), (1..1000_u32).prop_map(Some), Just(Some(u32::MAX))],
    ) {
        let weight = |source, destination| hashed(source, destination) % heaviest;
        let vertices: Vec<_> = graph.vertices.iter().copied().collect();
        let source = *pick.get(&vertices);
        let expected = distances_by_dijkstra(&graph.sets(), graph.bound, source, weight);
        let pool = pool(threads);
        let csr = graph.weighted_csr(weight);
        check(&paths(&csr, source, delta, execution(pool.as_ref())), &expected);
        check(&paths(&Unhelpful::new(csr), source, delta, execution(pool.as_ref())), &expected);

        // Halves are exact, so the sums of floats are exactly half of the sums of integers.
        let halves = graph.weighted_csr(|source, to| f64::from(weight(source, to)) / 2.0);
        let result = paths(&halves, source, delta.map(f64::from), execution(pool.as_ref()));
        for (half, whole) in result.distances.iter().zip(&expected) {
            let expected = if *whole == u32::UNREACHED { f64::UNREACHED } else { *whole as f64 / 2.0 };
            prop_assert_eq!(*half, expected);
        }
    }
}

#[test]
fn threads_and_delta_change_no_distance() {
    let weight = |source, destination| hashed(source, destination) % 255 + 1;
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let csr = graph.weighted_csr(weight);
        let expected = distances_by_dijkstra(&graph.sets(), graph.bound, 1, weight);
        for delta in [None, Some(1), Some(16), Some(1 << 20)] {
            for threads in 0..4 {
                let pool = pool(threads);
                check(&paths(&csr, 1, delta, execution(pool.as_ref())), &expected);
            }
        }
    }
}

#[test]
fn floats_that_round_give_the_same_bits_on_all_threads() {
    let csr = large_graph(Topology::Undirected)
        .weighted_csr(|source, destination| f64::from(hashed(source, destination) % 1000 + 1) / 7.0);
    let alone = paths::<f64>(&csr, 1, None, Execution::default());
    for threads in 1..4 {
        let pool = pool(threads);
        let together = paths::<f64>(&csr, 1, Some(0.3), execution(pool.as_ref()));
        assert_eq!(together.distances, alone.distances);
    }
}

#[test]
fn sums_exceed_32_bits() {
    let edges = (0..9).map(|step| (step, step + 1)).collect();
    let path = Graph { topology: Topology::Directed, bound: 10, vertices: (0..10).collect(), edges };
    let csr = path.weighted_csr(|_, _| u32::MAX);
    for delta in [None, Some(1)] {
        let result = paths(&csr, 0, delta, Execution::default());
        assert_eq!(result.distances[9], 9 * u64::from(u32::MAX));
    }
}

#[test]
fn weights_that_make_no_sense_are_named() {
    let graph = Graph {
        topology: Topology::Directed,
        bound: 4,
        vertices: (0..4).collect(),
        edges: vec![(0, 1), (2, 3)],
    };
    let with = |bad: f64| graph.weighted_csr(move |source, _| if source == 0 { 1.0 } else { bad });
    for bad in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        let error = Sssp::<f64>::new(id(2)).run(&with(bad)).unwrap_err();
        assert_eq!(error.kind(), KernelErrorKind::InvalidInput);
        let KernelError::Weight(WeightError { source, destination, weight }) = error else {
            panic!("{error}")
        };
        assert_eq!((source, destination, weight.unwrap().to_bits()), (id(2), id(3), bad.to_bits()));
        let elsewhere = Sssp::<f64>::new(id(0)).run(&with(bad)).unwrap_err();
        assert!(matches!(elsewhere, KernelError::Weight(_)), "whether or not a path leads there");
    }
    let infinite = Sssp::<f64>::new(id(2)).run(&with(f64::INFINITY)).unwrap();
    assert_eq!((infinite.distances[3], infinite.reached), (f64::UNREACHED, 1));
    let negative_zero = Sssp::<f64>::new(id(2)).run(&with(-0.0)).unwrap();
    assert_eq!(negative_zero.distances[3].to_bits(), 0);
}

#[test]
fn the_first_of_several_bad_weights_is_named_whatever_the_source_and_the_threads() {
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let is_bad = |source: u32, destination: u32| hashed(source, destination).is_multiple_of(1000);
        let weight = |source, destination| if is_bad(source, destination) { -1.0 } else { 1.0 };
        let edges =
            graph.sets().into_iter().flat_map(|(from, row)| row.into_iter().map(move |to| (from, to)));
        let first = edges.filter(|(source, to)| is_bad(*source, *to)).min().expect("some are bad");
        let views = (graph.weighted_csr(weight), Unhelpful::new(graph.weighted_csr(weight)));
        for threads in 0..4 {
            let pool = pool(threads);
            for source in [first.0, 1, 20_500] {
                let search = Sssp::<f64> { execution: execution(pool.as_ref()), ..Sssp::new(id(source)) };
                for error in [search.run(&views.0).unwrap_err(), search.run(&views.1).unwrap_err()] {
                    let (source, destination) = (id(first.0), id(first.1));
                    let expected = WeightError { source, destination, weight: Some(-1.0) };
                    assert_eq!(error, KernelError::Weight(expected));
                }
            }
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let csr = large_graph(Topology::Directed).weighted_csr(|_, _| 1_u32);
    let absent = Sssp::<u32>::new(id(20_999)).run(&csr);
    assert_eq!(absent, Err(KernelError::NoSuchVertex(id(20_999))));
    let zero = Sssp { delta: Some(0_u32), ..Sssp::new(id(1)) }.run(&csr).unwrap_err();
    assert!(matches!(zero, KernelError::InvalidParameter { parameter: "delta", .. }));
    let column = Sssp::<f64>::new(id(1)).run(&csr).unwrap_err();
    let (label, declared, asked) = (LabelId::DEFAULT, ColumnType::U32, ColumnType::F64);
    assert_eq!(column, KernelError::View(ViewError::WrongColumn { label, declared, asked }));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let csr = large_graph(Topology::Directed).weighted_csr(|_, _| 1.0);
        let error = Sssp { delta: Some(bad), ..Sssp::new(id(1)) }.run(&csr).unwrap_err();
        assert!(matches!(error, KernelError::InvalidParameter { parameter: "delta", .. }));
    }
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Sssp { execution: little, ..Sssp::<u32>::new(id(1)) }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
}

#[test]
fn a_search_can_be_cancelled_after_any_round() {
    let csr = large_graph(Topology::Undirected).weighted_csr(|source, to| hashed(source, to) % 255 + 1);
    for threads in [0, 2] {
        let (pool, token) = (pool(threads), CancelToken::new());
        let stop = |progress: hedgerow_kernels::Progress| {
            assert!(progress.iteration <= 3, "no round after the one that cancelled");
            if progress.iteration == 3 {
                token.cancel();
            }
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop);
        let search = Sssp { delta: Some(4_u32), execution, ..Sssp::new(id(1)) };
        assert_eq!(search.run(&csr), Err(KernelError::Cancelled));
    }
}
