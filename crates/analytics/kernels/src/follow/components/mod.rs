//! Connected components of a changing graph.
//!
//! | file | content |
//! |---|---|
//! | `either_way.rs` | neighbors in both directions |
//! | `forest.rs` | the spanning forest, and the component of each vertex |
//! | `repair.rs` | reconnecting the trees that deletions have cut |

mod either_way;
mod forest;
mod repair;

use super::{Follow, GraphChanges, ends_of};
use crate::{Execution, KernelError, Wcc};
use either_way::EitherWay;
use forest::SpanningForest;
use hedgerow_model::{Direction, GraphView, LabelId, VertexId, ViewError};
use repair::Repair;

/// The connected components of a changing graph, whatever the direction of edges: at any time those
/// that [`Wcc`] finds.
///
/// Keeps a spanning forest. The deletion of another edge changes nothing, and costs O(1). The
/// deletion of an edge of the forest cuts a tree in two; their vertices are searched for an edge in
/// between, from both parts at once, in turns ("An On-Line Edge-Deletion Problem", J. ACM 28,
/// 1981). So it costs no more than twice the search of the smaller part, and far less if there is
/// such an edge. An edge that is put between two components costs O(edges of the smaller one).
///
/// [`begin`](Follow::begin) takes O(vertices + edges), on the calling thread. 12 bytes per id and 8
/// per component, and 4 per id meanwhile. Directed graphs need reverse adjacency.
#[derive(Clone, Debug, Default)]
pub struct Components {
    label: LabelId,
    /// The components of the last view, if there was one.
    forest: Option<SpanningForest>,
}

impl Components {
    /// The component of an id without a vertex.
    pub const NO_VERTEX: u32 = Wcc::NO_VERTEX;

    /// Follows components over the edges of this label instead of the default label.
    #[must_use]
    pub fn label(self, label: impl Into<LabelId>) -> Self {
        Components { label: label.into(), ..self }
    }

    /// Returns the number of components, including components of a single vertex. O(1).
    #[must_use]
    pub fn count(&self) -> u64 {
        self.forest.as_ref().map_or(0, SpanningForest::count)
    }

    /// Returns the smallest id of a vertex's component; `None` if the vertex does not exist. O(1).
    #[must_use]
    pub fn component(&self, vertex: VertexId) -> Option<VertexId> {
        Some(self.forest.as_ref()?.of(vertex)?.smallest)
    }

    /// Returns the number of vertices in a vertex's component; `None` if the vertex does not exist.
    /// O(1).
    #[must_use]
    pub fn size(&self, vertex: VertexId) -> Option<u32> {
        Some(self.forest.as_ref()?.of(vertex)?.size)
    }

    /// Returns the smallest id of the component of each vertex id, or [`Components::NO_VERTEX`], as
    /// [`WccResult::components`](crate::WccResult::components) has them. O(vertices).
    #[must_use]
    pub fn labels(&self) -> Vec<u32> {
        self.forest.as_ref().map_or_else(Vec::new, SpanningForest::labels)
    }

    /// Returns the vertex above a vertex in the spanning forest; `None` if it is the root of its
    /// component, or does not exist. An edge joins the two. Which edges are in the forest depends
    /// on all changes so far. O(1).
    #[must_use]
    pub fn parent(&self, vertex: VertexId) -> Option<VertexId> {
        self.forest.as_ref()?.parent(vertex)
    }
}

/// Evaluates an expression with a reader of the neighbors of a view in both directions.
macro_rules! with_neighbors {
    ($view:expr, $label:expr, $neighbors:ident => $run:expr) => {{
        let outgoing = $view.adjacency::<()>($label, Direction::Out)?;
        let incoming = match $view.topology().stored(Direction::In) {
            Some(Direction::Out) => None,
            Some(Direction::In) => Some($view.adjacency::<()>($label, Direction::In)?),
            None => return Err(ViewError::NoReverse.into()),
        };
        let mut $neighbors = EitherWay::new(&outgoing, incoming.as_ref());
        $run
    }};
}

impl Follow for Components {
    fn begin<V: GraphView>(&mut self, view: &V, execution: Execution<'_>) -> Result<(), KernelError> {
        self.forest = None;
        let forest = with_neighbors!(view, self.label, neighbors => {
            SpanningForest::new(view, &mut neighbors, execution)?
        });
        self.forest = Some(forest);
        Ok(())
    }

    fn follow<V: GraphView>(
        &mut self,
        _: &V,
        changes: GraphChanges<'_>,
        after: &V,
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        let Some(mut forest) = self.forest.take() else { return self.begin(after, execution) };
        forest.grow(after, execution)?;
        with_neighbors!(after, self.label, neighbors => {
            let mut cuts = Vec::new();
            for (one, other) in ends_of(changes.deleted_edges, self.label) {
                if let Some(child) = forest.child_of(one, other)
                    && !neighbors.are_joined(one, other)?
                {
                    cuts.push(forest.cut(child));
                }
            }
            cuts.sort_unstable();
            if cuts.len() > Repair::MOST_CUTS {
                return self.begin(after, execution);
            }
            for cuts in cuts.chunk_by(|one, other| one.component == other.component) {
                let parts = Repair::new(&mut forest, cuts).run(&mut neighbors, execution)?;
                forest.split(&mut neighbors, &parts, execution)?;
            }
            for vertex in changes.deleted_vertices {
                if !after.contains_vertex(*vertex)? {
                    forest.remove(*vertex);
                }
            }
            let ends = ends_of(changes.put_edges, self.label).flat_map(|(one, other)| [one, other]);
            for vertex in ends.chain(changes.put_vertices.iter().copied()) {
                if forest.of(vertex).is_none() && after.contains_vertex(vertex)? {
                    forest.add(vertex);
                }
            }
            for (one, other) in ends_of(changes.put_edges, self.label) {
                if forest.are_apart(one, other) && neighbors.are_joined(one, other)? {
                    forest.join(&mut neighbors, one, other, execution)?;
                }
            }
        });
        self.forest = Some(forest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildOptions, Csr};
    use hedgerow_model::Topology;

    #[test]
    fn marks_begin_anew_when_they_are_used_up() {
        let id = VertexId::new;
        let graph = |edges: &[(u32, u32)]| {
            let edges: Vec<_> = edges.iter().map(|(one, other)| (id(*one), id(*other))).collect();
            Csr::from_edges(4, Topology::Undirected, &edges, BuildOptions::default()).unwrap()
        };
        let (ring, path) = (graph(&[(0, 1), (1, 2), (2, 3), (3, 0)]), graph(&[(1, 2), (2, 3), (3, 0)]));
        let (mut components, execution) = (Components::default(), Execution::default());
        components.begin(&ring, execution).unwrap();
        components.forest.as_mut().unwrap().next_mark = u32::MAX - 7;
        let changed = [(LabelId::DEFAULT, id(0), id(1))];
        let deleted = GraphChanges { deleted_edges: &changed, ..GraphChanges::default() };
        let put = GraphChanges { put_edges: &changed, ..GraphChanges::default() };
        for _ in 0..3 {
            components.follow(&ring, deleted, &path, execution).unwrap();
            assert_eq!(components.labels(), [0; 4]);
            components.begin(&ring, execution).unwrap();
            let next_mark = &mut components.forest.as_mut().unwrap().next_mark;
            *next_mark = u32::MAX - 3;
            components.follow(&path, put, &ring, execution).unwrap();
        }
        assert!(components.forest.unwrap().next_mark >= u32::MAX - 3, "no edge of the forest was cut");
    }
}
