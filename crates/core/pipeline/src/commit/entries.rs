//! The adjacency entries of many edges in one stored direction: sorted, deduplicated, the last edge
//! wins.

use hedgerow_model::scatter::{OWNERS_OF_PART, ScatteredEntries, ScatteredPart, ScatteredParts};
use hedgerow_model::{Column, Direction, EdgeChange, EdgeValue, Topology, VertexId};
use hedgerow_sync::map_chunks;
use rayon::ThreadPool;
use smallvec::SmallVec;
use std::convert::Infallible;

/// The ends of an edge as ids.
pub(crate) type EndIds = (VertexId, VertexId);

/// The stored direction of entries, and the topology of their graph.
type Stored = (Topology, Direction);

/// Fewer edges than this are sorted instead of scattered.
const FEWEST_TO_SCATTER: usize = 1 << 16;

/// Fewer edges than this per part of all owners are sorted instead of scattered.
const FEWEST_PER_PART: usize = 64;

/// Parts of owners whose entries are made at a time.
const PARTS_AT_A_TIME: usize = 16;

/// The entries of edges that are put, all with the same value. O(n log n), on the threads of `pool`
/// if given.
pub(crate) fn put_entries(
    stored: Stored,
    edges: &[EndIds],
    value: EdgeValue,
    pool: Option<&ThreadPool>,
) -> SmallVec<[EdgeChange; 2]> {
    let change = |position, ()| EdgeChange::put_at(position, value);
    if are_scattered(edges) {
        return scattered(stored, edges, |_| (), change, pool);
    }
    let mut positions = Vec::with_capacity(edges.len());
    for_each_position(stored, edges, |position, _| positions.push(position));
    positions.sort_unstable();
    positions.dedup();
    collect(positions.into_iter().map(|position| change(position, ())))
}

/// The entries of edges with different changes: `value_of` returns the value to put by the edge's
/// number, or `None` to delete. O(n log n), on the threads of `pool` if given.
pub(crate) fn changed_entries(
    stored: Stored,
    edges: &[EndIds],
    value_of: impl Fn(usize) -> Option<EdgeValue> + Sync,
    pool: Option<&ThreadPool>,
) -> SmallVec<[EdgeChange; 2]> {
    let change = |position, edge| EdgeChange {
        value: value_of(edge as usize),
        ..EdgeChange::put_at(position, EdgeValue::default())
    };
    if are_scattered(edges) {
        return scattered(stored, edges, |edge| edge as u64, change, pool);
    }
    let mut positions = Vec::with_capacity(edges.len());
    for_each_position(stored, edges, |position, edge| positions.push((position, edge as u64)));
    positions.sort_unstable();
    // Keep the last entry of each position: the entry of the last edge.
    positions.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            *kept = *later;
        }
        is_same
    });
    collect(positions.into_iter().map(|(position, edge)| change(position, edge)))
}

/// Returns true if the edges are many, and many for the owners that they may have.
fn are_scattered(edges: &[EndIds]) -> bool {
    let bound = || edges.iter().map(|(one, other)| one.max(other).index() + 1).max().unwrap_or(0);
    edges.len() >= FEWEST_TO_SCATTER && edges.len() >= fewest_to_scatter(bound())
}

/// The fewest entries of owners below `bound` that are scattered, so that there are many in each
/// part.
pub(crate) fn fewest_to_scatter(bound: usize) -> usize {
    bound / OWNERS_OF_PART * FEWEST_PER_PART
}

/// The entries of edges, [scattered](hedgerow_model::scatter) by owner. Of several at one position,
/// the last one stays, with the value that `value_of` returns for its number.
fn scattered<W: Column>(
    stored: Stored,
    edges: &[EndIds],
    value_of: impl Fn(usize) -> W + Sync,
    change: impl Fn(u64, W) -> EdgeChange + Sync,
    pool: Option<&ThreadPool>,
) -> SmallVec<[EdgeChange; 2]> {
    let threads = pool.map_or(1, ThreadPool::current_num_threads);
    let length = edges.len().div_ceil(threads).max(1);
    let entries_of = |(chunk, ends): (usize, &[EndIds])| {
        let edges = (chunk * length..).zip(ends);
        let edge = |(edge, ends): (usize, &EndIds)| (ends.0, ends.1, value_of(edge));
        Ok::<_, Infallible>(ScatteredEntries::of(&|| edges.clone().map(edge), stored))
    };
    let Ok(chunks) = map_chunks(pool, edges.chunks(length).enumerate().collect(), entries_of);
    let mut parts = ScatteredParts::new(chunks);
    let mut changes = Vec::with_capacity(parts.entries());
    while let Some(some) = next_changes(&mut parts, &change, pool) {
        some.iter().for_each(|some| changes.extend_from_slice(some));
    }
    SmallVec::from_vec(changes)
}

/// Takes a few parts, and makes their entries with `change`, ascending; `None` at the end.
fn next_changes<W: Column>(
    parts: &mut ScatteredParts<W>,
    change: &(impl Fn(u64, W) -> EdgeChange + Sync),
    pool: Option<&ThreadPool>,
) -> Option<Vec<Vec<EdgeChange>>> {
    let some = parts.take(PARTS_AT_A_TIME);
    let changes_of = |part: ScatteredPart<W>| {
        let rows = part.into_rows();
        let mut changes = Vec::with_capacity(rows.len());
        rows.each_last(|owner, neighbor, value| {
            changes.push(change(EdgeChange::position_of(owner, neighbor), *value));
        });
        Ok::<_, Infallible>(changes)
    };
    let is_end = some.is_empty();
    let Ok(changes) = map_chunks(pool, some, changes_of);
    (!is_end).then_some(changes)
}

/// Collects through a `Vec`, which knows its length and does not check the capacity per entry.
fn collect(entries: impl Iterator<Item = EdgeChange>) -> SmallVec<[EdgeChange; 2]> {
    SmallVec::from_vec(entries.collect())
}

/// Visits the [position](EdgeChange::position) of every entry in a stored direction, with the
/// number of its edge.
fn for_each_position((topology, direction): Stored, edges: &[EndIds], mut visit: impl FnMut(u64, usize)) {
    for (edge, (source, destination)) in edges.iter().copied().enumerate() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scattered_entries_are_those_that_are_sorted(
            ends in prop::collection::vec((0..20_u32, 0..20_u32), 0..300),
            topology in prop::sample::select(vec![Topology::DirectedWithReverse, Topology::Undirected]),
        ) {
            // Ends in three parts, some of them more often.
            let id = |number: u32| VertexId::new(number * number * 30);
            let edges: Vec<_> = ends.into_iter().map(|(one, other)| (id(one), id(other))).collect();
            let value = |edge: usize| (!edge.is_multiple_of(3)).then_some(EdgeValue(edge as u64));
            let change = |position, edge| EdgeChange {
                value: value(edge as usize),
                ..EdgeChange::put_at(position, EdgeValue::default())
            };
            let put = |position, ()| EdgeChange::put_at(position, EdgeValue(7));
            let pool = &rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            for direction in topology.directions() {
                let stored = (topology, *direction);
                for pool in [None, Some(pool)] {
                    let found = scattered(stored, &edges, |edge| edge as u64, change, pool);
                    prop_assert_eq!(found, changed_entries(stored, &edges, value, None));
                    let found = scattered(stored, &edges, |_| (), put, pool);
                    prop_assert_eq!(found, put_entries(stored, &edges, EdgeValue(7), None));
                }
            }
        }
    }
}
