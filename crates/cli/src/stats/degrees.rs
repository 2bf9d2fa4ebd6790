//! Degree statistics.

use crate::text;
use hedgerow::kernels::{Adjacency, Execution, GraphView, Kernel, KernelError, scan_each_edge};
use hedgerow::{Direction, LabelId, VertexId};
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// The longest bar of a histogram, in characters.
const LONGEST_BAR: u64 = 40;

/// Counts the edges of every vertex, including each of several parallel edges.
pub struct DegreeCensus<'a> {
    /// The edges that count.
    pub label: LabelId,
    /// The name of the degree.
    pub name: &'static str,
    /// The direction of the neighbors.
    pub direction: Direction,
    /// The execution options.
    pub execution: Execution<'a>,
}

/// The degrees of all vertices.
#[derive(Debug, Serialize)]
pub struct Degrees {
    name: &'static str,
    min: u64,
    mean: f64,
    max: u64,
    /// Vertices by degree; each bin is twice as wide as its predecessor.
    histogram: Vec<Bin>,
    /// The sum of all degrees.
    #[serde(skip)]
    pub sum: u64,
    /// Edges from a vertex to itself.
    #[serde(skip)]
    pub self_loops: u64,
}

/// Vertices with a degree from `from` to `to`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Bin {
    from: u64,
    to: u64,
    vertices: u64,
}

/// The counts over a range of vertices.
#[derive(Clone, Debug)]
struct Tally {
    /// Indexed by the number of bits of the degree; excludes vertices without neighbors.
    by_bits: [u64; 65],
    min: u64,
    max: u64,
    sum: u64,
    self_loops: u64,
}

impl Kernel for DegreeCensus<'_> {
    type Output = Degrees;

    /// O(vertices + edges), little memory.
    fn run<V: GraphView>(self, view: &V) -> Result<Degrees, KernelError> {
        let adjacency = view.adjacency::<()>(self.label, self.direction)?;
        let cuts = adjacency.cuts(self.execution.parts())?;
        let tallies = self.execution.map_chunks(cuts, |range| self.count(view, range))?;
        let mut tally = tallies.into_iter().fold(Tally::default(), |sum, tally| sum.plus(&tally));
        tally.add_isolated(view.vertex_count() - tally.vertices());
        Ok(tally.summed_up(self.name))
    }
}

impl DegreeCensus<'_> {
    fn count(&self, view: &impl GraphView, range: Range<u32>) -> Result<Tally, KernelError> {
        let mut tally = Tally::default();
        let mut current: Option<(VertexId, u64)> = None;
        scan_each_edge(view, self.label, self.direction, range, |vertex, neighbors| {
            let run = neighbors.len() as u64;
            tally.self_loops += neighbors.iter().filter(|neighbor| **neighbor == vertex).count() as u64;
            // The neighbors of a vertex may come in several runs.
            match &mut current {
                Some((owner, degree)) if *owner == vertex => *degree += run,
                _ => {
                    let before = current.replace((vertex, run));
                    before.into_iter().for_each(|(_, degree)| tally.add(degree));
                }
            }
        })?;
        current.into_iter().for_each(|(_, degree)| tally.add(degree));
        Ok(tally)
    }
}

impl Default for Tally {
    fn default() -> Self {
        Tally { by_bits: [0; 65], min: u64::MAX, max: 0, sum: 0, self_loops: 0 }
    }
}

impl Tally {
    fn add(&mut self, degree: u64) {
        self.by_bits[bits(degree)] += 1;
        self.min = self.min.min(degree);
        self.max = self.max.max(degree);
        self.sum += degree;
    }

    fn add_isolated(&mut self, vertices: u64) {
        if vertices > 0 {
            self.by_bits[0] += vertices;
            self.min = 0;
        }
    }

    fn plus(mut self, other: &Tally) -> Tally {
        self.by_bits.iter_mut().zip(other.by_bits).for_each(|(sum, more)| *sum += more);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.self_loops += other.self_loops;
        self
    }

    fn vertices(&self) -> u64 {
        self.by_bits.iter().sum()
    }

    fn summed_up(&self, name: &'static str) -> Degrees {
        let vertices = self.vertices();
        let bins = if vertices == 0 { 0 } else { bits(self.max) + 1 };
        let bin = |bits: usize| {
            let from = if bits == 0 { 0 } else { 1 << (bits - 1) };
            Bin { from, to: (from * 2).saturating_sub(1), vertices: self.by_bits[bits] }
        };
        Degrees {
            name,
            min: if vertices == 0 { 0 } else { self.min },
            mean: if vertices == 0 { 0.0 } else { self.sum as f64 / vertices as f64 },
            max: self.max,
            histogram: (0..bins).map(bin).collect(),
            sum: self.sum,
            self_loops: self.self_loops,
        }
    }
}

/// The number of bits of a degree; its bins are 0, 1, 2-3, 4-7, …
fn bits(degree: u64) -> usize {
    (u64::BITS - degree.leading_zeros()) as usize
}

impl Degrees {
    /// The name of the degree.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The bins of the histogram: a range of degrees, and the number of vertices in it.
    pub fn bins(&self) -> Vec<(String, u64)> {
        self.histogram.iter().map(|bin| (bin.to_string(), bin.vertices)).collect()
    }
}

impl fmt::Display for Bin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bin { from, to, .. } = self;
        if from >= to { write!(f, "{from}") } else { write!(f, "{from}-{to}") }
    }
}

impl fmt::Display for Degrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Degrees { name, min, mean, max, .. } = self;
        writeln!(f, "{name}: min {min}, mean {mean:.2}, max {max}")?;
        let most = self.histogram.iter().map(|bin| bin.vertices).max().unwrap_or(0).max(1);
        for bin in &self.histogram {
            let degrees = bin.to_string();
            let bar = "#".repeat((bin.vertices * LONGEST_BAR).div_ceil(most) as usize);
            let line = format!("{degrees:>17} {:>13} {bar}", text::Count(bin.vertices).to_string());
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::Topology;
    use hedgerow::kernels::{BuildOptions, Csr};

    fn census(vertices: u32, edges: &[(u32, u32)]) -> Degrees {
        let id = VertexId::new;
        let edges: Vec<_> =
            edges.iter().map(|(source, destination)| (id(*source), id(*destination))).collect();
        let graph = Csr::from_edges(vertices, Topology::Directed, &edges, BuildOptions::default()).unwrap();
        let kernel = DegreeCensus {
            label: LabelId::DEFAULT,
            name: "out-degree",
            direction: Direction::Out,
            execution: Execution::default(),
        };
        kernel.run(&graph).unwrap()
    }

    #[test]
    fn vertices_without_neighbors_count() {
        let degrees = census(6, &[(1, 0), (1, 1), (1, 2), (2, 2), (3, 0), (3, 1), (3, 2), (3, 4)]);
        assert_eq!((degrees.min, degrees.max, degrees.self_loops), (0, 4, 2));
        assert!((degrees.mean - 8.0 / 6.0).abs() < 1e-12);
        let bin = |from, to, vertices| Bin { from, to, vertices };
        assert_eq!(degrees.histogram, [bin(0, 0, 3), bin(1, 1, 1), bin(2, 3, 1), bin(4, 7, 1)]);
    }

    #[test]
    fn the_least_degree_is_not_zero_if_every_vertex_has_neighbors() {
        assert_eq!(census(2, &[(0, 1), (1, 0)]).min, 1);
    }

    #[test]
    fn an_empty_graph_has_no_degrees() {
        let degrees = census(0, &[]);
        assert_eq!((degrees.min, degrees.max, degrees.histogram.len()), (0, 0, 0));
        assert_eq!(degrees.to_string(), "out-degree: min 0, mean 0.00, max 0\n");
    }
}
