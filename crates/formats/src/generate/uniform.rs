//! Graphs with uniformly random edges.

use super::random::{Random, spread};

/// Ids have 32 bits, and one is reserved.
const MAX_VERTICES: u64 = (1 << 32) - 1;

/// A graph in which every edge joins two random vertices, all with the same probability.
///
/// The model of Erdős and Rényi with a given number of edges, except that self loops and repeated
/// edges occur: almost none among few edges of many vertices. Edge `i` depends only on the seed and
/// on `i`, so edges can be generated in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    vertices: u64,
    edges: u64,
    seed: u64,
}

/// A uniform graph that cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{vertices} vertices, expected 1 to {MAX_VERTICES}, or none if there are no edges")]
pub struct UniformError {
    /// The requested number of vertices.
    vertices: u64,
}

impl Uniform {
    /// A graph of `vertices` vertices and `edges` edges.
    ///
    /// # Errors
    /// More than 2^32 - 1 vertices, or edges but no vertices.
    pub fn new(vertices: u64, edges: u64, seed: u64) -> Result<Self, UniformError> {
        if vertices > MAX_VERTICES || (vertices == 0 && edges > 0) {
            return Err(UniformError { vertices });
        }
        Ok(Uniform { vertices, edges, seed: spread(seed) })
    }

    /// The vertex bound: vertices are numbered from 0.
    #[must_use]
    pub fn vertices(&self) -> u64 {
        self.vertices
    }

    /// Number of edges, self loops and repeated ones counted.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Edge `index`: source and destination. O(1).
    ///
    /// # Panics
    /// If `index` is not below [`edges`](Self::edges).
    #[must_use]
    pub fn edge(&self, index: u64) -> (u64, u64) {
        assert!(index < self.edges, "edge {index} of {}", self.edges);
        let mut random = Random::of_index(self.seed, index);
        (random.below(self.vertices), random.below(self.vertices))
    }
}

/// Weights for the edges of a generated graph: whole numbers from 1 to 255, all with the same
/// probability.
///
/// The weight of edge `i` depends only on the seed and on `i`, and is unrelated to its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    seed: u64,
}

impl Weights {
    /// The largest weight.
    pub const MAX: u64 = 255;

    /// Weights of a graph made with the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Weights { seed: spread(!spread(seed)) }
    }

    /// The weight of edge `index`. O(1).
    #[must_use]
    pub fn weight(&self, index: u64) -> u64 {
        1 + Random::of_index(self.seed, index).below(Self::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_vertices_is_as_likely_as_any_other() {
        let graph = Uniform::new(8, 64_000, 3).unwrap();
        let mut counts = [0u32; 64];
        (0..graph.edges())
            .map(|index| graph.edge(index))
            .for_each(|(s, d)| counts[(8 * s + d) as usize] += 1);
        // 1000 of each are expected; five standard deviations are 157.
        assert!(counts.iter().all(|count| (843..=1157).contains(count)), "{counts:?}");
        let weights = Weights::new(3);
        let mut counts = [0u32; 256];
        (0..255_000).for_each(|index| counts[weights.weight(index) as usize] += 1);
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().all(|count| (842..=1158).contains(count)), "{counts:?}");
    }

    /// Figures and files name a seed: it must give the same graph in every version.
    #[test]
    fn a_seed_gives_the_same_graph_for_ever() {
        let graph = Uniform::new(1 << 20, 1 << 24, 42).unwrap();
        let first: Vec<_> = (0..3).map(|index| graph.edge(index)).collect();
        assert_eq!(first, [(809_559, 400_190), (349_207, 176_891), (835_962, 70_560)]);
        let weights: Vec<_> = (0..5).map(|index| Weights::new(42).weight(index)).collect();
        assert_eq!(weights, [223, 43, 162, 62, 3]);
    }

    #[test]
    fn impossible_graphs_are_refused() {
        assert!(Uniform::new(0, 1, 0).is_err());
        assert!(Uniform::new(1 << 32, 1, 0).is_err());
        assert_eq!(Uniform::new(0, 0, 0).unwrap().edges(), 0);
        let largest = Uniform::new(MAX_VERTICES, u64::MAX, 0).unwrap();
        let (source, destination) = largest.edge(u64::MAX - 1);
        assert!(source < MAX_VERTICES && destination < MAX_VERTICES);
    }
}
