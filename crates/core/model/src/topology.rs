//! Directed and undirected graphs, and their stored adjacencies.

use crate::{ChangeSlice, VertexId};
use smallvec::SmallVec;

/// The end of an edge that an adjacency belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the source: the neighbors are destinations.
    Out,
    /// From the destination: the neighbors are sources.
    In,
}

/// The direction of edges, and the ends from which they can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// Directed; out-neighbors only.
    #[default]
    Directed,
    /// Directed; out-neighbors and in-neighbors. Each edge is stored at both ends.
    DirectedWithReverse,
    /// Undirected: each edge is seen from both ends and counted once.
    Undirected,
}

crate::names!(Direction, "direction": Out => "out", In => "in");

crate::names!(Topology, "topology":
    Directed => "directed", DirectedWithReverse => "directed-with-reverse", Undirected => "undirected");

impl Topology {
    /// Returns true if edges have no direction.
    #[must_use]
    pub const fn is_undirected(self) -> bool {
        matches!(self, Topology::Undirected)
    }

    /// The stored adjacency that serves reads in `direction`; `None` if there is none.
    #[must_use]
    pub const fn stored(self, direction: Direction) -> Option<Direction> {
        match (self, direction) {
            (_, Direction::Out) | (Topology::Undirected, Direction::In) => Some(Direction::Out),
            (Topology::DirectedWithReverse, Direction::In) => Some(Direction::In),
            (Topology::Directed, Direction::In) => None,
        }
    }

    /// The stored directions.
    #[must_use]
    pub const fn directions(self) -> &'static [Direction] {
        match self {
            Topology::DirectedWithReverse => &[Direction::Out, Direction::In],
            Topology::Directed | Topology::Undirected => &[Direction::Out],
        }
    }

    /// The canonical ends of an edge: as given, or with the smaller id first in an undirected
    /// graph.
    #[must_use]
    pub fn canonical(self, source: VertexId, destination: VertexId) -> (VertexId, VertexId) {
        if self.is_undirected() && destination < source {
            (destination, source)
        } else {
            (source, destination)
        }
    }

    /// The adjacency entries of an edge: the stored direction, the owner, its neighbor.
    ///
    /// A self loop of an undirected graph is one entry.
    #[must_use]
    pub fn entries(
        self,
        source: VertexId,
        destination: VertexId,
    ) -> SmallVec<[(Direction, VertexId, VertexId); 2]> {
        let first = (Direction::Out, source, destination);
        std::iter::once(first).chain(self.second_entry(source, destination)).collect()
    }

    /// The second adjacency entry of an edge, after the entry that its source owns, if there is
    /// one.
    #[inline]
    #[must_use]
    pub fn second_entry(
        self,
        source: VertexId,
        destination: VertexId,
    ) -> Option<(Direction, VertexId, VertexId)> {
        match self {
            Topology::Directed => None,
            Topology::DirectedWithReverse => Some((Direction::In, destination, source)),
            Topology::Undirected => (source != destination).then_some((Direction::Out, destination, source)),
        }
    }

    /// Returns true if an entry is the canonical one of its edge.
    #[must_use]
    pub fn is_canonical_entry(self, stored: Direction, owner: VertexId, neighbor: VertexId) -> bool {
        stored == Direction::Out && (!self.is_undirected() || owner <= neighbor)
    }

    /// The number of edges whose canonical entries are among `entries`. O(entries), O(1) in a
    /// directed graph.
    #[inline]
    #[must_use]
    pub fn count_edges(self, stored: Direction, entries: ChangeSlice<'_>) -> u64 {
        let count = match (stored, self.is_undirected()) {
            (Direction::In, _) => 0,
            (Direction::Out, false) => entries.len(),
            (Direction::Out, true) => {
                entries.iter().filter(|entry| entry.owner() <= entry.neighbor()).count()
            }
        };
        count as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeChange;

    #[test]
    fn each_edge_has_exactly_one_canonical_entry() {
        let (a, b) = (VertexId::new(4), VertexId::new(9));
        for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
            for (source, destination) in [(a, b), (b, a), (a, a)] {
                let entries = topology.entries(source, destination);
                let canonical = entries
                    .iter()
                    .filter(|(stored, owner, other)| topology.is_canonical_entry(*stored, *owner, *other));
                assert_eq!(canonical.count(), 1, "{topology:?} {source} {destination}");
                let counted = entries.iter().map(|(stored, owner, other)| {
                    topology.count_edges(*stored, ChangeSlice::from(&EdgeChange::new(*owner, *other, None)))
                });
                assert_eq!(counted.sum::<u64>(), 1, "{topology:?} {source} {destination}");
            }
        }
    }
}
