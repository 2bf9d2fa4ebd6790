//! The graph that all stores hold, and the calls that they answer.
//!
//! Calls come in batches, each with its correct answer as a sum. A plain map of the graph computes
//! the sums before the measurement.

use crate::compare::graph::Graph;
use clap::ValueEnum;
use hedgerow::Properties;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The keys of the source and of the destination of an edge.
pub type Ends = (u64, u64);

/// Calls per batch.
const BATCH: usize = 1 << 12;

/// Maximum number of batches per kind of call: with more batches, caches would hold none of their
/// data.
const BATCHES: usize = 1 << 6;

/// The kind of vertex keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// Numbers of 64 bits, like those of users or accounts, in no order.
    Numbers,
    /// The numbers from 0.
    Dense,
}

impl Keys {
    /// The key of a vertex.
    fn of(self, vertex: u32) -> u64 {
        match self {
            Keys::Numbers => scattered(vertex.into()),
            Keys::Dense => vertex.into(),
        }
    }
}

/// A number of 64 bits, different for every input (the last steps of the generator `SplitMix64`).
fn scattered(number: u64) -> u64 {
    let number = (number ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// The record of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Properties)]
pub struct Payment {
    /// The amount paid.
    pub amount: f64,
    /// The time of the payment.
    pub time: i64,
}

impl Payment {
    /// A number that changes with either property.
    pub fn sum(&self) -> u64 {
        (self.amount as u64).wrapping_add(self.time as u64)
    }
}

/// The number on an edge: an integer, so that sums are exact.
pub fn number_of((source, destination): Ends) -> f64 {
    f64::from(scattered(source.rotate_left(32) ^ destination) as u16)
}

/// The record of an edge.
pub fn payment_of(ends: Ends) -> Payment {
    let time = 1_700_000_000_000_000 + i64::from(scattered(ends.0.wrapping_sub(ends.1)) as u32);
    Payment { amount: number_of(ends), time }
}

/// Edges to look up.
#[derive(Debug)]
pub struct Edges {
    /// The ends of the edges.
    pub ends: Vec<Ends>,
    /// The number of `ends` whose edge exists.
    pub found: u64,
    /// The sum of the numbers on the existing edges.
    pub numbers: u64,
    /// The sum of the records of the existing edges.
    pub payments: u64,
}

/// Vertices whose neighbors are read.
#[derive(Debug)]
pub struct Sources {
    /// The vertices.
    pub keys: Vec<u64>,
    /// The sum of the keys of all neighbors.
    pub neighbors: u64,
    /// The sum of the degrees.
    pub degrees: u64,
}

/// The graph and the calls.
#[derive(Debug)]
pub struct Work {
    /// The kind of keys.
    pub keys: Keys,
    /// The edges in the order in which they are put.
    pub edges: Vec<Ends>,
    /// Edges of which half exist.
    pub some: Vec<Edges>,
    /// Edges that exist.
    pub existing: Vec<Edges>,
    /// Missing edges between existing vertices, each once.
    pub absent: Vec<Vec<Ends>>,
    /// Vertices that have neighbors.
    pub sources: Vec<Sources>,
}

impl Work {
    /// The calls on a graph.
    pub fn new(graph: &Graph, keys: Keys, seed: u64) -> Self {
        let ends = |(source, destination): &(hedgerow::VertexId, hedgerow::VertexId)| {
            (keys.of(source.get()), keys.of(destination.get()))
        };
        let edges: Vec<Ends> = graph.stream.iter().map(ends).collect();
        let model = Model::of(&edges);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut any = || edges[random.random_range(0..edges.len())];
        let calls = (BATCH * BATCHES).min(4 * edges.len());
        let existing: Vec<Ends> = (0..calls).map(|_| any()).collect();
        // Vertices are chosen uniformly: most sources of random edges would be hubs.
        let vertices: Vec<u64> = {
            let mut seen = HashSet::new();
            edges.iter().map(|(source, _)| *source).filter(|source| seen.insert(*source)).collect()
        };
        let mut vertex = || vertices[random.random_range(0..vertices.len())];
        let sources: Vec<u64> = (0..calls).map(|_| vertex()).collect();
        // Missing edges have the sources of existing ones, so that both are equally frequent at a
        // vertex.
        let missing = |ends: &Ends| (ends.0, vertex());
        let missing: Vec<Ends> = existing.iter().map(missing).collect();
        let pairs = existing.iter().zip(&missing).enumerate();
        let some: Vec<Ends> =
            pairs.map(|(at, (one, other))| *if at % 2 == 0 { one } else { other }).collect();
        let mut fresh = HashSet::new();
        let mut absent = Vec::new();
        let most = (vertices.len() * vertices.len()).saturating_sub(edges.len()) / 2;
        while absent.len() < most.min(calls) {
            let ends = (vertex(), vertex());
            if !model.edges.contains(&ends) && fresh.insert(ends) {
                absent.push(ends);
            }
        }
        Work {
            keys,
            some: some.chunks(BATCH).map(|ends| model.edges(ends)).collect(),
            existing: existing.chunks(BATCH).map(|ends| model.edges(ends)).collect(),
            absent: absent.chunks(BATCH).map(<[Ends]>::to_vec).collect(),
            sources: sources.chunks(BATCH).map(|keys| model.sources(keys)).collect(),
            edges,
        }
    }
}

/// The graph as a plain map, which computes correct answers.
struct Model {
    edges: HashSet<Ends>,
    /// The degree of each vertex, and the sum of the keys of its neighbors.
    rows: HashMap<u64, (u64, u64)>,
}

impl Model {
    fn of(edges: &[Ends]) -> Self {
        let mut rows: HashMap<u64, (u64, u64)> = HashMap::new();
        for (source, destination) in edges {
            let (degree, sum) = rows.entry(*source).or_default();
            (*degree, *sum) = (*degree + 1, sum.wrapping_add(*destination));
        }
        Model { edges: edges.iter().copied().collect(), rows }
    }

    fn edges(&self, ends: &[Ends]) -> Edges {
        let found: Vec<Ends> = ends.iter().filter(|ends| self.edges.contains(ends)).copied().collect();
        Edges {
            ends: ends.to_vec(),
            found: found.len() as u64,
            numbers: found.iter().map(|ends| number_of(*ends) as u64).sum(),
            payments: found.iter().map(|ends| payment_of(*ends).sum()).fold(0, u64::wrapping_add),
        }
    }

    fn sources(&self, keys: &[u64]) -> Sources {
        let rows = || keys.iter().filter_map(|key| self.rows.get(key));
        Sources {
            keys: keys.to_vec(),
            neighbors: rows().map(|(_, sum)| *sum).fold(0, u64::wrapping_add),
            degrees: rows().map(|(degree, _)| degree).sum(),
        }
    }
}
