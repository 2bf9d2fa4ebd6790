//! The vertex with the most out-neighbors: the default start of a search.

use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Execution, Kernel, KernelError};
use hedgerow::{Direction, LabelId, VertexId};
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// Finds the vertex with the largest out-degree; of several, the one with the lowest id.
#[derive(Clone, Copy, Debug)]
pub struct LargestDegree<'a> {
    /// The edges that count.
    pub label: LabelId,
    /// The execution options.
    pub execution: Execution<'a>,
}

impl Kernel for LargestDegree<'_> {
    /// The vertex; `None` if there is none.
    type Output = Option<VertexId>;

    /// O(vertices + edges), no memory.
    fn run<V: GraphView>(self, view: &V) -> Result<Option<VertexId>, KernelError> {
        let adjacency = view.adjacency::<()>(self.label, Direction::Out)?;
        let cuts = adjacency.cuts(self.execution.parts())?;
        let largest = self.execution.map_chunks(cuts, |range| {
            let (mut largest, mut current) = (None, (0, Reverse(VertexId::MAX)));
            let scanned = adjacency.cursor().scan(range, |vertex, neighbors, _| {
                // The neighbors of a vertex may come in several runs.
                let before = if current.1 == Reverse(vertex) { current.0 } else { 0 };
                current = (before + neighbors.len(), Reverse(vertex));
                largest = largest.max(Some(current));
                ControlFlow::<()>::Continue(())
            });
            scanned.map(|_| ())?;
            Ok(largest)
        })?;
        let largest = largest.into_iter().flatten().max().map(|(_, Reverse(vertex))| vertex);
        largest.map_or_else(|| lowest_vertex(view), |vertex| Ok(Some(vertex)))
    }
}

/// The lowest vertex, for a graph without edges, in which all degrees are equal.
fn lowest_vertex(view: &impl GraphView) -> Result<Option<VertexId>, KernelError> {
    let lowest = view.scan_vertices(0..view.vertex_bound(), ControlFlow::Break);
    Ok(lowest?.break_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::Topology;
    use hedgerow::kernels::{BuildOptions, Csr};

    fn largest(vertices: u32, edges: &[(u32, u32)]) -> Option<u32> {
        let id = VertexId::new;
        let edges: Vec<_> =
            edges.iter().map(|(source, destination)| (id(*source), id(*destination))).collect();
        let graph = Csr::from_edges(vertices, Topology::Directed, &edges, BuildOptions::default()).unwrap();
        let kernel = LargestDegree { label: LabelId::DEFAULT, execution: Execution::default() };
        kernel.run(&graph).unwrap().map(VertexId::get)
    }

    #[test]
    fn ties_go_to_the_lowest_id() {
        assert_eq!(largest(4, &[(3, 0), (3, 1), (2, 1), (2, 3), (0, 1)]), Some(2));
        assert_eq!(largest(4, &[(3, 0)]), Some(3));
    }

    #[test]
    fn without_edges_it_is_the_first_vertex_and_without_vertices_none() {
        assert_eq!(largest(3, &[]), Some(0));
        assert_eq!(largest(0, &[]), None);
    }
}
