//! Weakly connected components.

use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Execution, Kernel, KernelError, Wcc};
use hedgerow::{Direction, Error, LabelId, VertexId};
use hedgerow_compiled_kernels::Target;
use serde::Serialize;
use std::ops::ControlFlow;

/// The weakly connected components of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Components {
    /// Number of components, including components of a single vertex.
    pub count: u64,
    /// Vertices of the largest component.
    pub largest: u64,
    /// Components of a single vertex.
    pub single: u64,
}

/// Counts the components, even where arrays over all ids do not fit into memory.
pub fn count(target: &Target, label: LabelId, execution: Execution<'_>) -> Result<Components, Error> {
    match target.compute(Wcc { label, execution, ..Wcc::default() }) {
        Ok(result) => Ok(Components::named(&result.components)),
        Err(error) if error.memory().is_some() => target.run(Sparse { label, execution }),
        Err(error) => Err(error),
    }
}

impl Components {
    /// Counts from the component number of every vertex, which is below the length; greater numbers
    /// mean no component. O(ids).
    fn named(components: &[u32]) -> Self {
        let mut sizes = vec![0u64; components.len()];
        for component in components {
            if let Some(size) = sizes.get_mut(*component as usize) {
                *size += 1;
            }
        }
        let sizes = || sizes.iter().copied().filter(|size| *size > 0);
        Components {
            count: sizes().count() as u64,
            largest: sizes().max().unwrap_or(0),
            single: sizes().filter(|size| *size == 1).count() as u64,
        }
    }
}

/// For few vertices among very many ids: each vertex is represented by its index among the existing
/// vertices.
struct Sparse<'a> {
    label: LabelId,
    execution: Execution<'a>,
}

impl Kernel for Sparse<'_> {
    type Output = Components;

    /// O(edges · log vertices) on the calling thread; 16 bytes per vertex.
    fn run<V: GraphView>(self, view: &V) -> Result<Components, KernelError> {
        let (bound, count) = (view.vertex_bound(), view.vertex_count());
        self.execution.memory.check(count * 16, count as u32, count)?;
        let mut vertices = Vec::with_capacity(count as usize);
        view.each_vertex(0..bound, |vertex| vertices.push(vertex))?;
        let place = |vertex: &VertexId| vertices.binary_search(vertex).expect("edges join vertices") as u32;
        let mut parents: Vec<u32> = (0..vertices.len() as u32).collect();
        let outgoing = view.adjacency::<()>(self.label, Direction::Out)?;
        for range in outgoing.cuts(self.execution.parts())? {
            self.execution.check_cancelled()?;
            let joined = outgoing.cursor().scan(range, |vertex, neighbors, _| {
                let vertex = place(&vertex);
                neighbors.iter().for_each(|neighbor| join(&mut parents, vertex, place(neighbor)));
                ControlFlow::<()>::Continue(())
            });
            joined.map(|_| ())?;
        }
        let roots: Vec<u32> = (0..parents.len() as u32).map(|vertex| root(&mut parents, vertex)).collect();
        Ok(Components::named(&roots))
    }
}

/// Joins two trees under the smaller of their roots.
fn join(parents: &mut [u32], one: u32, other: u32) {
    let (one, other) = (root(parents, one), root(parents, other));
    parents[one.max(other) as usize] = one.min(other);
}

/// Finds the root of a vertex by path halving.
fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let above = parents[parents[vertex as usize] as usize];
        parents[vertex as usize] = above;
        vertex = above;
    }
    vertex
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::Topology;
    use hedgerow::kernels::{BuildOptions, Csr};

    #[test]
    fn both_ways_to_count_agree() {
        let edges: Vec<_> = (0..450_u32).map(|edge| (edge * 7919 % 401, edge * 104_729 % 397)).collect();
        let edges: Vec<_> =
            edges.iter().map(|(from, to)| (VertexId::new(*from), VertexId::new(*to))).collect();
        for topology in [Topology::Directed, Topology::Undirected] {
            for vertices in [450, 500] {
                let graph = Csr::from_edges(vertices, topology, &edges, BuildOptions::default()).unwrap();
                let graph = graph.without_vertices((450..vertices).map(VertexId::new)).unwrap();
                let dense = Wcc::default().run(&graph).unwrap();
                let sparse =
                    Sparse { label: LabelId::DEFAULT, execution: Execution::default() }.run(&graph).unwrap();
                assert_eq!(sparse, Components::named(&dense.components));
                assert_eq!(sparse.count, dense.count);
                assert!(sparse.single > 0 && sparse.largest > sparse.single);
            }
        }
    }
}
