//! The structures that hold the rows of the graph.

use crate::compare::graph::{Edge, Graph};
use crate::compare::stores::hedgerow::Sum;
use crate::compare::stores::{self, EdgeStore};
use anyhow::Result;
use hedgerow::kernels::{BuildOptions, Csr, Kernel};
use hedgerow::{Durability, EngineKind, GraphOptions, KeyKind, LabelId, Topology, VertexId};
use std::path::Path;

/// The structure that all others are compared with.
pub const REFERENCE: &str = "csr";

/// Edges per transaction.
const AT_ONCE: usize = 1 << 16;

/// The rows of a graph.
pub trait Rows {
    /// Sums the first `most` neighbors of each of some vertices.
    fn sum(&self, sources: &[VertexId], most: usize) -> Result<u64>;
}

/// A structure.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Puts the edges of a graph into an empty structure, in order; files go into the folder.
    pub make: fn(&Path, &Graph) -> Result<Box<dyn Rows>>,
}

/// All structures that were built.
pub const KINDS: &[Kind] = &[
    Kind { name: REFERENCE, make: csr },
    Kind { name: "rapid", make: |_, graph| engine(graph, EngineKind::Rapid) },
    Kind { name: "tel", make: |_, graph| engine(graph, EngineKind::Tel) },
    Kind { name: "list", make: |_, graph| Ok(Box::new(LinkedLists::of(graph))) },
    #[cfg(feature = "lmdb")]
    Kind { name: "lmdb", make: |folder, graph| store(folder, graph, "lmdb") },
    #[cfg(feature = "rocksdb")]
    Kind { name: "rocksdb", make: |folder, graph| store(folder, graph, "rocksdb") },
    #[cfg(feature = "sqlite")]
    Kind { name: "sqlite", make: |folder, graph| store(folder, graph, "sqlite") },
];

impl Kind {
    /// The structure called `name`.
    pub fn named(name: &str) -> Result<&'static Kind, String> {
        let names = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        let found = KINDS.iter().find(|kind| kind.name == name);
        found.ok_or_else(|| format!("no such structure was built; there are: {}", names()))
    }
}

fn csr(_: &Path, graph: &Graph) -> Result<Box<dyn Rows>> {
    Ok(Box::new(Csr::from_edges(graph.vertices, Topology::Directed, &graph.stream, BuildOptions::default())?))
}

impl Rows for Csr {
    fn sum(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        Ok(Sum { sources, most }.run(self)?)
    }
}

/// A graph in memory.
fn engine(graph: &Graph, kind: EngineKind) -> Result<Box<dyn Rows>> {
    let made = hedgerow::Graph::in_memory(GraphOptions::new().keys(KeyKind::Dense).engine(kind))?;
    graph.stream.chunks(AT_ONCE).try_for_each(|edges| made.ingest(LabelId::DEFAULT, edges).map(drop))?;
    Ok(Box::new(made.snapshot()?))
}

impl Rows for hedgerow::Snapshot {
    fn sum(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        Ok(self.run(Sum { sources, most })?)
    }
}

/// A store with files, which are in the caches of the operating system.
fn store(folder: &Path, graph: &Graph, name: &str) -> Result<Box<dyn Rows>> {
    let kind = stores::Kind::named(name).map_err(anyhow::Error::msg)?;
    let store = (kind.open)(folder, Durability::Buffered, graph.vertices)?;
    graph.stream.chunks(AT_ONCE).try_for_each(|edges| store.put_all(edges))?;
    store.settle()?;
    Ok(Box::new(store))
}

impl Rows for Box<dyn EdgeStore> {
    fn sum(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        self.sum_neighbors(sources, most)
    }
}

/// A linked list per vertex, whose members are stored in the order of insertion.
struct LinkedLists {
    /// The last member of each vertex's list.
    last: Vec<u32>,
    /// A neighbor, and the previous member.
    members: Vec<(VertexId, u32)>,
}

/// No member.
const END: u32 = u32::MAX;

impl LinkedLists {
    fn of(graph: &Graph) -> Self {
        let mut lists = LinkedLists {
            last: vec![END; graph.vertices as usize],
            members: Vec::with_capacity(graph.stream.len()),
        };
        graph.stream.iter().for_each(|edge| lists.put(*edge));
        lists
    }

    fn put(&mut self, (source, destination): Edge) {
        let last = &mut self.last[source.get() as usize];
        self.members.push((destination, *last));
        *last = self.members.len() as u32 - 1;
    }
}

impl Rows for LinkedLists {
    fn sum(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        let mut sum = 0;
        for source in sources {
            let (mut member, mut left) = (self.last[source.get() as usize], most);
            while let Some((neighbor, before)) = self.members.get(member as usize) {
                sum += u64::from(neighbor.get());
                left -= 1;
                member = if left == 0 { END } else { *before };
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn all_structures_hold_the_same_rows() {
        let graph = Graph::kronecker(6, 1).unwrap();
        let sources: Vec<VertexId> = (0..graph.vertices).map(VertexId::new).collect();
        let expected: u64 = graph.stream.iter().map(|(_, neighbor)| u64::from(neighbor.get())).sum();
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let rows = (kind.make)(folder.path(), &graph).unwrap();
            assert_eq!(rows.sum(&sources, usize::MAX).unwrap(), expected, "{}", kind.name);
            let one_by_one: u64 =
                sources.iter().map(|source| rows.sum(&[*source], usize::MAX).unwrap()).sum();
            assert_eq!(one_by_one, expected, "{}", kind.name);
            for source in &sources {
                let (first, all) = (rows.sum(&[*source], 1).unwrap(), graph.stream.iter());
                let neighbors: Vec<u64> =
                    all.filter(|(other, _)| other == source).map(|(_, end)| u64::from(end.get())).collect();
                assert!(neighbors.contains(&first) || neighbors.is_empty() && first == 0, "{}", kind.name);
            }
        }
    }
}
