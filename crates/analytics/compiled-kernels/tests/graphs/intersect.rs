//! Tests common neighbors in every engine against sets, with rows, leaves and trees on either side.

use crate::engines::ENGINES;
use hedgerow::kernels::{Adjacency, Cursor, GraphView, Kernel, KernelError};
use hedgerow::{
    Direction, EngineKind, Graph, GraphOptions, KeyKind, LabelId, Snapshot, VertexId, WriteGraph,
};
use std::collections::BTreeSet;

type Set = BTreeSet<u64>;

/// The common neighbors of each two vertices, found in both ways.
struct Pairs<'a> {
    vertices: &'a [VertexId],
}

/// The common neighbors of two vertices: found by two cursors, and by a cursor and a slice of the
/// second vertex's neighbors.
type Common = (Vec<VertexId>, Vec<VertexId>);

impl Kernel for Pairs<'_> {
    type Output = Vec<Common>;

    fn run<V: GraphView>(self, view: &V) -> Result<Vec<Common>, KernelError> {
        common(&view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?, self.vertices)
    }
}

fn common<A: Adjacency>(adjacency: &A, vertices: &[VertexId]) -> Result<Vec<Common>, KernelError> {
    let (mut one, mut other) = (adjacency.cursor(), adjacency.cursor());
    let mut found = Vec::new();
    for first in vertices {
        for second in vertices {
            let (mut by_vertices, mut by_slice) = (Vec::new(), Vec::new());
            let both = [*first, *second];
            A::common_neighbors([&mut one, &mut other], both, |id| by_vertices.push(id))?;
            let (ids, _) = other.gather(*second)?;
            let mut ids = ids.to_vec();
            // The slice must ascend, whatever the order in which the engine keeps neighbors.
            ids.sort_unstable();
            A::intersect(&mut one, *first, &ids, |id| by_slice.push(id))?;
            found.push((by_vertices, by_slice));
        }
    }
    Ok(found)
}

/// Sets on both sides of every threshold of a layout: rows, leaves, trees; dense, sparse, apart,
/// empty.
fn sets() -> Vec<Set> {
    let every = |step: u64, count: u64| (0..count).map(|member| 100 + member * step).collect::<Set>();
    vec![
        every(1, 5_000),
        every(3, 2_000),
        every(7, 1_100),
        every(2, 1_000),
        every(5, 300),
        every(11, 90),
        every(900, 6),
        [100, 5_099].into(),
        (6_000..7_500).collect(),
        Set::new(),
    ]
}

fn check(snapshot: &Snapshot, sets: &[Set], engine: EngineKind) {
    let vertices: Vec<VertexId> = (0..sets.len() as u32).map(VertexId::new).collect();
    let found = snapshot.run(Pairs { vertices: &vertices }).unwrap();
    let pairs = sets.iter().flat_map(|one| sets.iter().map(move |other| (one, other)));
    assert_eq!(found.len(), sets.len() * sets.len());
    for ((one, other), (by_vertices, by_slice)) in pairs.zip(found) {
        let expected: Vec<VertexId> =
            one.intersection(other).map(|member| VertexId::new(*member as u32)).collect();
        let what = format!("{engine:?}: {} and {} neighbors", one.len(), other.len());
        assert_eq!(by_vertices, expected, "{what}, of two vertices");
        assert_eq!(by_slice, expected, "{what}, with a slice");
    }
}

#[test]
fn common_neighbors_are_those_of_sets() {
    for engine in ENGINES {
        let graph = Graph::in_memory(GraphOptions::new().engine(engine).keys(KeyKind::Dense)).unwrap();
        let mut sets = sets();
        for (owner, set) in (0u64..).zip(&sets) {
            let edges: Vec<(u64, u64)> = set.iter().map(|member| (owner, *member)).collect();
            graph.ingest(LabelId::DEFAULT, &edges).unwrap();
        }
        let (before, snapshot) = (sets.clone(), graph.snapshot().unwrap());
        check(&snapshot, &before, engine);

        // Entries deleted and added since the first snapshot.
        for (owner, set) in (0u64..).zip(&mut sets) {
            for member in set.iter().copied().step_by(4).take(60).collect::<Vec<_>>() {
                assert!(graph.delete_edge(LabelId::DEFAULT, owner, member).unwrap().changed == Some(true));
                set.remove(&member);
            }
            for member in (5_050..5_120).step_by(3) {
                graph.put_edge(LabelId::DEFAULT, owner, member).unwrap();
                set.insert(member);
            }
        }
        check(&graph.snapshot().unwrap(), &sets, engine);
        check(&snapshot, &before, engine);
    }
}
