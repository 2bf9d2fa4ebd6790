//! Searches for one shortest path between two vertices.

use super::edges::FollowedEdges;
use crate::error::Error;
use hedgerow_model::{Direction, VertexId};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// A path by vertex ids.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Route {
    pub(super) vertices: Vec<VertexId>,
    /// The length from the first vertex to each.
    pub(super) lengths: Vec<f64>,
}

impl Route {
    pub(super) fn length(&self) -> f64 {
        self.lengths.last().copied().unwrap_or(0.0)
    }
}

/// The parts of the graph that a path must not use.
#[derive(Debug, Default)]
pub(super) struct Avoided {
    pub(super) vertices: HashSet<VertexId>,
    /// The second vertices of the path.
    pub(super) seconds: HashSet<VertexId>,
}

impl Avoided {
    fn allows(&self, source: VertexId, from: VertexId, to: VertexId) -> bool {
        let is_avoided = |vertex| !self.vertices.is_empty() && self.vertices.contains(&vertex);
        !(is_avoided(from) || is_avoided(to) || from == source && self.seconds.contains(&to))
    }
}

/// Returns a shortest path from a vertex, to which `start.1` was the way, to another, if there is
/// one of at most `longest` with this way.
pub(super) fn shortest(
    edges: &FollowedEdges<'_>,
    start: (VertexId, f64),
    destination: VertexId,
    avoided: &Avoided,
    longest: f64,
) -> Result<Option<Route>, Error> {
    if start.1 > longest {
        return Ok(None);
    }
    match edges.are_weighted() {
        true => lightest(edges, start, destination, avoided, longest),
        false => fewest_edges(edges, start, destination, avoided, longest),
    }
}

/// The vertices that a breadth-first search has reached from one end.
struct Side {
    direction: Direction,
    /// The vertex from which each vertex was reached; the end from itself.
    reached_from: HashMap<VertexId, VertexId>,
    frontier: Vec<VertexId>,
}

impl Side {
    fn new(end: VertexId, direction: Direction) -> Self {
        Side { direction, reached_from: HashMap::from([(end, end)]), frontier: vec![end] }
    }

    /// Reaches one level more. Returns a vertex that the other side has reached, too.
    fn expand(
        &mut self,
        edges: &FollowedEdges<'_>,
        allows: impl Fn(VertexId, VertexId) -> bool,
        other: &Side,
    ) -> Result<Option<VertexId>, Error> {
        let mut met = None;
        for vertex in std::mem::take(&mut self.frontier) {
            edges.for_each(vertex, self.direction, &mut |neighbor, _| {
                let (from, to) = match self.direction {
                    Direction::Out => (vertex, neighbor),
                    Direction::In => (neighbor, vertex),
                };
                if !self.reached_from.contains_key(&neighbor) && allows(from, to) {
                    self.reached_from.insert(neighbor, vertex);
                    self.frontier.push(neighbor);
                    met = met.or(other.reached_from.contains_key(&neighbor).then_some(neighbor));
                }
            })?;
            if met.is_some() {
                break;
            }
        }
        Ok(met)
    }
}

/// Follows the vertex before each vertex from one back to the end of a search, which comes before
/// itself. Both are included.
fn way_back(mut vertex: VertexId, before: impl Fn(VertexId) -> VertexId) -> Vec<VertexId> {
    let mut way = vec![vertex];
    while before(vertex) != vertex {
        vertex = before(vertex);
        way.push(vertex);
    }
    way
}

/// Searches breadth-first from both ends, always from the one with fewer vertices to expand; from
/// the source alone if edges cannot be followed backwards.
///
/// Before a level is expanded, the sides have not met, so no path is as short as their two depths.
/// The first vertex that both have reached is therefore on a shortest path.
fn fewest_edges(
    edges: &FollowedEdges<'_>,
    (source, so_far): (VertexId, f64),
    destination: VertexId,
    avoided: &Avoided,
    longest: f64,
) -> Result<Option<Route>, Error> {
    let allows = |from, to| avoided.allows(source, from, to);
    let mut forward = Side::new(source, Direction::Out);
    let mut backward = Side::new(destination, Direction::In);
    let mut met = (source == destination).then_some(source);
    let mut length = so_far;
    while met.is_none()
        && length + 1.0 <= longest
        && !forward.frontier.is_empty()
        && !backward.frontier.is_empty()
    {
        let is_backward = edges.is_reversible && backward.frontier.len() < forward.frontier.len();
        met = match is_backward {
            true => backward.expand(edges, allows, &forward)?,
            false => forward.expand(edges, allows, &backward)?,
        };
        length += 1.0;
    }
    Ok(met.map(|middle| {
        let mut vertices = way_back(middle, |vertex| forward.reached_from[&vertex]);
        vertices.reverse();
        vertices.extend(way_back(middle, |vertex| backward.reached_from[&vertex]).into_iter().skip(1));
        let lengths = (0..vertices.len()).map(|hops| so_far + hops as f64).collect();
        Route { vertices, lengths }
    }))
}

/// A vertex to visit, the nearest first.
#[derive(PartialEq)]
struct Visit {
    length: f64,
    vertex: VertexId,
}

impl Eq for Visit {}

impl Ord for Visit {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap returns the largest.
        other.length.total_cmp(&self.length).then_with(|| other.vertex.cmp(&self.vertex))
    }
}

impl PartialOrd for Visit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Dijkstra's algorithm, until it reaches the destination.
fn lightest(
    edges: &FollowedEdges<'_>,
    (source, so_far): (VertexId, f64),
    destination: VertexId,
    avoided: &Avoided,
    longest: f64,
) -> Result<Option<Route>, Error> {
    let mut nearest = HashMap::from([(source, (so_far, source))]);
    let mut waiting = BinaryHeap::from([Visit { length: so_far, vertex: source }]);
    while let Some(Visit { length, vertex }) = waiting.pop() {
        if vertex == destination {
            let mut vertices = way_back(destination, |vertex| nearest[&vertex].1);
            vertices.reverse();
            let lengths = vertices.iter().map(|vertex| nearest[vertex].0).collect();
            return Ok(Some(Route { vertices, lengths }));
        }
        if length > nearest[&vertex].0 {
            continue;
        }
        edges.for_each(vertex, Direction::Out, &mut |neighbor, weight| {
            let length = length + weight;
            let is_nearer = nearest.get(&neighbor).is_none_or(|(known, _)| length < *known);
            if is_nearer && length <= longest && avoided.allows(source, vertex, neighbor) {
                nearest.insert(neighbor, (length, vertex));
                waiting.push(Visit { length, vertex: neighbor });
            }
        })?;
    }
    Ok(None)
}
