//! The adjacency entries of many edges in one stored direction: sorted, deduplicated, the last edge
//! wins.

use hedgerow_model::{Direction, EdgeChange, EdgeValue, Topology, VertexId};
use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;
use smallvec::SmallVec;

/// The ends of an edge as ids.
pub(crate) type EndIds = (VertexId, VertexId);

/// The entries of edges that are put, all with the same value. O(n log n), on the threads of `pool`
/// if given.
pub(crate) fn put_entries(
    (topology, direction): (Topology, Direction),
    edges: impl ExactSizeIterator<Item = EndIds>,
    value: EdgeValue,
    pool: Option<&ThreadPool>,
) -> SmallVec<[EdgeChange; 2]> {
    let mut positions = Vec::with_capacity(edges.len());
    for_each_position((topology, direction), edges, |position, _| positions.push(position));
    sort_positions(&mut positions, pool);
    positions.dedup();
    collect(positions.into_iter().map(|position| EdgeChange::put_at(position, value)))
}

/// The entries of edges with different changes: `value_of` returns the value to put by the edge's
/// number, or `None` to delete. O(n log n), on the threads of `pool` if given.
pub(crate) fn changed_entries(
    (topology, direction): (Topology, Direction),
    edges: impl ExactSizeIterator<Item = EndIds>,
    value_of: impl Fn(usize) -> Option<EdgeValue>,
    pool: Option<&ThreadPool>,
) -> SmallVec<[EdgeChange; 2]> {
    let mut positions = Vec::with_capacity(edges.len());
    for_each_position((topology, direction), edges, |position, edge| positions.push((position, edge)));
    sort_numbered(&mut positions, pool);
    // Keep the last entry of each position: the entry of the last edge.
    positions.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            *kept = *later;
        }
        is_same
    });
    let change = |(position, edge)| EdgeChange {
        value: value_of(edge),
        ..EdgeChange::put_at(position, EdgeValue::default())
    };
    collect(positions.into_iter().map(change))
}

/// Collects through a `Vec`, which knows its length and does not check the capacity per entry.
fn collect(entries: impl Iterator<Item = EdgeChange>) -> SmallVec<[EdgeChange; 2]> {
    SmallVec::from_vec(entries.collect())
}

/// Visits the [position](EdgeChange::position) of every entry in a stored direction, with the
/// number of its edge.
fn for_each_position(
    (topology, direction): (Topology, Direction),
    edges: impl Iterator<Item = EndIds>,
    mut visit: impl FnMut(u64, usize),
) {
    for (edge, (source, destination)) in edges.enumerate() {
        if direction == Direction::Out {
            visit(EdgeChange::position_of(source, destination), edge);
        }
        match topology.second_entry(source, destination) {
            Some((stored, owner, neighbor)) if stored == direction => {
                visit(EdgeChange::position_of(owner, neighbor), edge);
            }
            _ => {}
        }
    }
}

// Not generic: a parallel sort is much code, which would be compiled for every edge type on every
// engine.

fn sort_positions(positions: &mut [u64], pool: Option<&ThreadPool>) {
    match pool {
        Some(pool) => pool.install(|| positions.par_sort_unstable()),
        None => positions.sort_unstable(),
    }
}

fn sort_numbered(positions: &mut [(u64, usize)], pool: Option<&ThreadPool>) {
    match pool {
        Some(pool) => pool.install(|| positions.par_sort_unstable()),
        None => positions.sort_unstable(),
    }
}
