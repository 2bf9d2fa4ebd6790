//! The Kronecker generator of the Graph 500 benchmark.

use super::random::{Random, spread};
use super::shuffle::Shuffle;
use std::ops::Range;

/// Bits of the integers that represent probabilities.
const PROBABILITY_BITS: u32 = 32;

/// A synthetic graph with the skewed degrees of a social network.
///
/// The generator of the Graph 500 benchmark (specification, section "Generating the Edge List"),
/// which is R-MAT ("R-MAT: A Recursive Model for Graph Mining", section 3) with a = 0.57, b = c =
/// 0.19: each edge chooses one quadrant of the adjacency matrix, then one quadrant of that, down to
/// a cell. Self loops and repeated edges occur, as the benchmark requires.
///
/// Edge `i` depends only on the seed and on `i`. So edges can be generated in any order, in
/// parallel, and without storing any. They come in random order; and vertex numbers are shuffled by
/// a seeded bijection, so that a number is unrelated to the degree. Only integers are compared and
/// mixed: a seed gives the same graph on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kronecker {
    scale: u32,
    edges: u64,
    seed: u64,
    thresholds: Thresholds,
    shuffle: Shuffle,
}

/// A graph that cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KroneckerError {
    /// Too few or too many vertices.
    #[error("the scale is {0}, expected 1 to {max}: the graph has 2^scale vertices", max = Kronecker::MAX_SCALE)]
    Scale(u32),
    /// The number of edges does not fit in 64 bits.
    #[error("{edge_factor} edges for each of 2^{scale} vertices are more than 2^64")]
    TooManyEdges {
        /// The scale.
        scale: u32,
        /// The edge factor.
        edge_factor: u64,
    },
    /// Not a probability distribution.
    #[error("the probabilities {0}, {1} and {2} must not be negative and must add up to at most 1")]
    Probabilities(f64, f64, f64),
}

impl Kronecker {
    /// The largest scale: vertex ids have 32 bits, and one is reserved.
    pub const MAX_SCALE: u32 = 31;

    /// A graph of 2^`scale` vertices and `edge_factor` · 2^`scale` edges.
    ///
    /// # Errors
    /// The scale is not 1 to 31, or there are more than 2^64 edges.
    pub fn new(scale: u32, edge_factor: u64, seed: u64) -> Result<Self, KroneckerError> {
        if !(1..=Self::MAX_SCALE).contains(&scale) {
            return Err(KroneckerError::Scale(scale));
        }
        let edges =
            edge_factor.checked_mul(1 << scale).ok_or(KroneckerError::TooManyEdges { scale, edge_factor })?;
        let seed = spread(seed);
        let thresholds = Thresholds::new(0.57, 0.19, 0.19);
        Ok(Kronecker { scale, edges, seed, thresholds, shuffle: Shuffle::new(scale, seed) })
    }

    /// Sets the probabilities of the quadrants: `a` for both ends in the lower half, `b` for only
    /// the source, `c` for only the destination. The remainder to 1 is for neither.
    ///
    /// # Errors
    /// A probability is negative or NaN, or their sum is above 1.
    pub fn with_probabilities(mut self, a: f64, b: f64, c: f64) -> Result<Self, KroneckerError> {
        /// Tolerated rounding error in the sum of three decimal fractions.
        const ROUNDING: f64 = 1e-9;
        let is_distribution = [a, b, c].iter().all(|p| *p >= 0.0) && a + b + c <= 1.0 + ROUNDING;
        if !is_distribution {
            return Err(KroneckerError::Probabilities(a, b, c));
        }
        self.thresholds = Thresholds::new(a, b, c);
        Ok(self)
    }

    /// Number of edges, self loops and repeated ones counted.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// The vertex bound: vertices are numbered from 0; many have no edge.
    #[must_use]
    pub fn vertices(&self) -> u64 {
        1 << self.scale
    }

    /// Edge `index`: source and destination. O(scale).
    ///
    /// # Panics
    /// If `index` is not below [`edges`](Self::edges).
    #[must_use]
    pub fn edge(&self, index: u64) -> (u64, u64) {
        assert!(index < self.edges, "edge {index} of {}", self.edges);
        self.shuffled_edge(index)
    }

    /// Appends the edges of `range` to `edges`.
    ///
    /// # Panics
    /// If the range ends above [`edges`](Self::edges).
    pub fn fill(&self, range: Range<u64>, edges: &mut Vec<(u64, u64)>) {
        assert!(range.end <= self.edges, "edges up to {} of {}", range.end, self.edges);
        edges.extend(range.map(|index| self.shuffled_edge(index)));
    }

    #[inline]
    fn shuffled_edge(&self, index: u64) -> (u64, u64) {
        let (source, destination) = self.cell(index);
        (self.shuffle.apply(source), self.shuffle.apply(destination))
    }

    /// The cell of the adjacency matrix that edge `index` falls into, before the shuffle.
    #[inline]
    fn cell(&self, index: u64) -> (u64, u64) {
        let mut random = Random::of_index(self.seed, index);
        let (mut source, mut destination) = (0, 0);
        let mut level = 0;
        while level < self.scale {
            // One word decides two levels.
            let word = random.next();
            for draw in [word >> PROBABILITY_BITS, word & u64::from(u32::MAX)] {
                let (source_bit, destination_bit) = self.thresholds.quadrant(draw);
                source = source << 1 | source_bit;
                destination = destination << 1 | destination_bit;
            }
            level += 2;
        }
        // For an odd scale, the last level was one too many.
        let unused = level - self.scale;
        (source >> unused, destination >> unused)
    }
}

/// The sums a, a + b and a + b + c, as parts of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thresholds {
    a: u64,
    ab: u64,
    abc: u64,
}

impl Thresholds {
    fn new(a: f64, b: f64, c: f64) -> Self {
        // Sums, a product with a power of two and rounding: exact or identical on every machine.
        let part = |probability: f64| (probability * (1u64 << PROBABILITY_BITS) as f64).round() as u64;
        Thresholds { a: part(a), ab: part(a + b), abc: part(a + b + c) }
    }

    /// The bits of source and destination for a draw below 2^32. Branchless, since a branch would
    /// be mispredicted every other time.
    #[inline]
    fn quadrant(self, draw: u64) -> (u64, u64) {
        let (a, ab, abc) = (draw >= self.a, draw >= self.ab, draw >= self.abc);
        (u64::from(ab), u64::from(a ^ ab ^ abc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn degrees(graph: &Kronecker, cell: impl Fn(&Kronecker, u64) -> u64) -> Vec<u64> {
        let mut degrees = vec![0; graph.vertices() as usize];
        (0..graph.edges()).for_each(|index| degrees[cell(graph, index) as usize] += 1);
        degrees
    }

    /// Returns true if `count` of `trials` matches `probability` within five standard deviations.
    fn is_likely(count: u64, trials: u64, probability: f64) -> bool {
        let expected = trials as f64 * probability;
        let deviation = (expected * (1.0 - probability)).sqrt();
        (count as f64 - expected).abs() <= 5.0 * deviation
    }

    #[test]
    fn every_level_chooses_quadrants_with_their_probabilities_independently() {
        let graph = Kronecker::new(11, 64, 3).unwrap();
        let probabilities = [0.57, 0.19, 0.19, 1.0 - 0.57 - 0.19 - 0.19];
        let quadrant = |(source, destination): (u64, u64), level: u32| {
            ((source >> level & 1) << 1 | (destination >> level & 1)) as usize
        };
        let cells: Vec<(u64, u64)> = (0..graph.edges()).map(|index| graph.cell(index)).collect();
        for level in 0..11 {
            let mut counts = [[0; 4]; 4];
            let next = (level + 1) % 11;
            cells.iter().for_each(|cell| counts[quadrant(*cell, level)][quadrant(*cell, next)] += 1);
            for (first, row) in counts.iter().enumerate() {
                assert!(is_likely(row.iter().sum(), graph.edges(), probabilities[first]), "{level} {row:?}");
                for (second, count) in row.iter().enumerate() {
                    let both = probabilities[first] * probabilities[second];
                    assert!(is_likely(*count, graph.edges(), both), "{level} {first} {second}: {count}");
                }
            }
        }
    }

    #[test]
    fn degrees_are_skewed_as_the_probabilities_say() {
        let graph = Kronecker::new(12, 16, 1).unwrap();
        // Vertex 0 before the shuffle is the source if every level chose a or b.
        let hub = |a_and_b: f64| a_and_b.powi(12);
        let mut cells = degrees(&graph, |graph, index| graph.cell(index).0);
        assert!(is_likely(cells[0], graph.edges(), hub(0.76)), "{}", cells[0]);
        // The shuffle renames vertices and changes no degree.
        let mut shuffled = degrees(&graph, |graph, index| graph.edge(index).0);
        assert_ne!(cells, shuffled);
        cells.sort_unstable();
        shuffled.sort_unstable();
        assert_eq!(cells, shuffled);
        // The median degree is far below the mean degree.
        assert!(cells[2048] * 3 < 16, "{}", cells[2048]);

        let even = graph.with_probabilities(0.25, 0.25, 0.25).unwrap();
        let cells = degrees(&even, |graph, index| graph.cell(index).0);
        assert!(cells.iter().all(|degree| is_likely(*degree, even.edges(), hub(0.5))));
    }

    #[test]
    fn a_vertex_number_tells_nothing_of_its_degree() {
        let graph = Kronecker::new(12, 16, 5).unwrap();
        let degrees = degrees(&graph, |graph, index| graph.edge(index).0);
        let mean = 16.0;
        let variance: f64 =
            degrees.iter().map(|degree| (*degree as f64 - mean).powi(2)).sum::<f64>() / 4096.0;
        for bit in 0..12 {
            let ones = degrees.iter().enumerate().filter(|(vertex, _)| vertex >> bit & 1 == 1);
            let half: u64 = ones.map(|(_, degree)| degree).sum();
            // A random half of the vertices: its sum has n/4 times the variance of a degree.
            let deviation = (variance * 4096.0 / 4.0).sqrt();
            assert!((half as f64 - mean * 2048.0).abs() < 5.0 * deviation, "bit {bit}: {half}");
        }
    }

    proptest! {
        #[test]
        fn filling_is_the_same_as_asking_one_by_one(seed: u64, scale in 1u32..12, cut in 0u64..16) {
            let graph = Kronecker::new(scale, 8, seed).unwrap();
            let mut edges = vec![(7, 7)];
            graph.fill(0..cut, &mut edges);
            graph.fill(cut..16, &mut edges);
            prop_assert_eq!(edges.remove(0), (7, 7));
            prop_assert_eq!(&edges, &(0..16).map(|index| graph.edge(index)).collect::<Vec<_>>());
            let bound = graph.vertices();
            prop_assert!(edges.iter().all(|(source, destination)| *source < bound && *destination < bound));
        }
    }

    /// Published figures name a seed: it must give the same graph in every version.
    #[test]
    fn a_seed_gives_the_same_graph_for_ever() {
        let graph = Kronecker::new(20, 16, 42).unwrap();
        let first: Vec<_> = (0..3).map(|index| graph.edge(index)).collect();
        assert_eq!(first, [(138_671, 615_665), (272_346, 1_046_394), (920_890, 294_160)]);
        assert_ne!(first, (0..3).map(|i| Kronecker::new(20, 16, 43).unwrap().edge(i)).collect::<Vec<_>>());
    }

    #[test]
    fn impossible_graphs_are_refused() {
        assert_eq!(Kronecker::new(0, 16, 0), Err(KroneckerError::Scale(0)));
        assert_eq!(Kronecker::new(32, 16, 0), Err(KroneckerError::Scale(32)));
        assert!(matches!(Kronecker::new(31, 1 << 33, 0), Err(KroneckerError::TooManyEdges { .. })));
        let graph = Kronecker::new(31, 16, 0).unwrap();
        assert_eq!(graph.edges(), 1 << 35);
        for (a, b, c) in [(0.5, 0.5, 0.1), (-0.1, 0.5, 0.5), (f64::NAN, 0.1, 0.1), (f64::INFINITY, 0.0, 0.0)]
        {
            assert!(graph.clone().with_probabilities(a, b, c).is_err(), "{a} {b} {c}");
        }
        let corner = graph.with_probabilities(1.0, 0.0, 0.0).unwrap();
        assert_eq!(corner.cell(9), (0, 0));
    }
}
