//! A spanning forest, with the component of each vertex.

use super::either_way::EitherWay;
use crate::{Execution, KernelError, Wcc};
use hedgerow_model::{Adjacency, GraphView, VertexId};
use std::ops::ControlFlow;

/// Bytes per id while the forest is made: three arrays, components of one vertex, the vertices that
/// were reached.
const BYTES_PER_ID: u64 = 24;
/// The smallest id of a component of at most this many vertices is found by a walk through them.
const FEW: u32 = 1024;
/// Vertices that are reached between two checks for cancellation.
const UNCHECKED: usize = 1 << 12;

/// A tree for each component, of edges of the graph, and the component of each vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct SpanningForest {
    /// The parent of each vertex. A root is its own parent, and so is an id without a vertex.
    pub(super) parents: Vec<VertexId>,
    /// The component of each vertex, by its position in `components`, or [`Wcc::NO_VERTEX`].
    pub(super) numbers: Vec<u32>,
    components: Vec<Component>,
    /// The positions of empty components.
    free: Vec<u32>,
    /// Marks of [repairs](super::Repair); each repair uses larger ones than those before.
    pub(super) marks: Vec<u32>,
    /// The least mark that is larger than all in use. Even.
    pub(super) next_mark: u32,
}

/// A component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    /// Number of vertices.
    pub(super) size: u32,
    /// The smallest id.
    pub(super) smallest: VertexId,
}

impl Component {
    const EMPTY: Component = Component { size: 0, smallest: VertexId::MAX };
}

/// An edge of the forest that was cut, ordered by component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cut {
    /// The component that both ends were in.
    pub(super) component: u32,
    /// The lower end, which is a root now.
    pub(super) child: VertexId,
    /// The upper end.
    pub(super) parent: VertexId,
}

impl SpanningForest {
    /// A forest of breadth-first trees. O(vertices + edges).
    pub(super) fn new<A: Adjacency>(
        view: &impl GraphView,
        neighbors: &mut EitherWay<'_, A>,
        execution: Execution<'_>,
    ) -> Result<Self, KernelError> {
        let mut forest = SpanningForest { next_mark: 2, ..SpanningForest::default() };
        forest.grow(view, execution)?;
        // First all vertices are in one component, out of which the trees take theirs.
        let (all, bound) = (forest.new_component(), view.vertex_bound());
        view.each_vertex(0..bound, |vertex| {
            forest.numbers[vertex.index()] = all;
            forest.components[all as usize].size += 1;
        })?;
        forest.shrink(all, 0);
        for vertex in (0..bound).map(VertexId::new) {
            if forest.numbers[vertex.index()] == all {
                let number = forest.new_component();
                forest.flood(neighbors, vertex, vertex, number, execution)?;
            }
        }
        Ok(forest)
    }

    /// Makes room for the ids of a view.
    pub(super) fn grow(
        &mut self,
        view: &impl GraphView,
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        let bound = view.vertex_bound();
        if self.numbers.len() < bound as usize {
            execution.memory.check(u64::from(bound) * BYTES_PER_ID, bound, view.vertex_count())?;
            self.parents.extend((self.numbers.len() as u32..bound).map(VertexId::new));
            self.numbers.resize(bound as usize, Wcc::NO_VERTEX);
            self.marks.resize(bound as usize, 0);
        }
        Ok(())
    }

    /// Number of components.
    pub(super) fn count(&self) -> u64 {
        (self.components.len() - self.free.len()) as u64
    }

    /// The component of a vertex, if the vertex exists.
    pub(super) fn of(&self, vertex: VertexId) -> Option<&Component> {
        self.components.get(self.number(vertex)? as usize)
    }

    /// The smallest id of the component of each id.
    pub(super) fn labels(&self) -> Vec<u32> {
        let component = |number: &u32| self.components.get(*number as usize);
        let labels = self.numbers.iter().map(component);
        labels
            .map(|component| component.map_or(Wcc::NO_VERTEX, |component| component.smallest.get()))
            .collect()
    }

    /// The parent of a vertex that is no root.
    pub(super) fn parent(&self, vertex: VertexId) -> Option<VertexId> {
        self.parents.get(vertex.index()).copied().filter(|parent| *parent != vertex)
    }

    /// The child of two vertices that an edge of the forest joins.
    pub(super) fn child_of(&self, one: VertexId, other: VertexId) -> Option<VertexId> {
        let is_below = |child, parent| self.parent(child) == Some(parent);
        [(one, other), (other, one)].into_iter().find(|pair| is_below(pair.0, pair.1)).map(|(child, _)| child)
    }

    /// Returns true if two vertices exist, and are in different components.
    pub(super) fn are_apart(&self, one: VertexId, other: VertexId) -> bool {
        matches!((self.number(one), self.number(other)), (Some(one), Some(other)) if one != other)
    }

    /// Adds a vertex without edges.
    pub(super) fn add(&mut self, vertex: VertexId) {
        let number = self.new_component();
        self.numbers[vertex.index()] = number;
        self.components[number as usize] = Component { size: 1, smallest: vertex };
    }

    /// Removes a vertex that has no edges left, if it is there.
    pub(super) fn remove(&mut self, vertex: VertexId) {
        if let Some(number) = self.number(vertex) {
            self.numbers[vertex.index()] = Wcc::NO_VERTEX;
            self.shrink(number, 1);
        }
    }

    /// Cuts the edge of a vertex to its parent. Both stay in their component.
    pub(super) fn cut(&mut self, child: VertexId) -> Cut {
        let parent = std::mem::replace(&mut self.parents[child.index()], child);
        Cut { component: self.numbers[child.index()], child, parent }
    }

    /// Joins two trees by an edge: turns the tree whose end is nearer to its root, so that this end
    /// becomes its root, and puts it below the other end. O(length of the shorter path to a root).
    pub(super) fn link(&mut self, one: VertexId, other: VertexId) {
        let above = |vertex: VertexId| self.parents[vertex.index()];
        let (mut from_one, mut from_other) = (one, other);
        while above(from_one) != from_one && above(from_other) != from_other {
            (from_one, from_other) = (above(from_one), above(from_other));
        }
        let is_one_nearer = above(from_one) == from_one;
        let (mut vertex, mut parent) = if is_one_nearer { (one, other) } else { (other, one) };
        loop {
            let next = std::mem::replace(&mut self.parents[vertex.index()], parent);
            if next == vertex {
                return;
            }
            (vertex, parent) = (next, vertex);
        }
    }

    /// Joins the components of two vertices by an edge. O(edges of the smaller one).
    pub(super) fn join<A: Adjacency>(
        &mut self,
        neighbors: &mut EitherWay<'_, A>,
        one: VertexId,
        other: VertexId,
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        let size = |vertex| self.of(vertex).map(|component| component.size);
        let (small, large) = if size(one) < size(other) { (one, other) } else { (other, one) };
        let number = self.numbers[large.index()];
        self.flood(neighbors, small, large, number, execution)
    }

    /// Gives components of their own to parts of a component that no edges join any more, all but
    /// the last. Each part is represented by one of its vertices. O(edges of the others).
    pub(super) fn split<A: Adjacency>(
        &mut self,
        neighbors: &mut EitherWay<'_, A>,
        parts: &[VertexId],
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        let [others @ .., last] = parts else { return Ok(()) };
        for part in others {
            let number = self.new_component();
            self.flood(neighbors, *part, *part, number, execution)?;
        }
        let left = self.numbers[last.index()];
        let Component { size, smallest } = self.components[left as usize];
        if self.numbers[smallest.index()] == left {
            return Ok(());
        }
        if size <= FEW {
            let number = self.new_component();
            return self.flood(neighbors, *last, *last, number, execution);
        }
        let mut larger = smallest.index()..self.numbers.len();
        if let Some(found) = larger.find(|id| self.numbers[*id] == left) {
            self.components[left as usize].smallest = VertexId::new(found as u32);
        }
        Ok(())
    }

    /// Moves all that edges connect with a vertex of its component to another component, as a
    /// breadth-first tree below `parent`; below itself if it is the root. O(edges).
    fn flood<A: Adjacency>(
        &mut self,
        neighbors: &mut EitherWay<'_, A>,
        start: VertexId,
        parent: VertexId,
        number: u32,
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        let from = std::mem::replace(&mut self.numbers[start.index()], number);
        self.parents[start.index()] = parent;
        let (mut reached, mut next, mut smallest) = (vec![start], 0, start);
        while let Some(vertex) = reached.get(next).copied() {
            if next % UNCHECKED == 0 {
                execution.check_cancelled()?;
            }
            next += 1;
            let walked = neighbors.each(vertex, 0, |neighbor| {
                if self.numbers[neighbor.index()] == from {
                    self.numbers[neighbor.index()] = number;
                    self.parents[neighbor.index()] = vertex;
                    smallest = smallest.min(neighbor);
                    reached.push(neighbor);
                }
                ControlFlow::<()>::Continue(())
            });
            walked.map(|_| ())?;
        }
        self.shrink(from, reached.len() as u32);
        let component = &mut self.components[number as usize];
        component.size += reached.len() as u32;
        component.smallest = component.smallest.min(smallest);
        Ok(())
    }

    /// The position of a vertex's component.
    fn number(&self, vertex: VertexId) -> Option<u32> {
        self.numbers.get(vertex.index()).copied().filter(|number| *number != Wcc::NO_VERTEX)
    }

    /// Returns the position of a new, empty component.
    fn new_component(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.components.push(Component::EMPTY);
            self.components.len() as u32 - 1
        })
    }

    /// Counts vertices that have left a component, and frees it if it is empty.
    fn shrink(&mut self, number: u32, by: u32) {
        let component = &mut self.components[number as usize];
        component.size -= by;
        if component.size == 0 {
            *component = Component::EMPTY;
            self.free.push(number);
        }
    }
}
