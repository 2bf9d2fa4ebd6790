//! Tests betweenness against counting the paths between all pairs.

use crate::support::{Doubled, Graph, Sets, TOPOLOGIES, Unhelpful, execution, graphs, id, large_graph, pool};
use hedgerow_kernels::{
    Betweenness, BetweennessResult, CancelToken, Execution, Kernel, KernelError, KernelErrorKind,
    MemoryBudget, MemoryError, Progress, Sources,
};
use hedgerow_model::{GraphView, LabelId, Topology, VertexId, ViewError};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// Distance and number of shortest paths from a vertex to every vertex that it reaches.
fn paths_from(graph: &Sets, source: u32) -> BTreeMap<u32, (u32, f64)> {
    let mut paths = BTreeMap::from([(source, (0, 1.0))]);
    let mut waiting = VecDeque::from([source]);
    while let Some(vertex) = waiting.pop_front() {
        let (distance, count) = paths[&vertex];
        for neighbor in &graph[&vertex] {
            let (found, paths) = paths.entry(*neighbor).or_insert_with(|| {
                waiting.push_back(*neighbor);
                (distance + 1, 0.0)
            });
            if *found == distance + 1 {
                *paths += count;
            }
        }
    }
    paths
}

/// The verifier: for every source, target and vertex between them, the product of the paths to and
/// from the vertex, if it is on a shortest path, over all paths.
fn scores_by_definition(graph: &Graph, sources: &[u32]) -> Vec<f64> {
    let sets = graph.sets();
    let paths: BTreeMap<_, _> = sets.keys().map(|vertex| (*vertex, paths_from(&sets, *vertex))).collect();
    let mut scores = vec![0.0; graph.bound as usize];
    for source in sources {
        for (target, (distance, all)) in &paths[source] {
            for (between, (to, first)) in &paths[source] {
                let Some((from, second)) = paths[between].get(target) else { continue };
                if between != source && between != target && to + from == *distance {
                    scores[*between as usize] += first * second / all;
                }
            }
        }
    }
    scores
}

fn betweenness(view: &impl GraphView, sources: Sources<'_>, execution: Execution<'_>) -> BetweennessResult {
    let kernel = Betweenness { execution, ..Betweenness::new(sources) };
    kernel.run(view).expect("the sources exist and nothing cancels")
}

fn check(result: &BetweennessResult, expected: &[f64]) {
    assert_eq!(result.scores.len(), expected.len());
    for (vertex, (found, exact)) in result.scores.iter().zip(expected).enumerate() {
        assert!((found - exact).abs() <= 1e-9 * exact, "vertex {vertex}: {found}, not {exact}");
    }
}

proptest! {
    #[test]
    fn scores_are_those_of_the_definition(
        graph in graphs(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        threads in 0..4_usize,
    ) {
        let vertices: Vec<u32> = graph.vertices.iter().copied().collect();
        let some: Vec<u32> = picks.iter().map(|pick| *pick.get(&vertices)).collect();
        let given: Vec<VertexId> = some.iter().copied().map(id).collect();
        let pool = pool(threads);
        let csr = graph.csr();
        for (sources, ids) in [(Sources::Given(&given), &some), (Sources::All, &vertices)] {
            let expected = scores_by_definition(&graph, ids);
            let result = betweenness(&csr, sources, execution(pool.as_ref()));
            check(&result, &expected);
            prop_assert!(result.sources.iter().map(|source| source.get()).eq(ids.iter().copied()));
            prop_assert_eq!(result.transposed.is_some(), graph.topology == Topology::Directed);
            check(&betweenness(&Doubled::new(csr.clone()), sources, execution(pool.as_ref())), &expected);
            check(&betweenness(&Unhelpful::new(csr.clone()), sources, execution(pool.as_ref())), &expected);
        }
    }
}

/// A graph whose levels are found in all three ways, behind layers that multiply the paths until
/// their numbers round, which makes the order of a sum visible.
fn many_paths(topology: Topology) -> Graph {
    let mut graph = large_graph(topology);
    let (first, layers, width) = (graph.bound, 45, 3);
    let layer = |number: u32| (0..width).map(move |position| first + width * number + position);
    for number in 0..layers {
        graph.vertices.extend(layer(number));
        let nexts = layer(number).flat_map(|from| layer(number + 1).map(move |to| (from, to)));
        graph.edges.extend(nexts.filter(|_| number + 1 < layers));
    }
    // The last layer points into the large part, from each of its vertices to different ones.
    let into = layer(layers - 1).flat_map(|from| (0..40).map(move |step| (from, 1 + (step * from) % 50)));
    graph.edges.extend(into.filter(|(_, to)| graph.vertices.contains(to)));
    graph.bound = first + layers * width;
    graph
}

#[test]
fn threads_do_not_change_a_bit() {
    for topology in TOPOLOGIES {
        let graph = many_paths(topology);
        let (csr, start) = (graph.csr(), graph.bound - 45 * 3);
        let sources = [start, 1, start + 1, 14, start + 2, 27, start].map(id);
        for sources in [&sources[..], &sources[..1]] {
            let alone = betweenness(&csr, Sources::Given(sources), Execution::default());
            assert!(alone.scores.iter().any(|score| *score > 1000.0 && score.fract() != 0.0));
            for threads in 1..5 {
                let pool = pool(threads);
                let together = betweenness(&csr, Sources::Given(sources), execution(pool.as_ref()));
                assert_eq!(together.scores, alone.scores, "{topology:?}, {threads} threads");
            }
            // Too little memory for concurrent searches, which the transpose would need, too.
            if topology != Topology::Directed {
                let pool = pool(3);
                let execution = execution(pool.as_ref()).within(MemoryBudget::bytes(21_135 * 100));
                assert_eq!(betweenness(&csr, Sources::Given(sources), execution).scores, alone.scores);
            }
        }
    }
}

#[test]
fn a_source_that_is_listed_twice_counts_twice() {
    let csr = large_graph(Topology::Undirected).csr();
    let once = betweenness(&csr, Sources::Given(&[id(5)]), Execution::default()).scores;
    let twice = betweenness(&csr, Sources::Given(&[id(5), id(5)]), Execution::default()).scores;
    assert!(once.iter().zip(twice).all(|(once, twice)| 2.0 * once == twice));
}

#[test]
fn samples_are_different_vertices_that_the_seed_chooses() {
    let graph = large_graph(Topology::Undirected);
    let csr = graph.csr();
    let sampled =
        |count, seed| betweenness(&csr, Sources::Sampled { count, seed }, Execution::default()).sources;
    let (first, again, other) = (sampled(20, 1), sampled(20, 1), sampled(20, 2));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.len() == 20 && first.is_sorted_by(|one, next| one < next));
    assert!(first.iter().all(|source| graph.vertices.contains(&source.get())), "holes are no sources");

    let small = Graph { topology: Topology::Undirected, bound: 9, vertices: [2, 5, 8].into(), edges: vec![] };
    let all = betweenness(&small.csr(), Sources::Sampled { count: 9, seed: 1 }, Execution::default());
    assert_eq!(all.sources, [id(2), id(5), id(8)]);
    let two = betweenness(&small.csr(), Sources::Sampled { count: 2, seed: 1 }, Execution::default());
    assert_eq!((two.sources.len(), two.scores), (2, vec![0.0; 9]));
}

/// A chain of `count` diamonds: each doubles the paths.
fn diamonds(count: u32) -> Graph {
    let edges = (0..count).flat_map(|number| {
        let [start, one, other, end] = [0, 1, 2, 3].map(|corner| 3 * number + corner);
        [(start, one), (start, other), (one, end), (other, end)]
    });
    let bound = 3 * count + 1;
    Graph { topology: Topology::Undirected, bound, vertices: (0..bound).collect(), edges: edges.collect() }
}

#[test]
fn paths_that_cannot_be_counted_are_an_error() {
    let source = [id(0)];
    let longest = betweenness(&diamonds(1023).csr(), Sources::Given(&source), Execution::default());
    // The first corner on either side has half of the paths to all vertices but its own level and
    // the source.
    assert!((longest.scores[1] - f64::from(3 * 1023 - 2) / 2.0).abs() < 1e-6, "{}", longest.scores[1]);
    for threads in [0, 2] {
        let pool = pool(threads);
        let execution = execution(pool.as_ref());
        let kernel = Betweenness { execution, ..Betweenness::new(Sources::Given(&source)) };
        assert_eq!(kernel.run(&diamonds(1024).csr()), Err(KernelError::TooManyPaths(id(0))));
    }
}

#[test]
fn bad_calls_are_refused_and_cancelled_ones_stop() {
    let csr = large_graph(Topology::Undirected).csr();
    let absent = Betweenness::new(Sources::Given(&[id(1), id(20_999)])).run(&csr).unwrap_err();
    assert_eq!(absent, KernelError::NoSuchVertex(id(20_999)));
    assert_eq!(absent.kind(), KernelErrorKind::InvalidInput);
    let kernel = Betweenness::new(Sources::Sampled { count: 9, seed: 1 });
    let error = Betweenness { label: LabelId(3), ..kernel }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Betweenness { execution: little, ..kernel }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
    for threads in [0, 2] {
        let (pool, token) = (pool(threads), CancelToken::new());
        let stop = |progress: Progress| {
            assert!(progress.iteration <= 4 && progress.at_most == Some(9), "no search after the last");
            if progress.iteration >= 3 {
                token.cancel();
            }
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop);
        assert_eq!(Betweenness { execution, ..kernel }.run(&csr), Err(KernelError::Cancelled));
    }
}

#[test]
fn the_empty_graph_has_no_scores() {
    let empty = Graph { topology: Topology::Directed, bound: 0, vertices: [].into(), edges: vec![] };
    let result = betweenness(&empty.csr(), Sources::All, Execution::default());
    assert_eq!((result.scores, result.iterations), (vec![], 0));
}
