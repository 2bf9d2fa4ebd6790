//! Generates graphs.

use super::Name;
use crate::BenchError;
use hedgerow_formats::Kronecker;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;

/// The number of vertices, and the undirected edges.
pub(super) fn edges(name: Name, seed: u64) -> Result<(u32, Vec<(u32, u32)>), BenchError> {
    let kronecker = match name {
        Name::Kronecker { scale } => Kronecker::new(scale, 16, seed),
        Name::Sparse { scale } => {
            Kronecker::new(scale, 6, seed).and_then(|graph| graph.with_probabilities(0.45, 0.22, 0.22))
        }
        Name::Uniform { vertices, degree } => return Ok((vertices, uniform(vertices, degree, seed))),
    };
    let graph = kronecker?;
    let narrow = |vertex: u64| vertex as u32;
    let edge = |index| {
        let (source, destination) = graph.edge(index);
        (narrow(source), narrow(destination))
    };
    Ok((narrow(graph.vertices()), (0..graph.edges()).map(edge).collect()))
}

/// A graph in which every vertex has exactly `degree` neighbors: vertices on a ring, each joined to
/// the vertices at some random distances on both sides, and then renumbered at random.
///
/// One of the two numbers is even; the degree is below the number of vertices.
fn uniform(vertices: u32, degree: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut names: Vec<u32> = (0..vertices).collect();
    names.shuffle(&mut random);
    // Each distance below half the ring gives two neighbors; half the ring gives one.
    let most = (vertices - 1) / 2;
    let wanted = (degree / 2) as usize;
    let mut distances = BTreeSet::new();
    if 2 * wanted > most as usize {
        // More than half of all distances are wanted: choose the distances to omit.
        distances.extend(1..=most);
        while distances.len() > wanted {
            distances.remove(&random.random_range(1..=most));
        }
    }
    while distances.len() < wanted {
        distances.insert(random.random_range(1..=most));
    }
    let opposite = (degree % 2 == 1).then_some(vertices / 2);
    let at = |position: u64| names[(position % u64::from(vertices)) as usize];
    let mut edges = Vec::with_capacity(vertices as usize * (wanted + 1));
    for distance in distances.into_iter().chain(opposite) {
        let edge = |position: u32| (at(position.into()), at(u64::from(position) + u64::from(distance)));
        edges.extend((0..vertices).map(edge));
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_vertex_has_the_degree_up_to_a_complete_graph() {
        for (vertices, degree) in [(2, 1), (10, 9), (10, 8), (9, 8), (11, 2), (50, 1), (50, 25), (50, 26)] {
            let mut neighbors = vec![HashSet::new(); vertices as usize];
            for (one, other) in uniform(vertices, degree, 7) {
                neighbors[one as usize].insert(other);
                neighbors[other as usize].insert(one);
            }
            for (vertex, set) in neighbors.iter().enumerate() {
                assert_eq!(set.len(), degree as usize, "vertex {vertex} of {vertices}");
                assert!(!set.contains(&(vertex as u32)));
            }
        }
    }
}
