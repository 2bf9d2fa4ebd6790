//! A static graph that is written as a whole, its vertices in the order of their keys.

use super::field::{check_weight, comes_back, unwritable_without};
use crate::serialized::MAX_VERTICES;
use crate::static_graph::{StaticGraph, StaticGraphBuilder, StaticGraphError};
use crate::{Batch, FormatError, GraphFormat, Remedy, VertexKey};
use hedgerow_kernels::csr::{BuildOptions, CsrAdjacency};
use hedgerow_model::{
    Column, Direction, GraphView, KeyKind, KeyRef, LabelId, Topology, VertexId, VertexIdError,
};
use rayon::ThreadPool;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Builds a [`Whole`].
pub(super) struct WholeBuilder<'p, K> {
    path: PathBuf,
    format: GraphFormat,
    graph: StaticGraphBuilder<'p, K>,
    pool: Option<&'p ThreadPool>,
    /// If keys are the numbers of vertices, the first number.
    kept_from: Option<u64>,
    /// True if edges have weights, which all or none have; `None` while there is no edge.
    has_weights: Option<bool>,
    weights: Vec<f64>,
}

/// A graph that is complete.
pub(super) struct Whole {
    path: PathBuf,
    graph: StaticGraph,
    /// The first id of a vertex.
    first: u32,
    has_weights: bool,
}

impl<'p, K: VertexKey> WholeBuilder<'p, K> {
    /// Accepts any keys, or, if `keep_ids`, numbers of vertices, if the format has any.
    pub fn new(path: &Path, format: GraphFormat, undirected: bool, keep_ids: bool) -> Self {
        let topology = match undirected {
            true => Topology::Undirected,
            false if is_serialized(format) => Topology::DirectedWithReverse,
            false => Topology::Directed,
        };
        let kept_from = if keep_ids { format.first_number() } else { None };
        let graph = StaticGraphBuilder::new(topology, K::KIND);
        // Text keys are no numbers, and refused if ids are kept.
        let keeps_ids = kept_from.is_some() && K::KIND == KeyKind::Number;
        let graph = if keeps_ids { graph.with_all_ids() } else { graph.in_key_order() };
        let (has_weights, weights) = (None, Vec::new());
        WholeBuilder { path: path.into(), format, graph, pool: None, kept_from, has_weights, weights }
    }

    /// Builds on the threads of a pool.
    pub fn on(self, pool: Option<&'p ThreadPool>) -> Self {
        WholeBuilder { graph: self.graph.on(pool), pool, ..self }
    }

    /// Adds vertices and edges, with their weights if `takes_weights`.
    pub fn add(&mut self, batch: &Batch<K>, takes_weights: bool) -> Result<(), FormatError> {
        if let Some(first) = self.kept_from {
            let ends = batch.edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
            let is_number = |key: &&K| key.as_number().is_some_and(|number| number >= first);
            if let Some(key) = batch.vertices.iter().chain(ends).find(|key| !is_number(key)) {
                let reason =
                    "vertices of this format are numbered from 1; without dense keys they are renumbered";
                return Err(unwritable_without(Remedy::MappedKeys, &self.path, &format!("{key:?}"), reason));
            }
        }
        self.take_weights(batch, takes_weights)?;
        let added = match self.has_weights {
            Some(true) => self.graph.add_weighted(batch, &self.weights),
            _ => self.graph.add(batch),
        };
        added.map_err(|error| not_built(&self.path, error))
    }

    /// Takes the weights of a batch, which must fit the format and the edges so far.
    fn take_weights(&mut self, batch: &Batch<K>, takes_weights: bool) -> Result<(), FormatError> {
        self.weights.clear();
        for edge in &batch.edges {
            let weight = edge.weight.filter(|_| takes_weights);
            match (weight, self.has_weights) {
                (None, None) if self.format == GraphFormat::WeightedSerialized => {
                    let reason = "write .sg, or a graph with weights";
                    return Err(refused(&self.path, "edges without weights".into(), reason));
                }
                (Some(_), None) => self.graph.give_weights(),
                (None, Some(true)) | (Some(_), Some(false)) => {
                    let reason =
                        "some edges have a weight, so that all must have one; leave weights out or add them";
                    return Err(unwritable_without(Remedy::NoWeights, &self.path, "no weight", reason));
                }
                _ => {}
            }
            self.has_weights = Some(weight.is_some());
            let Some(weight) = weight else { continue };
            check_weight(weight, &self.path)?;
            if self.format == GraphFormat::WeightedSerialized && !comes_back(weight) {
                let reason = "a weight in this format is a whole number of 32 bits with a sign";
                return Err(refused(&self.path, weight.to_string(), reason));
            }
            self.weights.push(weight);
        }
        Ok(())
    }

    /// Completes the graph.
    pub fn finish(self) -> Result<Whole, FormatError> {
        let WholeBuilder { path, format, graph, pool, kept_from, has_weights, .. } = self;
        let vertices = u64::from(graph.vertex_bound());
        if is_serialized(format) && vertices > MAX_VERTICES {
            return Err(refused(
                &path,
                format!("{vertices} vertices"),
                "this format can number 2,147,483,646",
            ));
        }
        let options = BuildOptions { pool, ..BuildOptions::default() };
        let graph = graph.finish(options).map_err(|error| not_built(&path, error))?;
        // A graph without vertices has no first one.
        let first = kept_from.map_or(0, |first| graph.csr().vertex_bound().min(first as u32));
        Ok(Whole { path, graph, first, has_weights: has_weights == Some(true) })
    }
}

impl Whole {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.graph.csr().vertex_bound() - self.first
    }

    /// The number of a vertex, from 0.
    pub fn number(&self, vertex: VertexId) -> u32 {
        vertex.get() - self.first
    }

    /// The key of a vertex.
    pub fn key(&self, vertex: VertexId) -> KeyRef<'_> {
        self.graph.key_of(vertex)
    }

    /// The keys by number, if they are not the numbers from `first` on.
    pub fn changed_keys<K: VertexKey>(&self, first: u64) -> Option<Vec<K>> {
        let keys = || (self.first..self.graph.csr().vertex_bound()).map(|id| self.key(VertexId::new(id)));
        let is_kept = keys().zip(first..).all(|(key, number)| key == KeyRef::Number(number));
        (!is_kept).then(|| keys().map(K::of_key).collect())
    }

    /// The offsets of the rows in one direction, from 0, and the neighbors.
    pub fn rows(&self, direction: Direction) -> (&[u64], &[VertexId]) {
        match self.has_weights {
            true => rows(&self.adjacency::<f64>(direction)),
            false => rows(&self.adjacency::<()>(direction)),
        }
    }

    /// The weights of the neighbors in one direction, if edges have weights.
    pub fn weights(&self, direction: Direction) -> Option<&[f64]> {
        self.has_weights.then(|| self.adjacency::<f64>(direction).values())
    }

    fn adjacency<W: Column>(&self, direction: Direction) -> CsrAdjacency<'_, W> {
        let adjacency = self.graph.csr().adjacency(LabelId::DEFAULT, direction);
        adjacency.expect("the format determined the topology, and the edges the values")
    }

    /// Iterates over rows of out-neighbors: the vertex, its neighbors, and their range among all.
    pub fn out(&self) -> impl Iterator<Item = (VertexId, &[VertexId], Range<usize>)> {
        let (offsets, neighbors) = self.rows(Direction::Out);
        (self.first..self.graph.csr().vertex_bound()).map(move |vertex| {
            let row = offsets[vertex as usize] as usize..offsets[vertex as usize + 1] as usize;
            (VertexId::new(vertex), &neighbors[row.clone()], row)
        })
    }
}

fn rows<'a, W: Column>(adjacency: &CsrAdjacency<'a, W>) -> (&'a [u64], &'a [VertexId]) {
    (adjacency.offsets(), adjacency.neighbors())
}

fn is_serialized(format: GraphFormat) -> bool {
    matches!(format, GraphFormat::Serialized | GraphFormat::WeightedSerialized)
}

#[cold]
fn not_built(path: &Path, source: StaticGraphError) -> FormatError {
    let too_many = |value| refused(path, value, "there can be 4294967295 vertices at most");
    match source {
        StaticGraphError::VertexId(VertexIdError(number)) => too_many(format!("vertex {number}")),
        StaticGraphError::Capacity(_) => too_many("4294967296 vertices".into()),
        source => FormatError::NotBuilt { path: path.into(), source },
    }
}

#[cold]
fn refused(path: &Path, value: String, reason: &'static str) -> FormatError {
    FormatError::Unwritable { path: path.into(), value, reason, remedy: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edge;

    #[test]
    fn rows_are_in_the_order_of_keys_and_the_last_weight_of_an_edge_counts() {
        let edges =
            [(30u64, 10, 1.0), (10, 30, 2.0), (10, 20, 3.0), (20, 20, 4.0), (10, 30, 5.0), (40, 10, 6.0)];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let rows = |format, undirected, direction| {
            let builder = WholeBuilder::new(Path::new("graph"), format, undirected, false);
            let mut builder = builder.on(Some(&pool));
            builder.add(&Batch { vertices: vec![50], edges: Vec::new() }, true).unwrap();
            for (source, destination, weight) in edges {
                let edge = Edge { weight: Some(weight), ..Edge::new(source, destination) };
                builder.add(&Batch { edges: vec![edge], vertices: Vec::new() }, true).unwrap();
            }
            let graph = builder.finish().unwrap();
            let (offsets, neighbors) = graph.rows(direction);
            let entries: Vec<_> = neighbors.iter().zip(graph.weights(direction).unwrap()).collect();
            let entry =
                |(neighbor, weight): &(&VertexId, &f64)| (graph.key(**neighbor).to_string(), **weight);
            let row = |ends: &[u64]| entries[ends[0] as usize..ends[1] as usize].iter().map(entry).collect();
            offsets.windows(2).map(row).collect::<Vec<Vec<_>>>()
        };
        let expected = |rows: &[&[(u64, f64)]]| {
            let row =
                |row: &&[(u64, f64)]| row.iter().map(|(key, weight)| (key.to_string(), *weight)).collect();
            rows.iter().map(row).collect::<Vec<Vec<_>>>()
        };
        let directed = |direction| rows(GraphFormat::WeightedSerialized, false, direction);
        let out: [&[_]; 5] = [&[(20, 3.0), (30, 5.0)], &[(20, 4.0)], &[(10, 1.0)], &[(10, 6.0)], &[]];
        assert_eq!(directed(Direction::Out), expected(&out));
        let back: [&[_]; 5] = [&[(30, 1.0), (40, 6.0)], &[(10, 3.0), (20, 4.0)], &[(10, 5.0)], &[], &[]];
        assert_eq!(directed(Direction::In), expected(&back));
        let both: [&[_]; 5] =
            [&[(20, 3.0), (30, 5.0), (40, 6.0)], &[(10, 3.0), (20, 4.0)], &[(10, 5.0)], &[(10, 6.0)], &[]];
        assert_eq!(rows(GraphFormat::MatrixMarket, true, Direction::Out), expected(&both));
    }
}
