//! Tests common neighbors on views that are sorted, that repeat neighbors, and that are not sorted
//! at all.

use crate::support::{Doubled, Sets, Unhelpful, graphs, id, large_graph};
use hedgerow_model::{Adjacency, Direction, GraphView, LabelId, Topology, VertexId};
use proptest::prelude::*;

/// The visited vertices.
fn collected(run: impl FnOnce(&mut dyn FnMut(VertexId))) -> Vec<u32> {
    let mut found = Vec::new();
    run(&mut |id| found.push(id.get()));
    found
}

/// Intersects the neighbors of each of `vertices` with the neighbors of the others.
fn check(view: &impl GraphView, sets: &Sets, vertices: &[u32]) {
    let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out).expect("the one label");
    check_adjacency(&adjacency, sets, vertices);
}

fn check_adjacency<A: Adjacency>(adjacency: &A, sets: &Sets, vertices: &[u32]) {
    let (mut one, mut other) = (adjacency.cursor(), adjacency.cursor());
    let empty = Default::default();
    let set_of = |vertex: u32| sets.get(&vertex).unwrap_or(&empty);
    for first in vertices {
        for second in vertices {
            let expected: Vec<u32> = set_of(*first).intersection(set_of(*second)).copied().collect();
            let found = collected(|visit| {
                let both = [id(*first), id(*second)];
                assert!(A::common_neighbors([&mut one, &mut other], both, visit).is_ok());
            });
            assert_eq!(found, expected, "common neighbors of {first} and {second}");

            let ids: Vec<VertexId> = set_of(*second).iter().copied().map(id).collect();
            let found = collected(|visit| assert!(A::intersect(&mut one, id(*first), &ids, visit).is_ok()));
            assert_eq!(found, expected, "neighbors of {first} among those of {second}");
        }
    }
}

proptest! {
    #[test]
    fn common_neighbors_are_those_of_sets(graph in graphs()) {
        let (csr, sets) = (graph.csr(), graph.sets());
        // Missing ids, and an id above the bound, have no neighbors.
        let vertices: Vec<u32> = (0..graph.bound + 2).collect();
        check(&csr, &sets, &vertices);
        check(&Doubled::new(csr.clone()), &sets, &vertices);
        check(&Unhelpful::new(csr), &sets, &vertices);
    }
}

#[test]
fn hubs_meet_each_other_and_the_small() {
    let graph = large_graph(Topology::Undirected);
    let (csr, sets) = (graph.csr(), graph.sets());
    let mut by_degree: Vec<u32> = sets.keys().copied().collect();
    by_degree.sort_by_key(|vertex| std::cmp::Reverse(sets[vertex].len()));
    let (hubs, small) = (&by_degree[..4], &by_degree[by_degree.len() - 4..]);
    assert!(
        hubs.iter().all(|hub| sets[hub].len() > 100) && small.iter().all(|vertex| sets[vertex].len() < 10)
    );
    let vertices = [hubs, small].concat();
    check(&csr, &sets, &vertices);
    check(&Doubled::new(csr.clone()), &sets, &vertices);
    check(&Unhelpful::new(csr), &sets, &vertices);
}
