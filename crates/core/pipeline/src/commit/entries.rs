//! The adjacency entries of many edges in one stored direction: sorted, deduplicated, the last edge
//! wins.

use hedgerow_model::scatter::{OWNERS_OF_PART, PartRows, ScatteredEntries, ScatteredPart, ScatteredParts};
use hedgerow_model::{ChangeSlots, Column, Direction, EdgeChange, EdgeChanges, EdgeValue, Topology};
use hedgerow_sync::map_chunks;
use rayon::ThreadPool;
use std::convert::Infallible;

/// The stored direction of entries, and the topology of their graph.
type Stored = (Topology, Direction);

/// Fewer edges than this are sorted instead of scattered.
const FEWEST_TO_SCATTER: usize = 1 << 16;

/// Fewer edges than this per part of all owners are sorted instead of scattered.
const FEWEST_PER_PART: usize = 64;

/// Parts of owners whose entries are made at a time.
const PARTS_AT_A_TIME: usize = 16;

/// The new value of an edge, by its number; `None` deletes it.
pub(crate) type ValueOf<'v> = &'v (dyn Fn(usize) -> Option<EdgeValue> + Sync);

/// The entries, in a stored direction, of changed edges, each owned by its source: sorted; of
/// several at one position, the last. Without `value_of`, all are puts without values. O(n log n),
/// on the threads of `pool` if given.
pub(crate) fn entries_of(
    edges: &[u64],
    value_of: Option<ValueOf<'_>>,
    stored: Stored,
    pool: Option<&ThreadPool>,
) -> EdgeChanges {
    match value_of {
        _ if !are_scattered(edges) => sorted(edges, value_of, stored),
        None => scattered(edges, stored, |_| (), |()| Some(().to_bits()), pool),
        Some(value_of) => scattered(edges, stored, |edge| edge as u64, |edge| value_of(edge as usize), pool),
    }
}

/// Returns true if the edges are many, and many for the owners that they may have.
fn are_scattered(edges: &[u64]) -> bool {
    let ends = || edges.iter().map(|edge| EdgeChange::at(*edge, None));
    let bound = || ends().map(|edge| edge.owner().max(edge.neighbor()).index() + 1).max().unwrap_or(0);
    edges.len() >= FEWEST_TO_SCATTER && edges.len() >= fewest_to_scatter(bound())
}

/// The fewest entries of owners below `bound` that are scattered, so that there are many in each
/// part.
pub(crate) fn fewest_to_scatter(bound: usize) -> usize {
    bound / OWNERS_OF_PART * FEWEST_PER_PART
}

/// The entries of edges, [scattered](hedgerow_model::scatter) by owner. `mark_of` returns what to
/// keep of an edge, by its number, and `value_of` the new value for it.
fn scattered<W: Column>(
    edges: &[u64],
    stored: Stored,
    mark_of: impl Fn(usize) -> W + Sync,
    value_of: impl Fn(W) -> Option<EdgeValue> + Sync,
    pool: Option<&ThreadPool>,
) -> EdgeChanges {
    let threads = pool.map_or(1, ThreadPool::current_num_threads);
    let length = edges.len().div_ceil(threads).max(1);
    let entries_of = |(chunk, edges): (usize, &[u64])| {
        let marked = |(number, edge): (usize, &u64)| {
            let ends = EdgeChange::at(*edge, None);
            (ends.owner(), ends.neighbor(), mark_of(chunk * length + number))
        };
        Ok::<_, Infallible>(ScatteredEntries::of(&|| edges.iter().enumerate().map(marked), stored))
    };
    let Ok(chunks) = map_chunks(pool, edges.chunks(length).enumerate().collect(), entries_of);
    let mut parts = ScatteredParts::new(chunks);
    let mut changes = EdgeChanges::new();
    let mut slots = changes.slots(parts.entries(), size_of::<W>() > 0);
    loop {
        let some = parts.take(PARTS_AT_A_TIME);
        if some.is_empty() {
            break;
        }
        let Ok(rows) = map_chunks(pool, some, |part: ScatteredPart<W>| {
            let mut rows = part.into_rows();
            let count = rows.count_last();
            Ok::<_, Infallible>((rows, count))
        });
        let with_slots = rows.into_iter().map(|(rows, count)| (rows, slots.take(count))).collect();
        let Ok(_) = map_chunks(pool, with_slots, |(mut rows, mut slots): (PartRows<W>, ChangeSlots<'_>)| {
            rows.each_last(|owner, neighbor, mark| {
                slots.write(EdgeChange::new(owner, neighbor, value_of(*mark)));
            });
            Ok::<_, Infallible>(())
        });
    }
    let unused = slots.len();
    changes.truncate(changes.len() - unused);
    changes
}

fn sorted(edges: &[u64], value_of: Option<ValueOf<'_>>, (topology, direction): Stored) -> EdgeChanges {
    let mut entries = EdgeChanges::with_capacity(edges.len());
    for (number, position) in edges.iter().enumerate() {
        let value = value_of.map_or(Some(().to_bits()), |value_of| value_of(number));
        let edge = EdgeChange::at(*position, value);
        if direction == Direction::Out {
            entries.push(edge);
        }
        match topology.second_entry(edge.owner(), edge.neighbor()) {
            Some((stored, owner, neighbor)) if stored == direction => {
                entries.push(EdgeChange::new(owner, neighbor, value));
            }
            _ => {}
        }
    }
    entries.sort_keeping_last();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::VertexId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scattered_entries_are_those_that_are_sorted(
            ends in prop::collection::vec((0..20_u32, 0..20_u32), 0..300),
            topology in prop::sample::select(vec![Topology::DirectedWithReverse, Topology::Undirected]),
        ) {
            // Ends in three parts, some of them more often.
            let id = |number: u32| VertexId::new(number * number * 30);
            let edge = |(one, other): (u32, u32)| EdgeChange::position_of(id(one), id(other));
            let edges: Vec<u64> = ends.into_iter().map(edge).collect();
            let value = |edge: usize| (!edge.is_multiple_of(3)).then_some(EdgeValue(edge as u64));
            let pool = &rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            for direction in topology.directions() {
                let stored = (topology, *direction);
                for pool in [None, Some(pool)] {
                    let found = scattered(&edges, stored, |edge| edge as u64, |edge| value(edge as usize), pool);
                    prop_assert_eq!(found, sorted(&edges, Some(&value), stored));
                    let found = scattered(&edges, stored, |_| (), |()| Some(EdgeValue(0)), pool);
                    prop_assert_eq!(found, sorted(&edges, None, stored));
                }
            }
        }
    }
}
