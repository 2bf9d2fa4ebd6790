//! Tests neighborhoods against sets that grow edge by edge.

use crate::support::{Doubled, Graph, TOPOLOGIES, Unhelpful, execution, graphs, id, large_graph, pool};
use hedgerow_kernels::{
    CancelToken, Execution, Kernel, KernelError, KernelErrorKind, MemoryBudget, MemoryError, Neighborhood,
    NeighborhoodResult, Progress,
};
use hedgerow_model::{GraphView, LabelId, Topology, VertexId, ViewError};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The verifier: the vertices within `hops` hops, with the hops, nearest first.
fn hops_by_definition(graph: &Graph, sources: &[VertexId], hops: u32) -> Vec<(VertexId, u32)> {
    let sets = graph.sets();
    let mut reached: BTreeMap<u32, u32> = sources.iter().map(|source| (source.get(), 0)).collect();
    for hop in 1..=hops {
        let before = reached.len();
        for vertex in reached.keys().copied().collect::<Vec<_>>() {
            for neighbor in &sets[&vertex] {
                reached.entry(*neighbor).or_insert(hop);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    let mut reached: Vec<_> = reached.into_iter().map(|(vertex, hops)| (id(vertex), hops)).collect();
    reached.sort_by_key(|(vertex, hops)| (*hops, *vertex));
    reached
}

fn around(
    view: &impl GraphView,
    sources: &[VertexId],
    hops: u32,
    limit: Option<usize>,
    execution: Execution<'_>,
) -> NeighborhoodResult {
    let kernel = Neighborhood { limit, execution, ..Neighborhood::new(sources, hops) };
    kernel.run(view).expect("the sources exist and nothing cancels")
}

fn check(result: &NeighborhoodResult, all: &[(VertexId, u32)], limit: Option<usize>) {
    let kept = &all[..limit.unwrap_or(all.len()).min(all.len())];
    assert!(result.hops().eq(kept.iter().copied()));
    assert_eq!(result.truncated, kept.len() < all.len());
    assert_eq!(result.vertices.len(), kept.len());
    assert_eq!(result.levels(), kept.last().map_or(0, |(_, hops)| hops + 1));
    assert_eq!(result.at(result.levels()), [], "no vertex is farther away");
}

proptest! {
    #[test]
    fn hops_are_those_of_the_definition(
        graph in graphs(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        hops in prop_oneof![0..6_u32, Just(u32::MAX)],
        limit in prop_oneof![Just(None), (0..40_usize).prop_map(Some)],
        threads in 0..4_usize,
    ) {
        let vertices: Vec<_> = graph.vertices.iter().copied().map(id).collect();
        let sources: Vec<_> = picks.iter().map(|pick| *pick.get(&vertices)).collect();
        let expected = hops_by_definition(&graph, &sources, hops);
        let pool = pool(threads);
        let csr = graph.csr();
        check(&around(&csr, &sources, hops, limit, execution(pool.as_ref())), &expected, limit);
        check(&around(&Doubled::new(csr.clone()), &sources, hops, limit, execution(pool.as_ref())), &expected, limit);
        check(&around(&Unhelpful::new(csr), &sources, hops, limit, execution(pool.as_ref())), &expected, limit);
    }
}

#[test]
fn threads_change_nothing() {
    let sources = [id(1), id(7), id(1)];
    for topology in TOPOLOGIES {
        let graph = large_graph(topology);
        let csr = graph.csr();
        for hops in [1, 2, 3, 12] {
            let expected = hops_by_definition(&graph, &sources, hops);
            for limit in [None, Some(1000), Some(expected.len()), Some(expected.len() - 1)] {
                for threads in 0..4 {
                    let pool = pool(threads);
                    let found = around(&csr, &sources, hops, limit, execution(pool.as_ref()));
                    check(&found, &expected, limit);
                }
            }
        }
    }
}

#[test]
fn bad_calls_are_refused_and_cancelled_ones_stop() {
    let csr = large_graph(Topology::Undirected).csr();
    let absent = Neighborhood::new(&[id(1), id(20_999)], 2).run(&csr).unwrap_err();
    assert_eq!(absent, KernelError::NoSuchVertex(id(20_999)));
    assert_eq!(absent.kind(), KernelErrorKind::InvalidInput);
    let sources = [id(1)];
    let kernel = Neighborhood::new(&sources, 3);
    let error = Neighborhood { label: LabelId(3), ..kernel }.run(&csr).unwrap_err();
    assert_eq!(error, KernelError::View(ViewError::UnknownLabel(LabelId(3))));
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    let error = Neighborhood { execution: little, ..kernel }.run(&csr).unwrap_err();
    assert!(matches!(error, KernelError::Memory(MemoryError::Insufficient { available: 1000, .. })));
    for threads in [0, 2] {
        let (pool, token) = (pool(threads), CancelToken::new());
        let stop = |progress: Progress| {
            assert_eq!((progress.iteration, progress.at_most), (1, Some(3)), "no level after the first");
            token.cancel();
        };
        let execution = execution(pool.as_ref()).cancelled_by(&token).reporting_to(&stop);
        assert_eq!(Neighborhood { execution, ..kernel }.run(&csr), Err(KernelError::Cancelled));
    }
}

#[test]
fn from_nowhere_there_is_nothing() {
    let empty = Graph { topology: Topology::Directed, bound: 0, vertices: [].into(), edges: vec![] };
    check(&around(&empty.csr(), &[], 3, None, Execution::default()), &[], None);
}
