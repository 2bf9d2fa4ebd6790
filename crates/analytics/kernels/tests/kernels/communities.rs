//! Tests label propagation against the definition.

use crate::support::{
    Doubled, Graph, TOPOLOGIES, Unhelpful, dense_graphs, execution, graphs, large_graph, pool, scrambled,
};
use hedgerow_kernels::{
    CancelToken, Communities, CommunitiesResult, Execution, Kernel, KernelError, KernelErrorKind,
    MemoryBudget, MemoryError, Progress,
};
use hedgerow_model::{GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The verifier: a map of votes for every vertex in every iteration.
fn labels_by_definition(graph: &Graph, iterations: u32, first: impl Fn(u32) -> u32) -> Vec<u32> {
    let out = graph.sets();
    let mut voters: BTreeMap<u32, Vec<u32>> = out.keys().map(|vertex| (*vertex, vec![])).collect();
    for (vertex, neighbors) in &out {
        for neighbor in neighbors {
            voters.get_mut(vertex).expect("edges join vertices").push(*neighbor);
            if !graph.topology.is_undirected() {
                voters.get_mut(neighbor).expect("edges join vertices").push(*vertex);
            }
        }
    }
    let mut labels: BTreeMap<u32, u32> = out.keys().map(|vertex| (*vertex, first(*vertex))).collect();
    for _ in 0..iterations {
        let elected = |vertex: &u32| {
            let mut votes = BTreeMap::<u32, u32>::new();
            voters[vertex].iter().for_each(|voter| *votes.entry(labels[voter]).or_default() += 1);
            let most = votes.into_iter().max_by_key(|(label, count)| (*count, Reverse(*label)));
            most.map_or(labels[vertex], |(label, _)| label)
        };
        labels = out.keys().map(|vertex| (*vertex, elected(vertex))).collect();
    }
    let label = |vertex| labels.get(&vertex).copied().unwrap_or(Communities::NO_VERTEX);
    (0..graph.bound).map(label).collect()
}

fn communities(
    view: &impl GraphView,
    iterations: u32,
    first_labels: Option<&[u32]>,
    execution: Execution<'_>,
) -> CommunitiesResult {
    let kernel = Communities { iterations, first_labels, execution, ..Communities::default() };
    kernel.run(view).expect("nothing cancels")
}

fn check(result: &CommunitiesResult, expected: &[u32]) {
    assert_eq!(result.labels, expected);
    let distinct: BTreeSet<_> = expected.iter().filter(|label| **label != Communities::NO_VERTEX).collect();
    assert_eq!(result.count, distinct.len() as u64);
}

proptest! {
    #[test]
    fn labels_are_those_of_the_definition(
        graph in prop_oneof![graphs(), dense_graphs()],
        iterations in 0..12_u32,
        threads in 0..4_usize,
        different in 1..200_u32,
    ) {
        let pool = pool(threads);
        let csr = graph.csr();
        let labels: Vec<u32> = (0..graph.bound).map(|id| scrambled(id.into()) % different).collect();
        for first in [None, Some(&labels[..])] {
            let expected = labels_by_definition(&graph, iterations, |id| first.map_or(id, |labels| labels[id as usize]));
            let result = communities(&csr, iterations, first, execution(pool.as_ref()));
            check(&result, &expected);
            prop_assert_eq!(result.transposed.is_some(), graph.topology == Topology::Directed);
            prop_assert!(result.iterations == iterations || result.iterations < iterations && result.changed == 0);
            check(&communities(&Doubled::new(csr.clone()), iterations, first, execution(pool.as_ref())), &expected);
            check(&communities(&Unhelpful::new(csr.clone()), iterations, first, execution(pool.as_ref())), &expected);
        }
    }
}

#[test]
fn threads_change_nothing() {
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let csr = graph.csr();
        for iterations in [1, 3, 20] {
            let expected = labels_by_definition(&graph, iterations, |id| id);
            for threads in 0..4 {
                let pool = pool(threads);
                check(&communities(&csr, iterations, None, execution(pool.as_ref())), &expected);
            }
        }
    }
}

/// Changes that reach fewer and fewer vertices: only the neighbors of changed ones are processed.
#[test]
fn a_label_travels_along_a_path_one_step_at_a_time() {
    let length = 3000;
    let edges = (1..length).map(|vertex| (vertex - 1, vertex)).collect();
    let vertices = (0..length).collect();
    let graph = Graph { topology: Topology::Undirected, bound: length, vertices, edges };
    let votes = hedgerow_sync::Mutex::new(Vec::new());
    let watch = |progress: Progress| votes.lock().push(progress.neighbors);
    // All vertices have one label except the first three: two of them agree on another, against the
    // third.
    let labels: Vec<u32> = (0..length).map(|id| if id < 2 { 1 } else { 7 }).collect();
    let execution = Execution::default().reporting_to(&watch);
    let result = communities(&graph.csr(), 50, Some(&labels), execution);
    check(&result, &labels_by_definition(&graph, 50, |id| labels[id as usize]));
    let votes = votes.lock();
    assert_eq!(votes[0], 2 * u64::from(length - 1));
    assert!(votes[1..].iter().all(|votes| *votes < 10), "{votes:?}");
}

#[test]
fn it_stops_when_nothing_changes_and_can_be_watched_and_cancelled() {
    let two_triangles = vec![(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)];
    let graph =
        Graph { topology: Topology::Undirected, bound: 7, vertices: (0..7).collect(), edges: two_triangles };
    let result = communities(&graph.csr(), 100, None, Execution::default());
    assert_eq!(result.labels[6], 6, "a vertex without neighbors keeps its label");
    assert_eq!((result.changed, result.count), (0, 3));
    assert!(result.iterations < 10);

    let csr = large_graph(Topology::Undirected).csr();
    for threads in [0, 2] {
        let (pool, token) = (pool(threads), CancelToken::new());
        let stop = |progress: Progress| {
            assert!(progress.iteration <= 2 && progress.at_most == Some(9), "no iteration after the last");
            if progress.iteration == 2 {
                token.cancel();
            }
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop);
        let kernel = Communities { iterations: 9, execution, ..Communities::default() };
        assert_eq!(kernel.run(&csr), Err(KernelError::Cancelled));
    }
}

#[test]
fn bad_calls_are_refused() {
    let csr = large_graph(Topology::Undirected).csr();
    let error = Communities { label: LabelId(3), ..Communities::default() }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let error =
        Communities { first_labels: Some(&[1, 2, 3]), ..Communities::default() }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::InvalidParameter { parameter: "the number of labels", .. }));
    assert_eq!(error.kind(), KernelErrorKind::InvalidInput);
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Communities { execution: little, ..Communities::default() }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
}

#[test]
fn an_empty_graph_has_no_communities() {
    for bound in [0, 3] {
        let graph = Graph { topology: Topology::Directed, bound, vertices: [].into(), edges: vec![] };
        check(
            &communities(&graph.csr(), 5, None, Execution::default()),
            &vec![Communities::NO_VERTEX; bound as usize],
        );
    }
}
