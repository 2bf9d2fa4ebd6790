//! Graphs as shuffled streams of adjacency entries.

mod file;
mod name;
mod synthetic;

use crate::{BenchError, Step, Watch};
use hedgerow::VertexId;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rayon::slice::ParallelSliceMut;
use std::path::Path;

pub(crate) use name::Name;

/// A directed adjacency entry: a vertex and one of its neighbors.
pub type Entry = (VertexId, VertexId);

/// An undirected graph without self loops and repeated edges, as a shuffled stream of directed
/// adjacency entries with both directions of every edge.
#[derive(Clone, Debug)]
pub struct DataSet {
    name: String,
    vertices: u32,
    stream: Vec<Entry>,
}

impl DataSet {
    /// Generates the data set called `name`, or reads the file of that name.
    ///
    /// # Errors
    /// Neither exists, the file cannot be read, or it has no edge.
    pub fn named(name: &str, seed: u64, watch: &Watch<'_>) -> Result<DataSet, BenchError> {
        let known = Name::parse(name)?;
        watch.begin(&Step { position: None, what: format!("making {name}") });
        let (vertices, edges) = match known {
            Some(known) => synthetic::edges(known, seed)?,
            None if Path::new(name).exists() => file::edges(Path::new(name), watch)?,
            None => return Err(BenchError::UnknownDataSet(name.to_owned())),
        };
        let data = DataSet::new(name, vertices, edges, seed);
        if watch.cancel.is_cancelled() {
            return Err(BenchError::Cancelled);
        }
        if data.stream.is_empty() {
            return Err(BenchError::NoEdges(name.to_owned()));
        }
        Ok(data)
    }

    /// Stores both directions of every edge, each once, without self loops, shuffled.
    fn new(name: &str, vertices: u32, edges: Vec<(u32, u32)>, seed: u64) -> Self {
        let packed = |source: u32, destination: u32| u64::from(source) << 32 | u64::from(destination);
        let mut entries = Vec::with_capacity(2 * edges.len());
        for (source, destination) in edges.iter().filter(|(source, destination)| source != destination) {
            entries.extend([packed(*source, *destination), packed(*destination, *source)]);
        }
        drop(edges);
        entries.par_sort_unstable();
        entries.dedup();
        let unpack = |entry: u64| (VertexId::new((entry >> 32) as u32), VertexId::new(entry as u32));
        let mut stream: Vec<Entry> = entries.into_iter().map(unpack).collect();
        stream.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        DataSet { name: name.to_owned(), vertices, stream }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Vertices are numbered from 0 to below this bound.
    #[must_use]
    pub fn vertices(&self) -> u32 {
        self.vertices
    }

    /// The adjacency entries in the order in which they are inserted.
    #[must_use]
    pub fn stream(&self) -> &[(VertexId, VertexId)] {
        &self.stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn named(name: &str, seed: u64) -> Result<DataSet, BenchError> {
        DataSet::named(name, seed, &Watch::default())
    }

    #[test]
    fn every_edge_is_there_in_both_directions_once_and_none_is_a_loop() {
        for name in ["kron-8", "sparse-9", "uniform-100x7"] {
            let data = named(name, 3).unwrap();
            let entries: HashSet<Entry> = data.stream().iter().copied().collect();
            assert_eq!(entries.len(), data.stream().len(), "{name}");
            for (source, destination) in entries.iter().copied() {
                assert_ne!(source, destination);
                assert!(entries.contains(&(destination, source)));
                assert!(source.get() < data.vertices());
            }
        }
    }

    #[test]
    fn scales_factors_and_degrees_are_those_of_the_name() {
        let kron = named("kron-10", 1).unwrap();
        assert_eq!(kron.vertices(), 1 << 10);
        // Of 2 * 16 * 2^10 entries, duplicates and loops are removed: about a third at this scale.
        assert!((15_000..32 << 10).contains(&kron.stream().len()), "{}", kron.stream().len());
        let sparse = named("sparse-10", 1).unwrap();
        assert!((9_000..12 << 10).contains(&sparse.stream().len()), "{}", sparse.stream().len());
        let uniform = named("uniform-64x5", 1).unwrap();
        let mut degrees = [0; 64];
        uniform.stream().iter().for_each(|(source, _)| degrees[source.index()] += 1);
        assert_eq!(degrees, [5; 64]);
    }

    #[test]
    fn a_seed_gives_the_same_stream_and_another_one_another() {
        assert_eq!(named("kron-8", 1).unwrap().stream(), named("kron-8", 1).unwrap().stream());
        assert_ne!(named("kron-8", 1).unwrap().stream(), named("kron-8", 2).unwrap().stream());
        let stream = named("uniform-64x5", 1).unwrap().stream;
        assert!(!stream.is_sorted(), "it is shuffled");
    }
}
