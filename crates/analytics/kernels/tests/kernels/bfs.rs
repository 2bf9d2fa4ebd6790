//! Tests breadth-first search against a search with a queue.

use crate::support::{Graph, Sets, TOPOLOGIES, Unhelpful, execution, graphs, id, large_graph, pool};
use hedgerow_kernels::{
    Bfs, BfsResult, CancelToken, Execution, Kernel, KernelError, KernelErrorKind, MemoryBudget, MemoryError,
};
use hedgerow_model::{GraphView, LabelId, Topology, ViewError};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Values of alpha and beta: top-down only, bottom-up wherever possible, switching at every chance,
/// and the defaults.
const PARAMETERS: [(u32, u32); 4] = [(0, 0), (u32::MAX, u32::MAX), (2, 2), (15, 18)];

/// The verifier: one queue, one vertex at a time.
fn depths_by_queue(graph: &Sets, bound: u32, source: u32) -> Vec<u32> {
    let mut depths = vec![Bfs::UNREACHED; bound as usize];
    depths[source as usize] = 0;
    let mut queue = VecDeque::from([source]);
    while let Some(vertex) = queue.pop_front() {
        for neighbor in &graph[&vertex] {
            if depths[*neighbor as usize] == Bfs::UNREACHED {
                depths[*neighbor as usize] = depths[vertex as usize] + 1;
                queue.push_back(*neighbor);
            }
        }
    }
    depths
}

fn check(result: &BfsResult, expected: &[u32]) {
    assert_eq!(result.depths, expected);
    let reached = || expected.iter().filter(|depth| **depth != Bfs::UNREACHED);
    assert_eq!(result.reached, reached().count() as u64);
    assert_eq!(result.levels, reached().max().expect("the source is reached") + 1);
}

fn search(
    view: &impl GraphView,
    source: u32,
    (alpha, beta): (u32, u32),
    execution: Execution<'_>,
) -> BfsResult {
    let search = Bfs { alpha, beta, execution, ..Bfs::new(id(source)) };
    search.run(view).expect("the source exists and nothing cancels")
}

proptest! {
    #[test]
    fn depths_are_those_of_a_queue(graph in graphs(), pick in any::<prop::sample::Index>(), threads in 0..4_usize) {
        let vertices: Vec<_> = graph.vertices.iter().copied().collect();
        let source = *pick.get(&vertices);
        let expected = depths_by_queue(&graph.sets(), graph.bound, source);
        let pool = pool(threads);
        let csr = graph.csr();
        for parameters in PARAMETERS {
            check(&search(&csr, source, parameters, execution(pool.as_ref())), &expected);
        }
        let unhelpful = Unhelpful::new(csr);
        for parameters in PARAMETERS {
            check(&search(&unhelpful, source, parameters, execution(pool.as_ref())), &expected);
        }
    }
}

#[test]
fn both_directions_are_taken_where_they_can_be() {
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let csr = graph.csr();
        let expected = depths_by_queue(&graph.sets(), graph.bound, 1);
        let [down, up, _, chosen] =
            PARAMETERS.map(|parameters| search(&csr, 1, parameters, Execution::default()));
        for result in [&down, &up, &chosen] {
            check(result, &expected);
        }
        assert_eq!(down.bottom_up_levels, 0);
        if topology == Topology::Directed {
            assert_eq!(up.bottom_up_levels, 0, "there are no in-neighbors to look at");
        } else {
            assert_eq!(up.bottom_up_levels, up.levels - 1, "all but the level of the source");
            assert!((1..chosen.levels - 1).contains(&chosen.bottom_up_levels), "{}", chosen.bottom_up_levels);
            assert!(chosen.edges_examined < down.edges_examined.min(up.edges_examined));
        }
    }
}

#[test]
fn a_plain_search_goes_down_only() {
    let graph = large_graph(Topology::Undirected);
    let result = Bfs::top_down(id(1)).run(&graph.csr()).unwrap();
    check(&result, &depths_by_queue(&graph.sets(), graph.bound, 1));
    assert_eq!(result.bottom_up_levels, 0);
}

#[test]
fn threads_change_nothing() {
    for topology in TOPOLOGIES {
        let csr = large_graph(topology).csr();
        for parameters in PARAMETERS {
            let alone = search(&csr, 1, parameters, Execution::default());
            for threads in 1..4 {
                let pool = pool(threads);
                let together = search(&csr, 1, parameters, execution(pool.as_ref()));
                assert_eq!(
                    BfsResult { elapsed: alone.elapsed, ..together },
                    alone,
                    "{topology:?} {parameters:?}"
                );
            }
        }
    }
}

#[test]
fn a_source_has_to_exist() {
    let graph =
        Graph { topology: Topology::Directed, bound: 3, vertices: [0, 2].into(), edges: vec![(0, 2)] };
    for absent in [1, 3, 1000] {
        let error = Bfs::new(id(absent)).run(&graph.csr()).unwrap_err();
        assert_eq!(error, KernelError::NoSuchVertex(id(absent)));
        assert_eq!(error.kind(), KernelErrorKind::InvalidInput);
    }
    let empty = Graph { topology: Topology::Directed, bound: 0, vertices: [].into(), edges: vec![] };
    assert_eq!(Bfs::new(id(0)).run(&empty.csr()), Err(KernelError::NoSuchVertex(id(0))));
}

#[test]
fn an_unknown_label_is_named() {
    let graph = large_graph(Topology::Directed).csr();
    let error = Bfs { label: LabelId(3), ..Bfs::new(id(1)) }.run(&graph).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
}

#[test]
fn memory_is_checked_for_the_bound() {
    let csr = large_graph(Topology::Undirected).csr();
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Bfs { execution: little, ..Bfs::new(id(1)) }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
    assert_eq!(error.kind(), KernelErrorKind::Memory);

    let plenty = Execution::default().within(MemoryBudget::bytes(u64::MAX));
    let sparse = Unhelpful { bound: u32::MAX, ..Unhelpful::new(csr) };
    let error = Bfs { execution: plenty, ..Bfs::new(id(1)) }.run(&sparse).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::SparseIds { vertex_bound: u32::MAX, .. })));
}

#[test]
fn a_search_can_be_watched_and_cancelled() {
    let csr = large_graph(Topology::Undirected).csr();
    for (threads, parameters) in
        [(0, (0, 0)), (0, (u32::MAX, u32::MAX)), (2, (0, 0)), (2, (u32::MAX, u32::MAX))]
    {
        let (pool, token) = (pool(threads), CancelToken::new());
        let levels = hedgerow_sync::Mutex::new(Vec::new());
        let stop_at_level_two = |progress: hedgerow_kernels::Progress| {
            levels.lock().push(progress.iteration);
            if progress.iteration == 2 {
                token.cancel();
            }
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop_at_level_two);
        let search = Bfs { alpha: parameters.0, beta: parameters.1, execution, ..Bfs::new(id(1)) };
        assert_eq!(search.run(&csr), Err(KernelError::Cancelled));
        assert_eq!(*levels.lock(), [1, 2], "no level after the one that cancelled");
    }
}
