//! Trees of shortest paths.

use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Cursor, VertexId};
use hedgerow_sync::atomic::{AtomicU32, Ordering};
use std::ops::ControlFlow;

/// The parent of a vertex that has none: not the id of a vertex.
const NONE: u32 = u32::MAX;

/// A tree of shortest paths from a source: the vertex before each vertex on such a path.
///
/// Of several, the parent is the one with the lowest id, except over edges of weight 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Parents(Vec<u32>);

impl Parents {
    /// Returns the parent of a vertex; `None` if it was not reached. The source is its own parent.
    #[must_use]
    pub fn of(&self, vertex: VertexId) -> Option<VertexId> {
        self.0.get(vertex.index()).filter(|parent| **parent != NONE).map(|parent| VertexId::new(*parent))
    }

    /// Returns the vertices of a shortest path from the source to a vertex, both included; `None`
    /// if it was not reached. O(vertices of the path).
    #[must_use]
    pub fn path_to(&self, vertex: VertexId) -> Option<Vec<VertexId>> {
        let mut path = vec![vertex];
        let mut last = vertex;
        loop {
            let parent = self.of(last)?;
            if parent == last {
                path.reverse();
                return Some(path);
            }
            path.push(parent);
            last = parent;
        }
    }

    /// The bytes for a graph of `bound` ids and `count` vertices.
    pub(crate) fn bytes(bound: u32, count: u64) -> u64 {
        4 * (u64::from(bound) + count)
    }

    /// Finds the parents of all vertices with a distance, which is `plus` the value of an edge
    /// farther than that of some in-neighbor. Takes a pass over the edges, and another over the
    /// vertices' edges if some have the weight 0.
    pub(crate) fn find<A: Adjacency>(
        outgoing: &A,
        source: VertexId,
        bound: u32,
        execution: Execution<'_>,
        distance: impl Fn(VertexId) -> Option<u64> + Sync,
        plus: impl Fn(u64, A::Value) -> u64 + Sync,
    ) -> Result<Self, KernelError> {
        // Relaxed: threads race only to lower parents, and are joined before these are read.
        let parents: Vec<_> = (0..bound).map(|_| AtomicU32::new(NONE)).collect();
        parents[source.index()].store(source.get(), Ordering::Relaxed);
        let cuts = outgoing.cuts(execution.parts())?;
        execution.map_chunks(cuts, |range| {
            let scanned = outgoing.cursor().scan(range, |vertex, neighbors, values| {
                let from = distance(vertex);
                for (neighbor, value) in neighbors.iter().zip(values) {
                    let to = from.map(|from| plus(from, *value));
                    if to > from && to == distance(*neighbor) {
                        parents[neighbor.index()].fetch_min(vertex.get(), Ordering::Relaxed);
                    }
                }
                ControlFlow::<()>::Continue(())
            });
            Ok(scanned.map(drop)?)
        })?;
        let mut parents = Parents(parents.into_iter().map(AtomicU32::into_inner).collect());
        let is_reached = |vertex: &VertexId| distance(*vertex).is_some();
        let ids = || (0..bound).map(VertexId::new).filter(is_reached);
        if ids().all(|vertex| parents.of(vertex).is_some()) {
            return Ok(parents);
        }
        // Edges of weight 0 lead away from vertices with parents, so that they close no circle.
        let mut reached: Vec<_> = ids().filter(|vertex| parents.of(*vertex).is_some()).collect();
        let (mut cursor, mut position) = (outgoing.cursor(), 0);
        while let Some(vertex) = reached.get(position).copied() {
            execution.check_cancelled()?;
            let from = distance(vertex);
            let walked = cursor.neighbors(vertex, |neighbors, values| {
                for (neighbor, value) in neighbors.iter().zip(values) {
                    let to = from.map(|from| plus(from, *value));
                    let parent = &mut parents.0[neighbor.index()];
                    if *parent == NONE && to == from && to == distance(*neighbor) {
                        *parent = vertex.get();
                        reached.push(*neighbor);
                    }
                }
                ControlFlow::<()>::Continue(())
            });
            walked.map(drop)?;
            position += 1;
        }
        Ok(parents)
    }
}
