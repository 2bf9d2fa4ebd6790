//! Tests the parents of searches: each is a neighbor that is nearer by the weight of the edge.

use crate::support::{Graph, Unhelpful, execution, graphs, id, pool, scrambled};
use hedgerow_kernels::{Bfs, Execution, Kernel, KernelErrorKind, MemoryBudget, Parents, Sssp, Weight};
use hedgerow_model::{GraphView, Topology};
use proptest::prelude::*;

/// Checks the parents of all vertices, and the paths to them.
fn check<D: Copy + PartialEq>(
    graph: &Graph,
    source: u32,
    parents: &Parents,
    distances: &[D],
    unreached: D,
    plus: impl Fn(D, u32, u32) -> D,
) {
    let sets = graph.sets();
    for (vertex, distance) in (0..).zip(distances.iter().copied()) {
        let Some(parent) = parents.of(id(vertex)) else {
            assert!(distance == unreached, "vertex {vertex} has been reached");
            assert_eq!(parents.path_to(id(vertex)), None);
            continue;
        };
        assert!(distance != unreached, "vertex {vertex} has not been reached");
        let path = parents.path_to(id(vertex)).expect("it was reached");
        assert_eq!((path[0], path[path.len() - 1]), (id(source), id(vertex)));
        for step in path.windows(2) {
            let [from, to] = [step[0].get(), step[1].get()];
            assert!(sets[&from].contains(&to), "{from} and {to} are not neighbors");
            let expected = plus(distances[from as usize], from, to);
            assert!(distances[to as usize] == expected, "the edge from {from} to {to}");
        }
        assert_eq!(path.len() == 1, parent == id(vertex), "only the source is its own parent");
    }
    assert_eq!(parents.of(id(graph.bound + 7)), None);
}

fn parents_of_bfs(view: &impl GraphView, source: u32, execution: Execution<'_>) -> (Vec<u32>, Parents) {
    let result = Bfs { parents: true, execution, ..Bfs::new(id(source)) }.run(view).unwrap();
    assert_eq!(Bfs::new(id(source)).run(view).unwrap().parents, None);
    (result.depths, result.parents.unwrap())
}

proptest! {
    #[test]
    fn a_parent_is_a_neighbor_nearer_by_the_edge(
        graph in graphs(),
        pick in any::<prop::sample::Index>(),
        threads in 0..4_usize,
        heaviest in prop::sample::select(vec![1, 2, 3, 300]),
    ) {
        let vertices: Vec<_> = graph.vertices.iter().copied().collect();
        let source = *pick.get(&vertices);
        let pool = pool(threads);
        let execution = execution(pool.as_ref());
        let (csr, unhelpful) = (graph.csr(), Unhelpful::new(graph.csr()));
        let found = [parents_of_bfs(&csr, source, execution), parents_of_bfs(&unhelpful, source, execution)];
        prop_assert_eq!(&found[0], &found[1], "the parent has the lowest id");
        for (depths, parents) in found {
            check(&graph, source, &parents, &depths, Bfs::UNREACHED, |depth, _, _| depth + 1);
        }
        // A third of these weights are 0, or nearly all.
        let weight = |from: u32, to: u32| {
            scrambled(u64::from(from.min(to)) << 32 | u64::from(from.max(to))) % heaviest
        };
        let search = Sssp { parents: true, execution, ..Sssp::<u32>::new(id(source)) };
        let whole = search.run(&graph.weighted_csr(weight)).unwrap();
        check(&graph, source, &whole.parents.unwrap(), &whole.distances, u32::UNREACHED, |distance, from, to| {
            distance + u64::from(weight(from, to))
        });
        let weight = |from, to| f64::from(weight(from, to)) / 7.0;
        let search = Sssp { parents: true, execution, ..Sssp::<f64>::new(id(source)) };
        let rounded = search.run(&Unhelpful::new(graph.weighted_csr(weight))).unwrap();
        let parents = rounded.parents.unwrap();
        check(&graph, source, &parents, &rounded.distances, f64::UNREACHED, |distance, from, to| {
            distance + weight(from, to)
        });
    }
}

#[test]
fn a_circle_of_edges_without_length_has_no_circle_of_parents() {
    let edges = vec![(0, 5), (5, 1), (1, 2), (2, 3), (3, 1), (3, 4), (0, 4)];
    let graph = Graph { topology: Topology::Directed, bound: 6, vertices: (0..6).collect(), edges };
    let csr = graph.weighted_csr(|from, _| u32::from(from == 0));
    let result = Sssp { parents: true, ..Sssp::<u32>::new(id(0)) }.run(&csr).unwrap();
    assert_eq!(result.distances, [0, 1, 1, 1, 1, 1]);
    let parents = result.parents.unwrap();
    let found: Vec<_> = (0..6).map(|vertex| parents.of(id(vertex)).unwrap().get()).collect();
    assert_eq!(found, [0, 5, 1, 2, 0, 0]);
    assert_eq!(parents.path_to(id(3)).unwrap(), [0, 5, 1, 2, 3].map(id));
    assert!(Sssp::<u32>::new(id(0)).run(&csr).unwrap().parents.is_none());
}

#[test]
fn parents_count_in_the_memory() {
    let graph = Graph { topology: Topology::Directed, bound: 64, vertices: (0..64).collect(), edges: vec![] };
    let execution = Execution::default().within(MemoryBudget::bytes(64 * 4 + 16 + 64 * 8));
    let search = Bfs { execution, ..Bfs::new(id(0)) };
    assert!(search.run(&graph.csr()).is_ok());
    let error = Bfs { parents: true, ..search }.run(&graph.csr()).unwrap_err();
    assert_eq!(error.kind(), KernelErrorKind::Memory);
}
